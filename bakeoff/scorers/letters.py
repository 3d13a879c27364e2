"""Finds option letters in an answer: declared, as a leading label, or standing alone.

A letter is a capital or, where the text around it leaves no doubt, a small one. "A" and "I" before a word in small
letters are an article and a pronoun, in quotes too; not in brackets, and not in "point A". Every other capital before
a word is a letter. Patterns read folded text and are linear in its length.
"""

import re

_NOT_GLUED = r"(?![A-Za-z0-9\u00c0-\u024f]|['\u2019][A-Za-z]|_[A-Za-z0-9])"
# Looks back from behind a capital, so that a search leaps from capital to capital.
_NOT_AFTER = r"(?<![A-Za-z0-9\u00c0-\u024f].)(?<![A-Za-z0-9][_'\u2019].)"
# No angle brackets: "<b>" is a mark of HTML.
_OPEN = r"[(\[{\u3008\u300a\u300c\u300e\u3010\u3014\u3016]"
_CLOSE = r"[)\]}\u3009\u300b\u300d\u300f\u3011\u3015\u3017]"
NO_WORD = r"(?!\s++(?!(?:and|or|because|since|as|is)\b)[a-z])"
"""What may not follow a letter that could be an article or a pronoun: a word in small letters, some words aside."""
_NO_ARTICLE = rf"(?:(?<![AIai])|{NO_WORD})"
_MARKS = r"[\s\"'`*_\u201c\u201d\u2018\u2019]"
_CONNECTOR = rf"(?:{_MARKS}*+(?:[,/&+|;\u3001]|\b(?:or|and)\b|\u6216\u8005?+|\u548c)){{1,3}}+{_MARKS}*+"
_IN_BRACKETS = rf"\s*+(?P<bracketed>[A-Za-z])\s*+{_CLOSE}"
_BRACKETED_LETTER = _OPEN + _IN_BRACKETS
# A search leaps to the next of one set of characters, and does not try several beginnings everywhere.
_OPEN_OR_CAPITAL = rf"[A-Z{_OPEN[1:]}"
_BEHIND_OPEN = rf"(?<={_OPEN}){_IN_BRACKETS}"

