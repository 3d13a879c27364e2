from pathlib import Path

from PIL import Image as Picture

from bakeoff.evaluate import context_bound
from bakeoff.validity.probe_set import CANDIDATES, PROBES, probe_prompts


def test_the_set_has_what_runtimes_do_differently() -> None:
    assert len(PROBES) >= 12
    assert {len(probe.pictures) for probe in PROBES} == {0, 1, 2, 4}
    assert {probe.size for probe in PROBES} >= {"no image", "untiled", "small", "odd ratio", "tiled", "huge"}
    assert any(probe.system for probe in PROBES)
    assert len({probe.id for probe in PROBES}) == len(PROBES)


def test_a_run_asks_at_least_twelve_of_them_and_not_the_heavy_ones(tmp_path: Path) -> None:
    quick = probe_prompts(tmp_path, heavy=False)
    assert len(quick) >= 12
    assert set(quick) == {probe.id for probe in PROBES if not probe.is_heavy}
    assert all(prompt.top_logprobs == CANDIDATES and prompt.sampling.temperature == 0 for prompt in quick.values())


def test_pictures_are_the_same_wherever_they_are_drawn(tmp_path: Path) -> None:
    one, two = (probe_prompts(tmp_path / name, heavy=True) for name in ("one", "two"))
    assert {n: p.sha256 for n, p in one.items()} == {n: p.sha256 for n, p in two.items()}
    for prompt in one.values():
        for image in prompt.images:
            with Picture.open(image.path) as picture:
                assert picture.size == (image.width, image.height)


def test_no_two_pictures_are_alike(tmp_path: Path) -> None:
    images = {image.path: image.sha256 for p in probe_prompts(tmp_path, heavy=True).values() for image in p.images}
    assert len(set(images.values())) == len(images)


def test_the_set_fits_into_a_context_of_eight_thousand(tmp_path: Path) -> None:
    assert context_bound(probe_prompts(tmp_path, heavy=True).values()) <= 8192
