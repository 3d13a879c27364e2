"""Fixtures of `synthetic`, for every test below."""

from tests_unit.report.synthetic import answered, maker, samples

__all__ = ["answered", "maker", "samples"]
