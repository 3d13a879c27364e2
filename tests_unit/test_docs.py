"""What the pages about CI and matched pairs tell people to type exists, and their figures are those of the files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # its stubs are no dependency of this project

from bakeoff.models import resolve
from bakeoff.tracks import TRACKS
from bakeoff.weights import describe_weights

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("ci.md", "matched-pairs.md", "fleet.md", "openai-servers.md", "reference-arm.md")


def commands(page: str, program: str) -> list[str]:
    """The lines of a page that call a program, a folded YAML block joined to one."""
    text = re.sub(r"\n {10}(?=--)", " ", (DOCS / page).read_text("utf-8")).replace(">\n", "")
    return [line.partition("#")[0] for line in text.splitlines() if program in line and line.lstrip()[:1] not in "|*"]


def help_of(*program: str) -> set[str]:
    done = subprocess.run([sys.executable, "-m", *program, "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", done.stdout))


@pytest.mark.parametrize("page", PAGES)
def test_every_option_of_pytest_exists(page: str) -> None:
    known = help_of("pytest") | {"--junitxml"}  # the help knows it as --junit-xml
    used = {option for line in commands(page, "pytest tests_bench") for option in re.findall(r" (--[a-z-]+)", line)}
    assert used
    assert used <= known


@pytest.mark.parametrize("command", ["plan", "rescore", "compare", "replay"])
def test_every_option_of_a_command_exists(command: str) -> None:
    used = {
        option
        for line in commands("ci.md", f"bakeoff {command} ")
        for option in re.findall(r" (--?[a-z][a-z-]*)", line)
    }
    assert used <= help_of("bakeoff", command)


def test_the_job_is_yaml_and_names_a_track_and_a_model_that_exist() -> None:
    block = re.search(r"```yaml\n(.*?)```", (DOCS / "ci.md").read_text("utf-8"), re.DOTALL)
    assert block is not None
    job = yaml.safe_load(block.group(1))["jobs"]["bakeoff"]
    command = next(step["run"] for step in job["steps"] if "run" in step)
    assert "\n" not in command.strip()
    for track in re.findall(r"--min-score (\w+)=", command):
        assert track in TRACKS
    for model in re.findall(r"--model (\S+)", command):
        assert resolve(model).is_tiny


def test_bits_per_weight_of_the_page_are_those_of_the_files() -> None:
    rows = re.findall(r"^\| `(tiny-[\w-]+)`[^|]*\| ([\d ]+) \| ([\d.]+) \|", _table(), re.MULTILINE)
    assert len(rows) == 2
    for name, parameters, bits in rows:
        spec = resolve(name)
        found = describe_weights(*(Path(path) for path in (spec.location, spec.projector) if path))
        assert f"{found.parameters:,}".replace(",", " ") == parameters.strip()
        assert f"{found.bits_per_weight:.1f}" == bits


def _table() -> str:
    return (DOCS / "matched-pairs.md").read_text("utf-8").replace("\u202f", " ").partition("## How to build one")[0]


def anchors(page: Path) -> set[str]:
    """What the headings of a page can be linked by, as GitHub makes it of them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_every_link_leads_to_a_page_and_a_heading_that_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            file = page.parent / name if name else page
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), target


def test_the_readme_links_every_page() -> None:
    linked = set(re.findall(r"\]\(docs/([\w-]+\.md)", (DOCS.parent / "README.md").read_text("utf-8")))
    assert linked == {page.name for page in DOCS.glob("*.md")}
