(function () {
  "use strict";
  /* One sample in full. Whatever came from a model or a data set is a text node. */
  var V = window.bakeoffViewer, MOST = 4000;
  var COLUMNS = ["prompt tokens", "of these image", "of these cached", "output tokens", "of these thoughts", "queue", "first token", "prefill", "decode", "total"];
  V.unfolded = { prompt: false, others: false, times: false };
  V.showsDifference = false;

  /* What scrolls by itself must be reachable without a mouse; what does not is no stop on the way. */
  function reach(box) {
    requestAnimationFrame(function () {
      box.querySelectorAll("pre").forEach(function (pre) { pre.tabIndex = pre.scrollHeight > pre.clientHeight + 1 ? 0 : -1; });
    });
  }

  function fold(name, title) {
    var node = V.make("details", { "data-fold": name }, V.make("summary", { text: title }));
    node.open = V.unfolded[name];
    node.addEventListener("toggle", function () { V.unfolded[name] = node.open; reach(node); });
    return node;
  }

  function chip(kind, symbol, text) {
    return V.make("span", { "class": "chip " + kind }, V.make("span", { "aria-hidden": "true", text: symbol }), " " + text);
  }

  /* Appends text with one stretch marked; `at` is where the outputs part, or -1. */
  function stretch(node, text, name, from, at) {
    if (!text) { return; }
    var parent = name ? V.make("mark") : node, place = at - from;
    if (place >= 0 && place < text.length) {
      var whole = String.fromCodePoint(text.codePointAt(place));
      parent.append(text.slice(0, place), V.make("span", { "class": "v-parts", title: "the outputs part here", text: whole }), text.slice(place + whole.length));
    } else { parent.append(text); }
    if (name) { node.append(parent); }
  }

  function part(parts, wholeLength) {
    if (wholeLength <= MOST) { return parts; }
    var before = parts[0], half = MOST / 4;
    if (before.length > MOST / 2) {
      var tail = parts[1] ? before.slice(-half) : "";
      before = before.slice(0, parts[1] ? half : MOST) + "\n… " + V.count(parts[0].length - (parts[1] ? 2 * half : MOST)) + " characters not shown …\n" + tail;
    }
    var marked = parts[1].length > MOST ? parts[1].slice(0, MOST) + " …" : parts[1];
    var after = parts[2].length > MOST / 2 ? parts[2].slice(0, MOST / 2) + "\n… " + V.count(parts[2].length - MOST / 2) + " characters not shown" : parts[2];
    return [before, marked, after];
  }

  function output(parts, ending, at) {
    var whole = parts.join("").length, box = V.make("div"), pre = V.make("pre", { dir: "auto", tabindex: "-1" });
    function fill(shown, offset) {
      pre.replaceChildren();
      stretch(pre, shown[0], "", 0, offset);
      stretch(pre, shown[1], "mark", shown[0].length, offset);
      stretch(pre, shown[2], "", shown[0].length + shown[1].length, offset);
      if (!whole) { pre.append(V.make("span", { "class": "v-empty", text: "empty output" })); }
      if (ending) { pre.append(V.make("span", { "class": "v-empty", text: ending })); }
    }
    var cut = part(parts, whole), isCut = cut !== parts;
    fill(cut, isCut && at > MOST / 4 ? -1 : at);
    box.append(pre);
    if (isCut) {
      var all = V.make("button", { type: "button", "class": "button", text: "Show all " + V.count(whole) + " characters" });
      all.addEventListener("click", function () { fill(parts, at); all.remove(); reach(box); pre.focus({ preventScroll: true }); });
      box.append(all);
    }
    return box;
  }

  function answer(run, number, found, state, at) {
    var arm = run.arms[number], node = V.make("div", { "class": "answer" }), head = V.make("div", { "class": "answer-head" });
    head.append(V.make("span", { "class": "arm" }, V.mark(arm.mark), V.make("b", { text: arm.name })));
    node.append(head);
    if (!found) { head.append(chip("undecided", "–", "not tried")); return node; }
    if (found.error !== undefined) {
      head.append(chip("wrong-answer", "!", "error"), V.make("span", { "class": "fine", text: "not scored" }));
      node.append(output(["", "", found.error].map(String), "", -1));
      if (found.line) { node.append(V.make("p", { "class": "fine", text: found.line })); }
      return node;
    }
    head.append(state & V.RIGHT ? chip("right-answer", "✓", "right") : chip("wrong-answer", "✕", "wrong"));
    if (state & V.CUT) { head.append(chip("undecided", "⊣", "cut off")); }
    if (state & V.UNPARSED) { head.append(chip("undecided", "?", "unparsed")); }
    node.append(output(found.output, state & V.CUT ? " ⊣ cut off" : "", at));
    var line = V.make("p", { "class": "fine" }, found.answer === null ? "No answer found" : "Answer read: ");
    if (found.answer !== null) {
      var read = found.answer.length > 300 ? found.answer.slice(0, 300) + " …" : found.answer;
      line.append(V.make("bdi", { "class": "v-read", text: read }));
      if (found.answer && !found.output[1]) { line.append(" (no single place in the output)"); }
    }
    line.append(" · " + found.line);
    node.append(line);
    return node;
  }

  function prompts(run, item) {
    var node = fold("prompt", item.prompts.length > 1 ? "Prompts as sent: " + item.prompts.length + " different ones" : "Prompt as sent");
    item.prompts.forEach(function (found) {
      var who = item.prompts.length > 1 ? "To " + found.arms.map(function (arm) { return run.arms[arm].name; }).join(", ") + " · " : "";
      node.append(V.make("p", { "class": "fine", text: who + "protocol " + found.protocol }));
      if (found.note) { node.append(V.make("p", { "class": "fine", text: found.note })); return; }
      found.turns.forEach(function (turn) {
        var pre = V.make("pre", { dir: "auto" });
        turn[1].forEach(function (piece) {
          if (typeof piece === "number") { pre.append(V.make("span", { "class": "v-piece", text: "image " + piece }), "\n"); }
          else { pre.append(piece); }
        });
        node.append(V.make("h4", { text: turn[0] }), pre);
      });
    });
    return node;
  }

  function times(run, item, order) {
    var node = fold("times", "Tokens and times"), body = V.make("tbody"), head = V.make("tr", {}, V.make("th", { scope: "col", text: "Arm" }));
    COLUMNS.forEach(function (name) { head.append(V.make("th", { scope: "col", "class": "number", text: name })); });
    order.forEach(function (number) {
      var found = item.answers[number];
      if (!found || !found.cells) { return; }
      var row = V.make("tr", {}, V.make("th", { scope: "row", text: run.arms[number].name }));
      found.cells.forEach(function (cell) { row.append(V.make("td", { "class": "number", text: cell })); });
      body.append(row);
    });
    node.append(V.make("div", { "class": "scroll", tabindex: "0", role: "region", "aria-label": "Tokens and times" },
      V.make("table", { "class": "v-times" }, V.make("caption", { "class": "unseen", text: "Tokens and times by arm" }), V.make("thead", {}, head), body)));
    return node;
  }

  function spotsOf(run, item, order, pair) {
    var spots = item.box ? [{ key: "target", name: "target", kind: "target", dash: "", box: item.box[0] }] : [];
    order.forEach(function (number) {
      var found = item.answers[number];
      if (found && found.spot) {
        var dash = number === pair[0] ? "dash0" : number === pair[1] ? "dash1" : "dash2";
        spots.push({ key: number, name: run.arms[number].name, kind: "said " + run.arms[number].mark, dash: dash, box: found.spot[0], point: found.spot[1], where: found.where });
      }
    });
    return spots;
  }

  function pictures(run, item, spots, redraw) {
    var node = V.make("div", { "class": "v-pictures" }), many = item.pictures.length;
    if (spots.length) {
      var switches = V.make("fieldset", { "class": "v-toggles" }, V.make("legend", { "class": "unseen", text: "Drawn over the image" }));
      spots.forEach(function (spot) {
        var input = V.make("input", { type: "checkbox", "data-spot": spot.key });
        input.checked = !V.hidden.has(spot.key);
        input.addEventListener("change", function () {
          if (input.checked) { V.hidden.delete(spot.key); } else { V.hidden.add(spot.key); }
          redraw();
        });
        var line = V.draw("svg", { width: 26, height: 10, "aria-hidden": "true" });
        line.append(V.draw("path", { "class": "casing " + spot.kind, d: "M1 5H25" }), V.draw("path", { "class": "edge " + spot.kind + " " + spot.dash, d: "M1 5H25" }));
        switches.append(V.make("label", { "class": "v-check" }, input, line, spot.name));
      });
      node.append(switches);
    }
    var zoom = V.make("button", { type: "button", "class": "button v-zoom", text: "Size: " + V.zoomName() });
    zoom.addEventListener("click", function () { V.nextZoom(); redraw(); });
    node.prepend(V.make("div", { "class": "v-tools" }, node.firstChild, zoom));
    var grid = V.make("div", { "class": many > 1 ? "v-several" : "" });
    item.pictures.forEach(function (found, place) {
      var label = many > 1 ? "Image " + (place + 1) + " of " + many : "Image";
      var alt = label + " of the sample" + (item.box && !place ? "; target at " + item.target : "");
      grid.append(V.picture(found, { label: label, alt: alt }, spots, place === 0));
    });
    node.append(grid);
    if (spots.length) {
      var places = V.make("ul", { "class": "fine" });
      var named = new Map();
      spots.forEach(function (spot) {
        var where = spot.where || item.target;
        named.set(where, (named.get(where) || []).concat(spot.name));
      });
      named.forEach(function (names, where) { places.append(V.make("li", { text: names.join(", ") + ": " + where })); });
      node.append(places);
    }
    return node;
  }

  function partsAt(item, pair) {
    var found = pair.map(function (arm) { return arm >= 0 && item.answers[arm] && item.answers[arm].output ? item.answers[arm].output.join("") : null; });
    if (!V.showsDifference || found[0] === null || found[1] === null || found[0] === found[1]) { return -1; }
    var at = 0;
    while (at < found[0].length && found[0][at] === found[1][at]) { at += 1; }
    return at;
  }

  /* about: {index, position, pair, title, place, length, cause, link} */
  V.card = function (card, run, item, about, steps) {
    var pair = about.pair, at = partsAt(item, pair);
    var chosen = pair.filter(function (arm) { return arm >= 0; });
    var others = run.arms.map(function (_, number) { return number; }).filter(function (number) { return chosen.indexOf(number) < 0 && item.answers[number]; });
    var spots = spotsOf(run, item, chosen.concat(others), pair), isText = item.pictures.length === 0;
    var nav = V.make("div", { "class": "v-nav" });
    [["← Previous", -1], ["Next →", 1]].forEach(function (step) {
      var button = V.make("button", { type: "button", "class": "button", text: step[0], "data-step": step[1] });
      button.disabled = about.place < 0 || !steps.has(step[1]);
      button.addEventListener("click", function () { steps.go(step[1]); });
      nav.append(button);
    });
    nav.append(V.make("span", { "class": "fine", text: about.place < 0 ? "not among the samples chosen above" : V.count(about.place + 1) + " of " + V.count(about.length) }));
    nav.append(V.make("a", { href: about.link, "class": "v-link", text: "Link to this sample" }));
    var right = V.make("div", { "class": "v-text" });
    right.append(V.make("h3", { id: "v-title", dir: "auto", text: about.id }));
    right.append(V.make("p", { "class": "fine", text: [about.title].concat(about.groups).join(" · ") }));
    if (about.cause) { right.append(V.make("p", { "class": "v-cause" }, V.make("b", { text: "Flip: " + about.cause[0] }), " · " + about.cause[1])); }
    if (item.question !== null) { right.append(V.make("p", { "class": "question", dir: "auto", text: item.question.length > MOST ? item.question.slice(0, MOST) + " …" : item.question })); }
    if (item.options.length && item.question !== null && item.question.indexOf(item.options[0]) < 0) {
      var options = V.make("ul", { "class": "v-options" });
      item.options.forEach(function (option, place) { options.append(V.make("li", { text: String.fromCharCode(65 + place) + ": " + option })); });
      right.append(options);
    }
    if (item.target !== null) { right.append(V.make("p", {}, V.make("span", { "class": "fine", text: "Target: " }), V.make("bdi", { "class": "v-target", text: item.target }))); }
    if (item.note) { right.append(V.make("p", { "class": "fine", text: item.note })); }
    right.append(prompts(run, item));
    chosen.forEach(function (number) { right.append(answer(run, number, item.answers[number], V.state(about.index, number, about.position), at)); });
    if (others.length) {
      var isRight = others.filter(function (number) { return V.state(about.index, number, about.position) & V.RIGHT; }).length;
      var more = fold("others", V.count(others.length) + (others.length > 1 ? " other arms: " : " other arm: ") + V.count(isRight) + " right");
      others.forEach(function (number) { more.append(answer(run, number, item.answers[number], V.state(about.index, number, about.position), -1)); });
      right.append(more);
    }
    card.classList.toggle("v-no-image", isText);
    card.setAttribute("aria-labelledby", "v-title");
    var left = V.make("div", { "class": "v-left" });
    function redraw() {
      var focused = document.activeElement, key = focused && focused.dataset.spot, isZoom = focused && focused.classList.contains("v-zoom");
      left.replaceChildren(pictures(run, item, spots, redraw));
      var again = key ? left.querySelector('[data-spot="' + key + '"]') : isZoom ? left.querySelector(".v-zoom") : null;
      if (again) { again.focus({ preventScroll: true }); }
    }
    if (!isText) { redraw(); }
    card.replaceChildren(nav, V.make("div", { "class": "v-columns" }, isText ? null : left, right), times(run, item, chosen.concat(others)));
    card.querySelectorAll("figure").forEach(function (figure) { if (figure.layout) { figure.layout(); } });
    reach(card);
    V.redraw = isText ? function () {} : redraw;
  };
})();
