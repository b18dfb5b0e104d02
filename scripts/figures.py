#!/usr/bin/python3
"""Repeat the measurements of Li et al. 2020, "PyTorch Distributed", section 5, on this machine, and draw their figures as PNG.

Usage: scripts/figures.py [--build DIR] [--out DIR] [--steps N] [--draw] [FIGURE...]
  --build DIR    (build)
  --out DIR      where the PNG files are written, and figures.json with what they show (BUILD/figures)
  --steps N      of each run (8)
  --draw         draw what figures.json has, and run nothing
  FIGURE         latency (their fig. 6), buckets (7, 8), scaling (9), skipped (10), losses (11), channels (12); all of them by default

As root, on a quiet machine with two cores, after scripts/test or scripts/demo (which losses needs: its pictures) has built the program.
ResNet-50, 128x128, 4 images a rank, one core a rank; hosts are network namespaces on lines of 1 and 4 Gbit/s. PyTorch's
DistributedDataParallel over Gloo stands beside ours where this Python or Debian's has PyTorch. Scaling is
replayed (real messages between layers that sleep) to 16 ranks and predicted beyond; the figure says which. Wants python3-matplotlib.
Exit status: 0, 1 if a run failed, 77 where hosts cannot be made."""
import argparse
import csv
import json
import os
import shutil
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
import replays  # noqa: E402

RATES = (1, 4)  # Gbit/s
BUCKETS_MB = (.25, 1, 4, 10, 25, 50, 100)
PARTS = ("forward", "backward", "exposed", "update")
REPLAYED = ((1, 1), (2, 1), (4, 1), (4, 2), (8, 2))  # hosts, ranks a host
PREDICTED = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # hosts of one rank
SKIPPED = (1, 2, 4, 8)  # batches for an update
CHANNELS = (1, 2, 4)


