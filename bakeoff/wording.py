"""Words around numbers."""


def plural(number: int, noun: str) -> str:
    """Return a noun in the form that its number asks for: 1 "sample", 0 or 2 "samples"."""
    return noun if number == 1 else f"{noun}s"


def some(number: int, noun: str) -> str:
    """Return a number with its noun: "1 sample", "2 samples"."""
    return f"{number} {plural(number, noun)}"
