"""How the site is built: `make docs`."""

import re
import warnings

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

import orthonmf

project = "orthonmf"
author = "The orthonmf developers"
copyright = "2026, The orthonmf developers"
version = release = orthonmf.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["**/GALLERY_HEADER.rst", "tutorials/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"

# Markdown: formulas between dollars, headings that can be linked to.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

# Docstrings.
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The tutorials are the scripts of examples/, which run whenever the site is built.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}
# plt.show() of a tutorial has nothing to show on while the site is built.
warnings.filterwarnings("ignore", message=".*non-interactive.*")

html_theme = "furo"
html_title = f"orthonmf {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_math_renderer = "mathml"


def to_mathml(node, as_block=False):
    """A formula as MathML: every browser shows it, without a network."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s in %r", error, node.astext(), location=node)
        return node.astext()


def visit_inline(writer, node):
    """A formula in a line."""
    writer.body.append(f'<span class="in-line">{to_mathml(node)}</span>')
    raise SkipNode


def visit_block(writer, node):
    """A formula by itself; what is too wide for a small screen is scrolled."""
    writer.body.append(f'<div class="formula">{to_mathml(node, as_block=True)}</div>')
    raise SkipNode


def escape_types(app, what, name, value, options, lines):
    """In ``core_ : shape (n_components_, m)`` the type names an attribute, and links to nothing."""
    for number, line in enumerate(lines):
        head, separator, kind = line.partition(" : ")
        if separator and "`" not in kind:
            lines[number] = head + separator + re.sub(r"(\w)_(?!\w)", r"\1\\_", kind)


def setup(app):
    """Formulas as MathML instead of by a script from the network."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("autodoc-process-docstring", escape_types, priority=100)  # before numpydoc
