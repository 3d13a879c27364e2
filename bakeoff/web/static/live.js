/** The run that is on, or the last one. */

import { post, files } from "./api.js";
import { $, h, say, tell } from "./dom.js";
import { broken, count, counted, instant, interval, left as stillTakes, memory, perMinute, score } from "./format.js";
import { frame } from "./framed.js";
import { onLive } from "./shell.js";

const STATES = { waiting: "waiting", going: "answering", done: "done", partial: "not finished" };
let live = null;
let isPaused = false;
let shownSample = 0;
let heardAt = Date.now();
let framed = "";
let spokenAt = 0;

function state(now) {
  live = now;
  heardAt = Date.now();
  $("nothing").hidden = Boolean(live);
  $("job").hidden = !live;
  if (!live) return;
  const isOn = ["running", "stopping"].includes(live.phase);
  const isLost = live.phase === "lost";
  document.title = `${isOn ? live.phase : "ended"} · Live · vlm-bakeoff`;
  $("words").textContent = live.words;
  $("facts").replaceChildren(...[`run ${live.run}`, `began ${instant(live.began)}`].map((text) => h("span", {}, text)));
  $("stop").hidden = live.phase !== "running" || !live.can_finish_sample;
  $("stop-now").hidden = !isOn || ["now", "kill"].includes(live.how);
  $("kill").hidden = live.phase !== "stopping" || live.how !== "now";
  const left = live.arms.reduce((sum, arm) => sum + arm.selected - arm.answered - arm.skipped, 0);
  $("resume").hidden = isOn || live.kind === "try" || !left;
  $("open").classList.toggle("primary", $("resume").hidden);
  $("stop-said").textContent = isOn ? kept() : "";
  tell($("verdict"), isOn ? "" : ended(left), live.ended_well ? "good" : isLost ? "bad" : "differs");
  $("words").hidden = !isOn;
  $("open").hidden = !live.has_report || live.kind === "try";
  $("open").href = `/runs/${encodeURIComponent(live.run)}`;
  $("arms").replaceChildren(...live.arms.map(armLine));
  if (!live.arms.length) $("arms").append(h("p", { class: "fine" }, isOn ? "No arm has begun." : "No arm began."));
  $("pause").hidden = !isOn;
  if (!isOn && isPaused) $("pause").click();
  $("steps").replaceChildren(...live.steps.map((step) => h("div", {}, h("p", { class: "fine" }, `${step.name}: ${step.state}${step.code === null ? "" : `, exit code ${step.code}`}`), h("pre", { tabindex: 0 }, broken(step.typed)))));
  $("whole").href = `/api/jobs/${encodeURIComponent(live.job)}/log`;
  sample();
  report();
  if (Date.now() - spokenAt > 10000) {
    spokenAt = Date.now();
    say(`${live.words} ${live.arms.map((arm) => `${arm.name}: ${arm.answered} of ${arm.selected}`).join("; ")}`);
  }
}

/** What each way to stop keeps. */
function kept() {
  const answered = live.arms.reduce((sum, arm) => sum + arm.answered, 0);
  const selected = live.arms.reduce((sum, arm) => sum + arm.selected, 0);
  const now = selected ? `${counted(answered, selected)} answers are recorded and kept.` : "No answer is recorded yet.";
  if (live.how === "kill") return now;
  if (live.how === "now") return `${now} “Kill the run” does not wait for the report.`;
  if (live.how === "sample") return `${now} “Stop now” does not wait for the next.`;
  if (!live.can_finish_sample) return now;
  return `${now} “Stop after this sample” waits for one more, “Stop now” does not. Resume goes on from there.`;
}

function ended(left) {
  const open = left && live.kind !== "try" ? ` ${count(left)} samples have no answer; Resume asks them.` : "";
  return live.words + open;
}

function armLine(arm) {
  const isOn = live.phase === "running" || live.phase === "stopping";
  let word = STATES[arm.state], kind = arm.state;
  if (arm.state === "going" && !isOn) [word, kind] = ["stopped", "partial"];
  if (arm.state === "waiting" && !isOn) word = "not begun";
  const found = (live.parity?.findings || []).filter((finding) => finding.arms.includes(arm.name));
  const facts = [
    `${counted(arm.answered, arm.selected)} answered`,
    arm.per_s ? `${perMinute(arm.per_s)} a minute` : null,
    arm.eta_s ? `${stillTakes(arm.eta_s)} left` : null,
    arm.errors ? h("span", { class: "bad" }, `${count(arm.errors)} without an answer`) : "no errors",
    arm.skipped ? `${count(arm.skipped)} left out, as the arm cannot be asked them` : null,
    arm.truncated ? h("span", { class: "bad" }, `${count(arm.truncated)} cut off`) : "none cut off",
    arm.unparsed ? `${count(arm.unparsed)} unparsed` : "none unparsed",
    arm.peak_memory_bytes ? `peak memory ${memory(arm.peak_memory_bytes)}` : null,
    parity(arm, found),
  ];
  return h("div", { class: "live-arm" },
    h("div", { class: "line" }, h("b", { class: "name" }, arm.name), h("span", { class: `chip ${kind}` }, word), h("span", { class: "fine" }, `on ${arm.backend}`)),
    h("progress", { max: Math.max(arm.selected, 1), value: arm.answered + arm.errors + arm.skipped, "aria-label": `${arm.name}: ${arm.answered} of ${arm.selected} answered` }),
    h("div", { class: "facts-row" }, facts.filter(Boolean).map((fact) => (typeof fact === "string" ? h("span", {}, fact) : fact))),
    h("ul", { class: "scores" }, arm.tracks.filter((track) => track.score.n).map((track) => scoreLine(track, arm.state === "done" ? "" : " so far"))),
    found.filter((finding) => finding.serious && finding.arms.at(-1) === arm.name).map((finding) => h("p", { class: "fine" }, `≠ ${finding.sentence}.`)));
}

