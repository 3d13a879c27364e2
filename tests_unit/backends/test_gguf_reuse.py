"""Reading an image once for all questions on it, on the embedded checkpoint: a hybrid model, which needs the primer."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

import msgspec
import pytest

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.llama.api import completion_request, primer_request
from bakeoff.backends.llama.backend import MOST_SLOTS, GgufBackend, default_slots
from bakeoff.backends.llama.start import Manner
from bakeoff.engine import Engine
from bakeoff.errors import BackendError, ContextOverflow, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Image, ImagePart, Message, Output, Prompt, Sampling, Text
from bakeoff.validity.sameness import compare
from tests_unit.backends.conftest import GREEDY, calibration, text_prompt
from tests_unit.whole import IS_WHOLE

pytestmark = pytest.mark.real_runtime

Make = Callable[..., Settings]
Open = Callable[..., GgufBackend]

QUESTIONS = (
    "Give the box of the green square as JSON.",
    "How many shapes are there?",
    "What color is the circle?",
    "Locate the red cross in JSON.",
)


@pytest.fixture
def tiny(settings: Make) -> Iterator[Open]:
    opened: list[GgufBackend] = []

    def make(**more: object) -> GgufBackend:
        backend = open_backend(resolve("tiny-gguf-bf16"), settings(**more))
        assert isinstance(backend, GgufBackend)
        opened.append(backend)
        return backend

    yield make
    for backend in reversed(opened):
        backend.close()


def images(count: int) -> list[Image]:
    """Different images of the calibration track that are not cut into tiles."""
    found = {image.sha256: image for sample in calibration() for image in sample.images if image.width == 256}
    return list(found.values())[:count]


def questions(
    pictures: Sequence[Image], each: int = 4, *, max_tokens: int = 16, sampling: Sampling = GREEDY
) -> list[Prompt]:
    """So many questions on each image, one after the other."""
    return [
        Prompt(
            sample_id=f"{number}/{place}",
            messages=(Message(role="user", parts=(ImagePart(image=picture), Text(text=question))),),
            max_tokens=max_tokens,
            seed=7 * number + place,
            sampling=sampling,
        )
        for number, picture in enumerate(pictures)
        for place, question in enumerate(islice(cycle(QUESTIONS), each))
    ]


def answers(backend: GgufBackend, prompts: Sequence[Prompt]) -> dict[str, Output]:
    """What an engine gets when all is asked in order."""
    by_name = {prompt.sample_id: prompt for prompt in prompts}
    window = backend.capabilities.slots + (backend.capabilities.ahead or 0)
    engine = Engine(backend, by_name, by_name.__getitem__, window=window)
    return {name: engine.answer(name).output for name in by_name}


def texts(outputs: dict[str, Output]) -> dict[str, str]:
    return {name: output.text for name, output in outputs.items()}


@pytest.mark.parametrize("slots", [1, 2])
def test_later_questions_on_an_image_are_answered_from_the_state_after_it(tiny: Open, slots: int) -> None:
    backend = tiny(concurrency=slots)
    found = answers(backend, questions(images(4)))
    assert backend.asker.primers == 4
    for name, output in found.items():
        assert output.image_tokens is not None
        assert output.cached_tokens is not None
        if name.endswith("/0"):
            assert output.cached_tokens == 0  # the primer's work was done for this question: it is not called cached
        else:
            assert output.cached_tokens >= output.image_tokens > 0


def test_the_first_question_of_an_image_carries_the_time_of_its_primer(tiny: Open) -> None:
    found = answers(tiny(concurrency=1), questions(images(3)))
    for number in range(3):
        first, later = found[f"{number}/0"], found[f"{number}/2"]
        assert first.prefill_s is not None
        assert later.prefill_s is not None
        assert first.total_s is not None
        assert first.ttft_s is not None
        assert first.prefill_s > later.prefill_s
        assert first.total_s >= first.ttft_s >= first.prefill_s


def test_an_image_with_a_single_question_gets_no_primer(tiny: Open) -> None:
    backend = tiny(concurrency=1)
    found = answers(backend, questions(images(4), each=1))
    assert backend.asker.primers == 0
    assert {output.cached_tokens for output in found.values()} == {0}


def test_the_last_question_on_an_image_is_not_taken_for_the_first_of_many(tiny: Open) -> None:
    backend = tiny(concurrency=1)
    one, other = images(2)
    answers(
        backend,
        [*questions([one], each=2), *(msgspec.structs.replace(p, sample_id="x") for p in questions([other], each=1))],
    )
    assert backend.asker.primers == 1


def test_without_reuse_every_image_is_read_for_every_question(tiny: Open) -> None:
    backend = tiny(concurrency=2, image_reuse=False)
    found = answers(backend, questions(images(3)))
    assert backend.asker.primers == 0
    assert {output.cached_tokens for output in found.values()} == {0}


def test_the_same_name_size_and_question_with_another_image_gets_its_own_answer(
    tiny: Open, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The canary: a state kept under anything but the content of its image answers for the wrong one."""
    twins = []
    for picture in images(2):
        copy = tmp_path_factory.mktemp("twin") / "page.png"
        copy.write_bytes(Path(picture.path).read_bytes())
        twins.append(msgspec.structs.replace(picture, path=str(copy)))
    one, other = (questions([twin], each=2, max_tokens=24) for twin in twins)
    alone = [texts(answers(tiny(concurrency=1, image_reuse=False), asked)) for asked in (one, other)]
    assert alone[0]["0/0"] != alone[1]["0/0"]
    backend = tiny(concurrency=1)
    for _ in range(2):
        for prompt, expected in ((one[0], alone[0]), (other[0], alone[1]), (one[1], alone[0]), (other[1], alone[1])):
            backend.foresee(prompt)  # so that the slot keeps a state to mistake
            assert backend.submit(prompt).result().text == expected[prompt.sample_id]
    assert backend.asker.primers == 8


