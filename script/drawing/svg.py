# SPDX-License-Identifier: MIT
"""A canvas that becomes an SVG file: shapes, text, and how much room text takes."""

import textwrap
from xml.sax.saxutils import escape, quoteattr

INK, SOFT, FAINT, PAPER = "#1f2328", "#59636e", "#d0d7de", "#ffffff"
# The mean width of a letter in ems: no common monospaced font is wider, and with the other one
# prose fits in the widest fonts too.
_ADVANCE = {"mono": 0.605, "sans": 0.52}
_FAMILY = {"mono": "monospace", "sans": None}  # None: that of the whole picture
_FONT = 'font-size="12" font-family="Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"'


def width_of(text, size=12, family="sans"):
    return len(text) * size * _ADVANCE[family]


def wrapped(text, width, size=12):
    """The lines into which the text is broken."""
    return textwrap.wrap(text, int(width / width_of("x", size)), break_on_hyphens=False)


def _number(value):
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def _attributes(given):
    return "".join(f" {name.replace('_', '-')}={quoteattr(_number(value))}"
                   for name, value in given.items() if value is not None)


class Canvas:
    def __init__(self, width, title, notes=""):
        self.width = width
        self.title = title
        self.notes = notes  # for script/pictures itself
        self.shapes = []

    def rect(self, x, y, width, height, fill=PAPER, stroke=None, **more):
        given = dict(x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, **more)
        self.shapes.append(f"<rect{_attributes(given)}/>")

    def dot(self, x, y, colour, hollow=False):
        given = dict(cx=x, cy=y, r=5 if hollow else 6, fill=PAPER if hollow else colour,
                     stroke=colour)
        self.shapes.append(f"<circle{_attributes(given)}/>")

    def line(self, *points, stroke=SOFT, fill="none", **more):
        steps = " L".join(f"{_number(float(x))} {_number(float(y))}" for x, y in points)
        given = dict(d=f"M{steps}", fill=fill, stroke=stroke, **more)
        self.shapes.append(f"<path{_attributes(given)}/>")

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
            else f'<tspan fill="{part[1]}">{escape(part[0])}</tspan>' for part in parts)
        given = dict(x=x, y=y, font_size=None if size == 12 else size, font_family=_FAMILY[family],
                     fill=None if fill == INK else fill, **more)
        self.shapes.append(f"<text{_attributes(given)}>{content}</text>")

    def paragraph(self, x, y, words, width, step=15, **more):
        """Text in lines of at most this width."""
        for number, line in enumerate(wrapped(words, width)):
            self.text(x, y + step * number, line, **more)

    def written(self, height):
        """The file: on its own background, so that the page's colour does not matter."""
        size = f'width="{self.width}" height="{_number(height)}"'
        notes = [f"<metadata>{escape(self.notes)}</metadata>"] if self.notes else []
        return "\n".join(
            ["<!-- SPDX-License-Identifier: MIT; written by script/pictures -->",
             f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {self.width} '
             f'{_number(height)}" fill="{INK}" {_FONT}>', f"<title>{escape(self.title)}</title>",
             *notes, f'<rect x="0.5" y="0.5" width="{self.width - 1}" '
             f'height="{_number(height - 1)}" rx="6" fill="{PAPER}" stroke="{FAINT}"/>',
             *self.shapes, "</svg>", ""])
