#!/usr/bin/env python3
"""Compute the numbers in tests/unit/test_precision.c by pycocotools (PyPI): boxes by the same
formula, evaluated by COCO's own code. Prints AP, AP50, AP75 of all classes, and AP of each.
Usage: coco_reference.py [SEED...]"""
import contextlib
import io
import sys

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

PICTURES, CLASSES = 40, 5
MASK = (1 << 64) - 1


class Draws:
    """SplitMix64; the k-th draw is a whole number below n."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        return (z ^ z >> 31) % n


def make(seed):
    """Class 4 has detections only. Most detections are truths moved a little; scores repeat."""
    d = Draws(seed)
    truths, found = [], []
    for picture in range(PICTURES):
        for _ in range(d.below(8)):
            box = [d.below(400), d.below(400), 10 + d.below(200), 10 + d.below(200)]
            truths.append((picture, d.below(CLASSES - 1), box))
            for _ in range(d.below(4)):
                moved = [v + d.below(21) - 10 for v in box[:2]] + [max(1, v + d.below(21) - 10) for v in box[2:]]
                cls = truths[-1][1] if d.below(10) else d.below(CLASSES)
                found.append((picture, cls, d.below(100) / 100, moved))
        for _ in range(d.below(3)):
            found.append((picture, d.below(CLASSES), d.below(100) / 100,
                          [d.below(400), d.below(400), 1 + d.below(200), 1 + d.below(200)]))
    for _ in range(130):  # more than COCO counts, in one picture
        found.append((0, 0, d.below(100) / 100, [d.below(400), d.below(400), 1 + d.below(200), 1 + d.below(200)]))
    return truths, found


def evaluate(truths, found):
    gt = COCO()
    gt.dataset = {
        "images": [{"id": p + 1} for p in range(PICTURES)],
        "categories": [{"id": c + 1} for c in range(CLASSES)],
        "annotations": [{"id": i + 1, "image_id": p + 1, "category_id": c + 1, "bbox": b, "area": b[2] * b[3],
                         "iscrowd": 0} for i, (p, c, b) in enumerate(truths)],
    }
    gt.createIndex()
    dt = gt.loadRes([{"image_id": p + 1, "category_id": c + 1, "bbox": b, "score": s} for p, c, s, b in found])
    run = COCOeval(gt, dt, "bbox")
    run.evaluate()
    run.accumulate()
    run.summarize()
    precision = run.eval["precision"][:, :, :, 0, 2]  # threshold, recall, class
    each = [float(np.mean(p)) if (p > -1).any() else -1.0 for p in np.moveaxis(precision, 2, 0)]
    return run.stats[:3], each


for seed in [int(a) for a in sys.argv[1:]] or [1, 2, 3]:
    with contextlib.redirect_stdout(io.StringIO()):
        stats, each = evaluate(*make(seed))
    print("{" + ", ".join(f"{v:.9f}" for v in [*stats, *each]) + "},")
