(function () {
  "use strict";
  var root = document.documentElement, button = document.getElementById("theme");
  var names = ["auto", "light", "dark"], now = "auto";
  function show(name) {
    now = name;
    if (name === "auto") { root.removeAttribute("data-theme"); } else { root.setAttribute("data-theme", name); }
    button.textContent = "Theme: " + name;
  }
  try { var kept = localStorage.getItem("bakeoff-theme"); if (names.indexOf(kept) > 0) { show(kept); } } catch (e) { /* blocked storage */ }
  button.hidden = false;
  button.addEventListener("click", function () {
    show(names[(names.indexOf(now) + 1) % names.length]);
    try { localStorage.setItem("bakeoff-theme", now); } catch (e) { /* blocked storage */ }
  });
  /* Browsers that cannot show what is folded by style alone unfold it in wide windows. */
  if (!CSS.supports("selector(details::details-content)") && window.matchMedia("(min-width: 861px)").matches) {
    document.querySelectorAll(".on-phone").forEach(function (fold) { fold.open = true; });
  }
  /* In a frame of the web app, whose switch rules both; nothing but a name of ours is taken. */
  window.addEventListener("message", function (event) {
    var name = event.data && event.data.bakeoffTheme;
    if (event.source === window.parent && names.indexOf(name) >= 0) { show(name); button.hidden = true; }
  });
  /* A link to a folded track opens it. */
  function unfold() {
    var place = document.getElementById(location.hash.slice(1)), fold = place && place.nextElementSibling;
    if (fold && fold.matches("details.of-track")) { fold.open = true; }
  }
  window.addEventListener("hashchange", unfold);
  unfold();
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (fold) { fold.open = true; });
  });
})();
