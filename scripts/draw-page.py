#!/usr/bin/env python3
"""Draw what the page of a run shows of its training, as a picture. Usage: scripts/draw-page.py [CSV] >FILE.svg

CSV is what the run has left in its backup folder (build/demo/backup/demo.csv, scripts/demo's). Drawn is what the same seed gives again on
any machine: losses, overlap of boxes, learning rate. README's picture, darknet-ddp/docs/run.svg, is made so, and the test docs.readme
draws it anew."""
import argparse
import csv
import html
import math
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 190, 56, 22, 34, 24
POINTS = 80
COLORS = ("#2563c9", "#d4622a", "#2b8a57")
STYLE = """text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: #5b6674 }
.title { font-size: 13px; font-weight: 600; fill: #17202b }
.card { fill: #fff; stroke: #dde2e8 } .grid { stroke: #eceff3 } path { fill: none; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #94a1b0 } .title { fill: #e8edf3 } .card { fill: #182029; stroke: #2b3642 } .grid { stroke: #222c37 } }"""


def charts(columns):
    """Title, columns with their names, and whether the axis is logarithmic."""
    heads = sorted({name.rsplit("_", 1)[0] for name in columns if re.fullmatch(r"(?:yolo|region)_\d+_iou", name)})
    yield "Loss", [("loss", "a step"), ("average_loss", "average")], True
    yield "Loss of the heads", [(f"{heads[0]}_{part}", part) for part in ("box", "objectness", "class")] if heads else [], True
    yield "IoU of boxes", [(f"{head}_iou", head if len(heads) > 1 else "average") for head in heads], False
    yield "Learning rate", [("rate", "rate")], False


def means(values):
    """At most POINTS means of neighbours."""
    group = math.ceil(len(values) / POINTS)
    return [sum(values[i:i + group]) / len(values[i:i + group]) for i in range(0, len(values), group)]


def limits(series, log):
    values = [value for line in series for value in line if value > 0 or not log]
    if log:
        return 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    unit = 10 ** math.floor(math.log10(max(values) or 1))
    return 0, math.ceil(max(values) / unit - 1e-9) * unit


def chart(title, named, log, columns, steps):
    named = [(column, name) for column, name in named if column in columns]
    lines = [means(columns[column]) for column, _ in named]
    low, high = limits(lines, log)
    scale = (lambda v: math.log10(max(v, low))) if log else (lambda v: v)
    axis = f"{'log' if log else 'linear'} {scale(low):.4g} {scale(high):.4g}"
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def y(value):
        return HEIGHT - BOTTOM - (scale(value) - scale(low)) / (scale(high) - scale(low)) * down

    yield f'<rect class="card" x="4" y="4" width="{WIDTH - 8}" height="{HEIGHT - 4}" rx="7"/><text class="title" x="14" y="22">{html.escape(title)}</text>'
    ticks = [10 ** e for e in range(round(math.log10(low)), round(math.log10(high)) + 1)] if log else [0, high / 2, high]
    for tick in ticks:
        yield (f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
               f'<text x="{LEFT - 5}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.4g}</text>')
    for share in (0, .5, 1):
        yield f'<text x="{LEFT + share * across:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{round(share * steps)}</text>'
    for i, ((_, name), line) in enumerate(zip(named, lines)):
        points = "L".join(f"{LEFT + k / max(1, len(line) - 1) * across:.0f},{y(value):.0f}" for k, value in enumerate(line))
        yield f'<path data-series="{html.escape(title)}, {name}" data-axis="{axis}" stroke="{COLORS[i]}" d="M{points}"/>'
        yield f'<text x="{WIDTH - RIGHT - 72 * (len(named) - i)}" y="22" style="fill: {COLORS[i]}">{name}</text>'


def draw(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    columns = {name: [float(row[name]) for row in rows] for name in rows[0] if all(row[name] for row in rows)}
    drawn = [(title, named, log) for title, named, log in charts(columns) if named]
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {(len(drawn) + 1) // 2 * HEIGHT + 4}">'
    yield f"<style>{STYLE}</style>"
    for i, (title, named, log) in enumerate(drawn):
        yield f'<g transform="translate({i % 2 * WIDTH} {i // 2 * HEIGHT})">'
        yield from chart(title, named, log, columns, int(columns["step"][-1]))
        yield "</g>"
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="?", default=os.path.join(ROOT, "build/demo/backup/demo.csv"), metavar="CSV")
    print("\n".join(draw(parser.parse_args().csv)))


if __name__ == "__main__":
    main()
