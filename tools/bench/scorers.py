"""A million scores on one core, over the adversarial outputs of the truth vectors; 30 s is the limit.

Every rule of a row is as likely as it is in the file. A real run is easier: its outputs are shorter and more alike.
"""

import time
from pathlib import Path

from tools.score_vectors import read_rows
from tools.vector_rules import RULES, rule_of

VECTORS = Path(__file__).parents[2] / "tests_unit" / "vectors" / "scorers.jsonl"
SCORES = 1_000_000
LIMIT_S = 30.0


def run(*, smoke: bool) -> bool:
    """Time every rule on its rows, print seconds for a million scores, and return whether the mix keeps the limit.

    A busy machine cannot hold seconds: `smoke` only prints them.
    """
    jobs = [
        (row["scorer"], scorer.score, row["output"], target)
        for row in read_rows(VECTORS)
        if row["scorer"] in RULES
        for scorer, target in (rule_of(row),)
    ]
    rounds = max(SCORES // 20 // len(jobs), 1)
    spent = dict.fromkeys(RULES, 0.0)
    calls = dict.fromkeys(RULES, 0)
    for name, score, output, target in jobs:
        began = time.process_time()
        for _ in range(rounds):
            score(output, target)
        spent[name] += time.process_time() - began
        calls[name] += rounds
    for name in RULES:
        print(f"{name:36} {SCORES * spent[name] / calls[name]:7.1f} s")
    total = SCORES * sum(spent.values()) / sum(calls.values())
    print(f"{'all rules, a million scores':36} {total:7.1f} s (limit {LIMIT_S:g} s, measured on {sum(calls.values())})")
    print(f"scorers: {total:.1f} s/million")
    return smoke or total <= LIMIT_S
