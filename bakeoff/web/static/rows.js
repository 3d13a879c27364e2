/** How a run is told in a table or a heading. */

import { h } from "./dom.js";
import { count, counted, interval, score } from "./format.js";

const BADGES = { comparable: ["comparable", "✓ comparable"], differs: ["differs", "≠ differences"], "not comparable": ["not-comparable", "✕ not comparable"] };

export function statusChip(row) {
  const kind = row.status === "failed gate" ? "failed" : row.status;
  return h("span", { class: `chip ${kind}` }, row.status);
}

export function badgeChip(row) {
  const [kind, word] = BADGES[row.badge] || ["", ""];
  return kind ? h("span", { class: `chip ${kind}` }, word) : null;
}

export function scoreLine(found) {
  let text = "no score";
  if (found.n && found.n < 100 && found.right !== null) text = counted(found.right, found.n);
  else if (found.value !== null) text = found.ci95 ? `${score(found.value, found.n)} (${interval(found.ci95, found.n)})` : `${score(found.value, found.n)} (${count(found.n)} answers)`;
  return h("li", {}, `${found.arm}, ${found.track}: `, h("b", {}, text), found.errors ? h("span", { class: "bad" }, ` ${count(found.errors)} ${found.errors === 1 ? "error" : "errors"}`) : null);
}
