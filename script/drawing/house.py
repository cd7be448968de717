# SPDX-License-Identifier: MIT
"""layers.svg: the folders of nopal/ as the floors of a house, and who includes whom.

The order of the layers is read from tests/repo/CMakeLists.txt. The numbers of lines, which change
with each commit, stand in the picture's metadata too. A committed picture is compared with what is
drawn with its own numbers, wherever these are still near the truth: so it is out of date when a
layer, a file or an include came or went, or when a file has grown or shrunk much.
"""

import collections
import re

import tree

from .svg import FAINT, INK, PAPER, SOFT, Canvas, width_of

ORDER = "tests/repo/CMakeLists.txt"
PUBLIC = "public API"
SHOWN = tree.CPP + (".py",)

WIDTH, LEFT, ROOMS, RIGHT = 1100, 20, 142, 822  # the house's walls, and where its rooms begin
MATRIX, CELL = 846, 21
ROOM, GAP = 38, 7
PER_LINE = 0.25  # pixels of a bar
BAR, DOT, SHADE, FLOOR, ROOF = "#4c8bd6", "#1f5fa8", "#eceff2", "#f3f7fc", "#dbe8f7"

Room = collections.namedtuple("Room", "stem suffixes lines")


def order_of_layers(root):
    """Lowest first."""
    match = re.search(r'^set\(layers "([^"]+)"\)', tree.read(root, ORDER), re.MULTILINE)
    if not match:
        raise LookupError(f'{ORDER} has no line \'set(layers "..."), the order of the layers')
    return match[1].split()


def layer_of(path, layers):
    inner = path.split("/")[1]
    return inner if inner in layers or path.count("/") > 1 else PUBLIC


def near(old, new):
    return abs(new - old) <= max(20, old / 4)


def numbers_of_lines(root, paths, committed):
    """Of each file, as the committed picture has it if that is near enough."""
    known = {path: int(lines) for path, lines in re.findall(r"(nopal/\S+) (\d+)", committed)}
    found = {path: tree.read(root, path).count("\n") for path in paths}
    return {
        path: known[path] if path in known and near(known[path], lines) else lines
        for path, lines in found.items()
    }


def includes(root, paths, layers):
    """Pairs of layers: the first includes the second."""
    pairs = set()
    for path in paths:
        text = tree.code_only(tree.read(root, path), keep_strings=True)
        for target in re.findall(r'^\s*#\s*include\s*[<"](nopal/[^>"]+)', text, re.MULTILINE):
            pairs.add((layer_of(path, layers), layer_of(target, layers)))
    return pairs


def rooms_of(lines, layers):
    """For each layer, its files; those of one stem are one room."""
    stems = collections.defaultdict(dict)
    for path, count in lines.items():
        name = path.split("/")[-1]
        stem, dot, suffix = name.rpartition(".")
        stems[layer_of(path, layers), stem][dot + suffix] = count
    rooms = collections.defaultdict(list)
    for (layer, stem), suffixes in sorted(stems.items()):
        names = sorted(suffixes, key=SHOWN.index)
        rooms[layer].append(Room(stem, " ".join(names), sum(suffixes.values())))
    return rooms


def room_width(room):
    name = width_of(room.stem + room.suffixes, 12, "mono")
    return max(name, room.lines * PER_LINE) + 16


def rows_of(rooms):
    """The rooms of a floor, broken into rows, each a list of (x, room)."""
    rows, x = [[]], ROOMS
    for room in rooms:
        if x + room_width(room) > RIGHT - GAP:
            rows.append([])
            x = ROOMS
        rows[-1].append((x, room))
        x += room_width(room) + GAP
    return rows


