"""Prompt texts that ask for reasoning before the answer, and the budgets that leave room for it."""

from typing import Final

COT_TOKENS: Final = 2048

LETTER_LAST: Final = (
    "Answer the preceding multiple choice question. The last line of your response should be of the following format: "
    "'Answer: $LETTER' (without quotes) where LETTER is one of options. Think step by step before answering."
)
"""MMMU-Pro's chain-of-thought prompt (Yue et al. 2024, arXiv:2409.02813)."""

ANSWER_LAST: Final = (
    "Answer the preceding question. The last line of your response should be of the following format: "
    "'Answer: $ANSWER' (without quotes) where ANSWER is the final answer. Think step by step before answering."
)
"""The same for questions without options."""

BOXED: Final = "Please reason step by step, and put your final answer within \\boxed{}."
"""The prompt that maths models are commonly evaluated with (Qwen2.5-Math, DeepSeek-R1)."""
