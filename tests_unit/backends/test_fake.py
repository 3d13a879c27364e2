"""The scripted backend under an engine that asks ahead."""

import threading

from bakeoff.backends.fake.backend import FakeBackend, Script
from bakeoff.models import resolve
from bakeoff.records import Prompt


def test_an_answer_is_not_taken_from_those_in_flight_while_the_next_prompt_looks_at_them() -> None:
    backend = FakeBackend(resolve("fake:echo"), Script(default="x"))
    prompt = Prompt(sample_id="a", messages=(), max_tokens=1, seed=0)
    landing = threading.Thread(target=backend._land, args=(prompt,))
    with backend._lock:
        landing.start()
        landing.join(timeout=0.2)
        assert landing.is_alive()
    landing.join()
    backend.close()
