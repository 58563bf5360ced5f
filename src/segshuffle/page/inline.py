"""What makes a page self-contained: its style as text, and pictures as addresses that contain them."""

import re
from pathlib import Path
from urllib.parse import quote

STYLE = Path(__file__).with_name("assets") / "page.css"


def style() -> str:
    """Return the style sheet of a page."""
    return STYLE.read_text(encoding="utf-8")


def data_uri(svg: str) -> str:
    """Encode a figure as a data address, so that nothing is loaded and its identifiers cannot clash with others.

    Comments, metadata and line breaks are left out; where DejaVu Sans is not installed, fonts of like width stand in.
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
