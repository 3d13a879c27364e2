r"""Reads the one number that a free-form answer gives.

Numbers are integers and decimals with or without thousands commas, powers of ten (`2e6`, `2x10^6`,
`2\times10^{6}`), fractions (`a/b`, `\frac{a}{b}`) and mixed numbers (`1 1/5`). A hyphen after a digit, a letter or a
closing bracket is no sign, and digits glued to a letter before them (`H2O`, `x_1`) are no number. Percent signs and
units are ignored: 50 % is 50. Which number counts is decided by the text alone; see `read_number`.
"""

import math
import re

from bakeoff.text import final_answer, fold, last_boxed

_DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,6}+(?![0-9])(?:\.[0-9]++)?|[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)"
_INTEGER = r"[0-9]++"
_NUMBER = re.compile(
    rf"""(?<![A-Za-z0-9])(?<![A-Za-z0-9]_)(?<![0-9]\.)
    (?P<sign>(?<![A-Za-z0-9)\]}}])(?:[-+]|(?<![A-Za-z0-9)\]}}]\ )[-+]\ ))?
    (?:
        (?:(?P<units>{_INTEGER})\s*+)?\\[cdt]?frac\s*+
        \{{\s*+(?P<top>[-+]?{_DIGITS})\s*+\}}\s*+\{{\s*+(?P<bottom>[-+]?{_DIGITS})\s*+\}}
      | (?:(?P<whole>{_INTEGER})\s++(?={_INTEGER}\s?[/\u2044]))?(?<!/)
        (?P<numerator>(?>{_DIGITS}))\s?[/\u2044]\s?(?P<denominator>(?>{_DIGITS}))(?!\.[0-9]|/)
      | 10\s?\^\s?[{{(]?(?P<power_of_ten>[-+]?[0-9]++)[)}}]?
      | (?P<decimal>{_DIGITS})
        (?: [eE](?P<exponent>[-+]?[0-9]++)
          | \s?(?:[xX*\u00d7\u00b7]|\\times|\\cdot)\s?10\s?\^\s?[{{(]?(?P<power>[-+]?[0-9]++)[)}}]? )?
    )""",
    re.VERBOSE,
)
_CURRENCY = "[$\u20ac\u00a3\u00a5\u20b9]"
_NOISE = re.compile(rf"\\(?:text|mathrm|mathbf|textbf)\b|{_CURRENCY}|\\[,;:! ]")
_THIN_BLANK = re.compile("(?<=[0-9])[\u2009\u202f\u200a](?=[0-9]{3}(?![0-9]))")
# What may stand between thousands in LaTeX, and a currency sign between a minus and its number: gone, not a blank.
_INSIDE_NUMBER = re.compile(rf"(?<=[0-9])(?:\\[,!]|\{{,\}})(?=[0-9]{{3}}(?![0-9]))|(?<=[-+])\\?{_CURRENCY}\s?")
_VULGAR = re.compile(r"(?<=[0-9])(?=[\u00bc-\u00be\u2150-\u215e])")
_BULLET = re.compile(r"^[ \t]*+[-+*\u2022][ \t]+", re.MULTILINE)
# Letters are ASCII here: an underscore or a Chinese character beside a word does not make it another word.
_CUE = re.compile(r"(?<![A-Za-z0-9])(?:answer|result)(?!_?[A-Za-z0-9])|\u7b54\u6848", re.IGNORECASE)
_EQUALS = re.compile(r"[=\u2248\u2245\u2243\u2252\u223c~]|\\(?:approx|simeq|sim|cong)(?![A-Za-z])")
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_WORD = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_WORDS)})(?![A-Za-z0-9])", re.IGNORECASE)
_GROUP = re.compile(r"[\[({]([^\[\](){}]*+)[\])}]")