def test_two_images_in_one_prompt_are_reused_together_and_not_each_alone(tiny: Open) -> None:
    one, other, third = images(3)
    pairs = [(one, other), (one, other), (one, third), (one, third)]
    prompts = [
        msgspec.structs.replace(text_prompt(QUESTIONS[n], *pair), sample_id=str(n), sampling=GREEDY)
        for n, pair in enumerate(pairs)
    ]
    fresh = texts(answers(tiny(concurrency=1, image_reuse=False), prompts))
    found = answers(tiny(concurrency=1), prompts)
    assert texts(found) == fresh
    assert [(o.cached_tokens or 0) >= (o.image_tokens or 0) for o in found.values()] == [False, True, False, True]


def test_sampling_with_a_seed_gives_the_same_text_with_and_without_reuse(tiny: Open) -> None:
    prompts = questions(images(4), sampling=Sampling(temperature=0.7, top_k=50))
    fresh = texts(answers(tiny(concurrency=1, image_reuse=False), prompts))
    assert len(set(fresh.values())) > 4
    assert texts(answers(tiny(concurrency=1), prompts)) == fresh


def test_a_client_that_joins_keeps_to_its_own_slot(tiny: Open) -> None:
    owner = tiny(concurrency=2)
    joined = [tiny(url=owner.url, server_pid=owner.pid, slot=slot, concurrency=1) for slot in range(2)]
    one, other = images(2)
    for question in range(3):
        for client, picture in zip(joined, (one, other), strict=True):
            prompt = questions([picture], each=3)[question]
            client.foresee(prompt)
            output = client.submit(prompt).result()
            assert ((output.cached_tokens or 0) >= (output.image_tokens or 0)) is (question > 0)
    assert [client.asker.primers for client in joined] == [1, 1]


def test_a_slot_that_the_server_does_not_have_is_refused(tiny: Open) -> None:
    owner = tiny(concurrency=1)
    with pytest.raises(UsageProblem, match=r"has 1 slots where 2 were asked for"):
        tiny(url=owner.url, slot=1, concurrency=1)


def test_a_server_that_lost_its_state_is_noticed_and_the_image_is_read_again(tiny: Open) -> None:
    backend = tiny(concurrency=1)
    prompts = questions(images(1), each=4)
    fresh = texts(answers(tiny(concurrency=1, image_reuse=False), prompts))
    found = {}
    for prompt in prompts:
        backend.foresee(prompts[0])
        found[prompt.sample_id] = backend.submit(prompt).result()
        if prompt.sample_id == "0/1":  # somebody else uses the slot
            body = completion_request(text_prompt("hello"), "hello", (), slot=0, continues=False)
            backend._client.post("/completion", body)
    assert texts(found) == fresh
    assert [(o.cached_tokens or 0) >= (o.image_tokens or 0) for o in found.values()] == [False, True, False, False]
    assert backend.asker.primers == 2


