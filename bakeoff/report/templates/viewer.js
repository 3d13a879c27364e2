(function () {
  "use strict";
  /* Joins list, card, filters, keys and the address. */
  var V = window.bakeoffViewer, root = document.getElementById("viewer");
  if (!root) { return; }
  function at(name) { return document.getElementById("v-" + name); }
  var card = at("card"), status = at("status"), still = document.getElementById("samples-static");
  var run = null, index = null, order = [], kinds = [], hits = null, started = null, turn = 0, searching = 0, progress = "", told = "", isQuiet = true;
  var now = { track: "", a: 0, b: -1, is: "all", group: "", cause: "", q: "", id: "" };
  var list = new V.List(at("list"), at("rows"), describe, function (place) { open(list.position(place), false); });

  root.hidden = false;
  if (still) { still.hidden = true; }
  status.textContent = "Samples load when they come into sight.";
  kinds = V.kinds([0, 1], []);
  showChips(null);

  function address(id) { return V.address.write(run, now, id); }

  function keepAddress(isNew) {
    var hash = address(now.id);
    if (isQuiet || location.hash === hash) { return; }
    try { history[isNew ? "pushState" : "replaceState"](null, "", hash); } catch (e) { /* a frame without a history */ }
    tellFrame("address", hash);
  }

  /* The web app shows this page in a sandboxed frame, whose address nobody sees; it keeps the address in its own. */
  function tellFrame(what, hash) { if (window.parent !== window) { window.parent.postMessage({ bakeoff: what, hash: hash }, "*"); } }

  /* what a row of the list says */
  function sign(arm, position) {
    var state = V.state(index, arm, position);
    if (!state) { return ["", "–", "not tried"]; }
    if (state & V.ERROR) { return ["bad", "!", "error"]; }
    return state & V.RIGHT ? ["good", "✓", "right"] : ["bad", "✕", "wrong"];
  }

  function describe(position) {
    var arms = [now.a, now.b].filter(function (arm) { return arm >= 0; }), tally = V.tally(index, position);
    var signs = arms.map(function (arm) { return sign(arm, position); });
    return {
      id: index.ids[position], signs: signs, tally: run.arms.length > 2 ? tally[0] + "/" + tally[1] : "",
      label: index.ids[position] + ": " + arms.map(function (arm, place) { return run.arms[arm].name + " " + signs[place][2]; }).join(", ")
    };
  }

  function fill(select, options, value) {
    select.replaceChildren.apply(select, options.map(function (option) {
      if (!option[2]) { return V.make("option", { value: option[0], text: option[1] }); }
      var group = V.make("optgroup", { label: option[1] });
      option[2].forEach(function (inner) { group.append(V.make("option", { value: inner[0], text: inner[1] })); });
      return group;
    }));
    select.value = value;
    if (select.selectedIndex < 0) { select.selectedIndex = 0; }
  }


  function fillControls() {
    var arms = run.arms.map(function (arm, number) { return [String(number), arm.name]; });
    fill(at("track"), run.tracks.map(function (track) { return [track.name, track.title + " (" + V.count(track.n) + ")"]; }), now.track);
    fill(at("a"), arms, String(now.a));
    fill(at("b"), [["-1", "no other arm"]].concat(arms.filter(function (_, number) { return number !== now.a; })), String(now.b));
    fill(at("group"), [["", "all groups"]].concat(index.groups.map(function (group) {
      return ["", group[0], group[1].map(function (value) { return [group[0] + ":" + value, value]; })];
    })), now.group);
    var flips = V.flips(index, now.a, now.b), counts = run.causes.map(function () { return 0; });
    flips.forEach(function (cause) { counts[cause] += 1; });
    fill(at("cause"), [["", "any"]].concat(run.causes.map(function (cause, number) { return [cause[0], cause[0] + " (" + V.count(counts[number]) + ")"]; })), now.cause);
    at("cause").disabled = !flips.size;
    at("swap").disabled = now.b < 0;
    at("q").value = now.q;
    list.head([V.make("span", { "class": "v-id", text: "Sample" })].concat([now.a, now.b].filter(function (arm) { return arm >= 0; }).map(function (arm) {
      return V.make("span", { "class": "v-sign", title: run.arms[arm].name }, V.mark(run.arms[arm].mark), V.make("span", { "class": "unseen", text: run.arms[arm].name }));
    })).concat(run.arms.length > 2 ? [V.make("span", { "class": "v-tally", text: "right" })] : []));
    at("images").textContent = "Images: " + run.images.text + ".";
  }

  function showChips(counts) {
    var focused = document.activeElement && document.activeElement.dataset.is, box = at("chips");
    box.replaceChildren.apply(box, kinds.map(function (kind) {
      var button = V.make("button", { type: "button", "class": "v-chip", "data-is": kind[0], title: kind[2], "aria-pressed": kind[0] === now.is ? "true" : "false" }, kind[1] + " ", V.make("b", { text: counts ? V.count(counts[kind[0]]) : "–" }));
      button.disabled = !counts;
      button.addEventListener("click", function () { now.is = kind[0]; refresh(true); });
      return button;
    }));
    if (focused) { var again = box.querySelector('[data-is="' + focused + '"]'); if (again) { again.focus({ preventScroll: true }); } }
  }

  /* filter, order, list, and the card when its sample is not the one shown */
  function refresh(isMove) {
    kinds = V.kinds([now.a, now.b], run.arms.map(function (arm) { return arm.name; }));
    if (!kinds.some(function (kind) { return kind[0] === now.is; })) { now.is = "all"; }
    var found = V.choose(index, order, { a: now.a, b: now.b, is: now.is, group: V.address.group(index, now.group), cause: V.address.cause(run, now.cause), hits: hits }, kinds);
    showChips(found.counts);
    var position = index.positions.get(now.id);
    list.show(found.shown, position === undefined ? -1 : position);
    var kind = kinds.find(function (one) { return one[0] === now.is; });
    status.textContent = told + (found.shown.length ? V.count(found.shown.length) + (found.shown.length === 1 ? " sample" : " samples") : "No samples") + (kind[0] === "all" ? "" : ": " + kind[2]) + progress + ".";
    if (isMove && list.place() < 0 && found.shown.length) { return open(found.shown[0], false); }
    if (isMove && !found.shown.length) {
      now.id = "";
      card.replaceChildren(V.make("p", { "class": "missing", text: "No samples: " + kind[2] + progress + "." }));
      keepAddress(false);
      return null;
    }
    return isMove && position !== undefined ? open(position, false) : null;
  }

  var steps = {
    has: function (step) { var to = list.place() + step; return to >= 0 && to < list.length(); },
    go: function (step) { if (list.length() && (list.place() < 0 || steps.has(step))) { open(list.position(Math.max(list.place() + step, 0)), false, step); } }
  };

  async function open(position, isNew, step) {
    var mine = turn += 1, pair = [now.a, now.b], track = run.tracks.find(function (one) { return one.name === now.track; });
    now.id = index.ids[position];
    list.select(list.position(list.place()) === position ? list.place() : placeOf(position));
    keepAddress(isNew);
    var flip = V.flips(index, now.a, now.b).get(position), groups = index.groups.filter(function (group) { return group[2][position] >= 0; });
    var about = {
      index: index, position: position, id: now.id, pair: pair, title: track.title, place: list.place(), length: list.length(), link: address(now.id),
      cause: flip === undefined ? null : run.causes[flip], groups: groups.map(function (group) { return group[0] + " " + group[1][group[2][position]]; })
    };
    try {
      var item = await V.item(index, position);
      if (mine !== turn) { return; }
      var hadFocus = card.contains(document.activeElement), wasCard = document.activeElement === card;
      V.card(card, run, item, about, steps);
      if (hadFocus && !wasCard) {
        var again = step && card.querySelector('[data-step="' + step + '"]:not(:disabled)');
        (again || card).focus({ preventScroll: true });
      }
      if (step || card.contains(document.activeElement)) { at("said").textContent = (about.place + 1) + " of " + about.length + ": " + describe(position).label; }
      var next = V.pageOf(index, list.position(Math.min(list.place() + 1, list.length() - 1)) || 0);
      if (next !== V.pageOf(index, position)) { V.page(index.folder, next).catch(function () {}); }
    } catch (error) {
      if (mine === turn) { card.replaceChildren(V.make("h3", { id: "v-title", text: now.id }), V.make("p", { "class": "missing", text: error.message + ". Scores above are unaffected." })); }
    }
  }

  function placeOf(position) {
    for (var place = 0; place < list.length(); place += 1) { if (list.position(place) === position) { return place; } }
    return -1;
  }

  /* stays: the card keeps what it says, though samples were found. */
  function search(stays) {
    var mine = searching += 1, of = index;
    hits = null;
    progress = "";
    if (!now.q) { refresh(true); return; }
    V.search(index, now.q, function () { return mine === searching && of === index; }, function (found, done, total, missing) {
      if (mine !== searching || of !== index) { return; }
      hits = found;
      progress = ", “" + now.q + "” " + (done < total ? "searched in " + V.count(done) + " of " + V.count(total) + " files" : "found") + (missing ? ", " + V.count(missing) + " files missing" : "");
      refresh(!stays && (done === total || list.place() < 0));
    });
  }

  async function show(wanted, isFirst) {
    var track = run.tracks.find(function (one) { return one.name === wanted.track; }) || run.tracks[0];
    if (!index || now.track !== track.name) {
      index = await V.track(track.folder);
      now.track = track.name;
      V.hidden.clear();
    }
    var found = V.address.resolve(run, index, track, wanted);
    Object.assign(now, found.now);
    order = V.order(index, now.a, now.b);
    fillControls();
    hits = null;
    progress = "";
    searching += 1;
    told = found.notes;
    if (now.q) { search(found.absent !== null); } else { refresh(!now.id && !found.absent); }
    if (now.id) { await open(index.positions.get(now.id), false); }
    if (found.absent) { V.absent(card, found.absent); }
    if (!isFirst || wanted.track) { arrive(Boolean(wanted.id)); }
    isQuiet = false;
  }

  /* The place of a link: the viewer, or in a narrow window its sample. */
  function arrive(hasSample) {
    var isCard = hasSample && at("side").offsetWidth > root.offsetWidth / 2;
    (isCard ? card : root).scrollIntoView({ behavior: "instant" });
    (isCard ? card : at("list")).focus({ preventScroll: true });
  }

  function start() {
    started = started || V.run().then(function (found) {
      run = found;
      if (!run.tracks.length) { status.textContent = "This run has no sample yet."; return null; }
      return show(V.address.read(location.hash) || {}, true);
    }).catch(function (error) {
      status.textContent = error.message + ". Scores above are unaffected.";
      root.classList.add("v-broken");
      if (still) { still.hidden = false; }
    });
    return started;
  }

  /* controls */
  function change(name, isOrder) {
    at(name).addEventListener("change", function () {
      if (!run) { return; }
      if (name === "track") { show({ track: at("track").value, keep: [now.a, now.b] }).then(function () { at("track").focus(); }); return; }
      now[name] = name === "a" || name === "b" ? Number(at(name).value) : at(name).value;
      if (name === "a" && now.a === now.b) { now.b = -1; }
      if (name === "cause" && now.cause) { now.is = "flip"; }
      again(isOrder);
    });
  }
  function again(isOrder) {
    if (isOrder) { order = V.order(index, now.a, now.b); now.id = ""; now.cause = ""; fillControls(); }
    refresh(true);
  }
  function swap() { if (run && now.b >= 0) { var a = now.a; now.a = now.b; now.b = a; again(true); } }
  ["track", "group", "cause"].forEach(function (name) { change(name, false); });
  ["a", "b"].forEach(function (name) { change(name, true); });
  at("swap").addEventListener("click", swap);
  var typing = 0;
  at("q").addEventListener("input", function () {
    clearTimeout(typing);
    typing = setTimeout(function () { if (run) { now.q = at("q").value.trim(); search(); } }, 150);
  });
  root.querySelector("form").addEventListener("submit", function (event) { event.preventDefault(); });
  card.addEventListener("click", function (event) {
    if (event.target.closest(".v-link")) { event.preventDefault(); copy(); }
  });

  function copy() {
    var text = location.href.replace(/#.*$/, "") + address(now.id), said = "Link copied";
    keepAddress(true);
    function failed() { at("said").textContent = status.textContent = "The link stands in the address bar"; }
    tellFrame("copy", address(now.id));
    if (!navigator.clipboard || window.parent !== window) { failed(); return; }
    navigator.clipboard.writeText(text).then(function () { at("said").textContent = status.textContent = said; }, failed);
  }

  /* What a link asked for in vain is told until somebody does something. */
  ["click", "change", "input", "keydown"].forEach(function (name) { root.addEventListener(name, function () { told = ""; }, true); });

  /* keys */
  var dialog = at("dialog"), areKeysOn = true;
  try { areKeysOn = localStorage.getItem("bakeoff-keys") !== "off"; } catch (e) { /* blocked storage */ }
  at("keys-on").checked = areKeysOn;
  at("keys-on").addEventListener("change", function () {
    areKeysOn = at("keys-on").checked;
    try { localStorage.setItem("bakeoff-keys", areKeysOn ? "on" : "off"); } catch (e) { /* blocked storage */ }
  });
  at("help").addEventListener("click", function () { dialog.showModal(); });
  at("close").addEventListener("click", function () { dialog.close(); });

  var keys = {
    j: function () { steps.go(1); }, k: function () { steps.go(-1); }, x: swap,
    "/": function () { at("q").focus(); at("q").select(); },
    "?": function () { dialog.showModal(); },
    f: function () { now.is = now.is === "flip" ? "all" : "flip"; refresh(true); },
    t: function () { toggle("target"); }, c: copy,
    z: function () { V.nextZoom(); V.redraw(); },
    o: function () { var button = card.querySelector(".v-original"); if (button) { button.click(); } },
    d: function () { V.showsDifference = !V.showsDifference; if (now.id) { open(index.positions.get(now.id), false); } },
    p: function () { var found = card.querySelector('[data-fold="prompt"]'); if (found) { found.open = !found.open; } }
  };
  function toggle(key) {
    if (V.hidden.has(key)) { V.hidden.delete(key); } else { V.hidden.add(key); }
    if (V.redraw) { V.redraw(); }
  }
  root.addEventListener("keydown", function (event) {
    if (!run || !index || dialog.open || event.ctrlKey || event.metaKey || event.altKey) { return; }
    var isField = event.target.matches("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape") {
      if (event.target === at("q") && at("q").value) { at("q").value = now.q = ""; search(); } else { at("list").focus(); }
      event.preventDefault();
      return;
    }
    if (event.key === "Enter" && event.target === at("list")) { card.focus(); event.preventDefault(); return; }
    if (isField || !areKeysOn) { return; }
    var act = /^[1-9]$/.test(event.key) ? function () { toggle(Number(event.key) - 1); } : Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (act) { event.preventDefault(); act(); }
  });

  window.addEventListener("hashchange", function () {
    var wanted = V.address.read(location.hash);
    if (!wanted) { return; }
    if (!started) { start(); return; }
    started.then(function () { if (run && run.tracks.length && address(now.id) !== location.hash) { show(wanted, false); } });
  });
  if (V.address.read(location.hash)) {
    root.scrollIntoView({ behavior: "instant" });
    start();
  }
  else {
    new IntersectionObserver(function (entries, watch) {
      if (entries.some(function (entry) { return entry.isIntersecting; })) { watch.disconnect(); start(); }
    }, { rootMargin: "400px" }).observe(root);
  }
})();
