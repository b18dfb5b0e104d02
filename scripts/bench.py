#!/usr/bin/env python3
"""Time training steps on this machine's CPU beside PyTorch, in turns: alone on one core, and on two hosts of one core each.

Usage: scripts/bench.py [--build DIR] [--steps N] [--turns N] [--rates G,...] [--json FILE] [alone | hosts]...
  --build DIR    (build)
  --steps N      of each run (8)
  --turns N      so many runs of each program, one after the other (2)
  --rates G,...  of the hosts' lines, in Gbit/s (1,4,10)
  --json FILE    each run's figures
  alone, hosts   what to time; by default both

Both train the same network: PyTorch builds the layers of the cfg (scripts/bench_torch.py; its loss of boxes does less), on two hosts with
DistributedDataParallel over Gloo. bf16 is `-ddp_bf16 1` here, and autocast with channels last there; where the CPU has no instructions
for it, float32 alone is timed. On hosts the column "wire" is `-ddp_compress`. Prints a table in Markdown: seconds of a step, the median of
each run, and, in the last column, the ratio of the medians of all runs, ours to PyTorch's.
PyTorch is this Python's or Debian's; without it ours is timed alone. On a quiet machine with two cores; hosts want root.
Exit status: 0, 1 if a run failed, 77 where hosts cannot be made."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import replays  # noqa: E402

NETS = (("ResNet-50", "resnet50", 128, 4), ("ResNet-50", "resnet50", 224, 16), ("YOLOv4-tiny", "yolov4-tiny", 416, 4))
ON_HOSTS = NETS[0]
WIRES = ("none", "bf16", "fp16", "fp8")


def precisions():
    return ("float32", "bf16") if replays.has_bf16() else ("float32",)


def network(build, net, folder):
    _, cfg, pixels, images = net
    path = os.path.join(build, "darknet-src", "cfg", cfg + ".cfg")
    if not os.path.exists(path):
        path = os.path.join(folder, cfg + ".cfg")
        subprocess.run([os.path.join(build, "darknet"), "ddp", "cfg", cfg, "-classes", "80", "-o", path], check=True, stdout=subprocess.DEVNULL)
    return replays.Darknet(build, path, pixels, images)


class Runs:
    """Runs of one network in one place, in turns; each adds a line to the table as soon as all its turns are through."""

    def __init__(self, net, place, **where):
        self.net, self.place, self.where = net, place, where
        self.seconds = {}

    def ours(self, precision, wire, steps):
        ranks = 2 if self.place != "alone" else 1
        figures = self.net.bench("-ddp_bf16", int(precision == "bf16"), "-ddp_compress", wire, steps=steps, ranks=ranks, **self.where)
        self.seconds.setdefault((precision, wire), []).append(figures["step"]["median"])

    def theirs(self, pytorch, precision, steps):
        seconds = pytorch.bench(self.net, bf16=precision == "bf16", steps=steps, **self.where)
        if seconds:
            self.seconds.setdefault((precision, "PyTorch"), []).append(statistics.median(seconds))

    def take(self, pytorch, wires, args):
        for _ in range(args.turns):
            for precision in precisions():
                for wire in wires:
                    self.ours(precision, wire, args.steps)
                self.theirs(pytorch, precision, args.steps)

    def print(self, title):
        for (precision, wire), ours in self.seconds.items():
            theirs = self.seconds.get((precision, "PyTorch"))
            if wire != "PyTorch":
                ratio = f"{statistics.median(ours) / statistics.median(theirs):.2f}" if theirs else ""
                print(f"| {title} | {self.place} | {precision} | {wire} | {cell(ours)} | {cell(theirs)} | {ratio} |", flush=True)


def cell(seconds):
    return ", ".join(f"{s:.3f}" for s in seconds) if seconds else ""


def measure(args, folder):
    """Yields each network's runs, when they are through."""
    build, pytorch = os.path.abspath(args.build), replays.PyTorch()
    for net in NETS if "alone" in args.part else ():
        runs = Runs(network(build, net, folder), "alone", where=replays.ALONE)
        runs.take(pytorch, ("none",), args)
        yield net, runs
    for gbit in args.rates.split(",") if "hosts" in args.part else ():
        with replays.hosts(float(gbit)):
            runs = Runs(network(build, ON_HOSTS, folder), f"2 hosts, {gbit} Gbit/s", pin=replays.ON_A_CORE)
            runs.take(pytorch, WIRES, args)
        yield ON_HOSTS, runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(replays.ROOT, "build"))
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--rates", default="1,4,10")
    parser.add_argument("--json")
    parser.add_argument("part", nargs="*", metavar="alone | hosts")
    args = parser.parse_args()
    if set(args.part) - {"alone", "hosts"}:
        parser.error("a part is alone or hosts")
    args.part = args.part or ["alone", "hosts"]
    found = []
    print("| network | where | precision | wire | ours, s | PyTorch, s | ratio |\n|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for (name, _, pixels, images), runs in measure(args, folder):
            runs.print(f"{name}, {pixels}x{pixels}, {images} images")
            found += [{"network": name, "pixels": pixels, "images": images, "where": runs.place, "precision": precision, "wire": wire,
                       "seconds": seconds} for (precision, wire), seconds in runs.seconds.items()]
    if args.json:
        with open(args.json, "w", encoding="ascii") as f:
            json.dump(found, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
