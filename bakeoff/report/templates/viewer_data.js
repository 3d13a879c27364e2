(function () {
  "use strict";
  /* Loads data files. Each is a script that calls bakeoffSamples once: browsers refuse fetch beside a file. */
  var V = window.bakeoffViewer = {}, arrived = new Map(), pages = new Map(), KEPT = 8;
  V.RIGHT = 1; V.WRONG = 2; V.CUT = 4; V.UNPARSED = 8; V.ERROR = 16;

  window.bakeoffSamples = function (content) {
    arrived.set([content.kind, content.folder, content.page].join("/"), content);
  };

  function load(path, kind, folder, page) {
    var key = [kind, folder, page].join("/"), root = document.getElementById("viewer").dataset.folder;
    return new Promise(function (resolve, reject) {
      var script = document.createElement("script");
      script.src = root + path;
      script.onload = function () {
        var content = arrived.get(key);
        arrived.delete(key);
        script.remove();
        if (content) { resolve(content); } else { reject(new Error(root + path + " is not a data file of this page")); }
      };
      script.onerror = function () {
        script.remove();
        reject(new Error(root + path + " is missing next to this file"));
      };
      document.head.append(script);
    });
  }

  V.run = function () { return load("index.js", "run"); };

  V.track = function (folder) {
    return load(folder + "/index.js", "track", folder).then(function (index) {
      index.positions = new Map(index.ids.map(function (id, position) { return [id, position]; }));
      index.flips = new Map();
      return index;
    });
  };

  /* Pages are kept, the last used ones: a search may pass through hundreds of them. */
  V.page = function (folder, number) {
    var key = folder + "/" + number, found = pages.get(key);
    if (!found) {
      found = load(folder + "/page-" + String(number).padStart(3, "0") + ".js", "page", folder, number);
      found.catch(function () { pages.delete(key); });
    }
    pages.delete(key);
    pages.set(key, found);
    if (pages.size > KEPT) { pages.delete(pages.keys().next().value); }
    return found;
  };

  V.pageOf = function (index, position) {
    var low = 0, high = index.pages.length - 1;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (index.pages[middle] <= position) { low = middle; } else { high = middle - 1; }
    }
    return low;
  };

  V.item = function (index, position) {
    var number = V.pageOf(index, position);
    return V.page(index.folder, number).then(function (page) { return page.items[position - index.pages[number]]; });
  };

  V.count = function (number) { return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f"); };

  /* Text only ever becomes a text node. */
  V.make = function (name, attributes) {
    var node = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) {
      if (key === "text") { node.textContent = attributes[key]; } else { node.setAttribute(key, attributes[key]); }
    });
    for (var i = 2; i < arguments.length; i += 1) { if (arguments[i]) { node.append(arguments[i]); } }
    return node;
  };

  V.draw = function (name, attributes) {
    var node = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.keys(attributes).forEach(function (key) { node.setAttribute(key, attributes[key]); });
    return node;
  };

  V.mark = function (kind) {
    var svg = V.draw("svg", { "class": "mark", viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" });
    var group = V.draw("g", { "class": "shape " + kind });
    if (kind === "gguf") { group.append(V.draw("rect", { x: -4.2, y: -4.2, width: 8.4, height: 8.4 })); }
    else if (kind === "coreai") { group.append(V.draw("path", { d: "M0-5.4 5 3.6H-5Z" })); }
    else if (kind === "cross") { group.append(V.draw("path", { d: "M-4-4 4 4M-4 4 4-4" })); }
    else { group.append(V.draw("circle", { r: kind === "ring" ? 3.8 : 4.5 })); }
    svg.append(group);
    return svg;
  };
})();
