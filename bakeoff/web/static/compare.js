/** Two runs side by side. */

import { files, get, post } from "./api.js";
import { $, h, tell } from "./dom.js";
import { instant } from "./format.js";
import { frame, wanted } from "./framed.js";

const asked = new URLSearchParams(location.search);
const rows = await get("/runs.json").catch((problem) => { tell($("problem"), problem.message); return []; });
for (const id of ["a", "b"]) {
  $(id).replaceChildren(h("option", { value: "" }, "Choose a run"), ...rows.map((row) =>
    h("option", { value: row.run }, `${row.run}, ${instant(row.created)}, ${row.arms.join(", ")}`)));
  const wanted = asked.get(id);
  if (rows.some((row) => row.run === wanted)) $(id).value = wanted;
  else if (wanted) tell($("problem"), `There is no run ${wanted}.`);
}

async function go() {
  const [a, b] = [$("a").value, $("b").value];
  if (!a || !b) { $("state").textContent = a ? "Choose a second run." : "Choose two runs."; return; }
  $("go").disabled = true;
  tell($("problem"), "");
  $("state").textContent = "Comparing…";
  const margin = $("margin").value === "" ? {} : { margin: Number($("margin").value) };
  try {
    const done = await post("/api/compare", { runs: [a, b], ...margin });
    const query = `?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`, first = location.search === query ? wanted() : "";
    history.replaceState(null, "", `/compare${query}${first}`);
    $("report").replaceChildren(frame(`${await files()}/compare/${done.folder}/report.html${first}`, `Comparison of ${a} and ${b}`));
    $("text").textContent = done.text;
    $("text-part").hidden = false;
    $("state").textContent = "Compared.";
  } catch (problem) {
    tell($("problem"), problem.message);
    $("state").textContent = "";
  }
  $("go").disabled = false;
}

$("order").addEventListener("submit", (event) => { event.preventDefault(); go(); });
if ($("a").value && $("b").value) go();
else if (!rows.length) $("state").replaceChildren("No runs yet. ", h("a", { href: "/" }, "Start one"));
else go();
