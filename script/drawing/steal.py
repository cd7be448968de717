# SPDX-License-Identifier: MIT
"""steal.svg: the life of one steal, in a lane for the victim's vproc and one for the thief's."""

import re

import tree

from .steps import ONE, OTHERWISE, PHASES, SCHEDULER, THIEF, TWO, VICTIM, Step
from .svg import FAINT, INK, PAPER, SOFT, Canvas, width_of, wrapped

WIDTH, BOX, NOTE = 1100, 396, 164
LANE = {VICTIM: 44, THIEF: WIDTH - 44 - BOX}
STRIP = {VICTIM: 24, THIEF: WIDTH - 34}
COLOUR = {ONE: "#7fb2ee", TWO: "#f2ab6d", SCHEDULER: "#c3c8ce"}
BAND, LOCKED = "#eef2f6", "#9a3412"


def must_exist(root, step):
    """Raises if the file declares or defines no such function."""
    name, _, parameter = step.function.rstrip(")").partition("(")
    path = f"nopal/{step.file}"
    try:
        text = tree.code_only(tree.read(root, path))
    except FileNotFoundError:
        text = ""
    if path.endswith(".S") and re.search(rf"^\s*function {name}$", text, re.MULTILINE):
        return
    declared = rf"(?:\b(?!return\b|else\b|throw\b)\w+|\w[*&]|>)\s+{name}\s*(?=\()"
    for match in re.finditer(declared, text):
        if not parameter or re.search(rf"\b{parameter}\b", tree.in_parentheses(text, match.end())):
            return
    raise LookupError(
        f"the step '{step.lane}: {step.function}' of docs/pictures/steal.svg is not true any more: "
        f"{path} declares no such function; change script/drawing/steps.py")


def height_of(item):
    words = wrapped(item.words, BOX - 40)
    return (28 if isinstance(item, Step) else 10) + 15 * len(words)


def draw_lock(canvas, x, y):
    canvas.line((x + 2, y), (x + 2, y - 4), (x + 4, y - 6), (x + 7, y - 6), (x + 9, y - 4),
                (x + 9, y), stroke=LOCKED, stroke_width=1.6)
    canvas.rect(x, y, 11, 8, LOCKED, rx=1.5)


def draw_step(canvas, step, number, y):
    x, height = LANE[step.lane], height_of(step)
    canvas.rect(x, y, BOX, height, COLOUR.get(step.stack, PAPER), SOFT, rx=4)
    canvas.text(x + 24, y + 18, str(number), fill=INK, text_anchor="end", font_weight="bold")
    canvas.text(x + 32, y + 18, step.function, family="mono", font_weight="bold")
    if step.lock:
        draw_lock(canvas, x + 40 + width_of(step.function, 12, "mono"), y + 11)
    canvas.text(x + BOX - 10, y + 18, step.file, size=11, family="mono", text_anchor="end",
                fill=INK if step.stack else SOFT)
    canvas.paragraph(x + 32, y + 36, step.words, BOX - 40)
    if step.between:
        draw_between(canvas, step, y + height / 2)


def draw_between(canvas, step, y):
    middle = WIDTH / 2
    canvas.rect(middle - NOTE / 2, y - 12, NOTE, 24, PAPER, SOFT, rx=12)
    canvas.text(middle, y + 4, step.between, text_anchor="middle")
    if step.lane == VICTIM:
        box, note = LANE[VICTIM] + BOX, middle - NOTE / 2
    else:
        box, note = LANE[THIEF], middle + NOTE / 2
    start, end = (note, box) if step.arrow == "from" else (box, note)
    canvas.arrow(start, y, end, both=step.arrow == "both")


def draw_head(canvas):
    """Returns where the steps begin."""
    canvas.text(24, 32, "The life of one steal", size=16, font_weight="bold")
    canvas.text(24, 52, "fib(n) has forked its child A and runs it. A thief takes the rest of "
                "fib(n), the continuation of A.", fill=SOFT)
    x = 24
    for stack in (ONE, TWO, SCHEDULER):
        canvas.rect(x, 66, 14, 14, COLOUR[stack], SOFT)
        canvas.text(x + 20, 78, stack)
        x += width_of(stack) + 44
    canvas.text(x, 78, "the stack on which a vproc runs; a step in colour changes to it", fill=SOFT)
    draw_lock(canvas, 906, 72)
    canvas.text(924, 78, "under the deque's lock", fill=SOFT)
    names = {VICTIM: "the victim's vproc, worker 1", THIEF: "the thief's vproc, worker 2"}
    for lane, name in names.items():
        canvas.text(LANE[lane] + BOX / 2, 108, name, size=14, font_weight="bold",
                    text_anchor="middle")
    canvas.text(WIDTH / 2, 108, "between them", size=14, font_weight="bold", text_anchor="middle")
    return 120


def picture(root, _committed):
    canvas = Canvas(WIDTH, "The life of one steal")
    y = draw_head(canvas)
    stacks = {VICTIM: [(y, ONE)], THIEF: [(y, SCHEDULER)]}
    number = 0
    for title, between, rows in PHASES:
        canvas.rect(LANE[VICTIM], y, LANE[THIEF] + BOX - LANE[VICTIM], 24, BAND, rx=4)
        canvas.text(LANE[VICTIM] + 10, y + 17, title, size=13, font_weight="bold")
        canvas.text(WIDTH / 2, y + 17, between, text_anchor="middle", fill=SOFT)
        y += 34
        for row in rows:
            for item in row:
                if not isinstance(item, Step):
                    canvas.paragraph(LANE[item.lane] + 32, y + 16, item.words, BOX - 40, fill=SOFT,
                                     font_style="italic")
                    continue
                must_exist(root, item)
                number += 1
                draw_step(canvas, item, number, y)
                if item.stack:
                    stacks[item.lane].append((y + height_of(item) / 2, item.stack))
            y += max(map(height_of, row)) + 9
        y += 6
    for lane, changes in stacks.items():
        for (top, stack), (bottom, _) in zip(changes, [*changes[1:], (y, None)]):
            canvas.rect(STRIP[lane], top, 10, bottom - top, COLOUR[stack])
    canvas.line((24, y + 6), (WIDTH - 24, y + 6), stroke=FAINT)
    canvas.paragraph(24, y + 26, OTHERWISE, WIDTH - 48, step=16, fill=SOFT)
    return canvas.written(y + 56)
