# SPDX-License-Identifier: MIT
"""layers.svg: the folders of nopal/ as the floors of a house, and which includes which.

The order of the layers is read from tests/repo/CMakeLists.txt. The numbers of lines, which change
with each commit, stand in the picture's metadata too. A committed picture is compared with one that
is drawn with the numbers of the committed picture, as far as these are still near the truth. So it
is out of date when a layer, a file or an include came or went, or when a file's size changed much.
"""

import collections
import re

import tree

from .svg import FAINT, INK, PAPER, SOFT, Canvas, width_of

ORDER = "tests/repo/CMakeLists.txt"
PUBLIC = "public API"
SHOWN = tree.CPP + (".py",)

LEFT, ROOMS, RIGHT = 20, 142, 822  # the house's walls, and where its rooms begin
MATRIX, CELL, MARGIN = 846, 21, 23
ROOM, GAP = 38, 7
PER_LINE = 0.25  # pixels of a bar
BAR, DOT, SHADE, FLOOR, ROOF = "#4c8bd6", "#1f5fa8", "#eceff2", "#f3f7fc", "#dbe8f7"


def order_of_layers(root):
    """Lowest first."""
    match = re.search(r'^set\(layers\s+"([^"]+)"\)', tree.read(root, ORDER), re.MULTILINE)
    if not match:
        raise LookupError(f'{ORDER} has no line \'set(layers "..."), the order of the layers')
    return match[1].replace("\\\n", "").split()


def layer_of(path, layers):
    inner = path.split("/")[1]
    if inner not in layers and path.count("/") > 1:
        raise LookupError(f"nopal/{inner}/ is not one of the layers that {ORDER} names")
    return inner if inner in layers else PUBLIC


def numbers_of_lines(root, paths, committed):
    """Of each file, as the committed picture has it if that is near enough."""
    known = dict(re.findall(r"(nopal/\S+) (\d+)", committed))
    found = {path: tree.read(root, path).count("\n") for path in paths}
    for path in known.keys() & found.keys():
        if abs(int(known[path]) - found[path]) <= max(20, int(known[path]) / 4):
            found[path] = int(known[path])
    return found


def rooms_of(lines, layers):
    """Layer -> {name: {suffix: lines}}: the files of one name are one room."""
    floors = collections.defaultdict(lambda: collections.defaultdict(dict))
    for path in sorted(lines, key=lambda path: (path.rpartition(".")[0], SHOWN.index(
            "." + path.rpartition(".")[2]))):
        layer = layer_of(path, layers)
        name, _, suffix = path.removeprefix(f"nopal/{layer}/").removeprefix("nopal/").rpartition(
            ".")
        floors[layer][name]["." + suffix] = lines[path]
    return floors


def rows_of(rooms):
    """The rooms of a floor in rows, each a list of (x, width, name, suffixes, lines)."""
    rows, x = [[]], ROOMS
    for name, files in rooms.items():
        suffixes, lines = " ".join(files), sum(files.values())
        width = max(width_of(name + suffixes, 12, "mono"), lines * PER_LINE) + 16
        if x + width > RIGHT - GAP:
            rows.append([])
            x = ROOMS
        rows[-1].append((x, width, name, suffixes, lines))
        x += width + GAP
    return rows


def draw_floor(canvas, layer, rooms, y):
    """Returns the floor's height."""
    rows = rows_of(rooms)
    height = len(rows) * (ROOM + GAP) + GAP + 4
    canvas.rect(LEFT, y, RIGHT - LEFT, height, FLOOR, SOFT)
    total = round(sum(lines for row in rows for *_, lines in row), -1)
    canvas.text(LEFT + 12, y + height / 2 - 3, layer, size=14, font_weight="bold")
    canvas.text(LEFT + 12, y + height / 2 + 14, f"{total:,} lines", fill=SOFT)
    for number, row in enumerate(rows):
        top = y + GAP + 2 + number * (ROOM + GAP)
        for x, width, name, suffixes, lines in row:
            canvas.rect(x, top, width, ROOM, PAPER, SOFT, rx=3)
            canvas.text(x + 8, top + 18, name, (suffixes, SOFT), family="mono")
            canvas.rect(x + 8, top + 26, lines * PER_LINE, 5, BAR)
    return height


def draw_matrix(canvas, floors, layers, pairs):
    """Beside each floor, what it includes. `floors`: (layer, y, height), highest first."""
    top, bottom = floors[0][1], floors[-1][1] + floors[-1][2]
    for column, layer in enumerate(layers):
        x = MATRIX + column * CELL
        canvas.text(0, 0, layer, transform=f"translate({x + CELL / 2 + 4} {top - 8}) rotate(-60)")
        for row, y, height in floors:
            above = row != PUBLIC and column > layers.index(row)
            canvas.rect(x, y, CELL, height, SHADE if above else PAPER, FAINT)
            if (row, layer) in pairs:
                canvas.dot(x + CELL / 2, y + height / 2, DOT, hollow=row == layer)
    canvas.rect(MATRIX, top, CELL * len(layers), bottom - top, "none", SOFT)
    canvas.dot(MATRIX + 7, bottom + 18, DOT)
    canvas.dot(MATRIX + 7, bottom + 37, DOT, hollow=True)
    canvas.rect(MATRIX, bottom + 49, 14, 14, SHADE, FAINT)
    for line, words in enumerate(["the floor includes it directly", "its own files",
                                  "higher, must not be included"]):
        canvas.text(MATRIX + 20, bottom + 22 + 19 * line, words, fill=SOFT)


def picture(root, committed):
    layers = order_of_layers(root)
    paths = [path for path in tree.files(root, "nopal") if path.endswith(SHOWN)]
    lines = numbers_of_lines(root, paths, committed)
    rooms = rooms_of(lines, layers)
    notes = "\n".join(["", *(f"{path} {lines[path]}" for path in paths), ""])
    width = MATRIX + CELL * len(layers) + MARGIN
    canvas = Canvas(width, "The layers of nopal/ and who includes whom", notes)
    y = 76
    canvas.line((LEFT - 8, y), ((LEFT + RIGHT) / 2, 14), (RIGHT + 8, y), (LEFT - 8, y), fill=ROOF)
    canvas.text((LEFT + RIGHT) / 2, y - 14,
                "programs include the floor below; each floor stands on the lower ones",
                size=13, text_anchor="middle")
    floors = []
    for layer in [PUBLIC, *reversed(layers)]:
        floors.append((layer, y, draw_floor(canvas, layer, rooms[layer], y)))
        y += floors[-1][2]
    canvas.line((LEFT - 8, y + 1), (RIGHT + 8, y + 1), stroke=INK, stroke_width=3)
    canvas.rect(ROOMS, y + 20, 100 * PER_LINE, 5, BAR)
    canvas.text(ROOMS + 100 * PER_LINE + 8, y + 26, "100 lines; the files of one name are one room",
                fill=SOFT)
    draw_matrix(canvas, floors, layers, {(layer_of(path, layers), layer_of(target, layers))
                                         for path in paths for target in tree.included(root, path)})
    return canvas.written(y + 76)
