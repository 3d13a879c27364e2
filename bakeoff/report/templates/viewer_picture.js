(function () {
  "use strict";
  /* Images with target and answers drawn over them, in pixels of the image. */
  var V = window.bakeoffViewer, ZOOMS = ["fit", "100%", "200%"];
  V.zoom = 0;
  V.hidden = new Set();

  /* spots: [{key, name, kind, dash, box, point}] */
  V.picture = function (found, about, spots, isFirst) {
    var width = found.width, height = found.height, figure = V.make("figure", { "class": "v-picture" });
    var caption = V.make("figcaption", { "class": "fine" }), words = [about.label];
    if (!found.copy && !found.href) {
      figure.append(V.make("p", { "class": "missing", text: found.missing || "image not found" }), caption);
      caption.textContent = words.join(" · ");
      return figure;
    }
    var stage = V.make("div", { "class": "v-stage" }), frame = V.make("div", { "class": "v-frame" }, stage);
    var image = V.make("img", { alt: about.alt, decoding: "async" });
    var original = found.href && V.make("button", { type: "button", "class": "button v-original", text: "Load the original" });
    var root = document.getElementById("viewer").dataset.folder;
    var broken = { copy: false, file: false };

    function fail(text) {
      stage.replaceChildren(V.make("p", { "class": "missing", text: text }));
      stage.removeAttribute("style");
      if (original) { original.remove(); }
    }

    image.addEventListener("error", function () {
      var isFile = image.dataset.is === "file";
      broken[image.dataset.is] = true;
      if (isFile && found.copy && !broken.copy) {
        caption.firstChild.textContent = words.join(" · ") + " · image not found at " + found.file + ", so the copy is shown";
        from("copy");
      } else if (!isFile && found.href && !broken.file) {
        from("file");
      } else {
        fail(found.missing || "image not found at " + (found.file || root + "thumbnails/" + found.copy));
      }
    });
    image.addEventListener("load", function () {
      if (!width) { width = image.naturalWidth; height = image.naturalHeight; }
      layout();
    });
    function from(where) {
      image.dataset.is = where;
      image.src = where === "file" ? found.href : root + "thumbnails/" + found.copy;
    }
    if (original) {
      original.addEventListener("click", function () {
        from("file");
        original.remove();
        stage.focus({ preventScroll: true });
      });
    }

    function layout() {
      if (!width || !frame.clientWidth) { return; }
      var fit = Math.min(frame.clientWidth, Math.max(width, 320), Math.max(0.7 * window.innerHeight, 240) * width / height);
      var drawn = V.zoom ? width * V.zoom : fit, scale = drawn / width;
      stage.style.width = drawn + "px";
      stage.style.height = height * scale + "px";
      frame.classList.toggle("zoomed", V.zoom > 0);
      if (V.zoom) { frame.tabIndex = 0; frame.setAttribute("role", "region"); frame.setAttribute("aria-label", about.label + ", enlarged; arrows move it"); }
      else { ["tabindex", "role", "aria-label"].forEach(function (name) { frame.removeAttribute(name); }); }
      stage.querySelectorAll(".overlay, .v-leaders, .v-tag").forEach(function (node) { node.remove(); });
      if (!isFirst) { return; }
      var svg = V.draw("svg", { "class": "overlay", viewBox: "0 0 " + width + " " + height, "aria-hidden": "true" });
      var casings = V.draw("g", {}), edges = V.draw("g", {});
      svg.append(casings, edges);
      stage.append(svg);
      var shown = spots.filter(function (spot) { return !V.hidden.has(spot.key); });
      shown.forEach(function (spot) { outline(spot, scale, casings, edges); });
      label(shown, scale);
    }

    /* All casings lie under all edges, so that of two boxes in one place both are seen, one of them dashed. */
    function outline(spot, scale, casings, edges) {
      var paths = [];
      if (spot.box) { paths.push([spot.dash, "M" + spot.box[0] + " " + spot.box[1] + "h" + spot.box[2] + "v" + spot.box[3] + "h" + -spot.box[2] + "Z"]); }
      if (spot.point) {
        var x = spot.point[0], y = spot.point[1], arm = 9 / scale;
        paths.push(["", "M" + (x - arm) + " " + y + "H" + (x + arm) + "M" + x + " " + (y - arm) + "V" + (y + arm)]);
      }
      paths.forEach(function (path) {
        casings.append(V.draw("path", { "class": "casing " + spot.kind, d: path[1] }));
        edges.append(V.draw("path", { "class": "edge " + spot.kind + " " + path[0], d: path[1] }));
      });
    }

    /* The chosen arms and the target have labels; the other arms are told apart by the switches above the picture. */
    function label(shown, scale) {
      var area = [stage.clientWidth, stage.clientHeight], leaders = V.draw("svg", { "class": "v-leaders", viewBox: "0 0 " + area[0] + " " + area[1], "aria-hidden": "true" });
      var extents = shown.map(function (spot) {
        var box = spot.box || [spot.point[0], spot.point[1], 0, 0], arm = spot.box ? 0 : 9;
        function inside(end, side) { return Math.max(0, Math.min(end, area[side])); }
        var left = inside(box[0] * scale - arm, 0), top = inside(box[1] * scale - arm, 1);
        return [left, top, inside((box[0] + box[2]) * scale + arm, 0) - left, inside((box[1] + box[3]) * scale + arm, 1) - top];
      });
      var tags = [];
      shown.forEach(function (spot, number) {
        if (spot.dash === "dash2") { return; }
        var node = V.make("span", { "class": "v-tag " + spot.kind, "aria-hidden": "true", text: spot.name });
        stage.append(node);
        tags.push({ node: node, kind: spot.kind, wide: node.offsetWidth, high: node.offsetHeight, box: extents[number], isBelowFirst: spot.key === "target" });
      });
      var found = V.labels(tags, extents, area);
      found.places.forEach(function (place, number) {
        tags[number].node.style.left = place[0] + "px";
        tags[number].node.style.top = place[1] + "px";
        if (!place[2]) { return; }
        var path = "M" + place[2][0] + " " + place[2][1] + "L" + place[2][2] + " " + place[2][3];
        leaders.append(V.draw("path", { "class": "casing leader " + tags[number].kind, d: path }), V.draw("path", { "class": "edge leader " + tags[number].kind, d: path }));
      });
      image.after(leaders);
      stage.style.marginBottom = found.below + "px";
    }

    if (width) { words.push(V.count(width) + " × " + V.count(height) + " px"); }
    if (!found.copy) { words.push("read from its file, no copy kept"); }
    caption.append(V.make("span", { text: words.join(" · ") }));
    if (original && found.copy) { caption.append(original); }
    stage.append(image);
    figure.append(frame, caption);
    figure.layout = layout;
    new ResizeObserver(function () { requestAnimationFrame(layout); }).observe(frame);
    from(found.copy ? "copy" : "file");
    return figure;
  };

  V.nextZoom = function () {
    V.zoom = (V.zoom + 1) % ZOOMS.length;
    return ZOOMS[V.zoom];
  };
  V.zoomName = function () { return ZOOMS[V.zoom]; };
})();
