"""What is asked of an OpenAI-compatible server, what is found out about it, and what is made of its replies."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.openai.backend import OpenAIBackend
from bakeoff.errors import BackendError, ContextOverflow, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Message, Sampling, Text
from tests_unit.backends.conftest import calibration, prompt_for, spoiled, text_prompt
from tests_unit.doubles.openai_server import Act, OpenAIDouble, serve

Make = Callable[..., Settings]
Open = Callable[..., OpenAIBackend]


@pytest.fixture
def server() -> Iterator[OpenAIDouble]:
    with serve() as double:
        yield double


@pytest.fixture
def opened(server: OpenAIDouble, settings: Make) -> Iterator[Open]:
    backends: list[OpenAIBackend] = []

    def make(**more: object) -> OpenAIBackend:
        backend = open_backend(resolve(f"openai:{server.url}#{server.model}"), settings(**more))
        assert isinstance(backend, OpenAIBackend)
        backends.append(backend)
        server.seen.clear()
        return backend

    yield make
    for backend in backends:
        backend.close()


def test_the_original_bytes_go_out_as_a_data_url_with_their_own_type(opened: Open, server: OpenAIDouble) -> None:
    backend, sample = opened(), calibration()[0]
    backend.submit(prompt_for(sample)).result()
    (message,) = server.bodies[0]["messages"]
    kind, _, data = message["content"][0]["image_url"]["url"].partition(";base64,")
    assert kind == "data:image/png"
    assert base64.b64decode(data) == Path(sample.images[0].path).read_bytes()
    assert message["content"][1] == {"type": "text", "text": sample.question}


def test_an_image_that_is_not_the_prepared_one_is_an_error_and_not_sent(
    opened: Open, server: OpenAIDouble, tmp_path: Path
) -> None:
    backend = opened()
    with pytest.raises(BackendError, match="is not the one that was prepared"):
        backend.submit(text_prompt("what?", spoiled(calibration()[0].images[0], tmp_path))).result()
    assert server.seen == []


def test_every_sampling_field_is_sent(opened: Open, server: OpenAIDouble) -> None:
    sampling = Sampling(temperature=0.7, top_k=11, top_p=0.9, min_p=0.05, repetition_penalty=1.2)
    opened().submit(msgspec.structs.replace(text_prompt("hi"), sampling=sampling, seed=77)).result()
    sent = server.bodies[0]
    assert {name: sent[name] for name in ("temperature", "top_k", "top_p", "min_p", "seed", "max_tokens")} == {
        "temperature": 0.7,
        "top_k": 11,
        "top_p": 0.9,
        "min_p": 0.05,
        "seed": 77,
        "max_tokens": 8,
    }
    assert sent["repetition_penalty"] == sent["repeat_penalty"] == 1.2


def test_a_system_prompt_is_a_message_of_its_own(opened: Open, server: OpenAIDouble) -> None:
    prompt = text_prompt("hi")
    system = Message(role="system", parts=(Text(text="be brief"),))
    opened().submit(msgspec.structs.replace(prompt, messages=(system, *prompt.messages))).result()
    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
    ]


@pytest.mark.parametrize("thinking", ["on", "off"])
def test_thinking_is_asked_for_only_where_it_is_chosen(opened: Open, server: OpenAIDouble, thinking: Any) -> None:
    backend = opened()
    backend.submit(text_prompt("hi")).result()
    backend.submit(msgspec.structs.replace(text_prompt("hi"), thinking=thinking)).result()
    assert "chat_template_kwargs" not in server.bodies[0]
    assert server.bodies[1]["chat_template_kwargs"] == {"enable_thinking": thinking == "on"}


def test_fields_that_a_server_refuses_are_named_recorded_and_left_out(server: OpenAIDouble, settings: Make) -> None:
    server.refuses = ("top_k", "min_p", "repeat_penalty")
    said: list[str] = []
    backend = open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False, progress=said.append))
    assert backend.identity["refused_fields"] == ["top_k", "min_p", "repeat_penalty"]
    assert all(any(f"refuses {name}" in line for line in said) for name in server.refuses)
    assert backend.submit(text_prompt("hi")).result().text == "yes it is red indeed"
    assert "top_p" in server.bodies[-1]
    assert not set(server.refuses) & set(server.bodies[-1])
    backend.close()


def test_a_server_with_the_newer_name_of_the_budget_is_asked_under_it(opened: Open, server: OpenAIDouble) -> None:
    server.refuses = ("max_tokens",)
    opened(needs_images=False).submit(text_prompt("hi")).result()
    assert server.bodies[0]["max_completion_tokens"] == 8


def test_what_the_server_can_do_is_in_the_identity(opened: Open, server: OpenAIDouble) -> None:
    server.honours = ("seed", "top_k")
    server.max_images = 1
    backend = opened()
    found = backend.identity["capabilities"]
    assert {name: found[name] for name in ("images", "logprobs", "finish_reasons", "usage")} == {
        "images": "seen",
        "logprobs": "with token ids",
        "finish_reasons": "told",
        "usage": True,
    }
    assert found["effects"] == {
        "seed": "honoured",
        "top_k": "honoured",
        "top_p": "taken, no effect seen",
        "min_p": "taken, no effect seen",
    }
    assert backend.capabilities.max_images == 1
    assert backend.identity["runtime_version"] == "0.99"
    assert backend.identity["served"]["max_model_len"] == 4096


def test_a_seed_that_changes_nothing_back_is_found(opened: Open, server: OpenAIDouble) -> None:
    server.honours = ()
    effects = opened(needs_images=False).identity["capabilities"]["effects"]
    assert effects["seed"].startswith("not honoured")


def test_a_server_that_ignores_images_is_refused_where_they_are_needed(server: OpenAIDouble, settings: Make) -> None:
    server.sees_images = False
    with pytest.raises(UsageProblem, match="takes images and ignores them"):
        open_backend(resolve(f"openai:{server.url}#m"), settings())
    open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False)).close()


def test_a_server_that_refuses_images_is_refused_where_they_are_needed(server: OpenAIDouble, settings: Make) -> None:
    server.max_images = 0
    with pytest.raises(UsageProblem, match="takes no images"):
        open_backend(resolve(f"openai:{server.url}#m"), settings())


@pytest.mark.parametrize(
    ("logprobs", "told", "count"),
    [
        ("ids", "with token ids", 5),
        ("vllm", "with token ids by return_tokens_as_token_ids", 5),
        ("texts", "without token ids", 0),
        ("none", "none", 0),
    ],
)
def test_log_probabilities_are_taken_where_tokens_are_named_by_id(
    opened: Open, server: OpenAIDouble, logprobs: str, told: str, count: int
) -> None:
    server.logprobs = logprobs
    backend = opened(needs_images=False)
    assert backend.identity["capabilities"]["logprobs"] == told
    trace = backend.submit(msgspec.structs.replace(text_prompt("hi"), top_logprobs=5)).result().trace
    assert trace is not None
    assert [token.id for token in trace.tokens] == list(range(count))


def test_image_tokens_of_a_probe_are_what_the_prompt_has_less_without_its_images(opened: Open) -> None:
    backend, sample = opened(), calibration()[0]
    assert backend.submit(prompt_for(sample)).result().image_tokens is None
    probe = msgspec.structs.replace(prompt_for(sample), top_logprobs=5)
    assert backend.submit(probe).result().image_tokens == 7
    assert backend.submit(text_prompt("hi")).result().image_tokens == 0


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "plain"}, "plain"),
        ({"content": None}, ""),
        ({"content": [{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]}, "in parts"),
        ({"content": "B", "reasoning_content": "hm"}, "<think>\nhm\n</think>\n\nB"),
        ({"content": "B", "reasoning": "hm"}, "<think>\nhm\n</think>\n\nB"),
    ],
)
def test_the_output_is_whole_whatever_the_server_cut_out(
    opened: Open, server: OpenAIDouble, message: dict[str, Any], text: str
) -> None:
    backend = opened(needs_images=False)
    server.message = lambda _: message
    assert backend.submit(text_prompt("hi")).result().text == text


def test_a_thought_that_the_budget_ended_has_no_closing_mark(opened: Open, server: OpenAIDouble) -> None:
    backend = opened(needs_images=False)
    server.message, server.finish = lambda _: {"content": "", "reasoning_content": "hm"}, "length"
    output = backend.submit(text_prompt("hi", max_tokens=5)).result()
    assert (output.text, output.finish_reason) == ("<think>\nhm", "length")


def test_a_tool_call_is_no_answer(opened: Open, server: OpenAIDouble) -> None:
    backend = opened(needs_images=False)
    server.message = lambda _: {"content": None, "tool_calls": [{"id": "1"}]}
    with pytest.raises(BackendError, match="tool call"):
        backend.submit(text_prompt("hi")).result()


@pytest.mark.parametrize(
    ("said", "meant"),
    [("stop", "stop"), ("length", "length"), ("eos_token", "stop"), ("max_tokens", "length"), ("?", None)],
)
def test_finish_reasons_are_read_in_every_dialect(
    opened: Open, server: OpenAIDouble, said: str, meant: str | None
) -> None:
    backend = opened(needs_images=False)
    server.finish = said
    assert backend.submit(text_prompt("hi", max_tokens=5)).result().finish_reason == meant


def test_an_answer_cut_before_its_budget_is_a_full_context(opened: Open, server: OpenAIDouble) -> None:
    backend = opened(needs_images=False)
    server.finish = "length"
    with pytest.raises(ContextOverflow, match="cut after 5 of 8 tokens, because the server's context was full"):
        backend.submit(text_prompt("hi", max_tokens=8)).result()


def test_where_tokens_are_not_counted_a_cut_answer_is_taken_as_cut_by_its_budget(
    opened: Open, server: OpenAIDouble
) -> None:
    server.finish, server.tells_usage = "length", False
    assert opened(needs_images=False).submit(text_prompt("hi", max_tokens=8)).result().finish_reason == "length"


def test_a_server_that_does_not_count_every_token_is_found_and_its_count_is_no_overflow(
    opened: Open, server: OpenAIDouble
) -> None:
    server.finish, server.uncounted = "length", 1
    backend = opened(needs_images=False)
    assert backend.identity["capabilities"]["undercounts"] is True
    assert backend.submit(text_prompt("hi", max_tokens=5)).result().finish_reason == "length"


def test_a_server_that_always_says_stop_is_found_and_its_counts_are_believed_instead(
    opened: Open, server: OpenAIDouble
) -> None:
    server.finish = "stop"
    backend = opened(needs_images=False)
    assert backend.identity["capabilities"]["finish_reasons"].startswith("not believable")
    assert backend.submit(text_prompt("hi", max_tokens=3)).result().finish_reason == "length"
    assert backend.submit(text_prompt("hi", max_tokens=20)).result().finish_reason == "stop"


def test_without_usage_counts_are_not_known_and_not_zero(opened: Open, server: OpenAIDouble) -> None:
    server.tells_usage = False
    output = opened(needs_images=False).submit(text_prompt("hi")).result()
    assert output.prompt_tokens is None
    assert output.completion_tokens is None


def test_a_name_the_server_does_not_know_and_answers_all_the_same_is_refused(
    server: OpenAIDouble, settings: Make
) -> None:
    with pytest.raises(UsageProblem, match=f"has no model 'other' and answers with 'm'. Write openai:{server.url}#m"):
        open_backend(resolve(f"openai:{server.url}#other"), settings(needs_images=False))


@pytest.mark.parametrize(
    ("status", "told"),
    [(401, "Put the key into the environment: BAKEOFF_API_KEY"), (404, "it serves: m"), (400, "refuses the simplest")],
)
def test_a_server_that_cannot_be_asked_is_a_usage_problem_with_what_to_do(
    server: OpenAIDouble, settings: Make, status: int, told: str
) -> None:
    server.script = lambda _: Act(status=status, body='{"error": "no"}')
    with pytest.raises(UsageProblem, match=told):
        open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False))


def test_a_worker_joins_with_what_was_found_and_asks_nothing_again(opened: Open, server: OpenAIDouble) -> None:
    server.refuses, server.max_images, server.finish, server.logprobs = ("min_p",), 1, "stop", "vllm"
    owner = opened()
    worker = opened(url=owner.url, concurrency=1, found=json.loads(json.dumps(owner.found)))
    assert server.seen == []
    assert worker.capabilities.max_images == 1
    asked = msgspec.structs.replace(text_prompt("hi", max_tokens=3), top_logprobs=5)
    outputs = [backend.submit(asked).result() for backend in (owner, worker)]
    assert [output.finish_reason for output in outputs] == ["length"] * 2
    assert [len(output.trace.tokens) for output in outputs if output.trace] == [3] * 2
    assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize(
    "name", ["openai:", "openai:http://h/v1", "openai:#m", "openai:ftp://h/v1#m", "openai:h:80/v1#m"]
)
def test_a_name_of_another_form_is_told_the_form(name: str) -> None:
    with pytest.raises(UsageProblem, match="openai:<base url>"):
        resolve(name)


def test_arms_are_named_after_their_model() -> None:
    assert resolve("openai:http://a/v1|https://b:9/v1/#org/My Model@q4").arm == "openai-My-Model-q4"