def draw_floor(canvas, layer, rooms, y):
    """Returns the floor's height."""
    rows = rows_of(rooms)
    height = len(rows) * (ROOM + GAP) + GAP + 4 if rooms else 34
    canvas.rect(LEFT, y, RIGHT - LEFT, height, FLOOR if rooms else PAPER, SOFT,
                stroke_dasharray=None if rooms else "5 4")
    middle = y + height / 2
    lines = round(sum(room.lines for room in rooms), -1)
    canvas.text(LEFT + 12, middle - 3 if rooms else middle + 5, layer, size=14,
                font_weight="bold", fill=INK if rooms else SOFT)
    if not rooms:
        canvas.text(ROOMS, middle + 4, "no file yet", fill=SOFT, font_style="italic")
        return height
    canvas.text(LEFT + 12, middle + 14, f"{lines:,} lines", fill=SOFT)
    for number, row in enumerate(rows):
        top = y + GAP + 2 + number * (ROOM + GAP)
        for x, room in row:
            canvas.rect(x, top, room_width(room), ROOM, PAPER, SOFT, rx=3)
            canvas.text(x + 8, top + 18, room.stem, (room.suffixes, SOFT), family="mono")
            canvas.rect(x + 8, top + 26, room.lines * PER_LINE, 5, BAR)
    return height


def draw_matrix(canvas, floors, layers, pairs):
    """Beside each floor, what it includes. `floors`: (layer, y, height), highest first."""
    top = floors[0][1]
    bottom = floors[-1][1] + floors[-1][2]
    for column, layer in enumerate(layers):
        x = MATRIX + column * CELL
        canvas.text(0, 0, layer, transform=f"translate({x + CELL / 2 + 4} {top - 8}) rotate(-60)")
        for place, (row, y, height) in enumerate(floors):
            above = row != PUBLIC and layers.index(layer) > layers.index(row)
            canvas.rect(x, y, CELL, height, SHADE if above else PAPER, FAINT)
            if (row, layer) in pairs:
                own = row == layer
                canvas.add("circle", cx=x + CELL / 2, cy=y + height / 2, r=5 if own else 6,
                           fill=PAPER if own else DOT, stroke=DOT)
    canvas.rect(MATRIX, top, CELL * len(layers), bottom - top, "none", SOFT)
    x, y = MATRIX, bottom + 22
    for fill, words in ((DOT, "the floor includes it directly"), (PAPER, "its own files")):
        canvas.add("circle", cx=x + 7, cy=y - 4, r=6 if fill == DOT else 5, fill=fill, stroke=DOT)
        canvas.text(x + 20, y, words, fill=SOFT)
        y += 19
    canvas.rect(x, y - 11, 14, 14, SHADE, FAINT)
    canvas.text(x + 20, y, "higher, must not be included", fill=SOFT)


def picture(root, committed):
    layers = order_of_layers(root)
    paths = [path for path in tree.files(root, "nopal") if path.endswith(SHOWN)]
    lines = numbers_of_lines(root, paths, committed)
    rooms = rooms_of(lines, layers)
    strange = sorted(set(rooms) - {*layers, PUBLIC})
    if strange:
        raise LookupError(f"nopal/{strange[0]}/ is not one of the layers that {ORDER} names")
    notes = "\n".join(["", *(f"{path} {lines[path]}" for path in paths), ""])
    canvas = Canvas(WIDTH, "The layers of nopal/ and who includes whom", notes)
    y = 76
    canvas.line((LEFT - 8, y), ((LEFT + RIGHT) / 2, 14), (RIGHT + 8, y), (LEFT - 8, y), fill=ROOF)
    canvas.text((LEFT + RIGHT) / 2, y - 14,
                "programs include the floor below; each floor stands on the lower ones",
                size=13, text_anchor="middle")
    floors = []
    for layer in [PUBLIC, *reversed(layers)]:
        height = draw_floor(canvas, layer, rooms[layer], y)
        floors.append((layer, y, height))
        y += height
    canvas.line((LEFT - 8, y + 1), (RIGHT + 8, y + 1), stroke=INK, stroke_width=3)
    canvas.rect(ROOMS, y + 20, 100 * PER_LINE, 5, BAR)
    canvas.text(ROOMS + 100 * PER_LINE + 8, y + 26, "100 lines; the files of one name are one room",
                fill=SOFT)
    draw_matrix(canvas, floors, layers, includes(root, paths, layers))
    return canvas.written(y + 76)
