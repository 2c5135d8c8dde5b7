"""The shell of every page: one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from importlib import resources
from string import Template
from typing import Any

from orthonmf.report.markup import Safe, data_block, escape, tag


def write_page(
    title: str,
    links: Iterable[tuple[str, str]],
    sections: Any,
    *,
    after: Any = (),
    data: Any = None,
    style: str = "",
    version: str = "",
) -> str:
    """A whole page: a bar with links (label and address each), the sections, what comes after.

    Everything but HTML is escaped. A content security policy forbids every request, and every
    script but the page's own, which draws from ``data``. ``style`` is added to that of all pages.
    """
    script = read_template("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(read_template("page.html")).substitute(
        title=escape(title),
        generator=escape(f"orthonmf {version}".strip()),
        style=read_template("page.css") + style,
        script=script,
        script_hash=f"sha256-{digest}",
        body=escape([_bar(links), tag("main", sections, id="main"), after]),
        data=data_block("data", data or {"maps": []}),
    )


def read_template(name: str, package: str = "orthonmf.report") -> str:
    """A file of the folder ``templates`` of a package."""
    return (resources.files(package) / "templates" / name).read_text(encoding="utf-8")


def _bar(links: Iterable[tuple[str, str]]) -> Safe:
    return tag(
        "header",
        tag("b", "orthonmf"),
        tag("nav", [tag("a", word, href=to) for word, to in links], aria_label="On this page"),
        tag("button", "Dark", type="button", id="theme"),
        class_="top",
    )


def figure_list(figures: Iterable[tuple[str, str, str]]) -> Safe:
    """Numbers that matter: a name, the number, and what it is, each."""
    boxes = [tag("div", tag("dt", a), tag("dd", b, tag("small", c))) for a, b, c in figures]
    return tag("dl", boxes, class_="figures")
