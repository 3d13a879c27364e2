/** What every page has: the theme switch, the machine, and how long the run that is on still takes. */

import { get } from "./api.js";
import { $ } from "./dom.js";
import { left as inWords, memory } from "./format.js";
import { follow } from "./stream.js";

const names = ["auto", "light", "dark"];
let theme = "auto";
const kept = { read() { try { return localStorage.getItem("bakeoff-theme"); } catch { return null; } },
  write(name) { try { localStorage.setItem("bakeoff-theme", name); } catch { /* blocked storage */ } } };
function show(name) {
  theme = name;
  if (name === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", name);
  $("theme").textContent = `Theme: ${name}`;
}
if (names.includes(kept.read())) show(kept.read());
$("theme").addEventListener("click", () => {
  show(names[(names.indexOf(theme) + 1) % names.length]);
  kept.write(theme);
});

const POWER = { mains: "on mains power", battery: "on battery power" };
get("/api/machine").then(({ memory: total, power }) => {
  $("rail-machine").textContent = [`This machine: ${memory(total)} of memory`, POWER[power]].filter(Boolean).join(", ");
}, () => {});

/** Pages that show more of the live state add themselves here. */
const listeners = [];
export function onLive(on) { listeners.push(on); }
const all = (name) => (data) => listeners.forEach((on) => on[name]?.(data));
listeners.push({
  state(live) {
    const isOn = live && ["running", "stopping"].includes(live.phase);
    const left = isOn ? live.arms.reduce((sum, arm) => sum + (arm.eta_s || 0), 0) : 0;
    const isOpen = isOn && live.arms.some((arm) => arm.eta_s === null && arm.state === "waiting"); // its pace is not known yet
    $("rail-live").textContent = isOn ? (left ? `${isOpen ? "over " : ""}${inWords(left)} left` : live.phase) : "";
  },
});
// After the page's own script has run, so that none misses the first state.
addEventListener("DOMContentLoaded", () => follow({ state: all("state"), log: all("log"), link: all("link") }));
if (document.readyState === "complete") follow({ state: all("state"), log: all("log"), link: all("link") });
