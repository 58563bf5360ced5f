"""Parts of a page that needs no other files: a template with its style, and pictures as data addresses."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2

ASSETS = Path(__file__).with_name("assets")


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

    Comments, metadata and line breaks are left out. If DejaVu Sans is not installed, fonts of similar width replace it.
    """
    start = svg.index("<svg")
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg[start:], flags=re.DOTALL)
    text = text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    # quotes around attributes change their kind, so that they need not be escaped
    text = re.sub(r"<[^>]*>", lambda tag: tag.group().translate(_SWAPPED), text)
    # what an address cannot hold; the page escapes quotes and ampersands as in any attribute
    safe = re.sub(r"[^ -~]+|[%#]", lambda part: quote(part.group()), " ".join(text.split()))
    return f"data:image/svg+xml,{safe}"


_SWAPPED = str.maketrans("\"'", "'\"")
