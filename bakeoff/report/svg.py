"""From what matplotlib writes to SVG that belongs in the page: the page's colours, fonts and policy, and few bytes.

Colours leave as CSS variables, so one drawing serves light, dark and print. Style attributes become attributes, because
the page's policy lets no style in but its own; ids are kept only where something refers to them.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping

_XLINK = "{http://www.w3.org/1999/xlink}href"
_DROPPED = {"style", "metadata", "clipPath"}
_IDLE = {"font-family", "clip-path", "stroke-linejoin", "stroke-linecap", "transform-origin", "opacity"}
_NUMBER = re.compile(r"-?\d+\.\d+")


def page_svg(text: str, *, label: str, kind: str, colours: Mapping[str, str]) -> str:
    """Return the drawing in `text` as an inline `<svg>` element.

    Args:
        text: a whole SVG file written by matplotlib.
        label: what the drawing shows, for those who do not see it.
        kind: CSS classes of the element.
        colours: hexadecimal colours drawn with, and what stands for each of them in the page.
    """
    root = ET.fromstring(text)  # noqa: S314 -- our own drawing, written a moment ago
    wanted = {use.get(_XLINK, "").removeprefix("#") for use in root.iter() if _XLINK in use.attrib}
    _clean(root, wanted, colours)
    view = root.get("viewBox", "0 0 0 0").split()
    root.attrib.clear()
    root.attrib.update(
        {
            "class": f"plot {kind}",
            "viewBox": " ".join(view),
            "width": view[2],
            "height": view[3],
            "role": "img",
            "aria-label": label,
        }
    )
    return ET.tostring(root, encoding="unicode")


def _clean(node: ET.Element, wanted: set[str], colours: Mapping[str, str]) -> None:
    node.tag = node.tag.rpartition("}")[2]
    node.tail = None
    if node.tag not in {"text", "tspan"}:
        node.text = None
    _restyle(node, colours)
    if node.get("id") not in wanted:
        node.attrib.pop("id", None)
    if _XLINK in node.attrib:
        node.set("href", node.attrib.pop(_XLINK))
    if node.tag == "text":
        node.attrib.pop("transform", None)  # a turn by nothing
    for name in ("d", "x", "y", "transform"):
        if name in node.attrib:
            node.set(name, _NUMBER.sub(_short, " ".join(node.attrib[name].split())))
    for child in list(node):
        if child.tag.rpartition("}")[2] in _DROPPED:
            node.remove(child)
            continue
        _clean(child, wanted, colours)
        if _is_idle(child):
            node.remove(child)


def _restyle(node: ET.Element, colours: Mapping[str, str]) -> None:
    for part in node.attrib.pop("style", "").split(";"):
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if name and name not in _IDLE:
            node.set(name, colours.get(value, value))
    for name in _IDLE:
        node.attrib.pop(name, None)


def _is_idle(node: ET.Element) -> bool:
    """Return whether a node draws nothing."""
    if node.tag in {"g", "defs"} and not len(node):
        return True
    return node.tag == "path" and node.get("fill") == "none" and "stroke" not in node.attrib


def _short(found: re.Match[str]) -> str:
    """Return a number with one decimal at most: a tenth of a pixel is nothing that anyone sees."""
    text = f"{float(found.group()):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
