# SPDX-License-Identifier: MIT
"""A canvas that becomes an SVG file: shapes, text, and how much room text takes."""

import textwrap
from xml.sax.saxutils import escape, quoteattr

INK, SOFT, FAINT, PAPER = "#1f2328", "#59636e", "#d0d7de", "#ffffff"
# The mean width of a letter in ems: no common monospaced font is wider, and with the other one
# prose fits in the widest fonts too.
_ADVANCE = {"mono": 0.605, "sans": 0.52}
_FAMILY = {
    "mono": "DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace",
    "sans": "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif",
}


def width_of(text, size=12, family="sans"):
    return len(text) * size * _ADVANCE[family]


def wrapped(text, width, size=12):
    """The lines into which the text is broken."""
    return textwrap.wrap(text, int(width / (size * _ADVANCE["sans"])), break_on_hyphens=False)


def _attributes(given):
    shown = {name.replace("_", "-"): value for name, value in given.items() if value is not None}
    return "".join(f" {name}={quoteattr(_text(value))}" for name, value in shown.items())


def _text(value):
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


class Canvas:
    def __init__(self, width, title, notes=""):
        self.width = width
        self.title = title
        self.notes = notes  # for script/pictures itself
        self.shapes = []

    def add(self, name, content=None, **given):
        end = "/>" if content is None else f">{content}</{name}>"
        self.shapes.append(f"<{name}{_attributes(given)}{end}")

    def rect(self, x, y, width, height, fill=PAPER, stroke=None, **more):
        self.add("rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, **more)

    def line(self, *points, stroke=SOFT, **more):
        steps = " L".join(f"{_text(float(x))} {_text(float(y))}" for x, y in points)
        self.add("path", d=f"M{steps}", fill=more.pop("fill", "none"), stroke=stroke, **more)

    def arrow(self, x, y, to, both=False):
        """A horizontal one."""
        self.line((x, y), (to, y))
        for tip, towards in [(to, x), (x, to)][: 2 if both else 1]:
            back = 6 if towards > tip else -6
            self.line((tip + back, y - 4), (tip, y), (tip + back, y + 4))

    def text(self, x, y, *parts, size=12, family="sans", fill=INK, **more):
        """A part is text, or (text, colour)."""
        content = "".join(
            escape(part) if isinstance(part, str)
            else f'<tspan fill="{part[1]}">{escape(part[0])}</tspan>'
            for part in parts)
        family = None if family == "sans" else _FAMILY[family]
        self.add("text", content, x=x, y=y, font_size=size, font_family=family, fill=fill, **more)

    def written(self, height):
        """The file: on its own background, so that the page's colour does not matter."""
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
                f'height="{_text(height)}" viewBox="0 0 {self.width} {_text(height)}" '
                f'font-family="{_FAMILY["sans"]}">')
        start = ["<!-- SPDX-License-Identifier: MIT; written by script/pictures -->", head,
                 f"<title>{escape(self.title)}</title>"]
        if self.notes:
            start.append(f"<metadata>{escape(self.notes)}</metadata>")
        ground = (f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{_text(height - 1)}" '
                  f'rx="6" fill="{PAPER}" stroke="{FAINT}"/>')
        return "\n".join([*start, ground, *self.shapes, "</svg>", ""])
