"""Parts of a page that needs no other files: a template with its style, and pictures as data addresses."""

import base64
import gzip
from pathlib import Path
from typing import Any
from urllib.parse import quote

from segshuffle.extras import require

require("pipeline", "A page", "jinja2")

import jinja2  # noqa: E402  after the sentence that says what is missing

ASSETS = Path(__file__).with_name("assets")
#: Characters that need no escape, neither in an address nor in an attribute of the page.
_UNCHANGED = " !$()*+,-./:;=?@[]^_{|}~"


def rendered(template: Path, **values: Any) -> str:
    """Fill in a template, which may include files of its folder; `style` is the style sheet of all pages."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    style = (ASSETS / "page.css").read_text(encoding="utf-8")
    return environment.get_template(template.name).render(style=style, **values)


def on_screen(svg: str) -> str:
    """Return a figure that looks alike if DejaVu Sans is not installed: fonts of similar width replace it."""
    return " ".join(svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif").split())


def data_uri(svg: str) -> str:
    """Encode a figure as a data address: nothing is loaded, and its identifiers cannot clash with others."""
    return "data:image/svg+xml," + quote(on_screen(svg), safe=_UNCHANGED)


def frame(svg: str) -> str:
    """Encode an empty picture of a figure's size: the page does not jump when the figure takes its place."""
    start = svg.index("<svg")
    return data_uri(svg[start : svg.index(">", start)] + "/>")


def packed(text: str) -> str:
    """Compress a text for page.js to unpack: a figure becomes a seventh as long, plotly.js two fifths."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
