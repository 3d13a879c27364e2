/** Custom cases: list, editor, box, trying, saving. */

import { get, post } from "./api.js";
import { $, h, say, tell } from "./dom.js";
import { onLive } from "./shell.js";

const TEXT = [["text", "Text", "text", true]];
const BOX = [["x1", "Left", "grid"], ["y1", "Top", "grid"], ["x2", "Right", "grid"], ["y2", "Bottom", "grid"]];
const LETTER = [["gold", "Letter", "text", true], ["n", "How many options", "number"]];
const SCORERS = {
  contains: ["The text stands somewhere in the answer.", TEXT],
  exact: ["The answer is the text and nothing else.", TEXT],
  choice: ["One word decides, such as yes or no.", TEXT],
  anls: ["Small slips cost a part. One answer a line.", [["answers", "Answers", "lines", true], ["anls", "Threshold", "share"]]],
  bbox_iou: ["The model draws the box. Draw the right one on the image.", [...BOX, ["iou", "Least overlap", "share"]]],
  click_in_box: ["The model points into the box, 0 to 1000.", BOX],
  click_point: ["The model clicks in pixels or fractions.", BOX],
  mc_option: ["Options A. … in the question; the letter or its text counts.", LETTER],
  choice_letter: ["Options (A) … in the question.", TEXT],
  mathvista: ["The answer ends on a number, a list or a text.", [["answer", "Answer", "text", true]]],
};
const EXAMPLE = { id: "example-sign", category: "signs", images: [], prompt: "What does the sign say?", scorer: "contains", expected: { text: "EXIT 42" } };
let images = [], replaces = null, offered = null, asking = null, size = null;

const field = (key) => $(`expected-${key}`);
const isBox = () => Boolean(field("x1"));

function showExpected(expected = {}) {
  const [words, fields] = SCORERS[$("scorer").value];
  $("scorer-said").textContent = words;
  $("expected-fields").replaceChildren(...fields.map(([key, title, kind]) => {
    const value = key in expected ? expected[key] : "xy".includes(key[0]) && key.length === 2 ? expected.bbox?.[BOX.findIndex(([one]) => one === key)] ?? "" : "";
    const attributes = { id: `expected-${key}`, autocomplete: "off" };
    const made = kind === "lines" ? h("textarea", { ...attributes, rows: 2 }, Array.isArray(value) ? value.join("\n") : "")
      : h("input", { ...attributes, type: kind === "text" ? "text" : "number", step: kind === "number" ? 1 : "any", min: kind === "text" ? null : 0, max: kind === "grid" ? 1000 : kind === "share" ? 1 : null, value, placeholder: kind === "share" ? "0.5" : kind === "number" ? "4" : null });
    return h("div", { class: "field" }, h("label", { for: `expected-${key}` }, kind === "grid" ? `${title}, 0 to 1000` : title), made);
  }));
  drawBox();
}

function expectedNow() {
  const value = (key) => field(key)?.value.trim() ?? "";
  const number = (key) => (value(key) === "" ? {} : { [key]: Number(value(key)) });
  switch ($("scorer").value) {
    case "anls": return { answers: value("answers").split("\n").map((line) => line.trim()).filter(Boolean), ...number("anls") };
    case "bbox_iou": case "click_in_box": case "click_point": {
      const box = BOX.map(([key]) => value(key)).map((text) => (text === "" ? null : Number(text)));
      return { ...(box.includes(null) ? {} : { bbox: box }), ...number("iou") };
    }
    case "mc_option": return { gold: value("gold"), ...number("n") };
    case "mathvista": return { kind: "value", answer: value("answer") };
    default: return { text: value("text") };
  }
}

function caseNow() {
  const made = { id: $("id").value.trim(), category: $("category").value.trim(), images, prompt: $("prompt").value, scorer: $("scorer").value, expected: expectedNow() };
  if ($("tokens").value) made.max_tokens = Number($("tokens").value);
  return { ...(offered ?? {}), ...made };
}

