# SPDX-License-Identifier: MIT
"""The page docs/papers.md: the papers' numbers beside those of the kept studies in docs/results."""

from runner import document
from runner.papers import PAPERS
from runner.rounds import NotMeasured

RESULTS = "docs/results"

HEAD = """# What the papers measured, and what Nopal measures

`script/pictures` writes this page from the studies that are kept in [results](results/README.md);
no number of ours was typed. A range is that of the medians of all programs; one median has its 10th
and 90th percentiles. Fibril, Nowa and Cilk Plus are here Nopal's presets of their mechanisms; the
studies compare the first two with their authors' own code. The papers measured on many cores and at
larger sizes, so ratios can be compared, and seconds cannot. The machines of the studies had two
cores each, but for `scaling`, which ran on 16. Figures and listings that show a mechanism have
their place in [life_of_a_fork.md](life_of_a_fork.md).
"""


def studies_of(rows):
    return list(dict.fromkeys(row.study for row in rows if row.study))


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def cell(row, kept):
    if isinstance(row.ours, str):
        return row.ours
    if row.study not in kept:
        return "not measured"
    try:
        return row.ours(kept[row.study].result)
    except NotMeasured as lacking:
        return f"not measured ({lacking})"


def about(name, study):
    """A line of the table of studies: where and how it ran."""
    dates = sorted(run["date"][:10] for run in study.runs)
    commits = dict.fromkeys(str(run["commit"])[:8] for run in study.runs)
    wish, samples = study.result.wish, study.result.measurement.samples
    rounds = max(map(len, samples.values()))  # fewer than asked for, where these were cut
    return [f"`bench/run.py --study {name}`", f"{study.host['cpu']}, {study.host['cores']} cores",
            wish.size, str(rounds), ", ".join(dict.fromkeys(dates)), ", ".join(commits)]


def page(root):
    """The whole page, from the kept studies under `root`."""
    names = studies_of([row for rows in PAPERS.values() for row in rows])
    files = {name: root / RESULTS / f"{name}.json" for name in names}
    kept = {name: document.from_json(path) for name, path in files.items() if path.exists()}
    parts = [HEAD]
    for paper, rows in PAPERS.items():
        parts.append(f"## {paper}\n")
        parts.append(table(["", "the paper", "here", "study"],
                           [[row.item, row.theirs, cell(row, kept),
                             f"`{row.study}`" if row.study else ""] for row in rows]))
    parts.append("## The studies\n")
    parts.append(table(["command", "machine", "size", "rounds", "date", "commits"],
                       [about(name, study) for name, study in kept.items()]))
    return "\n".join(parts)
