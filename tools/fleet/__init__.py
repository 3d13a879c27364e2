"""`python -m tools.fleet`: a run on three hosts, two of which are really lost, held against the run on one."""