function parity(arm, found) {
  if (!arm.is_probed) return null;
  const serious = found.filter((finding) => finding.serious).length;
  return h("span", {}, serious ? `parity ≠ ${serious} ${serious === 1 ? "finding" : "findings"}` : "parity ✓ nothing found");
}

/** The plain mean of the answers; the track's own number, which may average over groups, is in the report. */
function scoreLine(track, when) {
  const so = track.score;
  if (so.right !== null && !so.ci95) return h("li", {}, `${track.title}${when}: `, h("b", {}, counted(so.right, so.n)), " right");
  const what = so.ci95 ? `95% ${interval(so.ci95, so.n)}; ${count(so.n)} answers` : `${count(so.n)} answers`;
  return h("li", {}, `${track.title}${when}, mean × 100: `, h("b", {}, score(so.mean, so.n)), ` (${what})`);
}

function sample() {
  const arm = live.arms.filter((one) => one.last).sort((a, b) => (a.state === "going") - (b.state === "going")).pop();
  $("sample-part").hidden = !arm;
  if (!arm || isPaused || Date.now() - shownSample < 2000) return;
  shownSample = Date.now();
  const last = arm.last;
  const [kind, word] = last.status === "error" ? ["error", "no answer"] : last.correct ? ["right", "✓ right"] : last.correct === false ? ["wrong", "✕ wrong"] : ["open", "scored"];
  const question = live.questions[last.sample];
  const pictures = last.images.slice(0, 4).map((digest, place) => h("img", {
    src: `/api/samples/${[last.track, last.sample, digest].map(encodeURIComponent).join("/")}`, decoding: "async",
    alt: `Image ${place + 1} of sample ${last.sample}`, onerror: (event) => event.target.replaceWith(h("p", { class: "fine" }, "The image is not here.")) }));
  $("sample").replaceChildren(
    h("div", {}, pictures.length ? pictures : h("p", { class: "fine" }, "A question without an image.")),
    h("div", {}, h("p", { class: "fine" }, `${arm.name}, ${last.track}, ${last.sample}`), question ? h("p", { class: "question" }, question) : null,
      h("p", {}, h("span", { class: `chip ${kind}` }, word), last.answer === null ? "" : ` read as “${last.answer}”`),
      h("pre", {}, last.error ?? last.output)));
}

async function report() {
  const wanted = live.has_report && live.kind !== "try" ? `${live.job}/${live.run}` : "";
  if (wanted === framed) return;
  framed = wanted;
  $("report-part").hidden = !wanted;
  if (!wanted) { $("report").replaceChildren(); return; }
  const base = await files();
  $("report").replaceChildren(frame(`${base}/runs/${encodeURIComponent(live.run)}/report.html`, `Report of run ${live.run}`, `/runs/${encodeURIComponent(live.run)}`));
}

function log({ fresh, part }) {
  const place = $("log");
  if (fresh) place.replaceChildren(...(part.skipped ? [h("div", { class: "info" }, `… ${count(part.skipped)} bytes before this`)] : []));
  place.append(...part.lines.map((line) => h("div", { class: line.level }, line.text || " ")));
  while (place.childElementCount > 2000) place.firstElementChild.remove();
  toEnd();
}

/** The log stays at its end, also in a window of another size, until somebody scrolls up in it. */
let follows = true;
const toEnd = () => { if (follows) $("log").scrollTop = $("log").scrollHeight; };
$("log").addEventListener("scroll", () => { follows = $("log").scrollHeight - $("log").scrollTop - $("log").clientHeight < 24; });
new ResizeObserver(toEnd).observe($("log"));

function link(isUp) {
  if (isUp) heardAt = Date.now();
  const seconds = Math.round((Date.now() - heardAt) / 1000);
  tell($("link"), isUp ? "" : `The app does not answer, last heard ${seconds} s ago; trying again. The run itself goes on.`, "differs");
}

async function act(path, body) {
  try {
    await post(path, body);
    tell($("link"), "");
  } catch (problem) {
    tell($("link"), problem.message, "bad");
  }
}

for (const [id, how] of [["stop", "sample"], ["stop-now", "now"], ["kill", "kill"]]) {
  $(id).addEventListener("click", () => { $(id).hidden = true; act("/api/stop", { job: live.job, how }); });
}
$("resume").addEventListener("click", () => { $("resume").hidden = true; act(`/api/runs/${encodeURIComponent(live.run)}/resume`, {}); });
$("level").addEventListener("change", () => { $("log").dataset.level = $("level").value; toEnd(); });
$("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  $("pause").setAttribute("aria-pressed", String(isPaused));
  $("pause").textContent = isPaused ? "Go on" : "Pause";
});
onLive({ state, log, link });