_LINK = (
    r"(?i:is|are|was|would|should|must|be|option|choice|the|letter|correct|definitely|clearly|therefore|thus|probably)"
    r"(?![A-Za-z])|[:=]|\u662f|\u4e3a|\u5e94\u4e3a"
)
_SMALL = rf"(?P<small>[a-z])(?=[*_`\"'\u201d\u2019]*+(?:{_CLOSE}|[.,;:!?\u3002]|\s*+\Z))"
# The first letters come first: a search that need not try each cue everywhere takes half the time.
_CUE = (
    r"[AaCcPpSsGg\u7b54\u6545\u5e94\u9009](?:(?<![A-Za-z].)(?:(?<=[Aa])(?i:nswers?)|(?<=[Cc])(?i:hoose)|(?<=[Pp])(?i:ick)"
    r"|(?<=[Ss])(?i:elect)|(?<=[Gg])(?i:o\s++with))(?![A-Za-z])"
    r"|(?<=\u7b54)\u6848|(?<=[\u6545\u5e94])\u9009|(?<=\u9009)\u62e9?+)"
)
_DECLARED = re.compile(
    rf"{_CUE}(?:{_MARKS}++|{_LINK})*+"
    rf"(?:(?<=[\"'\u201c\u2018])(?P<quoted>[A-Za-z]){_NOT_GLUED}{_NO_ARTICLE}"
    rf"|{_OPEN}{_MARKS}*+(?P<bracketed>[A-Za-z]){_NOT_GLUED}"
    rf"|(?P<capital>[A-Z]){_NOT_GLUED}{_NO_ARTICLE}"
    rf"|{_SMALL})"
)
_JUDGED = re.compile(
    rf"{_OPEN_OR_CAPITAL}(?:{_BEHIND_OPEN}|(?<=(?P<capital>[A-Z])){_NOT_AFTER}(?![A-Za-z0-9]))"
    r"[*_`]*+\s++(?:is|would\s++be|must\s++be)\s++(?:the\s++)?(?:right|correct|best|answer)(?![A-Za-z])"
)
_HEDGE = re.compile(
    rf"\s*+(?:{_CLOSE}|[\"'\u201d\u2019*_`])*+{_CONNECTOR}"
    rf"(?:{_BRACKETED_LETTER}|{_OPEN}?+(?P<capital>[A-Z]){_NOT_GLUED}{_NO_ARTICLE}|{_SMALL})"
)
_LABEL = re.compile(
    rf"(?:{_BRACKETED_LETTER}"
    rf"|(?P<marked>[A-Za-z])[*_`]*+(?:[.:](?![A-Za-z])|[.:](?=[A-Z][a-z ])|:(?=[a-z])|\)|\s-\s)"
    rf"|(?P<alone>[A-Za-z])[*_` \t]*+(?=\r?\n|\Z))"
)
_LEADING = re.compile(rf"(?:{_BRACKETED_LETTER}|(?P<letter>[A-Za-z])(?![A-Za-z])[*_`]*+[.:)]?+)")
_LATER_LABEL = re.compile(
    rf"{_BRACKETED_LETTER}|(?P<marked>[A-Z]){_NOT_AFTER}(?:[*_`]*+[.:)][*_`]*+\s++(?=\S)|\s-\s)"
    r"|(?<=\n)(?P<alone>[A-Za-z])(?=\r?\n|\Z)|(?<=\s)(?P<small>[a-z])(?:\)|(?<=\n[a-z])[.:])\s++(?=\S)"
)
_BRACKETED = re.compile(
    rf"[OoCc{_OPEN[1:]}(?:(?<![A-Za-z0-9].){_BEHIND_OPEN}"
    r"|(?<!\w.)(?:(?<=[Oo])(?i:ption)|(?<=[Cc])(?i:hoice))"
    rf"\s++(?P<named>[A-Z]|[a-z]{_NO_ARTICLE}){_NOT_GLUED})"
)
_CAPITAL = re.compile(
    rf"(?P<capital>[A-Z]){_NOT_AFTER}{_NOT_GLUED}"
    rf"(?:{_NO_ARTICLE}|(?<=[Pp]oint .)|(?<=[Ii]mage .)|(?<=[Ff]igure .)|(?<=[Ll]etter .))"
)
_ONLY_LETTERS = re.compile(
    rf"(?:(?:either|both)\s++)?(?:{_OPEN}\s*+)?[A-Za-z](?:\s*+{_CLOSE})?\.?"
    rf"(?:(?:{_CONNECTOR}|\s++)(?:{_OPEN}\s*+)?[A-Za-z](?![A-Za-z])(?:\s*+{_CLOSE})?\.?)*+[\s.!]*+",
    re.IGNORECASE,
)
_ENDS_IN_TWO = re.compile(
    rf"{_OPEN}\s*+([A-Za-z])\s*+{_CLOSE}{_CONNECTOR}{_OPEN}\s*+([A-Za-z])\s*+{_CLOSE}[\s.!?*_]*+\Z"
)
_SENTENCE_END = re.compile(r"[.!?\u3002\n](?:(?<!\n)\s++|(?<=[\n\u3002]))")
_PARAGRAPH_END = re.compile(r"\n[ \t]*+\n\s*+")
_REFUSAL = re.compile(
    r"\b(?:impossible|not\s+possible|cannot|can['\u2019]t|could\s+not|unable\s+to|sorry|none\s+of\s+the|no\s+correct"
    r"|not\s+applicable|insufficient)\b|\u65e0\u6cd5|\u62b1\u6b49",
    re.IGNORECASE,
)


def letter_of(match: re.Match[str], valid: str) -> str | None:
    """Return the letter that a pattern caught, as a capital; None when it is none of the `valid` ones."""
    caught = next((group.upper() for group in match.groupdict().values() if group), "")
    return caught if caught and caught in valid else None


