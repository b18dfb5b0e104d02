#!/usr/bin/env python3
"""Draw the boxes that the demo's network finds, over the outlines of its pictures. Usage: scripts/draw-found.py [PROGRAM] >FILE.svg

After scripts/demo, whose weights it runs. A box is filled where the network has found it, and dashed where its label says it is. README's
picture, darknet-ddp/docs/found.svg, is made so, and the test docs.readme draws it anew."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEMO = os.path.join(ROOT, "build", "demo")
SIZES = {"dog": (768, 576), "giraffe": (500, 500), "person": (640, 424)}  # of Darknet's pictures, in pixels
HEIGHT, GAP, TOP, LEAST = 176, 12, 26, 0.5
COLORS = ("#2563c9", "#d4622a", "#2b8a57", "#8a4fc9", "#b8860b", "#c0392b", "#00838f", "#6d4c41")
STYLE = """text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #17202b }
.frame { fill: none; stroke: #94a1b0 } .label { fill: none; stroke: #94a1b0; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) { text { fill: #e8edf3 } }"""


def names():
    with open(os.path.join(ROOT, "cfg", "demo.names"), encoding="utf-8") as f:
        return f.read().split()


def found(program):
    """{picture: (class, share of certainty, left, top, right, bottom in pixels) of each box}, by `darknet detector valid`."""
    boxes = {picture: [] for picture in SIZES}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "list"), "w", encoding="utf-8") as f:
            f.writelines(f"images/{picture}.jpg\n" for picture in SIZES)
        with open(os.path.join(folder, "data"), "w", encoding="utf-8") as f:
            f.write(f"classes={len(names())}\ntrain={folder}/list\nvalid={folder}/list\nnames=cfg/demo.names\nresults={folder}\nbackup={folder}\n")
        subprocess.run([program, "detector", "valid", f"{folder}/data", "cfg/demo.cfg", "backup/demo_final.weights"], cwd=DEMO,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        for kind, name in enumerate(names()):
            with open(os.path.join(folder, f"comp4_det_test_{name}.txt"), encoding="utf-8") as f:
                for picture, *numbers in map(str.split, f):
                    if float(numbers[0]) >= LEAST:
                        boxes[picture].append((kind, *map(float, numbers)))
    return boxes


def labels(picture):
    """(left, top, width, height in pixels) of each labelled box."""
    with open(os.path.join(ROOT, "scripts", "demo-data", picture + ".txt"), encoding="ascii") as f:
        for _, x, y, w, h in (map(float, line.split()) for line in f):
            wide, high = SIZES[picture]
            yield (x - w / 2) * wide, (y - h / 2) * high, w * wide, h * high


def rectangle(left, top, width, height, scale, rest):
    return f'<rect x="{left * scale:.0f}" y="{top * scale:.0f}" width="{width * scale:.0f}" height="{height * scale:.0f}" {rest}/>'


def draw(program):
    boxes, at = found(program), GAP
    shapes = []
    for picture, (wide, high) in SIZES.items():
        scale = HEIGHT / high
        shapes += [f'<g transform="translate({at:.0f} {TOP})"><text y="-9">{picture}.jpg</text>', rectangle(0, 0, wide, high, scale, 'class="frame"')]
        shapes += [rectangle(*box, scale, 'class="label"') for box in labels(picture)]
        for kind, share, left, top, right, bottom in boxes[picture]:
            name, color = names()[kind], COLORS[kind % len(COLORS)]
            shapes.append(rectangle(left, top, right - left, bottom - top, scale,
                                    f'data-found="{picture} {name}" fill="{color}" fill-opacity=".15" stroke="{color}" stroke-width="2"'))
            shapes.append(f'<text x="{left * scale + 4:.0f}" y="{top * scale + 15:.0f}">{name} {100 * share:.0f}%</text>')
        shapes.append("</g>")
        at += wide * scale + GAP
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {at:.0f} {TOP + HEIGHT + GAP}">'
    yield f"<style>{STYLE}</style>"
    yield from shapes
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(draw(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "darknet"))))
