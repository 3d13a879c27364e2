(function () {
  "use strict";
  /* Where labels of boxes stand: hiding no box and no other label, else below the picture; far ones get a leader. */
  var V = window.bakeoffViewer, GAP = 5, STEPS = 5, EDGE = 3;

  function meets(one, other) {
    return one[0] < other[0] + other[2] && other[0] < one[0] + one[2] && one[1] < other[1] + other[3] && other[1] < one[1] + one[3];
  }

  function crosses(line, box) {
    if (!line) { return false; }
    for (var part = 1; part < 16; part += 1) {
      var x = line[0] + (line[2] - line[0]) * part / 16, y = line[1] + (line[3] - line[1]) * part / 16;
      if (x > box[0] && x < box[0] + box[2] && y > box[1] && y < box[1] + box[3]) { return true; }
    }
    return false;
  }

  function between(value, low, high) { return Math.max(low, Math.min(value, high)); }

  /* The places around a box, nearest first. */
  function around(box, wide, high, area, isBelowFirst) {
    var tries = [];
    for (var step = 0; step < STEPS; step += 1) {
      var away = GAP + step * (high + 2), above = box[1] - away - high, below = box[1] + box[3] + away;
      var left = box[0] - away - wide, right = box[0] + box[2] + away;
      var starts = [box[0], box[0] + box[2] - wide].map(function (x) { return between(x, 0, area[0] - wide); });
      var tops = [box[1], box[1] + box[3] - high].map(function (y) { return between(y, 0, area[1] - high); });
      [0, 1].forEach(function (side) {
        var rows = isBelowFirst ? [below, above] : [above, below], columns = isBelowFirst ? [left, right] : [right, left];
        rows.forEach(function (y) { tries.push([starts[side], y]); });
        columns.forEach(function (x) { tries.push([x, tops[side]]); });
      });
    }
    return tries;
  }

  /* From the label's nearest point to the nearest point of the box; null where they nearly touch. */
  function leader(label, box) {
    var x = between(box[0] + box[2] / 2, label[0], label[0] + label[2]), y = between(box[1] + box[3] / 2, label[1], label[1] + label[3]);
    var to = [between(x, box[0], box[0] + box[2]), between(y, box[1], box[1] + box[3])];
    return Math.hypot(to[0] - x, to[1] - y) > 3 * GAP ? [x, y, to[0], to[1]] : null;
  }

  /* labels: [{wide, high, box, isBelowFirst}], hidden: boxes no label may cover, area: [width, height]; all in drawn
     pixels, boxes as [x, y, width, height]. Returns {places: [[x, y, leader or null]], height of what lies below}. */
  V.labels = function (labels, hidden, area) {
    var taken = hidden.map(function (box) { return [box[0] - EDGE, box[1] - EDGE, box[2] + 2 * EDGE, box[3] + 2 * EDGE]; });
    var set = [], next = [0, area[1] + GAP], bottom = 0;
    var places = labels.map(function (label) {
      var at = around(label.box, label.wide, label.high, area, label.isBelowFirst).find(function (place) {
        var found = [place[0], place[1], label.wide, label.high];
        var line = leader(found, label.box);
        return place[0] >= 0 && place[1] >= 0 && place[0] + label.wide <= area[0] && place[1] + label.high <= area[1] &&
          !taken.some(function (other) { return meets(found, other); }) && !set.some(function (other) { return crosses(line, other); });
      });
      if (!at) {
        if (next[0] && next[0] + label.wide > area[0]) { next = [0, next[1] + label.high + 2]; }
        at = next.slice();
        next[0] += label.wide + GAP;
        bottom = at[1] + label.high - area[1];
      }
      var found = [at[0], at[1], label.wide, label.high];
      taken.push(found);
      set.push(found);
      return [at[0], at[1], leader(found, label.box)];
    });
    return { places: places, below: bottom };
  };
})();
