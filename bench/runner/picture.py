# SPDX-License-Identifier: MIT
"""The small picture of a study: its result, its machine and its date."""

import hashlib
import re
import textwrap
from xml.sax.saxutils import escape

from runner import document, former, studies

# Of the lines above the drawing, and of a letter in them.
LINE, TITLE_ADVANCE, WORDS_ADVANCE = 14, 7.8, 4.8
TITLE = 'font-size="12" font-weight="bold"'
WORDS = 'font-size="8.5" fill="#555"'
MARK = "drawn from {name} {digest}"


def module_of(name):
    """The module of a study, or `former` if its module has left the project."""
    return studies.find(name) if name in studies.names() else former


def figure_of(module, result):
    """The study's own picture, else the first of its figures that shows something."""
    own = module.picture(result) if hasattr(module, "picture") else None
    drawn = [own] if own else [figure for figure in module.figures(result) if figure.svg]
    return drawn[0] if drawn else None


def about(study, figure):
    """A sentence about the machine, the rounds and the commits of a study."""
    cores = study.host["cores"]
    rounds = max((len(lines) for lines in study.result.measurement.samples.values()),
                 default=study.result.wish.rounds)
    commits = dict.fromkeys(str(run["commit"])[:8] for run in study.runs)
    medians = f"medians of up to {rounds} rounds" if rounds > 1 else "one round"
    spreads = (", thin lines from the 10th to the 90th percentile"
               if figure.spreads and rounds > 1 else "")
    return (f"{study.host['cpu']}, {cores} core{'s' if cores > 1 else ''}; {medians}{spreads}; "
            f"commit {', '.join(commits)}, {study.runs[-1]['date'][:10]}")


def with_head(svg, title, words, mark):
    """Lines above the drawing, all on a white ground, so that the page's colour is no matter."""
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    lines = [(line, TITLE) for line in textwrap.wrap(title, int(width / TITLE_ADVANCE))]
    lines += [(line, WORDS) for line in textwrap.wrap(words, int(width / WORDS_ADVANCE))]
    head = LINE * len(lines) + 6
    tag, _, rest = svg.partition(">")
    tag = re.sub(r' (width|height|viewBox)="[^"]*"', "", tag)
    size = f'width="{width:g}" height="{height + head:g}"'
    texts = "".join(f'<text x="8" y="{LINE * place - head + 12}" {style}>{escape(line)}</text>\n'
                    for place, (line, style) in enumerate(lines))
    return (f'{tag} {size} viewBox="0 {-head} {width:g} {height + head:g}">\n'
            f'<!-- SPDX-License-Identifier: MIT; {escape(mark)} -->\n'
            f'<rect y="{-head}" {size} fill="#fff"/>\n{texts}{rest.lstrip()}')


def drawn(study, mark):
    """The SVG, or None if nothing was measured that it could show."""
    figure = figure_of(module_of(study.name), study.result)
    return figure and with_head(figure.svg, f"Study {study.name}: {figure.title}",
                                about(study, figure), mark)


def mark_of(path):
    """The words by which a picture names the file that it was drawn from."""
    return MARK.format(name=path.name, digest=hashlib.sha256(path.read_bytes()).hexdigest()[:16])


def from_file(path):
    return drawn(document.from_json(path), mark_of(path))
