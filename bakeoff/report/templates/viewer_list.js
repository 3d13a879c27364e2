(function () {
  "use strict";
  /* A list of any length: only the rows in sight stand in the document. */
  var V = window.bakeoffViewer, ROW = 40, SPARE = 6;

  V.List = function (box, rows, describe, open) {
    var shown = [], at = -1;

    function row(place) {
      var found = describe(shown[place]);
      var node = V.make("div", {
        id: "v-row-" + place, "class": "v-row", role: "option", "aria-setsize": shown.length, "aria-posinset": place + 1,
        "aria-selected": place === at ? "true" : "false", "aria-label": found.label
      }, V.make("span", { "class": "v-id", text: found.id }));
      found.signs.forEach(function (sign) { node.append(V.make("span", { "class": "v-sign " + sign[0], "aria-hidden": "true", text: sign[1] })); });
      if (found.tally) { node.append(V.make("span", { "class": "v-tally", "aria-hidden": "true", text: found.tally })); }
      node.style.top = place * ROW + "px";
      node.dataset.place = place;
      return node;
    }

    function render() {
      var first = Math.max(Math.floor(box.scrollTop / ROW) - SPARE, 0);
      var last = Math.min(Math.ceil((box.scrollTop + box.clientHeight) / ROW) + SPARE, shown.length);
      var nodes = [];
      for (var place = first; place < last; place += 1) { nodes.push(row(place)); }
      if (at >= 0 && (at < first || at >= last)) { nodes.push(row(at)); }
      rows.replaceChildren.apply(rows, nodes);
      if (at >= 0) { box.setAttribute("aria-activedescendant", "v-row-" + at); } else { box.removeAttribute("aria-activedescendant"); }
    }

    this.head = function (nodes) { box.previousElementSibling.replaceChildren.apply(box.previousElementSibling, nodes); };

    this.show = function (positions, position) {
      shown = positions;
      rows.style.height = shown.length * ROW + "px";
      box.setAttribute("aria-label", "Samples, flips first: " + V.count(shown.length));
      this.select(shown.indexOf(position));
    };

    this.select = function (place) {
      at = place;
      if (at >= 0) {
        if (at * ROW < box.scrollTop) { box.scrollTop = at * ROW; }
        if ((at + 1) * ROW > box.scrollTop + box.clientHeight) { box.scrollTop = (at + 1) * ROW - box.clientHeight; }
      }
      render();
    };

    this.place = function () { return at; };
    this.length = function () { return shown.length; };
    this.position = function (place) { return shown[place]; };

    box.addEventListener("scroll", function () { requestAnimationFrame(render); });
    rows.addEventListener("click", function (event) {
      var found = event.target.closest(".v-row");
      if (found) { open(Number(found.dataset.place)); }
    });
    box.addEventListener("keydown", function (event) {
      var page = Math.max(Math.floor(box.clientHeight / ROW) - 1, 1);
      var to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: shown.length - 1 }[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || !shown.length) { return; }
      event.preventDefault();
      open(Math.min(Math.max(to, 0), shown.length - 1));
    });
    new ResizeObserver(function () { requestAnimationFrame(render); }).observe(box);
  };
})();