def declared(text: str, valid: str) -> tuple[str | None, bool]:
    """Return the last declared letter, and whether it was taken back at once by "or B".

    Declarations are "answer", "choose", "pick", "select", "go with" and their Chinese forms followed by link words
    and a letter, and "(X) is the right answer".
    """
    last: tuple[int, str, int] | None = None
    for pattern in (_DECLARED, _JUDGED):
        for match in pattern.finditer(text):
            letter = letter_of(match, valid)
            if letter is not None and (last is None or match.start() > last[0]):
                last = match.start(), letter, match.end()
    if last is None:
        return None, False
    return last[1], _is_hedged(text, last[2], last[1], valid)


def leading(text: str, valid: str) -> tuple[str | None, str]:
    """Return the letter that comes first, in brackets, with a mark or alone, and what follows it."""
    match = _LEADING.match(text)
    return (letter_of(match, valid), text[match.end() :]) if match else (None, "")


def label(text: str, valid: str) -> str | None:
    """Return the letter of a leading label, unless other labels or a connector and another letter follow."""
    match = _LABEL.match(text)
    letter = letter_of(match, valid) if match else None
    if match is None or letter is None or _is_hedged(text, match.end(), letter, valid):
        return None
    later = {letter_of(found, valid) for found in _LATER_LABEL.finditer(text, match.end())}
    return None if later - {None, letter} else letter


def only_letters(text: str, valid: str) -> set[str]:
    """Return the letters of an answer that consists of letters and connectors; empty when it holds anything else."""
    is_run = not text.strip(text[:1])  # "BBB"
    if not is_run and not _ONLY_LETTERS.fullmatch(text):
        return set()
    stripped = re.sub(r"\b(?:either|both|or|and)\b", " ", text, flags=re.IGNORECASE)
    found = {character.upper() for character in stripped if character.isalpha() and character.isascii()}
    return found if found <= set(valid) else set()


def mentioned(text: str, valid: str) -> list[tuple[int, str]]:
    """Return position and letter of bracketed and named letters; of stand-alone capitals when there are none."""
    for pattern in (_BRACKETED, _CAPITAL):
        found = [
            (match.start(), letter)
            for match in pattern.finditer(text)
            if (letter := letter_of(match, valid)) is not None
        ]
        if found:
            return found
    return []


def deciding(text: str, found: list[tuple[int, str]], valid: str) -> str:
    """Choose among several mentioned letters; empty when the text ends in "(A) or (B)".

    The first of last paragraph, last sentence and first sentence that holds exactly one decides, else the last.
    """
    start, end = last_sentence(text)
    two = _ENDS_IN_TWO.search(text, start)
    if two and all(letter.upper() in valid for letter in two.groups()):
        return ""
    first = _SENTENCE_END.search(text)
    first_end = first.end() if first else len(text)
    for low, high in ((_last_start(_PARAGRAPH_END, text), len(text)), (start, end), (0, first_end)):
        letters = {letter for position, letter in found if low <= position < high}
        if len(letters) == 1:
            return letters.pop()
    return found[-1][1]


def last_sentence(text: str) -> tuple[int, int]:
    """Return start and end of the last sentence of a text without outer whitespace."""
    return _last_start(_SENTENCE_END, text), len(text)


def is_refusal(text: str) -> bool:
    """Return whether the last sentence says that there is no answer."""
    return _REFUSAL.search(text, last_sentence(text)[0]) is not None


def _last_start(pattern: re.Pattern[str], text: str) -> int:
    """Return the end of the last separator before the end of `text`."""
    return max((match.end() for match in pattern.finditer(text) if match.end() < len(text)), default=0)


def _is_hedged(text: str, end: int, letter: str, valid: str) -> bool:
    """Return whether a connector and another letter follow at `end`."""
    match = _HEDGE.match(text, end)
    return match is not None and letter_of(match, valid) not in {None, letter}
