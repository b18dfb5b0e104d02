#!/usr/bin/env python3
"""Compare what `darknet ddp plan -profile` predicts for a step with what it takes. Each row is run on hosts that this script makes (network
namespaces; as root), with real communication between layers that sleep (`ddp bench -replay`).

Usage: scripts/forecast.py [--build DIR] [--steps N] [--rounds N] [CFG]
  --build DIR    (build)
  --steps N      of each run (4)
  --rounds N     runs of each row, of which the median counts (1)
  CFG            the network (ResNet-50 of Darknet, 128x128, 4 images a rank)

The profile is measured first, on one core; the same with times a tenth as long stands for a faster device, whose own computing goes on
while messages move. Prints a table in Markdown. Exit status: 0, 1 if a run failed, 77 where hosts cannot be made."""
import argparse
import os
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
import replays  # noqa: E402

# Device, hosts, ranks a host, Gbit/s a host. All ranks share this machine's cores for their messages: more of them want slower lines.
ROWS = (("cpu", 2, 1, 1), ("cpu", 2, 1, 4), ("cpu", 2, 2, 1), ("cpu", 4, 1, 1), ("cpu", 4, 2, .5), ("cpu", 8, 1, .5), ("cpu", 8, 2, .25),
        ("gpu", 2, 1, 1), ("gpu", 4, 1, 1), ("gpu", 4, 2, .5))


def row(darknet, profile, device, count, ranks, gbit, args):
    with replays.hosts(gbit, count):
        runs = [darknet.bench("-replay", profile, steps=args.steps, ranks=count * ranks, a_host=ranks)["step"]["median"]
                for _ in range(args.rounds)]
    step, local = darknet.predict(profile, count, ranks, gbit)
    found = statistics.median(runs)
    print(f"| {count} x {ranks} | {gbit:g} Gbit/s | {device} | {local:.3f} s | {step:.3f} s | {found:.3f} s ({min(runs):.3f} to {max(runs):.3f})"
          f" | {100 * (step / found - 1):+.0f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(replays.ROOT, "build"))
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("cfg", nargs="?")
    args = parser.parse_args()
    darknet = replays.Darknet(args.build, args.cfg)
    with tempfile.TemporaryDirectory() as folder:
        profiles = {device: os.path.join(folder, device) for device in ("cpu", "gpu")}
        darknet.profile(profiles["cpu"])
        replays.faster(profiles["cpu"], profiles["gpu"])
        print("| hosts x ranks | a host's line | layers of | local step | predicted step | replayed step | error |\n|---|---|---|---|---|---|---|",
              flush=True)
        for device, *numbers in ROWS:
            row(darknet, profiles[device], device, *numbers, args)


if __name__ == "__main__":
    main()
