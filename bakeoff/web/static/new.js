/** The launcher. */

import { get, post } from "./api.js";
import { $, h, say, tell } from "./dom.js";
import { broken, count, fileSize, time as inWords } from "./format.js";
import { onLive } from "./shell.js";

const NUMBERS = ["limit", "margin", "concurrency", "temperature", "top_k", "top_p", "min_p", "repetition_penalty",
  "seed", "max_tokens", "audit", "max_truncated", "max_errors"];
const WORDS = ["parity", "thinking", "baseline", "undecided"];
const LISTS = ["min_score", "max_drop"];
const PLACES = { embedded: "embedded", disk: "on disk", cache: "on disk", absent: "not downloaded yet",
  missing: "not there", server: "" };

let offer = null;
let preparing = null;
let isBusy = false;

function armRow(arm, isChecked) {
  const off = arm.reason !== null || arm.place === "missing";
  const id = `arm-${arm.name}`;
  const size = arm.bytes === null ? PLACES[arm.place] : `${PLACES[arm.place]}, ${fileSize(arm.bytes)}`;
  return h("div", { class: off ? "choice off" : "choice" },
    h("label", {}, h("input", { type: "checkbox", name: "arm", value: arm.name, id, "data-place": arm.place, checked: isChecked && !off, disabled: off, "aria-describedby": off ? `${id}-why` : null }),
      h("span", {}, arm.name, h("small", {}, arm.location))),
    h("span", { class: "side" }, size),
    off ? h("p", { class: "fine why", id: `${id}-why` }, arm.reason ?? `there is no ${arm.location}`) : null);
}

function showArms(arms) {
  const families = new Map();
  for (const arm of arms) families.set(arm.family, [...(families.get(arm.family) || []), arm]);
  $("arms").replaceChildren(...[...families].map(([family, rows]) =>
    h("fieldset", { class: "family" }, h("legend", {}, family), rows.map((arm) => armRow(arm, arm.is_default)))),
    h("fieldset", { class: "family", id: "typed", hidden: true }, h("legend", {}, "Typed names")));
}

function trackState(row) {
  if (row.prepared === null) return row.can_prepare ? `not prepared, ${count(row.full)} in all` : "none yet";
  if (row.full && row.full > row.prepared) return `${count(row.prepared)} of ${count(row.full)} prepared`;
  return many(row.prepared, "sample");
}

function trackRow(row, isChecked) {
  const off = row.prepared === null && !row.can_prepare;
  const id = `track-${row.name}`;
  return h("div", { class: off ? "choice off" : "choice" },
    h("label", {}, h("input", { type: "checkbox", name: "track", value: row.name, id, checked: isChecked && !off, disabled: off, "data-prepared": row.prepared !== null }),
      h("span", {}, row.title, h("small", {}, trackState(row)))),
    h("span", { class: "side" },
      row.protocols.length > 1 ? h("select", { "data-protocol": row.name, "aria-label": `Protocol of ${row.title}`, disabled: off },
        row.protocols.map((name, place) => h("option", { value: place ? name : "" }, name))) : null,
      h("input", { type: "number", min: 1, step: 1, "data-limit": row.name, placeholder: "as above", disabled: off, "aria-label": `Samples of ${row.title}` })),
    off ? h("p", { class: "fine why" }, row.name === "custom" ? h("a", { href: "/cases" }, "Make a case first") : row.problem) : null);
}

function collect() {
  const checked = (name) => [...document.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value);
  const order = { models: checked("arm"), tracks: checked("track") };
  for (const name of NUMBERS) if ($(name).value !== "") order[name] = Number($(name).value);
  for (const name of WORDS) if ($(name).value) order[name] = $(name).value;
  for (const name of LISTS) {
    const parts = $(name).value.split(",").map((part) => part.trim()).filter(Boolean);
    if (parts.length) order[name] = parts;
  }
  if ($("controls").checked) order.controls = true;
  for (const [key, mark] of [["limits", "limit"], ["protocols", "protocol"]]) {
    const found = [...document.querySelectorAll(`[data-${mark}]`)].filter((field) => field.value && order.tracks.includes(field.dataset[mark]))
      .map((field) => [field.dataset[mark], mark === "limit" ? Number(field.value) : field.value]);
    if (found.length) order[key] = Object.fromEntries(found);
  }
  return order;
}

