"""The settings of the speed track: what is asked, and pictures that are drawn once and kept."""

import hashlib
from pathlib import Path

import pytest
from PIL import Image

from bakeoff.speed.settings import LOAD, SETTINGS, Drawn, picture, prompt_of


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BAKEOFF_CACHE", str(tmp_path))
    return tmp_path / "speed"


def test_the_settings_are_load_text_two_sizes_two_pages_and_four_images() -> None:
    sizes = {one.name: [(drawn.width, drawn.height) for drawn in one.pictures] for one in SETTINGS}
    assert sizes == {
        LOAD: [],
        "text": [],
        "512": [(512, 512)],
        "1080p": [(1920, 1080)],
        "two-pages": [(1240, 1754)] * 2,
        "four-images": [(512, 512)] * 4,
    }


def test_no_two_pictures_of_a_setting_are_the_same_so_that_no_cache_can_help() -> None:
    for setting in SETTINGS:
        hashes = [image.sha256 for image in prompt_of(setting).images]
        assert len(set(hashes)) == len(hashes)


def test_prompts_are_greedy_and_show_images_before_text() -> None:
    prompt = prompt_of(SETTINGS[2])
    assert prompt.sampling.temperature == 0
    assert [type(part).__name__ for part in prompt.messages[0].parts] == ["ImagePart", "Text"]


def test_a_picture_is_drawn_once_and_its_hash_is_that_of_the_file(cache: Path) -> None:
    drawn = Drawn(kind="screen", width=96, height=64)
    first = picture(drawn)
    (path,) = cache.iterdir()
    stamp = path.stat().st_mtime_ns
    assert picture(drawn) == first
    assert path.stat().st_mtime_ns == stamp
    assert first.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    with Image.open(first.path) as opened:
        assert opened.size == (96, 64)
