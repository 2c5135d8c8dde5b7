"""The colors of components: twelve that can be told apart, then the same again."""

from __future__ import annotations

N_COLORS = 12


def color_of(component: int) -> str:
    """The variable of the style sheet that holds the color of a component; gray for none."""
    return f"var(--c{component % N_COLORS})" if component >= 0 else "var(--none)"


def own_color(component: int) -> str:
    """The style that gives an element the color of a component."""
    return f"--own: {color_of(component)}"
