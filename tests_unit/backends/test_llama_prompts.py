"""What is sent to a llama.cpp server, and what makes two prompts begin alike."""

from pathlib import Path

import msgspec
import pytest

from bakeoff.backends.llama.prompts import ImageStore, Ready, beginning_key
from bakeoff.errors import BackendError
from bakeoff.records import Image, ImagePart, Message, Prompt, Text
from bakeoff.traces import IMAGE_PLACE
from tests_unit.backends.conftest import calibration, spoiled, text_prompt

ONE, OTHER = (Image(path="same.png", sha256=letter * 64, width=64, height=64) for letter in "ab")


def test_prompts_begin_alike_when_all_before_the_end_of_the_last_image_is_the_same() -> None:
    assert beginning_key(text_prompt("one", ONE)) == beginning_key(text_prompt("two", ONE))


def test_the_same_name_and_size_with_other_content_do_not_begin_alike() -> None:
    assert beginning_key(text_prompt("one", ONE)) != beginning_key(text_prompt("one", OTHER))


def test_the_order_and_the_number_of_images_count() -> None:
    keys = {beginning_key(text_prompt("q", *images)) for images in ((ONE, OTHER), (OTHER, ONE), (ONE,), (ONE, ONE))}
    assert len(keys) == 4


def test_a_question_before_the_image_a_system_text_and_thinking_are_part_of_the_beginning() -> None:
    def asked(text: str, system: str = "") -> Prompt:
        parts = (Text(text=text), ImagePart(image=ONE))
        messages = (Message(role="system", parts=(Text(text=system),)), Message(role="user", parts=parts))
        return Prompt(sample_id="s", messages=messages, max_tokens=8, seed=1)

    other = msgspec.structs.replace(asked("a"), thinking="off")
    assert len({beginning_key(p) for p in (asked("a"), asked("b"), asked("a", "be brief"), other)}) == 4


def test_text_alone_has_no_beginning() -> None:
    assert beginning_key(text_prompt("hello")) == ""


def test_the_beginning_ends_with_the_last_image_and_its_tokens_are_counted() -> None:
    ready = Ready(pieces=("a", "b", "c"), images=("", ""), ids=(1, 2, IMAGE_PLACE, 3, IMAGE_PLACE, 4, 5))
    assert (ready.text("<m>"), ready.beginning("<m>")) == ("a<m>b<m>c", "a<m>b<m>")
    assert (ready.text_tokens, ready.beginning_text_tokens) == (5, 3)


def test_an_image_is_read_once_while_questions_on_it_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(image: Image) -> bytes:
        read.append(image.sha256)
        return b"x" * 9

    monkeypatch.setattr("bakeoff.backends.llama.prompts.image_bytes", reading)
    store = ImageStore(kept_bytes=20)
    for image in (ONE, ONE, OTHER, OTHER, ONE):
        store.encoded(image)
    assert read == [ONE.sha256, OTHER.sha256, ONE.sha256]  # 12 bytes of base64 each: one image fits


def test_another_file_under_a_known_hash_is_not_taken_from_the_store(tmp_path: Path) -> None:
    store, image = ImageStore(), calibration()[0].images[0]
    assert store.encoded(image)
    with pytest.raises(BackendError, match="is not the one that was prepared"):
        store.encoded(spoiled(image, tmp_path))
