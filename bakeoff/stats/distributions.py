"""Quantiles and tails of the few distributions in use, from scipy.special.

`scipy.stats` has them too and takes a second to import, which every start of pytest would pay.
"""

import math

from scipy import special


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile."""
    return float(special.ndtri(probability))


def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t; `df` need not be whole."""
    return float(special.stdtrit(df, probability))


def t_tail(value: float, df: float) -> float:
    """Return the probability that Student's t exceeds `value`."""
    return float(special.stdtr(df, -value))


def binomial_cdf(k: int, n: int, probability: float) -> float:
    """Return the probability of at most `k` successes in `n`."""
    return float(special.bdtr(k, n, probability))


def binomial_pmf(k: int, n: int, probability: float) -> float:
    """Return the probability of exactly `k` successes in `n`."""
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + special.xlogy(k, probability) + special.xlog1py(n - k, -probability))