def test_an_answer_that_the_context_cuts_is_an_error_and_not_a_cut_answer(tiny: Open) -> None:
    backend = tiny(context_tokens=256, concurrency=1)
    problem: BackendError | None = None
    for letters in range(200, 260):  # the first that does not fit has room for a token or two of its answer
        try:
            backend.submit(text_prompt("x" * letters, max_tokens=200)).result()
        except BackendError as error:
            problem = error
            break
    assert isinstance(problem, ContextOverflow)
    assert re.search(r"cut after \d+ of 200 tokens", str(problem))


def test_every_slot_has_the_whole_context_that_a_prompt_may_need(tiny: Open) -> None:
    backend = tiny(context_tokens=512, concurrency=3)
    assert backend.identity["context_tokens"] >= 512
    assert backend._client.total_slots == 3


def test_long_prompts_get_fewer_slots() -> None:
    assert [default_slots(tokens) for tokens in (0, 4096, 16_384, 30_000, 100_000)] == [MOST_SLOTS, MOST_SLOTS, 2, 1, 1]


def test_the_chat_endpoint_gives_the_same_answers(tiny: Open) -> None:
    backend = tiny(concurrency=1)
    prompts = questions(images(3), each=2)
    fresh = {p.sample_id: backend.submit(p).result() for p in prompts}
    backend.asker._manner = Manner(endpoint="chat")
    chat = {p.sample_id: backend.submit(p).result() for p in prompts}
    for name, output in chat.items():
        one = fresh[name]
        assert (output.text, output.finish_reason) == (one.text, one.finish_reason)
        assert (output.prompt_tokens, output.image_tokens) == (one.prompt_tokens, one.image_tokens)
        assert output.completion_tokens == one.completion_tokens


def test_a_primer_that_is_refused_leaves_the_question_to_tell_why(tiny: Open) -> None:
    backend = tiny(context_tokens=256, concurrency=1)
    prompt = text_prompt("many words " * 300, *images(1))
    backend.foresee(prompt)
    with pytest.raises(ContextOverflow):
        backend.submit(prompt).result()
    with pytest.raises(BackendError):
        backend._client.post("/completion", primer_request("no marker", ["AAAA"], slot=0))


@pytest.mark.slow
def test_reuse_and_slots_leave_hundreds_of_greedy_answers_as_they_are(
    tiny: Open, request: pytest.FixtureRequest
) -> None:
    """Reuse with four slots on all, either alone on some: 99.5 % identical in every token, the rest are near ties."""
    pictures = images(64 if IS_WHOLE else 16)
    prompts = [msgspec.structs.replace(prompt, top_logprobs=5) for prompt in questions(pictures, each=4, max_tokens=12)]
    prompts += [
        msgspec.structs.replace(prompt, sample_id=f"again {prompt.sample_id}", messages=_asked_otherwise(prompt))
        for prompt in prompts
    ]
    prompts.sort(key=lambda prompt: prompt.images[0].sha256)
    assert len(prompts) >= (500 if IS_WHOLE else 120)

    def asked(part: Sequence[Prompt], slots: int, *, reuse: bool) -> dict[str, Output]:
        backend = tiny(concurrency=slots, image_reuse=reuse)
        found = answers(backend, part)
        assert backend.asker.primers == (len({prompt.images[0].sha256 for prompt in part}) if reuse else 0)
        backend.close()
        return found

    reference = asked(prompts, 1, reuse=False)
    some = prompts[: len(prompts) // 4]
    for part, slots, reuse in ((prompts, 4, True), (some, 1, True), (some, 4, False)):
        whole = {prompt.sample_id: reference[prompt.sample_id] for prompt in part}
        found = compare(whole, asked(part, slots, reuse=reuse))
        request.node.user_properties.append((f"{slots} slots, reuse {reuse}", found.identical))
        assert found.n == len(part)
        assert found.n - found.identical <= max(1, 0.005 * found.n), found.parted
        assert not found.unexplained


def _asked_otherwise(prompt: Prompt) -> tuple[Message, ...]:
    (message,) = prompt.messages
    image, text = message.parts
    assert isinstance(text, Text)
    return (msgspec.structs.replace(message, parts=(image, Text(text=f"Look again. {text.text}"))),)
