#!/usr/bin/env python3
"""Evaluate with pycocotools (PyPI) the boxes that `darknet detector map ... -json FILE` wrote, and compare AP, AP50, AP75 and
the AP of each class with what stands beside them. Usage: coco_check.py FILE      Exit status: 0 equal to 1e-6"""
import contextlib
import io
import json
import sys

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

SCALE = 1000.0  # boxes are fractions of a picture; areas of less than a pixel are no concern of COCO's


def box(b):
    return [v * SCALE for v in b["box"]]


with open(sys.argv[1], encoding="utf-8") as f:
    report = json.load(f)
pictures = 1 + max(b["picture"] for b in report["truth"] + report["found"])
gt = COCO()
gt.dataset = {
    "images": [{"id": p + 1} for p in range(pictures)],
    "categories": [{"id": c + 1} for c in range(len(report["each"]))],
    "annotations": [{"id": i + 1, "image_id": t["picture"] + 1, "category_id": t["class"] + 1, "bbox": box(t),
                     "area": box(t)[2] * box(t)[3], "iscrowd": 0} for i, t in enumerate(report["truth"])],
}
with contextlib.redirect_stdout(io.StringIO()):
    gt.createIndex()
    dt = gt.loadRes([{"image_id": d["picture"] + 1, "category_id": d["class"] + 1, "bbox": box(d), "score": d["score"]}
                     for d in report["found"]])
    run = COCOeval(gt, dt, "bbox")
    run.evaluate()
    run.accumulate()
    run.summarize()
precision = run.eval["precision"][:, :, :, 0, 2]
each = [float(np.mean(precision[:, :, c])) if (precision[:, :, c] > -1).any() else -1.0 for c in range(precision.shape[2])]
theirs = np.array([*run.stats[:3], *each])
ours = np.array([report["ap"], report["ap50"], report["ap75"], *report["each"]])
print("COCO's code:", theirs)
print("ours:       ", ours)
print("largest difference:", np.abs(theirs - ours).max())
sys.exit(0 if np.abs(theirs - ours).max() <= 1e-6 else 1)
