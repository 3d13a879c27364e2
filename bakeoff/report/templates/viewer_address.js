(function () {
  "use strict";
  /* The address: #samples/<track>/<id>?a=…&b=…&is=…&group=…&cause=…&q=… What it names and is not there is told. */
  var V = window.bakeoffViewer, MOST = 5, USUAL = { is: "all", group: "", cause: "", q: "" };
  V.address = {};

  function decode(text) { try { return decodeURIComponent(text || ""); } catch (e) { return text || ""; } }

  V.address.read = function (hash) {
    var found = /^#samples\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(hash);
    if (!found) { return null; }
    var wanted = { track: decode(found[1]), id: decode(found[2]) };
    (found[3] || "").split("&").forEach(function (pair) {
      var cut = pair.indexOf("=");
      if (cut > 0) { wanted[pair.slice(0, cut)] = decode(pair.slice(cut + 1)); }
    });
    return wanted;
  };

  V.address.write = function (run, now, id) {
    var pair = { a: run.arms[now.a].name, b: now.b < 0 ? "" : run.arms[now.b].name, is: now.is, group: now.group, cause: now.cause, q: now.q };
    var parts = Object.keys(pair).filter(function (key) { return pair[key] !== USUAL[key]; }).map(function (key) { return key + "=" + encodeURIComponent(pair[key]); });
    return "#samples/" + encodeURIComponent(now.track) + (id ? "/" + encodeURIComponent(id) : "") + (parts.length ? "?" + parts.join("&") : "");
  };

  V.address.cause = function (run, name) { return run.causes.findIndex(function (cause) { return cause[0] === name; }); };

  V.address.group = function (index, text) {
    for (var d = 0; d < index.groups.length; d += 1) {
      var name = index.groups[d][0];
      if (text.slice(0, name.length + 1) === name + ":") {
        var value = index.groups[d][1].indexOf(text.slice(name.length + 1));
        if (value >= 0) { return [d, value]; }
      }
    }
    return null;
  };

  /* The two arms: those asked for, else those of the first row of the track's differences. */
  function pairOf(run, index, track, wanted) {
    var names = run.arms.map(function (arm) { return arm.name; }), usual = track.pair || [];
    var tried = names.map(function (_, arm) { return arm; }).filter(function (arm) { return /[^0]/.test(index.states[arm]); });
    function other(arm) { return usual.concat(tried).find(function (one) { return one !== arm; }); }
    if (Array.isArray(wanted.keep) && wanted.keep.every(function (arm) { return arm < 0 || tried.indexOf(arm) >= 0; })) { return wanted.keep; }
    var a = names.indexOf(wanted.a), b = names.indexOf(wanted.b);
    if (a < 0) { a = b >= 0 ? other(b) : usual.concat(tried, [0])[0]; }
    if (a === undefined) { a = b; }
    if (b < 0 || b === a) { b = wanted.b === "" ? -1 : other(a); }
    return [a, b === undefined ? -1 : b];
  }

  /* {now: what is shown, notes: what was not found, in words, absent: null or what the card says in its place} */
  V.address.resolve = function (run, index, track, wanted) {
    var pair = pairOf(run, index, track, wanted), notes = [], absent = null, id = wanted.id || "";
    function has(name, kind, isKnown) {
      if (wanted[name] && !isKnown) { notes.push("No " + kind + " “" + wanted[name] + "” in this run."); }
      return wanted[name] && isKnown ? wanted[name] : "";
    }
    ["a", "b"].forEach(function (side) { has(side, "arm", run.arms.some(function (arm) { return arm.name === wanted[side]; })); });
    var now = {
      a: pair[0], b: pair[1], q: wanted.q || "", id: id,
      group: has("group", "group", wanted.group && V.address.group(index, wanted.group) !== null),
      cause: has("cause", "cause", V.address.cause(run, wanted.cause) >= 0),
      is: has("is", "kind of sample", V.kinds(pair, []).some(function (kind) { return kind[0] === wanted.is; })) || "all"
    };
    if (wanted.track && wanted.track !== track.name) {
      absent = { said: "No track “" + wanted.track + "” in this run.", there: "This run has " + (run.tracks.length === 1 ? "one track" : V.count(run.tracks.length) + " tracks") + ":" };
      absent.links = run.tracks.slice(0, 4 * MOST).map(function (one) { return [one.title + " (" + V.count(one.n) + ")", "#samples/" + encodeURIComponent(one.name)]; });
    } else if (id && !index.positions.has(id)) {
      var like = nearest(index.ids, id), ids = index.ids;
      absent = { said: "No sample “" + id + "” on " + track.title + "." };
      absent.there = "Its " + V.count(ids.length) + " samples, from " + ids[0] + " to " + ids[ids.length - 1] + ", are in the list." + (like.length ? " Most like it:" : "");
      absent.links = like.map(function (one) { return [one, V.address.write(run, Object.assign({ track: track.name }, now), one)]; });
    }
    if (absent) { notes.unshift(absent.said); now.id = ""; }
    return { now: now, notes: notes.length ? notes.join(" ") + " " : "", absent: absent };
  };

  /* The ids that hold the text, else those that begin most like it. */
  function nearest(ids, text) {
    var low = text.toLowerCase(), holding = ids.filter(function (id) { return id.toLowerCase().includes(low); });
    for (var length = low.length - 1; !holding.length && length > 2; length -= 1) {
      var head = low.slice(0, length);
      holding = ids.filter(function (id) { return id.toLowerCase().startsWith(head); });
    }
    return holding.slice(0, MOST);
  }

  V.absent = function (card, absent) {
    var links = absent.links.map(function (link) { return V.make("li", {}, V.make("a", { href: link[1], text: link[0] })); });
    var list = V.make("ul", { "class": "v-there" });
    list.append.apply(list, links);
    card.classList.add("v-no-image");
    card.replaceChildren(V.make("h3", { id: "v-title", dir: "auto", text: absent.said }), V.make("p", { "class": "fine", text: absent.there }), links.length ? list : "");
  };
})();
