"""Figures inside a page: SVG that takes the page's colors and keeps its identities apart."""

from __future__ import annotations

import re
from typing import Any

from orthant.report.markup import Safe, escape
from orthant.reproduction.figures import as_svg
from orthant.reproduction.panels import palette


def inline(figure: Any, prefix: str, words: str | None) -> Safe:
    """A figure as an element of a page; ``words`` describe it, None hides it from readers.

    Its colors become the variables of the page's style, so they follow light and dark.
    """
    text = as_svg(figure, prefix)
    text = text[text.index("<svg") :]
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid=")|(\burl\(#)|(href="#)', lambda found: f"{found[0]}{prefix}-", text)
    for name, color in palette().items():
        text = text.replace(color, f"var(--{name})")
    size = re.search(r'viewBox="[^"]*"', text)
    assert size is not None
    if words is None:
        spoken = 'aria-hidden="true"'
    else:
        spoken = f'role="img" aria-label="{escape(words)}"'
    opening = f'<svg class="drawn" {size[0]} {spoken}>'
    return Safe(opening + re.sub(r"\s*\n\s*", "\n", text[text.index(">") + 1 :]).strip())
