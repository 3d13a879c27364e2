"""Benchmarks of the suite itself: `python -m tools.bench NAME`."""
