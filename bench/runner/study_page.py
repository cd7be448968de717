# SPDX-License-Identifier: MIT
"""The page of a study: its checks, its figures and its tables, in one self-contained file."""

import html

from runner import former
from runner.page import STYLE, remarks
from runner.rounds import Value

STYLE_MORE = """
.scroll { overflow-x: auto } td.yes { color: #1b7f3b; font-weight: 600 }
td.no { color: #b00020; font-weight: 600 } .note { color: #555; font-size: 13px; max-width: 60em }
th.number { text-align: right }
"""


def shown(cell):
    """A cell as text; what was not measured is empty."""
    if cell is None:
        return ""
    if isinstance(cell, Value):
        return f"{cell.side} {number(cell.median)}".strip()
    return cell if isinstance(cell, str) else number(cell)


def number(value):
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(head, rows, classes=None):
    """Columns after the first are numbers; `classes` gives a row's last cell a class of its own."""
    def tag(name, text, kind):
        attribute = f' class="{kind}"' if kind else ""
        return f"<{name}{attribute}>{html.escape(text)}</{name}>"
    out = ["<tr>" + "".join(tag("th", text, "number" if index else "")
                            for index, text in enumerate(head)) + "</tr>"]
    for place, row in enumerate(rows):
        kinds = ["" if not index or len(shown(cell)) > 24 else "number"
                 for index, cell in enumerate(row)]
        if classes:
            kinds[-1] = classes[place]
        out.append("<tr>" + "".join(tag("td", shown(cell), kind)
                                    for cell, kind in zip(row, kinds)) + "</tr>")
    return '<div class="scroll"><table>' + "\n".join(out) + "</table></div>"


def checks_table(check_rows):
    rows = []
    kinds = []
    for check in check_rows:
        value = None
        if check["value"] is not None:
            value = f"{check['bound'] or ''} {check['value']:.4g}".strip()
        spread = None if check["p10"] is None else f"{check['p10']:.3g} .. {check['p90']:.3g}"
        word = {True: "yes", False: "no", None: "not known"}[check["holds"]]
        rows.append([check["name"], value, spread, f"{check['limit']:.4g}", check["note"] or "",
                     word])
        kinds.append(word if check["holds"] is not None else "")
    return table(["check", "median", "p10 .. p90", "limit", "note", "holds"], rows, kinds)


def note(text):
    return [f'<p class="note">{html.escape(text)}</p>'] if text else []


def about_runs(study):
    host = study.host
    wish = study.result.wish
    runs = sorted({len(lines) for lines in study.result.measurement.samples.values() if lines})
    often = f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else "".join(map(str, runs)) or "no"
    lines = [f"<p>{html.escape(host['cpu'])}, {host['cores']} cores, Linux "
             f"{html.escape(host['kernel'])}. Size {wish.size}, workers "
             f"{', '.join(map(str, wish.workers))}. Each measurement is a fresh process; figures "
             f"are medians of {often} runs each, of the most where a check judges times; lines "
             "p10 to p90.</p>"]
    for run in study.runs:
        lines.append(f"<pre>{html.escape(run['command'])}</pre><p class=\"note\">"
                     f"{html.escape(run['date'])}, commit {html.escape(str(run['commit']))}, "
                     f"seed {run['seed']}, {run['rounds']} rounds.</p>")
    return lines


def write(path, module, study, check_rows):
    result = study.result
    measured = result.measurement
    body = [f"<h1>Study {html.escape(study.name)}: {html.escape(module.ABOUT)}</h1>"]
    body += about_runs(study)
    if check_rows:
        body += ["<h2>Checks</h2>", checks_table(check_rows)]
    body += remarks("Failed", measured.failure_sentences() + result.extra.get("failures", []))
    for figure in module.figures(result):
        body.append(f"<h2>{html.escape(figure.title)}</h2>")
        body.append(figure.svg or "<p>Not measured in this run.</p>")
        body += note(figure.note)
    former_tables = former.tables_of(study) if former.needed(result) else []
    for entry in module.tables(result) + former_tables:
        body += [f"<h2>{html.escape(entry.title)}</h2>", table(entry.head, entry.rows)]
        body += note(entry.note)
    body += remarks("Left out", study.left_out + measured.notes())
    body.append("<h2>Compilers</h2><ul>" + "".join(
        f"<li>{html.escape(k)}: {html.escape(v)}</li>"
        for k, v in study.host["compilers"].items()) + "</ul>")
    page = ('<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f"<title>Nopal: study {html.escape(study.name)}</title>"
            f"<style>{STYLE}{STYLE_MORE}</style></head><body>" + "\n".join(body) +
            "</body></html>\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