function fill(order) {
  for (const box of document.querySelectorAll("input[name=arm], input[name=track]")) {
    const among = box.name === "arm" ? order.models : order.tracks;
    box.checked = !box.disabled && among.includes(box.value);
  }
  for (const name of [...NUMBERS, ...WORDS]) $(name).value = order[name] ?? "";
  for (const name of LISTS) $(name).value = (order[name] || []).join(", ");
  $("controls").checked = Boolean(order.controls);
  for (const field of document.querySelectorAll("[data-limit]")) field.value = order.limits?.[field.dataset.limit] ?? "";
  for (const field of document.querySelectorAll("[data-protocol]")) field.value = order.protocols?.[field.dataset.protocol] ?? "";
}

let turn = 0;
async function check() {
  const mine = ++turn;
  const order = collect();
  preparing = null;
  $("sum-prepare").hidden = true;
  if (!order.models.length || !order.tracks.length) {
    $("sum-words").textContent = order.models.length ? "Choose a track." : "Choose an arm.";
    for (const place of ["sum-time", "sum-weights", "command"]) $(place).textContent = "";
    tell($("sum-problem"), "");
    $("start").disabled = true;
    return;
  }
  try {
    const found = await post("/api/order", { ...order, prepare: true });
    if (mine === turn) showOrder(order, found);
  } catch (problem) {
    if (mine !== turn) return;
    tell($("sum-problem"), problem.message);
    $("start").disabled = true;
  }
}

const many = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

function showOrder(order, found) {
  const time = found.estimate;
  $("sum-words").textContent =
    `${many(order.models.length, "arm")} × ${many(order.tracks.length, "track")} = ${many(time.answers, "answer")}` +
    (time.seconds === null ? "." : `, about ${inWords(time.seconds)}.`);
  const absent = [...document.querySelectorAll("input[name=arm][data-place=absent]:checked")].map((box) => box.value);
  $("sum-weights").textContent = !absent.length ? ""
    : `Not on this disk: ${absent.join(", ")}. The weights are fetched from the hub first; how large they are is not known here.`;
  $("sum-time").textContent = time.seconds === null
    ? `No past run on this machine tells how long ${time.unknown.join(", ")} ${time.unknown.length === 1 ? "takes" : "take"}.`
    : `Time from ${many(time.runs, "past run")} on this machine.`;
  $("command").textContent = [found.prepare?.typed, found.typed].filter(Boolean).map(broken).join("\n");
  tell($("sum-problem"), found.warnings.join("\n"), "differs");
  preparing = found.prepare;
  $("sum-prepare").hidden = !preparing;
  if (preparing) showPreparing(preparing);
  $("start").textContent = preparing ? "Prepare, then start" : "Check and start";
  $("start").disabled = isBusy;
}

const asked = new Map(); // by tracks: what the hub says of their files, asked for once

/** What is fetched first, and how much that is, as far as anything tells. */
async function showPreparing(wanted) {
  const tracks = Object.keys(wanted.sizes);
  const put = (told) => $("sum-prepare").replaceChildren(h("div", { class: "notice differs" },
    h("p", {}, "Not all of it is prepared. Fetched from the hub first:"),
    h("ul", {}, tracks.map((track) => h("li", {}, [
      `${track}, ${many(wanted.sizes[track], "sample")}${wanted.here[track] ? ` (${count(wanted.here[track])} are here)` : ""}: `,
      wanted.picture_bytes[track] ? `about ${fileSize(wanted.picture_bytes[track])} of pictures, judged by those that are here; ` : "",
      told(track)]))),
    h("p", {}, "The log says how much it is before any picture is fetched.")));
  put(() => "the hub is asked how large its files are…");
  const key = tracks.join();
  if (!asked.has(key)) {
    asked.set(key, post("/api/sizes", { tracks }).catch((problem) => ({ known: {}, problems: Object.fromEntries(tracks.map((track) => [track, problem.message])) })));
  }
  const { known, problems } = await asked.get(key);
  if (tracks.some((track) => !(track in known))) asked.delete(key); // asked again at the next look
  if (preparing !== wanted) return;
  put((track) => (track in known
    ? `its files on the hub are ${fileSize(known[track])}. At most that is fetched; for a draw, the parts that hold it.`
    : `how large its files on the hub are is not known: ${(problems[track] ?? "no answer").split("\n")[0]}`));
}

