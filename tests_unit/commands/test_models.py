"""`bakeoff models` leaves no kind of model out."""

from bakeoff.backends import BACKENDS
from bakeoff.models import ALIASES, FORMS, resolve


def test_every_kind_of_model_but_the_scripted_one_has_a_name_or_a_form() -> None:
    kinds = {resolve(name).backend for name in ALIASES} | set(FORMS.values())
    assert kinds == BACKENDS.keys() - {"fake"}
