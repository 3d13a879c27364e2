/** One run: its report and viewer, and what can be done with it. */

import { files, get, post } from "./api.js";
import { $, h, tell } from "./dom.js";
import { counted, instant } from "./format.js";
import { frame, wanted } from "./framed.js";
import { badgeChip, statusChip } from "./rows.js";

const name = $("run").dataset.run;
const base = `/api/runs/${encodeURIComponent(name)}`;
const FORMS = [["csv", "CSV"], ["parquet", "Parquet"], ["inspect", "Inspect log"], ["hf", "Hugging Face"], ["markdown", "Markdown"]];

const WITHOUT_REPORT = { running: "The report is written when the run ends.", unreadable: "Without its manifest the run has no report." };

function showStatus(row) {
  const parts = [statusChip(row), badgeChip(row), h("span", { class: "fine" }, instant(row.created)),
    h("span", { class: "fine" }, row.arms.join(", ")), row.selected ? h("span", { class: "fine" }, `${counted(row.answered, row.selected)} answered`) : null];
  $("status").replaceChildren(...parts.filter(Boolean));
  if (row.problem) tell($("said-here"), row.problem);
}

async function act(button, work) {
  button.disabled = true;
  tell($("said-here"), "Working…", "");
  try {
    const said = await work();
    tell($("said-here"), said || "", "good");
  } catch (problem) {
    tell($("said-here"), problem.message);
  }
  button.disabled = false;
}

function button(text, onclick, kind = "") {
  return h("button", { type: "button", class: `button ${kind}`, onclick: (event) => onclick(event.currentTarget) }, text);
}

function panel(...children) { $("panel").replaceChildren(...children); }

async function load() {
  const row = await get(`/runs/${encodeURIComponent(name)}.json`);
  showStatus(row);
  const isIdle = row.status !== "running", isRead = row.status !== "unreadable", isOurs = isIdle && isRead;
  $("actions").replaceChildren(...[
    row.status === "partial" || (row.scores.some((found) => found.errors) && isIdle) ? button("Resume", (self) => act(self, async () => { await post(`${base}/resume`, {}); location.assign("/live"); }), "primary") : null,
    isRead ? h("a", { class: "button", href: `/compare?a=${encodeURIComponent(name)}` }, "Compare") : null,
    isOurs ? button("Rescore", rescore) : null,
    isOurs ? button("Rebuild report", (self) => act(self, async () => { await post(`${base}/report`, {}); await load(); return "The report is built again."; })) : null,
    isRead ? button("Export", exports_) : null,
    isIdle ? button("Delete", remove, "danger") : null,
  ].filter(Boolean));
  await show(row);
}

async function rescore(self) {
  await act(self, async () => {
    const { text } = await post(`${base}/rescore`, { dry: true });
    panel(h("pre", { tabindex: 0 }, text), h("div", { class: "toolbar" },
      button("Write these scores", (own) => act(own, async () => { const done = await post(`${base}/rescore`, { dry: false }); panel(h("pre", { tabindex: 0 }, done.text)); await load(); return "Scored again."; }), "primary"),
      button("Leave it", () => panel())));
    return "This is what would change; nothing is written yet.";
  });
}

function exports_() {
  panel(h("div", { class: "toolbar" }, FORMS.map(([form, title]) => button(title, (self) => act(self, async () => {
    const done = await post(`${base}/export`, { form });
    const root = `${await files()}/exports/${encodeURIComponent(done.folder)}`;
    panel(h("ul", {}, done.files.map((file) => h("li", {}, h("a", { href: `${root}/${file.split("/").map(encodeURIComponent).join("/")}`, download: true }, file)))));
    return "Ready to save.";
  })))));
}

function remove() {
  const typed = h("input", { type: "text", id: "confirm", autocomplete: "off", spellcheck: "false" });
  const go = h("button", { type: "button", class: "button danger", disabled: true, onclick: (event) => act(event.currentTarget, async () => {
    await post(`${base}/delete`, { confirm: typed.value });
    location.assign("/runs");
  }) }, "Delete for good");
  typed.addEventListener("input", () => { go.disabled = typed.value !== name; });
  panel(h("div", { class: "notice differs" }, `This deletes the folder of run ${name} with all its answers.`),
    h("div", { class: "toolbar" }, h("label", { class: "inline-label", for: "confirm" }, "Type its name", typed), go, button("Keep it", () => panel())));
  typed.focus();
}

async function show(row) {
  if (!row.has_report) {
    $("tabs").replaceChildren();
    $("report").replaceChildren(h("p", { class: "sentence" }, WITHOUT_REPORT[row.status] ?? "There is no report yet; “Rebuild report” makes one."));
    return;
  }
  const root = `${await files()}/runs/${encodeURIComponent(name)}`;
  const first = wanted();
  const places = [["Report", "report.html"], ["Samples", `report.html${first || "#samples"}`]];
  const tabs = places.map(([title, path]) => h("button", { type: "button", class: "button", "aria-pressed": "false", onclick: (event) => {
    tabs.forEach((tab) => tab.setAttribute("aria-pressed", String(tab === event.currentTarget)));
    $("report").replaceChildren(frame(`${root}/${path}`, `${title} of run ${name}`));
  } }, title));
  $("tabs").replaceChildren(...tabs);
  tabs[first ? 1 : 0].click();
}

load().catch((problem) => tell($("said-here"), problem.message));