let waiting = 0;
const soon = () => { clearTimeout(waiting); waiting = setTimeout(check, 200); };

async function checkTyped() {
  const name = $("typed-name").value.trim();
  $("typed-add").disabled = true;
  if (!name) { $("typed-said").textContent = ""; return; }
  const { arm, problem } = await post("/api/arm", { name });
  if ($("typed-name").value.trim() !== name) return;
  $("typed-said").className = arm && !arm.reason && arm.place !== "missing" ? "fine" : "fine bad";
  $("typed-said").textContent = !arm ? problem : arm.reason ?? (arm.place === "missing" ? `there is no ${arm.location}`
    : `${arm.family}; ${arm.bytes === null ? PLACES[arm.place] || "a server" : fileSize(arm.bytes)}`);
  $("typed-add").disabled = !arm || arm.reason !== null || arm.place === "missing";
  return arm;
}

async function addTyped() {
  const arm = await checkTyped();
  if ($("typed-add").disabled) return;
  const there = document.getElementById(`arm-${arm.name}`);
  if (there) there.checked = true;
  else {
    $("typed").hidden = false;
    $("typed").append(armRow(arm, true));
  }
  $("typed-name").value = $("typed-said").textContent = "";
  $("typed-add").disabled = true;
  say(`${arm.name} added`);
  soon();
}

async function begin(event) {
  event.preventDefault();
  $("start").disabled = true;
  try {
    await post("/api/start", { ...collect(), prepare: Boolean(preparing) });
    location.assign("/live");
  } catch (problem) {
    tell($("sum-problem"), problem.message);
    $("start").disabled = isBusy;
  }
}

$("order").addEventListener("submit", begin);
$("order").addEventListener("input", (event) => { if (event.target.id !== "typed-name") soon(); });
let typing = 0;
$("typed-name").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(checkTyped, 200); });
$("typed-name").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); addTyped(); } });
$("typed-add").addEventListener("click", addTyped);
for (const [id, wanted] of [["tracks-all", true], ["tracks-none", false]]) {
  $(id).addEventListener("click", () => {
    for (const box of document.querySelectorAll("input[name=track]")) box.checked = wanted && !box.disabled && box.dataset.prepared === "true";
    for (const box of document.querySelectorAll('input[name=track][data-prepared=""]')) box.checked = wanted && !box.disabled;
    soon();
  });
}
$("copy").addEventListener("click", async () => {
  try { await navigator.clipboard.writeText($("command").textContent); say("copied"); $("copy").textContent = "Copied"; }
  catch { getSelection().selectAllChildren($("command")); say("selected; copy it with the keyboard"); }
});
onLive({ state(live) {
  isBusy = Boolean(live && ["running", "stopping"].includes(live.phase));
  $("sum-busy").hidden = !isBusy;
  if (isBusy) $("start").disabled = true;
  else if (offer) soon();
} });

try {
  offer = await get("/new.json");
  showArms(offer.arms);
  const first = offer.tracks.filter((row) => row.name === "calibration").length ? "calibration" : offer.tracks[0]?.name;
  $("tracks").replaceChildren(...offer.tracks.map((row) => trackRow(row, row.name === first)));
  $("again").hidden = !offer.last;
  $("again").addEventListener("click", () => { fill(offer.last); soon(); });
  get("/runs.json").then((rows) => $("baseline").append(...rows.filter((row) => row.status === "complete").slice(0, 100).map((row) => h("option", { value: row.run }, `${row.run}: ${row.arms.join(", ")}`))));
  await check();
} catch (problem) {
  tell($("sum-problem"), problem.message);
}