class Measure:
    """One method for each figure; what it returns goes into figures.json."""

    def __init__(self, args):
        self.darknet, self.steps, self.build = replays.Darknet(args.build), args.steps, os.path.abspath(args.build)
        self.pytorch = replays.PyTorch()

    def alone(self):
        return self.darknet.bench(steps=self.steps, ranks=1, where=replays.ALONE)

    def pair(self, *options, steps=None):
        return self.darknet.bench(*options, steps=steps or self.steps, pin=replays.ON_A_CORE)

    def torch(self, **where):
        """Its median step, lowest and highest, or None."""
        seconds = self.pytorch.bench(self.darknet, steps=self.steps, **where)
        return seconds and [statistics.median(seconds), min(seconds), max(seconds)]

    def torch_pair(self, bucket_mb=25):
        return self.torch(bucket_mb=bucket_mb, pin=replays.ON_A_CORE)

    def latency(self):
        rows = {"one process": {"ours": self.alone(), "torch": self.torch(where=replays.ALONE)}}
        for gbit in RATES:
            with replays.hosts(gbit):
                rows[f"{gbit} Gbit/s, one\nafter the other"] = {"ours": self.pair("-ddp_overlap", 0, "-ddp_defer_mb", 0), "torch": None}
                rows[f"{gbit} Gbit/s"] = {"ours": self.pair(), "torch": self.torch_pair()}
        return rows

    def buckets(self):
        found = {}
        for gbit in RATES:
            with replays.hosts(gbit):
                found[f"{gbit} Gbit/s"] = [{"mb": mb, "ours": self.pair("-ddp_bucket_mb", mb), "torch": self.torch_pair(mb)}
                                           for mb in BUCKETS_MB]
        return found

    def scaling(self):
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            profiles = {"cpu": os.path.join(folder, "cpu"), "gpu": os.path.join(folder, "gpu")}
            self.darknet.profile(profiles["cpu"])
            replays.faster(profiles["cpu"], profiles["gpu"])
            for device, gbit, predicted_gbit in (("cpu", .25, 10), ("gpu", .25, 100)):
                path = profiles[device]
                found[device] = {"gbit": gbit, "predicted_gbit": predicted_gbit, "replayed": [
                    [count * ranks, self.replay(path, gbit, count, ranks), self.darknet.predict(path, count, ranks, gbit)[0]]
                    for count, ranks in REPLAYED if count > 1],
                    "predicted": [[count, *self.darknet.predict(path, count, 1, predicted_gbit)] for count in PREDICTED[1:]]}
        return found

    def replay(self, profile, gbit, count, ranks):
        with replays.hosts(gbit, count):
            return self.darknet.bench("-replay", profile, steps=2, ranks=count * ranks, a_host=ranks)["step"]["median"]

    def skipped(self):
        found = {}
        for gbit in RATES:
            with replays.hosts(gbit):
                found[f"{gbit} Gbit/s"] = [[every, self.pair("-ddp_sync_every", every, steps=max(2, self.steps // every))["step"]["median"] / every]
                                           for every in SKIPPED]
        return found

    def losses(self):
        """The demo, with as many images whatever is skipped."""
        demo = os.path.join(self.build, "demo")
        if not os.path.exists(os.path.join(demo, "demo.data")):
            sys.exit(f"no {demo}: scripts/demo makes it")
        found = {}
        for every in SKIPPED:
            with tempfile.TemporaryDirectory() as folder:
                work = shutil.copytree(demo, os.path.join(folder, "demo"), symlinks=True, ignore=shutil.ignore_patterns("backup", "found"))
                os.unlink(os.path.join(work, "data"))
                os.symlink(os.path.join(self.build, "darknet-src", "data"), os.path.join(work, "data"))
                os.mkdir(os.path.join(work, "backup"))
                replays.run(["env", "-C", work, self.darknet.program, "detector", "train", "demo.data",
                             os.path.join(replays.ROOT, "cfg", "demo.cfg"), "-ddp", "-ddp_ranks", 2, "-ddp_seed", 1, "-ddp_sync_every", every])
                with open(os.path.join(work, "backup", "demo.csv"), encoding="ascii") as f:
                    found[every] = [[int(row["images"]), float(row["average_loss"])] for row in csv.DictReader(f)]
        return found

    def channels(self):
        found = {}
        for gbit in RATES:
            with replays.hosts(gbit):
                found[f"{gbit} Gbit/s"] = [[channels, self.pair("-ddp_channels", channels)["step"]["median"]] for channels in CHANNELS]
        return found


class Draw:
    """One method for each figure, with the axes that it asks for."""

    def __init__(self, plt):
        self.plt = plt

    def axes(self, data, titles=None, **labels):
        figure, axes = self.plt.subplots(1, len(titles or [1]), figsize=(4.8 * max(1.5, len(titles or [1])), 4), squeeze=False)
        for ax, title in zip(axes[0], titles or [""]):
            ax.set(title=title, **labels)
            ax.grid(alpha=.3)
        return figure, axes[0]

    def latency(self, rows):
        figure, (ax,) = self.axes(rows, ylabel="seconds of a step")
        names = list(rows)
        bottom = [0.0] * len(names)
        for part in PARTS:
            heights = [rows[n]["ours"][part]["median"] for n in names]
            ax.bar([i - .2 for i in range(len(names))], heights, .38, bottom=bottom,
                   label="communication that nothing hid" if part == "exposed" else part)
            bottom = [b + h for b, h in zip(bottom, heights)]
        theirs = [(i + .2, rows[n]["torch"][0]) for i, n in enumerate(names) if rows[n]["torch"]]
        if theirs:
            ax.bar(*zip(*theirs), .38, color="none", edgecolor="black", label="PyTorch, all of a step")
        ax.set_xticks(range(len(names)), names, fontsize=7)
        ax.legend(fontsize=8)
        return figure

    def buckets(self, found):
        figure, axes = self.axes(found, list(found), xlabel="capacity of a bucket, MiB", ylabel="seconds of a step")
        for ax, rows in zip(axes, found.values()):
            for who, figures in (("ours", [[r["ours"]["step"][k] for k in ("median", "low", "high")] for r in rows]),
                                 ("PyTorch", [r["torch"] for r in rows])):
                points = [(r["mb"], *f) for r, f in zip(rows, figures) if f]
                if points:
                    mb, median, low, high = zip(*points)
                    ax.errorbar(mb, median, [[m - a for m, a in zip(median, low)], [b - m for m, b in zip(median, high)]], fmt="o-",
                                capsize=3, label=who)
            ax.set(xscale="log", ylim=(0, None))
            ax.legend()
        return figure

    def scaling(self, found):
        figure, axes = self.axes(found, [f"layers as on {'this core' if d == 'cpu' else 'a device ten times as fast'}" for d in found],
                                 xlabel="ranks", ylabel="seconds of a step", xscale="log", yscale="log")
        for ax, curves in zip(axes, found.values()):
            ranks, replayed, predicted = zip(*curves["replayed"])
            ax.plot(ranks, replayed, "o", label=f"replayed, {curves['gbit']:g} Gbit/s a host")
            ax.plot(ranks, predicted, "--", label=f"predicted, {curves['gbit']:g} Gbit/s a host")
            ranks, steps, _ = zip(*curves["predicted"])
            ax.plot(ranks, steps, "--", label=f"predicted, {curves['predicted_gbit']:g} Gbit/s a host of one rank")
            ax.legend(fontsize=8)
        return figure

    def skipped(self, found):
        figure, (ax,) = self.axes(found, xlabel="batches for an update (-ddp_sync_every)", ylabel="seconds a batch", ylim=(0, None))
        for name, points in found.items():
            ax.plot(*zip(*points), "o-", label=name)
        ax.legend()
        return figure

    def losses(self, found):
        figure, (ax,) = self.axes(found, xlabel="images", ylabel="average loss of the demo", yscale="log")
        for every, points in found.items():
            ax.plot(*zip(*points), label=f"an update every {every} batches" if str(every) != "1" else "an update every batch")
        ax.legend()
        return figure

    def channels(self, found):
        figure, (ax,) = self.axes(found, xlabel="sets of connections that sums take turns at (-ddp_channels)", ylabel="seconds of a step",
                                  ylim=(0, None))
        for name, points in found.items():
            ax.plot(*zip(*points), "o-", label=name)
        ax.legend()
        return figure


NAMES = [name for name in vars(Measure) if name in vars(Draw) and name != "__init__" and not name.startswith("_")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(replays.ROOT, "build"))
    parser.add_argument("--out")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("figure", nargs="*", metavar="FIGURE")
    args = parser.parse_args()
    unknown = [name for name in args.figure if name not in NAMES]
    if unknown:
        parser.error(f"no figure is called {unknown[0]}: {', '.join(NAMES)}")
    try:
        import matplotlib
    except ImportError:
        sys.exit("figures: no matplotlib: Debian's python3-matplotlib has it")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    out = args.out or os.path.join(args.build, "figures")
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, "figures.json")
    found = {}
    if os.path.exists(path):
        with open(path, encoding="ascii") as f:
            found = json.load(f)
    measure, draw = Measure(args), Draw(plt)
    for name in args.figure or NAMES:
        if not args.draw:
            found[name] = getattr(measure, name)()
            with open(path, "w", encoding="ascii") as f:
                json.dump(found, f, indent=1)
        elif name not in found:
            continue
        figure = getattr(draw, name)(found[name])
        figure.tight_layout()
        figure.savefig(os.path.join(out, name + ".png"), dpi=120)
        print(os.path.join(out, name + ".png"), flush=True)


if __name__ == "__main__":
    main()
