"""Parts of a page that needs no other files: a template with its style, and pictures as data addresses."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2

ASSETS = Path(__file__).with_name("assets")
#: Characters that need no escape, neither in an address nor in an attribute of the page.
_UNCHANGED = " !$()*+,-./:;=?@[]^_{|}~"


def rendered(template: str, **values: Any) -> str:
    """Fill in one of the templates; `style` is the style sheet of all pages."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    style = (ASSETS / "page.css").read_text(encoding="utf-8")
    return environment.get_template(template).render(style=style, **values)


def data_uri(svg: str) -> str:
    """Encode a figure as a data address: nothing is loaded, and its identifiers cannot clash with others.

    If DejaVu Sans is not installed, fonts of similar width replace it.
    """
    text = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return "data:image/svg+xml," + quote(" ".join(text.split()), safe=_UNCHANGED)
