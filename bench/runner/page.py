# SPDX-License-Identifier: MIT
"""One self-contained HTML file: speed-up, overhead and memory, as inline SVG."""

import html

from runner import draw
from runner.programs import PROBLEMS, SERIAL_RUNTIMES, in_order
from runner.report import seconds

# Bars farther apart than this go on a logarithmic axis.
LINEAR_RANGE = 40

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em;
       color: #222 }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
svg { max-width: 100%; height: auto }
pre { background: #f4f4f2; padding: .6em .8em; overflow-x: auto; font-size: 12.5px }
table { border-collapse: collapse; font-size: 13px } td, th { padding: .2em .7em }
th { text-align: left; border-bottom: 1px solid #999 } td { border-bottom: 1px solid #e4e4e0 }
td.number { text-align: right; font-variant-numeric: tabular-nums } .bad { color: #b00020 }
"""


class Figures:
    """Draws from the rows that verified."""

    def __init__(self, rows):
        self.pyplot = draw.pyplot()
        self.rows = {(r["problem"], r["runtime"], r["workers"]): r for r in rows if r["verified"]}
        self.problems = [p for p in PROBLEMS if any(k[0] == p for k in self.rows)]
        self.runtimes = in_order({k[1] for k in self.rows})
        self.workers = sorted({k[2] for k in self.rows if k[1] not in SERIAL_RUNTIMES})

    def value(self, key, field):
        row = self.rows.get(key)
        return row[field] if row else None

    def speedup(self):
        """T_serial / T_P, a panel for each problem; None without a serial time."""
        with_base = [p for p in self.problems if (p, "serial", 1) in self.rows]
        if not with_base or not self.workers:
            return None
        columns = min(3, len(with_base))
        lines = -(-len(with_base) // columns)
        figure, grid = self.pyplot.subplots(lines, columns, squeeze=False, layout="constrained",
                                            figsize=(3.1 * columns, 2.5 * lines))
        axes = [ax for line in grid for ax in line]
        for ax, problem in zip(axes, with_base):
            base = self.rows[(problem, "serial", 1)]["median_s"]
            highest = 1.0
            for runtime in self.runtimes:
                points = [(w, base / self.rows[(problem, runtime, w)]["median_s"])
                          for w in self.workers if (problem, runtime, w) in self.rows]
                if points and runtime not in SERIAL_RUNTIMES:
                    highest = max(highest, *(y for _, y in points))
                    ax.plot(*zip(*points), marker="o", ms=3.5, lw=1.4, label=runtime,
                            color=draw.colour(runtime), ls=draw.line_style(runtime),
                            zorder=3 if runtime == "nopal" else 2)
            ax.axhline(1, color=draw.COLOURS["serial"], lw=0.8, ls=":", label="serial")
            ax.set(title=problem, xticks=self.workers, ylim=(0, highest * 1.1), xlabel="workers")
            ax.margins(x=0.08)
        for ax in axes[len(with_base):]:
            ax.set_visible(False)
        for line in grid:
            line[0].set_ylabel("speed-up over serial")
        draw.legend(figure, axes)
        return draw.svg(figure)

    def bars(self, value_of, label, runtimes, line_at=None):
        """Grouped bars, a group for each problem; logarithmic where one would hide the others."""
        values = {(p, r): value_of(p, r) for p in self.problems for r in runtimes}
        known = [v for v in values.values() if v is not None]
        if not known:
            return None
        figure, ax = self.pyplot.subplots(figsize=(9.3, 3.2), layout="constrained")
        width = 0.86 / len(runtimes)
        for group, problem in enumerate(self.problems):
            present = [r for r in runtimes if values[(problem, r)] is not None]
            for index, runtime in enumerate(present):
                place = group + (index - (len(present) - 1) / 2) * width
                value = values[(problem, runtime)]
                bar = ax.bar(place, value, width * 0.9, color=draw.colour(runtime), label=runtime)
                ax.bar_label(bar, [f"{value:.3g}"], fontsize=6, rotation=90, padding=2)
        if line_at is not None:
            ax.axhline(line_at, color=draw.COLOURS["serial"], lw=0.8, ls=":")
        if min(known) > 0 and max(known) > LINEAR_RANGE * min(known):
            ax.set_yscale("log")
            ax.set_ylim(min(known) / 2, max(known) * 3)
            ax.yaxis.set_major_formatter("{x:g}")
        else:
            ax.set_ylim(min(0, min(known)) * 1.2, max(known) * 1.2)
        ax.set_xticks(range(len(self.problems)), self.problems)
        ax.tick_params(axis="x", length=0)
        ax.set_ylabel(label)
        draw.legend(figure, [ax])
        return draw.svg(figure)

    def overhead(self):
        def ratio(problem, runtime):
            base = self.value((problem, "serial", 1), "median_s")
            time = self.value((problem, runtime, 1), "median_s")
            return time / base if time and base else None
        runtimes = [r for r in self.runtimes if r not in ("serial", "profile")]
        return self.bars(ratio, "T1 / T serial", runtimes, 1) if runtimes else None

    def memory(self):
        """What each runtime adds to the memory of the serial program, which holds the input."""
        def mib(problem, runtime):
            base = self.value((problem, "serial", 1), "max_rss_kib")
            kib = self.value((problem, runtime, self.workers[-1]), "max_rss_kib")
            return (kib - base) / 1024 if kib and base else None
        runtimes = [r for r in self.runtimes if r not in SERIAL_RUNTIMES]
        if not runtimes:
            return None
        return self.bars(mib, "peak RSS above serial, MiB", runtimes)


def cells(row):
    def number(value):
        return "" if value is None else f"{value:,}"
    times = [seconds(row[k]) if row[k] is not None else "" for k in ("median_s", "p10_s", "p90_s")]
    return ([row["problem"], row["runtime"], number(row["workers"])] + times +
            [number(row[k]) for k in ("max_rss_kib", "minor_faults", "steals", "suspensions",
                                      "unmaps", "stacks", "stack_pages")] +
            ["yes" if row["verified"] else "FAILED"])


def results_table(rows):
    head = ["problem", "runtime", "workers", "median", "p10", "p90", "peak RSS, KiB",
            "minor faults", "steals", "suspensions", "unmaps", "stacks", "stack pages", "verified"]
    out = ["<table><tr>" + "".join(f"<th>{h}</th>" for h in head) + "</tr>"]
    for row in rows:
        data = []
        for index, text in enumerate(cells(row)):
            kind = ' class="number"' if 2 <= index < len(head) - 1 else ""
            kind = ' class="bad"' if text == "FAILED" else kind
            data.append(f"<td{kind}>{html.escape(text)}</td>")
        out.append("<tr>" + "".join(data) + "</tr>")
    return "".join(out) + "</table>"


def remarks(title, sentences):
    if not sentences:
        return []
    listed = "".join(f"<li>{html.escape(s)}</li>" for s in sentences)
    return [f"<h2>{title}</h2><ul>{listed}</ul>"]


def drawings(rows):
    """(file name, title, SVG or None if this was not measured) of each figure."""
    figures = Figures(rows)
    return [("speed_up", "Speed-up over the serial elision", figures.speedup()),
            ("overhead", "Overhead with one worker", figures.overhead()),
            ("memory", f"Memory, {max(figures.workers, default=1)} workers", figures.memory())]


def write_svg(directory, rows):
    for name, _, svg in drawings(rows):
        if svg:
            (directory / f"{name}.svg").write_text(svg, encoding="utf-8")


def write_html(path, meta, rows, failures, notes, check_lines):
    command = f"<pre>{html.escape(meta['command'])}</pre>"
    size = rows[0]["size"] if rows else ""
    body = [f"<h1>Nopal benchmarks, size {size}</h1>",
            f"<p>{html.escape(meta['cpu'])}, {meta['cores']} cores, Linux "
            f"{html.escape(meta['kernel'])}, {html.escape(meta['date'])}, commit "
            f"{html.escape(str(meta['commit'])[:12])}, seed {meta['seed']}. Medians of "
            f"{meta['rounds']} rounds; each measurement is a fresh process.</p>"]
    for _, title, svg in drawings(rows):
        reason = "<p>Not measured in this run.</p>"
        body.append(f"<h2>{title}</h2>{svg or reason}{command}")
    body += remarks("Failed", failures)
    body += remarks("Left out", notes)
    if check_lines:
        body.append(f"<h2>Checks</h2><pre>{html.escape(chr(10).join(check_lines))}</pre>{command}")
    body.append(f"<h2>All figures</h2>{results_table(rows)}{command}")
    body.append("<h2>Compilers</h2><ul>" + "".join(
        f"<li>{html.escape(k)}: {html.escape(v)}</li>" for k, v in meta["compilers"].items()) +
        "</ul>")
    page = ("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
            f"<title>Nopal benchmarks</title><style>{STYLE}</style></head><body>"
            + "\n".join(body) + "</body></html>\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
