"""Settings of the documentation site: `make docs` builds it into build/site from the documents and the docstrings.

No page asks for anything from a network: formulas become MathML when the site is built, and the theme brings no fonts.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from segshuffle.drawing.looks import PALETTE

project = "segshuffle"
author = "the authors of segshuffle"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# documents are where a reader of the repository expects them, so the source is the whole repository
root_doc = "docs/index"
include_patterns = ["*.md", "config/README.md", "docs/**.md", "docs/*.ipynb"]
exclude_patterns = ["docs/site", "build", ".venv", "results/**"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
# notebooks are shown as they are stored; a test executes them
nb_execution_mode = "off"

myst_enable_extensions = ["dollarmath"]
# links between documents may name a heading, as they do where the repository is shown
myst_heading_anchors = 4

autodoc_member_order = "bysource"
# docstrings name the types, with shapes
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
default_role = "code"
suppress_warnings = [
    # a name in a docstring that several things share links to none of them
    "ref.python",
    # tables that a run writes are no chapters: a page links to each of them, and a test checks this
    "toc.not_included",
]

html_theme = "furo"
html_title = "segshuffle"
html_extra_path = ["site"]
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": PALETTE["blue"], "color-brand-content": PALETTE["blue"]},
    # nothing to load an icon from
    "footer_icons": [],
}
html_math_renderer = "mathml"


class Modules(SphinxDirective):
    """``.. modules:: segshuffle.protocols``: everything public in a package, by module, in the order of names."""

    required_arguments = 1
    optional_arguments = 50

    def run(self) -> list[nodes.Node]:
        """Return a section for every module, with what autodoc finds there."""
        lines: list[str] = []
        for room in self.arguments:
            for name in [room, *_below(room)]:
                options = ["   :members:", "   :ignore-module-all:"]
                title = name.removeprefix("segshuffle.").removeprefix("accounting.")
                # a package's own words stand below the title of the page
                lines += [] if name == room and _below(room) else [title, "-" * len(title), ""]
                lines += [f".. automodule:: {name}", *options, ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _below(room: str) -> list[str]:
    """List the public modules below a package."""
    package = importlib.import_module(room)
    if not hasattr(package, "__path__"):
        return []
    found = sorted(each.name for each in pkgutil.walk_packages(package.__path__, f"{room}."))
    return [name for name in found if not any(part.startswith("_") for part in name.split("."))]


def _mathml(translator: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers draw themselves."""
    block = isinstance(node, nodes.math_block)
    drawn = convert(node.astext(), display="block" if block else "inline")
    style = "overflow-x: auto; overflow-y: hidden; padding: .4em 0"
    translator.body.append(f'<div style="{style}">{drawn}</div>' if block else drawn)
    raise nodes.SkipNode


#: As formulas are typed: an index behind a letter, of one character or in braces; an exponent, of a word or in braces.
_SCRIPTS = re.compile(
    r"(?:(?<=\))|(?<=[∏∑])|(?<=\b[^\W\d_]))_(?:\{(?P<index>(?:[^{}]|\{[^{}]*\})*)\}|(?P<letter>[^\W_])(?![^\W_]|_\w))"
    r"|(?<=[\w)])\^(?:\{(?P<exponent>(?:[^{}]|\{[^{}]*\})*)\}|(?P<word>[-−]?\w+|\((?:[^()]|\([^()]*\))*\)))"
)


class Scripts(SphinxTransform):
    """Indices and exponents of formulas in running text, below and above the line."""

    default_priority = 800

    def apply(self, **_options: Any) -> None:
        """Set the indices and exponents in everything but code."""
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.raw)):
                parts = typeset(text.astext())
                if len(parts) > 1:
                    text.parent.replace(text, parts)


def typeset(text: str) -> list[nodes.Node]:
    """Return the text with its indices and exponents as subscripts and superscripts."""
    parts: list[nodes.Node] = []
    end = 0
    for found in _SCRIPTS.finditer(text):
        parts.append(nodes.Text(text[end : found.start()]))
        below, above = found["index"] or found["letter"], found["exponent"] or found["word"]
        parts.append(nodes.subscript("", "", *typeset(below)) if below else nodes.superscript("", "", *typeset(above)))
        end = found.end()
    return [*parts, nodes.Text(text[end:])]


def _plain(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Escape the bars of a docstring outside of code: they are absolute values, not marks."""
    lines[:] = [re.sub(r"(`[^`]*`)|\|", lambda match: match[1] or r"\|", line) for line in lines]


def _whole(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Put a colon first: napoleon takes the words before the first colon for a property's type."""
    if what in ("attribute", "data", "property") and lines:
        lines[0] = f": {lines[0]}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the functions and classes of this file."""
    app.add_directive("modules", Modules)
    app.add_lexer("csv", TextLexer)
    app.add_transform(Scripts)
    app.connect("autodoc-process-docstring", _plain)
    app.connect("autodoc-process-docstring", _whole, priority=400)  # before napoleon's, 500
    app.add_html_math_renderer("mathml", (_mathml, None), (_mathml, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
