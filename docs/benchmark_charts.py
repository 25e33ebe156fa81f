"""Writes the charts and tables of the benchmarks page from benchmarks.json.

`bench/run.py --record` writes benchmarks.json.
"""

import html
import json
from pathlib import Path

DATA = json.loads((Path(__file__).parent / "benchmarks.json").read_text())
#: Names of runs and their colours, in the order of the bars of a group.
RUNS = {
    "ours": ("Cubed", "#00897b"),
    "limit": ("limit of the machine", "#90a4ae"),
    "numpy": ("NumPy", "#5c6bc0"),
    "dask": ("Dask", "#ef8636"),
    "cdo": ("CDO", "#ab47bc"),
    "cp": ("copying the input", "#90a4ae"),
    "upstream": ("Cubed for Python", "#d4a017"),
    "upstream processes": ("Cubed for Python, processes", "#d4a017"),
    "upstream threads": ("Cubed for Python, threads", "#b8860b"),
}
#: Titles of workloads whose names in the data are too short.
WORKLOADS = {
    "a none": "without compression",
    "c timmean": "mean over time",
    "c climatology": "anomalies by month",
    "c chain": "chain of operations",
    "c median": "median over time",
    "f mean0": "mean over the first axis",
    "f mean1": "mean over the last axis",
    "f var0": "variance over the first axis",
    "f var1": "variance over the last axis",
    "f cumsum": "cumulative sum",
    "f mask": "elements above 0.5",
}
LABEL, WIDTH, BAR, GAP = 200, 720, 15, 12


def groups(row):
    """Returns the measurements of a row by workload and run, in the order of RUNS."""
    found = {}
    for figure in DATA["figures"]:
        name = figure["row"]
        first, _, workload = name.partition(" ")
        workload = WORKLOADS.get(name, workload.replace("_", " "))
        if first == row:
            found.setdefault(workload, {})[figure["run"]] = figure
    return {k: {run: g[run] for run in RUNS if run in g} for k, g in found.items()}


def number(seconds):
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.2f}"


def text(x, y, words, anchor="start", weight="normal"):
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}"'
        f' font-size="12" fill="currentColor">{html.escape(words)}</text>'
    )


def chart(row):
    """Draws times as bars, relative to the slowest run of each workload, labelled in seconds."""
    parts, y = [], 4
    for workload, runs in groups(row).items():
        parts.append(text(0, y + 12, workload, weight="bold"))
        y += 20
        slowest = max(f["seconds"] for f in runs.values())
        for run, figure in runs.items():
            name, colour = RUNS[run]
            width = max(1, (WIDTH - LABEL - 130) * figure["seconds"] / slowest)
            parts.append(text(LABEL - 8, y + BAR - 3, name, anchor="end"))
            parts.append(
                f'<rect x="{LABEL}" y="{y}" width="{width:.1f}" height="{BAR - 2}"'
                f' fill="{colour}"/>'
            )
            parts.append(text(LABEL + width + 6, y + BAR - 3, f"{number(figure['seconds'])} s"))
            y += BAR
        y += GAP
    title = f"Times of row {row}: the shorter the bar, the faster"
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}"'
        f' role="img" style="width: 100%; max-width: {WIDTH}px" font-family="inherit">'
        f"<title>{title}</title>{''.join(parts)}</svg>\n"
    )


def table(row):
    lines = ["| workload | run | median, s | times Cubed | peak memory, MB | allowed, MB |"]
    lines.append("|---|---|---|---|---|---|")
    for workload, runs in groups(row).items():
        ours = runs["ours"]["seconds"]
        for run, figure in runs.items():
            ratio = "" if run == "ours" else f"{figure['seconds'] / ours:.2f}"
            allowed = f"{figure['allowed']:,}" if "allowed" in figure else "no bound"
            cells = [RUNS[run][0], number(figure["seconds"]), ratio, f"{figure['peak']:,}", allowed]
            lines.append(f"| {workload} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def measured(row):
    told = DATA["measured"][row]
    return f"Measured on {told['date']}, revision `{told['revision']}`.\n"


def machine():
    return f"| | |\n|---|---|\n| machine | {DATA['machine']} |\n| system | {DATA['system']} |\n"


def inserts():
    """Returns the functions that generate the text for the markers of the page, by name."""
    found = {"benchmarks machine": machine}
    for row in DATA["measured"]:
        found[f"benchmarks chart {row}"] = lambda row=row: chart(row)
        found[f"benchmarks table {row}"] = lambda row=row: table(row)
        found[f"benchmarks measured {row}"] = lambda row=row: measured(row)
    return found