def read_number(output: str) -> float | None:
    """Return the number an answer gives, or None.

    The first of these that holds decides: the last number of the last boxed expression; the only number of the text;
    without digits, the only number word from zero to twenty; after the last "answer" or "result", on its line, the
    last number if the line has an equals sign, else the first; the first number after the last equals sign; the last
    number. A number too large to be finite is no number.
    """
    text = _prepared(output)
    boxed = last_boxed(text)
    if boxed is not None and (inside := _find(boxed)):
        return _value(inside[-1])
    found = _find(text)
    if not found:
        return _word(text)
    if len(found) == 1:
        return _value(found[0])
    return _value(_among(found, text))


def read_numbers(output: str) -> list[float] | None:
    """Return the numbers of the last bracketed list, or all of them without a list; None when one is not finite.

    A list may be cut before its closing bracket. A single number in round brackets is a remark and no list.
    """
    found = _last_list(_prepared(output))
    values = [_value(match) for match in found]
    finite = [value for value in values if value is not None]
    return finite if finite and len(finite) == len(values) else None


def parse_gold(text: str) -> float:
    """Read a gold as its dataset writes it, thousands commas allowed.

    Raises:
        ValueError: when it is not a number.
    """
    return float(text.replace(",", ""))


def format_number(value: float) -> str:
    """Return a number as short as it can be written without loss of meaning."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)  # noqa: PLR2004 -- exact ints


def _prepared(output: str) -> str:
    """Return the folded answer without currency signs, thin spaces and text wrappers, percent signs unescaped."""
    # Before folding, which makes a thin blank a blank and glues the parts of a mixed number such as 3½ together.
    text = final_answer(output)
    if not text.isascii():
        text = fold(_VULGAR.sub(" ", _THIN_BLANK.sub("", text))).strip()
    if "\n" in text:
        text = _BULLET.sub("", text)  # the dash before an item of a list is no minus
    return _NOISE.sub(" ", _INSIDE_NUMBER.sub("", text.replace("\\%", "%")))


def _find(text: str) -> list[re.Match[str]]:
    """Return all numbers of a text in order."""
    return list(_NUMBER.finditer(text))


def _last_list(text: str) -> list[re.Match[str]]:
    """Return the numbers of the last bracketed list, closed or cut, or else all numbers."""
    opening = max(map(text.rfind, "[({"))
    if opening > max(map(text.rfind, "])}")):
        found = _find(text[opening + 1 :])
        if found:
            return found
    for group in reversed(list(_GROUP.finditer(text))):
        found = _find(group[1])
        if len(found) > (group.group()[0] != "["):
            return found
    return _find(text)


def _among(found: list[re.Match[str]], text: str) -> re.Match[str]:
    """Choose one of several numbers."""
    cues = [match.end() for match in _CUE.finditer(text)]
    if cues:
        end = text.find("\n", cues[-1])
        end = len(text) if end < 0 else end
        line = [match for match in found if cues[-1] <= match.start() < end]
        if line:
            return line[-1] if _EQUALS.search(text, cues[-1], end) else line[0]
    signs = [match.end() for match in _EQUALS.finditer(text)]
    if signs:
        after = [match for match in found if match.start() >= signs[-1]]
        if after:
            return after[0]
    return found[-1]


def _value(match: re.Match[str]) -> float | None:
    """Return the value of one number; None when it is not finite."""
    sign = -1.0 if (match["sign"] or "").startswith("-") else 1.0
    if match["power_of_ten"] is not None:
        value = float(f"1e{match['power_of_ten']}")
    elif match["decimal"] is not None:
        power = match["exponent"] or match["power"]
        value = float(match["decimal"].replace(",", "") + (f"e{power}" if power else ""))
    else:
        bottom = float((match["bottom"] or match["denominator"]).replace(",", ""))
        if bottom == 0.0:
            return None
        value = float((match["top"] or match["numerator"]).replace(",", "")) / bottom + float(
            match["whole"] or match["units"] or 0
        )
    return sign * value if math.isfinite(value) else None


def _word(text: str) -> float | None:
    """Return the value of the only number word; None when there is none or several differ."""
    if any(character.isdigit() for character in text):
        return None
    words = {match.group().lower() for match in _WORD.finditer(text)}
    return float(_WORDS.index(words.pop())) if len(words) == 1 else None
