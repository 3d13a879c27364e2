(function () {
  "use strict";
  /* Which samples are shown and in which order: one pass over the columns of a track. */
  var V = window.bakeoffViewer;

  V.state = function (index, arm, position) { return arm < 0 ? 0 : index.states[arm].charCodeAt(position) - 48; };

  function isTried(state) { return state !== 0; }
  function isRight(state) { return (state & V.RIGHT) !== 0; }
  function isFlip(x, y) { return isTried(x) && isTried(y) && isRight(x) !== isRight(y); }

  V.kinds = function (pair, names) {
    var a = names[pair[0]], both = pair[1] >= 0;
    function either(bit) { return function (x, y) { return ((x | y) & bit) !== 0; }; }
    return [
      ["all", "all", "all samples", function () { return true; }],
      both && ["flip", "flips", "one arm is right, the other is not", isFlip],
      both && ["lost", "lost", names[pair[1]] + " right, " + a + " not", function (x, y) { return isFlip(x, y) && isRight(y); }],
      both && ["gained", "gained", a + " right, " + names[pair[1]] + " not", function (x, y) { return isFlip(x, y) && isRight(x); }],
      both && ["bothwrong", "both wrong", "neither arm is right", function (x, y) { return isTried(x) && isTried(y) && !isRight(x) && !isRight(y); }],
      ["right", both ? "first arm right" : "right", a + " is right", function (x) { return isRight(x); }],
      ["wrong", both ? "first arm wrong" : "wrong", a + " is wrong", function (x) { return (x & V.WRONG) !== 0; }],
      ["truncated", "cut off", "an answer was cut off at the limit", either(V.CUT)],
      ["unparsed", "unparsed", "no answer could be read from an output", either(V.UNPARSED)],
      ["error", "errors", "an arm has no valid output", either(V.ERROR)],
      ["none", "no record", "an arm has not tried the sample", function (x, y) { return !isTried(x) || (both && !isTried(y)); }]
    ].filter(Boolean);
  };

  /* Cause of each flip of a pair by position; the file has a character for each, in the order of the samples. */
  V.flips = function (index, a, b) {
    if (b < 0) { return new Map(); }
    var key = Math.min(a, b) + "-" + Math.max(a, b), found = index.flips.get(key);
    if (!found) {
      found = new Map();
      var codes = index.causes[key] || "", next = 0;
      index.ids.forEach(function (_, position) {
        if (isFlip(V.state(index, a, position), V.state(index, b, position))) {
          found.set(position, parseInt(codes[next], 36));
          next += 1;
        }
      });
      index.flips.set(key, found);
    }
    return found;
  };

  V.tally = function (index, position) {
    var right = 0, tried = 0;
    index.states.forEach(function (_, arm) {
      var state = V.state(index, arm, position);
      if (isTried(state)) { tried += 1; }
      if (isRight(state)) { right += 1; }
    });
    return [right, tried];
  };

  function rank(index, a, b, position) {
    var x = V.state(index, a, position), y = V.state(index, b, position);
    if (b < 0) { return !isTried(x) ? 3 : isRight(x) ? 2 : 1; }
    if (!isTried(x) || !isTried(y)) { return 5; }
    if (isFlip(x, y)) { return isRight(y) ? 0 : 1; }
    if (isRight(x)) { return 4; }
    return index.answers[a][position] === index.answers[b][position] ? 3 : 2;
  }

  /* Flips first, then both wrong; within each, samples on which more arms part; then by id. */
  V.order = function (index, a, b) {
    var arms = index.states.length + 1, keys = index.ids.map(function (_, position) {
      var found = V.tally(index, position), parted = Math.min(found[0], found[1] - found[0]);
      return rank(index, a, b, position) * arms + arms - 1 - parted;
    });
    return keys.map(function (_, position) { return position; })
      .sort(function (p, q) { return keys[p] - keys[q] || p - q; });
  };

  /* wanted: {a, b, is, group: [dimension, value] or null, cause: number or -1, hits: Set or null} */
  V.choose = function (index, order, wanted, kinds) {
    var flips = V.flips(index, wanted.a, wanted.b), counts = {}, shown = [];
    var codes = wanted.group && index.groups[wanted.group[0]][2];
    kinds.forEach(function (kind) { counts[kind[0]] = 0; });
    order.forEach(function (position) {
      if (codes && codes[position] !== wanted.group[1]) { return; }
      if (wanted.cause >= 0 && flips.get(position) !== wanted.cause) { return; }
      if (wanted.hits && !wanted.hits.has(position)) { return; }
      var x = V.state(index, wanted.a, position), y = V.state(index, wanted.b, position);
      kinds.forEach(function (kind) {
        if (kind[3](x, y)) {
          counts[kind[0]] += 1;
          if (kind[0] === wanted.is) { shown.push(position); }
        }
      });
    });
    return { shown: shown, counts: counts };
  };

  function texts(item) {
    var found = [item.question, item.target].concat(item.options);
    item.answers.forEach(function (answer) {
      if (answer) { found.push(answer.error || answer.output.join("")); }
    });
    return found.join("\n").toLowerCase();
  }

  /* Calls progress(hits, pages done, pages) as pages are read, until isWanted() is false. */
  V.search = async function (index, text, isWanted, progress) {
    var hits = new Set(), needle = text.toLowerCase(), total = index.pages.length, missing = 0;
    index.ids.forEach(function (id, position) { if (id.toLowerCase().includes(needle)) { hits.add(position); } });
    progress(hits, 0, total, 0);
    for (var number = 0; number < total; number += 1) {
      try {
        var page = await V.page(index.folder, number);
        page.items.forEach(function (item, place) {
          if (texts(item).includes(needle)) { hits.add(index.pages[number] + place); }
        });
      } catch (e) { missing += 1; }
      if (!isWanted()) { return; }
      if (number % 16 === 15 || number === total - 1) { progress(hits, number + 1, total, missing); }
    }
  };
})();
