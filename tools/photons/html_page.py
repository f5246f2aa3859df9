# SPDX-License-Identifier: GPL-3.0-or-later
"""Elements of an HTML page. Text is escaped where it becomes part of an element: a page shows what
the files of a run say, and a file may say anything."""

import base64
import html
import io

from .modules import Deferred

images = Deferred("PIL.Image")

# Nothing of a page runs or is loaded from elsewhere, even if a text of a file came to be an element.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
VOID = ("img", "link", "meta")  # elements without content and end
PNG = b"\x89PNG\r\n\x1a\n"
LARGE = 300_000  # bytes of a PNG from which on the page has it as JPEG
QUALITY = 85  # of JPEGs


class Html(str):
    """Text that is HTML already, made by element() or a constant of the program."""


def escaped(text):
    """Text of any origin as HTML."""
    return text if isinstance(text, Html) else Html(html.escape(str(text)))


def join(parts, between=""):
    return Html(between.join(map(escaped, parts)))


def element(tag, /, *content, **attributes):
    """An element. content -- elements, and texts, which are escaped; attributes -- their values are
    escaped, too; class_ is class, and http_equiv is http-equiv; those that are None are left out"""
    given = {key: value for key, value in attributes.items() if value is not None}
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in given.items()
    )
    end = "" if tag in VOID else f"{join(content)}</{tag}>"
    return Html(f"<{tag}{told}>{end}")


def as_jpeg(data, width=None):
    """A PNG as JPEG, with so many pixels across at most."""
    image = images.open(io.BytesIO(data)).convert("RGB")
    if width and image.width > width:
        image = image.resize((width, max(1, round(image.height * width / image.width))))
    packed = io.BytesIO()
    image.save(packed, "JPEG", quality=QUALITY)
    return packed.getvalue()


def picture(path, caption, kind=None, width=None, link=None):
    """A PNG file as part of the page. What is no PNG, whatever its name says, is not shown.

    width -- pixels across, at most, of a picture that the page has smaller than the file; link -- what
    opens where the picture is clicked"""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(PNG):
        return element("p", f"{path} is no PNG", class_="message")
    form = "png"
    if width or len(data) > LARGE:
        try:
            form, data = "jpeg", as_jpeg(data, width)
        except (OSError, SyntaxError, ValueError, images.DecompressionBombError) as error:
            return element("p", f"{path} cannot be shown: {error}", class_="message")
    source = f"data:image/{form};base64," + base64.b64encode(data).decode()
    image = element("img", alt=caption, src=source)
    shown = element("a", image, href=link) if link else image
    return element("figure", shown, element("figcaption", caption), class_=kind)


def table(head, rows, kind=None):
    def line(tag, row):
        return element("tr", *(element(tag, cell) for cell in row))

    top = [line("th", head)] if any(head) else []
    return element("table", *top, *(line("td", row) for row in rows), class_=kind)


def page(title, style, parts, head=()):
    """A whole page. head -- further elements of its head"""
    top = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width"),
        *head,
        element("title", title),
        element("style", Html(style)),
    )
    whole = element("html", top, element("body", element("h1", title), join(parts, "\n")), lang="en")
    return Html(f"<!DOCTYPE html>{whole}\n")
