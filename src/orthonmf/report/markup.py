"""HTML from Python: everything is escaped unless it was made here."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any

VOID = {"img", "input", "meta", "br", "line", "rect", "circle", "polyline", "path"}


class Safe(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(child: Any) -> Safe:
    """A child of an element: HTML stays, lists are joined, all else is escaped."""
    if isinstance(child, Safe):
        return child
    if child is None:
        return Safe("")
    if isinstance(child, list | tuple):
        return Safe("".join(escape(one) for one in child))
    return Safe(html.escape(_printable(str(child)), quote=True))


def tag(name: str, *children: Any, **attributes: Any) -> Safe:
    """An element; ``class_`` and ``aria_label`` become ``class`` and ``aria-label``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Safe(f"<{name}{written}>" if name in ("img", "input") else f"<{name}{written}/>")
    return Safe(f"<{name}{written}>{escape(children)}</{name}>")


def table(head: Iterable[Any], rows: Any, *, caption: str | None = None, **attributes: Any) -> Safe:
    """A table; its headings are words or elements."""
    cells = [one if isinstance(one, Safe) else tag("th", one, scope="col") for one in head]
    above = None if caption is None else tag("caption", caption)
    return tag("table", above, tag("thead", tag("tr", cells)), tag("tbody", rows), **attributes)


def row(name: Any, cells: Iterable[Any], **attributes: Any) -> Safe:
    """A row of a table: what it is about, and its cells, which are words or elements."""
    inside = [one if isinstance(one, Safe) else tag("td", one) for one in cells]
    return tag("tr", tag("th", name, scope="row"), inside, **attributes)


def section(title: str, identity: str, *content: Any) -> Safe:
    """A part of a page that links lead to."""
    return escape([tag("h2", title, id=identity), content])


def remark(text: Any) -> Safe:
    """A paragraph in small gray letters."""
    return tag("p", text, class_="soft small")


def data_block(identity: str, data: Any) -> Safe:
    """JSON for the page's script, written so that no content can end the block."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Safe(f'<script type="application/json" id="{identity}">{text}</script>')


def _printable(text: str) -> str:
    """Control characters and lone surrogates have no place in a page."""
    clean = "".join(
        one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in text
    )
    return clean.encode("utf-8", "replace").decode("utf-8")
