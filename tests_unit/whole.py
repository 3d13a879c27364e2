"""How much the tests that hold hundreds of real answers against each other ask: a part, unless all is wanted."""

import os

IS_WHOLE = os.environ.get("BAKEOFF_TESTS") == "whole"
"""Set by `make test-whole`: the numbers of samples that the docs speak of, which take ten minutes longer."""
