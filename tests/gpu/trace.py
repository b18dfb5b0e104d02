#!/usr/bin/env python3
"""Trace training on two ranks that share GPU 0, as a proof that sums travel while the backward pass computes.

Usage: tests/gpu/trace.py BUILD [-out FILE] [-read FILE]

YOLOv3-tiny trains for a few steps. CUPTI records each kernel of rank 0 (trace.c); FILE gets the trace for chrome://tracing
or ui.perfetto.dev. Passes if a step's first sum by NCCL runs while kernels of the backward pass run. -read: a record made before.
Two ranks on one GPU take turns at it: the first sum waits for the other rank's and outlasts backward, with the others behind it, and
times say nothing about speed. Exit status 77 without a GPU."""
import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "python"))
from gpu_record import injected, kernels, merged  # noqa: E402

BACKWARD = re.compile(r"wgrad|dgrad|bgrad|backward|gradient", re.I)
SUM = re.compile(r"nccl.*(AllReduce|SendRecv)")
STEPS = 12


def record(build, folder):
    """Train in folder; the path of rank 0's record, or None without a GPU."""
    os.environ.update(DARKNET=os.path.join(build, "darknet"), DARKNET_GPU="0")
    import darknet  # pylint: disable=import-outside-toplevel
    if darknet.sees_no_gpu():
        return None
    darknet.DataSet(folder).boxes()
    with open(os.path.join(build, "darknet-src/cfg/yolov3-tiny.cfg"), encoding="ascii") as f:
        cfg = f.read()
    cfg = cfg.replace("filters=255", "filters=21")  # of 2 classes, as the data have
    for key, value in (("batch", 8), ("subdivisions", 2), ("random", 0), ("max_batches", STEPS), ("classes", 2)):
        cfg = re.sub(rf"^{key}\s*=.*$", f"{key}={value}", cfg, flags=re.M)
    darknet.write(os.path.join(folder, "tiny.cfg"), cfg)
    words = darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_backend", "nccl", ranks=2)
    result = darknet.run(words, folder, environment=injected(build, os.path.join(folder, "record.")))
    if result.code:
        sys.exit(str(result))
    return os.path.join(folder, "record.0")


def common(span, spans):
    """How long `span` runs together with any of `spans`, which are merged."""
    return sum(max(0, min(span[1], end) - max(span[0], start)) for start, end in spans)


def chrome(found, path):
    first = found[0][0]
    events = [{"name": name, "ph": "X", "ts": (start - first) / 1000, "dur": (end - start) / 1000, "pid": 0, "tid": stream}
              for start, end, stream, name in found]
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"traceEvents": events}, f)


def report(found):
    """Print what overlapped; 1 if it is too little."""
    sums = [(start, end) for start, end, _, name in found if SUM.search(name)]
    backward = merged((start, end) for start, end, _, name in found if BACKWARD.search(name))
    under = [common(span, backward) for span in sums]
    covered = sum(1 for time in under if time > 0)
    total = sum(end - start for start, end in sums)
    print(f"{len(found)} kernels, {len(sums)} sums of NCCL, {len(backward)} spans of backward")
    print(f"{covered} of {len(sums)} sums ran while backward ran: {sum(under) / 1e6:.3f} of {total / 1e6:.3f} ms")
    return covered < STEPS - 2  # the first steps measure cuDNN's algorithms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("-out")
    parser.add_argument("-read")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.read or record(os.path.abspath(args.build), folder)
        if not path:
            print("no GPU")
            return 77
        found = kernels(path)
    if not found:
        sys.exit("no kernel was recorded")
    if args.out:
        chrome(found, args.out)
    return report(found)


if __name__ == "__main__":
    sys.exit(main())