function fill(item, file) {
  offered = item && file ? item : null;
  replaces = file ? item.id : null;
  for (const row of document.querySelectorAll(".case-row")) row.setAttribute("aria-pressed", String(row.dataset.case === replaces));
  $("edit-head").textContent = file ? `Case ${item.id}` : "A new case";
  $("id").value = item.id ?? "";
  $("category").value = item.category ?? "own";
  $("prompt").value = item.prompt ?? "";
  $("tokens").value = item.max_tokens ?? "";
  $("file").value = file ?? "cases.json";
  $("scorer").value = item.scorer in SCORERS ? item.scorer : "contains";
  images = Array.isArray(item.images) ? item.images.filter((path) => typeof path === "string") : [];
  $("remove").hidden = !file;
  $("tried").textContent = $("saved").textContent = "";
  tell($("problem"), "");
  showImage();
  showExpected(item.expected ?? {});
}

function showImage() {
  $("picture").hidden = !images.length;
  $("image-path").textContent = images.length ? images.join(", ") : "Without an image it is a question in words.";
  if (images.length) $("shown").src = `/api/cases/image?path=${encodeURIComponent(images[0])}`;
}
$("shown").addEventListener("load", () => {
  size = [$("shown").naturalWidth, $("shown").naturalHeight];
  $("image-path").textContent = `${images.join(", ")}, ${size[0]} × ${size[1]} px`;
  drawBox();
});
$("shown").addEventListener("error", () => { $("picture").hidden = true; $("image-path").textContent = `${images[0]} is not there`; });

function drawBox() {
  const box = isBox() ? BOX.map(([key]) => Number(field(key).value)) : [0, 0, 0, 0];
  $("box").hidden = !(box[2] > box[0] && box[3] > box[1]);
  for (const [name, value] of [["left", box[0]], ["top", box[1]], ["width", box[2] - box[0]], ["height", box[3] - box[1]]]) $("box").style[name] = `${value / 10}%`;
}
$("expected").addEventListener("input", drawBox);

let from = null;
const at = (event) => {
  const place = $("shown").getBoundingClientRect();
  const grid = (value, start, length) => Math.round(Math.min(Math.max((value - start) / length, 0), 1) * 10000) / 10;
  return [grid(event.clientX, place.left, place.width), grid(event.clientY, place.top, place.height)];
};
$("picture").addEventListener("pointerdown", (event) => {
  if (!isBox()) return;
  event.preventDefault();
  $("picture").setPointerCapture(event.pointerId);
  from = at(event);
});
$("picture").addEventListener("pointermove", (event) => {
  if (!from) return;
  const [x, y] = at(event);
  [Math.min(from[0], x), Math.min(from[1], y), Math.max(from[0], x), Math.max(from[1], y)].forEach((value, place) => { field(BOX[place][0]).value = value; });
  drawBox();
});
$("picture").addEventListener("pointerup", () => { from = null; });
$("shown").addEventListener("dragstart", (event) => event.preventDefault());

async function take(file) {
  if (!file) return;
  tell($("problem"), "");
  $("image-path").textContent = `Reading ${file.name}…`;
  const data = await new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });
  await attempt(async () => { images = [(await post("/api/cases/image", { name: file.name, data })).path]; });
  showImage();
}
$("image-file").addEventListener("change", () => take($("image-file").files[0]));
for (const name of ["dragover", "dragenter"]) $("drop").addEventListener(name, (event) => { event.preventDefault(); $("drop").classList.add("over"); });
for (const name of ["dragleave", "drop"]) $("drop").addEventListener(name, () => $("drop").classList.remove("over"));
$("drop").addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });

async function attempt(work) {
  $("tried").textContent = $("saved").textContent = "";
  tell($("problem"), "");
  try {
    return await work();
  } catch (problem) {
    tell($("problem"), problem.message);
    const wrong = $(problem.code) ?? field(problem.code.split(".")[1]) ?? (problem.code.startsWith("expected") ? $("expected-fields").querySelector("input, textarea") : null);
    const place = wrong?.closest(".fields") ?? wrong?.closest(".field, .toolbar") ?? $("expected");
    place.after($("problem")); // beside what is wrong, which may be far up
    (wrong ?? $("problem")).focus();
    return null;
  }
}

const told = (found) => `${found.correct ? "✓ right" : "✕ wrong"}, score ${Math.round(found.score * 10000) / 10000} of 1; read as ${found.answer === null ? "nothing" : `“${found.answer}”`} by the rule ${found.scorer}`;
$("try").addEventListener("click", () => attempt(async () => {
  $("tried").textContent = told(await post("/api/cases/try", { case: caseNow(), output: $("output").value }));
}));
$("ask").addEventListener("click", () => attempt(async () => {
  const { job } = await post("/api/cases/try", { case: caseNow(), model: $("arm").value });
  asking = job;
  $("ask").disabled = true;
  $("tried").textContent = `${$("arm").value} is asked…`;
}));
onLive({ state(live) {
  if (!asking || live?.job !== asking || ["running", "stopping"].includes(live.phase)) return;
  asking = null;
  $("ask").disabled = false;
  const last = live.arms[0]?.last;
  if (!last) { $("tried").replaceChildren("No answer came. ", h("a", { href: "/live" }, "See the log")); return; }
  if (last.error) { $("tried").textContent = `No answer: ${last.error}`; return; }
  $("output").value = last.output;
  $("tried").textContent = `${last.correct ? "✓ right" : "✕ wrong"}; read as ${last.answer === null ? "nothing" : `“${last.answer}”`}. The answer stands above.`;
} });

$("case").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const done = await post("/api/cases/save", { case: caseNow(), file: $("file").value.trim(), ...(replaces ? { replaces } : {}) });
    await load();
    fill({ ...caseNow() }, done.file);
    $("saved").textContent = `Saved ${done.id} in ${done.file}.${done.warnings.length ? ` But: ${done.warnings.join(" ")}` : ""}`;
    say("saved");
  });
});
$("remove").addEventListener("click", () => {
  if ($("remove").dataset.sure !== replaces) { $("remove").dataset.sure = replaces; $("remove").textContent = `Delete ${replaces} for good?`; return; }
  attempt(async () => { await post("/api/cases/delete", { id: replaces, file: $("file").value.trim() }); fill({}, null); await load(); });
});
$("new-case").addEventListener("click", () => { fill({}, null); $("id").focus(); });
$("scorer").addEventListener("change", () => showExpected(expectedNow()));

async function load() {
  const found = await get("/cases.json");
  $("problems").replaceChildren(...found.problems.map((one) => h("p", { class: "notice bad" }, `${one.file}: ${one.problem}`)));
  $("list").replaceChildren(...found.cases.map(({ file, case: item }) => h("button", { type: "button", class: "case-row", "data-case": String(item.id), "aria-pressed": String(item.id === replaces), onclick: () => {
    $("remove").textContent = "Delete this case";
    delete $("remove").dataset.sure;
    fill(item, file);
  } }, h("b", {}, String(item.id)), h("small", {}, `${item.category}, ${item.scorer}, ${file}`))));
  if (!found.cases.length) {
    $("list").replaceChildren(h("p", { class: "fine" }, "None yet. The form holds an example; change it and save."));
    if (!$("id").value) fill(EXAMPLE, null);
  }
}

$("scorer").replaceChildren(...Object.keys(SCORERS).map((name) => h("option", {}, name)));
showExpected();
showImage();
get("/new.json").then(({ arms }) => $("arm").replaceChildren(...arms.filter((arm) => arm.reason === null && arm.place !== "missing").map((arm) => h("option", { value: arm.name }, arm.place === "absent" ? `${arm.name} (not downloaded yet)` : arm.name))));
load().catch((problem) => tell($("problem"), problem.message));
