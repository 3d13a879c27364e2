/** The table of runs. */

import { get } from "./api.js";
import { $, h } from "./dom.js";
import { count, counted, fileSize, instant } from "./format.js";
import { badgeChip, scoreLine, statusChip } from "./rows.js";
import { onLive } from "./shell.js";

const MOST_SCORES = 4;
let rows = null;
const picked = new Set();

function line(row) {
  const scores = row.scores.slice(0, MOST_SCORES).map(scoreLine);
  const more = row.scores.length - MOST_SCORES;
  const none = row.status === "unreadable" ? "not known" : "none";
  return h("tr", { "data-run": row.run },
    h("td", { class: "pick" }, h("label", {}, h("span", { class: "unseen" }, `Choose ${row.run} for comparing`), h("input", { type: "checkbox", value: row.run, checked: picked.has(row.run), onchange: pick }))),
    h("th", { scope: "row" }, h("a", { href: `/runs/${encodeURIComponent(row.run)}` }, instant(row.created)), h("small", { class: "headline" }, h("br"), row.run)),
    h("td", { class: "arms" }, h("span", { class: "label" }, "arms"), row.arms.join(", ") || none),
    h("td", {}, h("span", { class: "label" }, "tracks"), row.tracks.join(", ") || none),
    h("td", {}, statusChip(row), row.status !== "complete" && row.selected ? h("p", { class: "headline" }, counted(row.answered, row.selected)) : null, row.status === "failed gate" ? h("p", { class: "headline" }, row.gates.join("; ")) : null),
    h("td", {}, badgeChip(row)),
    h("td", { class: "wide" }, h("ul", { class: "scores" }, scores), more > 0 ? h("p", { class: "headline" }, `and ${count(more)} more`) : null, row.problem ? h("p", { class: "fine bad" }, row.problem) : null),
    h("td", { class: "number nowrap" }, h("span", { class: "label" }, "size"), fileSize(row.bytes)));
}

function show() {
  if (!rows.length) {
    $("runs").replaceChildren(h("p", { class: "sentence" }, "No runs yet."), h("p", {}, h("a", { class: "button", href: "/" }, "Start one"), " or type "), h("pre", {}, "uv run pytest tests_bench"));
    return;
  }
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => {
    const text = [row.run, row.created, row.status, row.badge, row.headline, ...row.arms, ...row.models, ...row.tracks].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  $("shown").textContent = words.length ? `${count(found.length)} of ${count(rows.length)} runs` : `${count(rows.length)} runs`;
  $("runs").replaceChildren(h("table", { class: "runs" }, h("caption", { class: "unseen" }, "Runs, the newest first"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "unseen" }, "Choose")), ["Started", "Arms", "Tracks", "Status", "Badge", "Scores × 100, 95% interval"].map((text) => h("th", { scope: "col" }, text)), h("th", { scope: "col", class: "number" }, "Size"))),
    h("tbody", {}, found.map(line))));
}

function pick(event) {
  if (event.target.checked) picked.add(event.target.value);
  else picked.delete(event.target.value);
  $("compare").disabled = picked.size !== 2;
  $("compare").textContent = picked.size === 2 ? "Compare these two" : `Compare two (${picked.size} chosen)`;
}

async function load() {
  rows = await get("/runs.json");
  show();
}

$("filter").addEventListener("input", () => rows && show());
$("compare").addEventListener("click", () => {
  const [a, b] = [...picked].sort();
  location.assign(`/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
});
let phase;
onLive({ state(live) {
  if (phase !== undefined && live?.phase !== phase) load();
  phase = live?.phase ?? null;
} });
load().catch((problem) => $("runs").replaceChildren(h("p", { class: "notice bad" }, problem.message)));
