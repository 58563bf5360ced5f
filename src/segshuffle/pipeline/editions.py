"""What a reader is told of results that are not the shipped configuration's."""


def remarked(text: str, edition: str) -> str:
    """Say below the title of a Markdown text what edition it is; the full one's results need no remark."""
    if edition == "full":
        return text
    remark = f"This is the edition **{edition}**, with data or settings of its own."
    if edition == "quick":
        remark = "This is a **quick** run: it shows that everything works, and is not a result."
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{remark}\n{rest}"
