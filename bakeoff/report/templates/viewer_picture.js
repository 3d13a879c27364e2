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
      var drawn = V.zoom ? width * V.zoom : fit, scale = drawn / width, taken = [];
      stage.style.width = drawn + "px";
      stage.style.height = height * scale + "px";
      frame.classList.toggle("zoomed", V.zoom > 0);
      if (V.zoom) { frame.tabIndex = 0; frame.setAttribute("role", "region"); frame.setAttribute("aria-label", about.label + ", enlarged; arrows move it"); }
      else { ["tabindex", "role", "aria-label"].forEach(function (name) { frame.removeAttribute(name); }); }
      stage.querySelectorAll(".overlay, .v-tag").forEach(function (node) { node.remove(); });
      if (!isFirst) { return; }
      var svg = V.draw("svg", { "class": "overlay", viewBox: "0 0 " + width + " " + height, "aria-hidden": "true" });
      var casings = V.draw("g", {}), edges = V.draw("g", {});
      svg.append(casings, edges);
      stage.append(svg);
      spots.forEach(function (spot) {
        if (V.hidden.has(spot.key)) { return; }
        outline(spot, scale, casings, edges);
        tag(spot, scale, taken);
      });
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

    /* A tag stands where it hides neither the box nor another tag: above, below, to the right, to the left. */
    function tag(spot, scale, taken) {
      if (spot.dash === "dash2") { return; }
      var node = V.make("span", { "class": "v-tag " + spot.kind, "aria-hidden": "true", text: spot.name });
      stage.append(node);
      var edges = spot.box || [spot.point[0], spot.point[1], 0, 0], wide = node.offsetWidth, high = node.offsetHeight;
      var space = [stage.clientWidth - wide, stage.clientHeight - high];
      var gap = spot.box ? 4 : 12, x = edges[0] * scale, y = edges[1] * scale, far = (edges[0] + edges[2]) * scale + gap;
      var inside = Math.max(Math.min(x, space[0]), 0), above = [inside, y - high - gap], below = [inside, y + edges[3] * scale + gap];
      var right = [far, y], left = [x - wide - gap, y], tries = [];
      (spot.key === "target" ? [below, left, right, above] : [above, right, left, below]).forEach(function (place, side, all) {
        for (var step = 0; step < 4; step += 1) {
          tries.push([place[0], place[1] + (place === above ? -step : step) * (high + 2), step * all.length + side]);
        }
      });
      var place = tries.sort(function (a, b) { return a[2] - b[2]; }).find(function (at) {
        return at[0] >= 0 && at[0] <= space[0] && at[1] >= 0 && at[1] <= space[1] && !taken.some(function (other) {
          return at[0] < other[0] + other[2] && other[0] < at[0] + wide && at[1] < other[1] + other[3] && other[1] < at[1] + high;
        });
      });
      if (!place) { node.remove(); return; }
      node.style.left = place[0] + "px";
      node.style.top = place[1] + "px";
      taken.push([place[0], place[1], wide, high]);
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
