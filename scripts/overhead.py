#!/usr/bin/env python3
"""Time what a step costs more because the run is watched and recorded: train with and without that, in turns.
Usage: scripts/overhead.py [ROUNDS [STEPS]]        NAME.csv, NAME.html and NAME.log (-ddp_records): a small detector of about 100 steps a
                                                   second on one process; default: 5 rounds of 3000 steps each
       scripts/overhead.py -all [ROUNDS [STEPS]]   all that can be switched off: these, the watch's clock (-ddp_timeout), the comparison
                                                   of ranks (-ddp_verify_every, with every 25 steps), agreeing on bad samples before a
                                                   step learns from them (-ddp_on_bad_data): a detector of 6 million parameters on 2 ranks
                                                   of one host; default: 3 rounds of 25 steps each
       scripts/overhead.py -bench [ROUNDS [STEPS]] of these what `ddp bench` runs, the watch's clock and the comparison of ranks, on the same
                                                   detector, and the clock of its steps alone: it spreads less; default: 3 rounds of 25 steps each
The program is $DARKNET or build/darknet; the machine should be quiet. The check for numbers that are not finite cannot be switched off, and is
on in both. Prints each round, and the median of what is added, in seconds of the clock and of the CPU. Exit status 1: a program failed."""
import collections
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("DARKNET", os.path.join(ROOT, "build", "darknet"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "python"))
import darknet  # noqa: E402

Measured = collections.namedtuple("Measured", "body side ranks without with_ rounds steps")

SMALL = (darknet.convolutional(32, stride=2, batch_normalize=1) + darknet.convolutional(64, stride=2, batch_normalize=1)
         + darknet.convolutional(96, batch_normalize=1) + darknet.convolutional(96, batch_normalize=1))
LARGE = "".join(darknet.convolutional(filters, stride=2, batch_normalize=1) for filters in (32, 64, 128, 256, 512, 1024))
RECORDS = Measured(SMALL, 64, 0, ("-ddp_records", "0"), ("-ddp_records", "1"), 5, 3000)
ALL = Measured(LARGE, 256, 2, ("-ddp_records", "0", "-ddp_timeout", "0", "-ddp_verify_every", "0", "-ddp_on_bad_data", "skip", "100000"),
               ("-ddp_verify_every", "25"), 3, 25)
BENCH = ALL._replace(without=("-ddp_timeout", "0", "-ddp_verify_every", "0"))


def cfg(measured, steps):
    head = darknet.detector_cfg()
    return (darknet.net(max_batches=steps, width=measured.side, height=measured.side, learning_rate=0.0001) + measured.body
            + head[head.index("[convolutional]\nfilters=7"):])


def train(folder, measured, words, steps):
    """Seconds of a step, by the clock between the first and the last line, and of the CPU."""
    args = darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1",
                           "-log_every", "1000000", *words, ranks=measured.ranks)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    job = darknet.start(args, folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    times = [time.monotonic() for line in job.stdout if re.match(r"\d+: ", line)]
    job.stdout.close()
    if job.wait() != 0 or len(times) != 2:
        sys.exit(f"overhead: {' '.join(args)} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (times[1] - times[0]) / (steps - 1), cpu / steps


def bench(folder, measured, words, steps):
    """The median of a step's seconds, by the clock."""
    args = darknet.command("ddp", "bench", "tiny.cfg", "-steps", str(steps), "-json", "figures", *words, ranks=measured.ranks)
    done = darknet.run(args, folder, limit_s=600)
    if done.code != 0:
        sys.exit(f"overhead: {done}")
    with open(os.path.join(folder, "figures"), encoding="ascii") as f:
        return json.load(f)["step"]["median"], None


def share(before, after):
    return after / before - 1


def main():
    kind = sys.argv[1] if sys.argv[1:2] in (["-all"], ["-bench"]) else ""
    measured, words = {"": RECORDS, "-all": ALL, "-bench": BENCH}[kind], sys.argv[2 if kind else 1:]
    measure = bench if kind == "-bench" else train
    rounds, steps = (int(word) for word in (words + [str(measured.rounds), str(measured.steps)][len(words):]))
    clock, cpu = [], []
    with tempfile.TemporaryDirectory(prefix="darknet-overhead.") as folder:
        darknet.DataSet(folder, count=10).boxes()
        darknet.write(os.path.join(folder, "tiny.cfg"), cfg(measured, steps))
        for i in range(rounds):
            order = ("without", "with_") if i % 2 else ("with_", "without")
            found = {which: measure(folder, measured, getattr(measured, which), steps) for which in order}
            (off, off_cpu), (on, on_cpu) = found["without"], found["with_"]
            clock.append(share(off, on))
            said = f"without {off * 1e3:.3f} ms a step, with {on * 1e3:.3f} ms: {clock[-1]:+.2%}"
            if off_cpu:
                cpu.append(share(off_cpu, on_cpu))
                said += f" (of the CPU {off_cpu * 1e3:.3f} ms, {on_cpu * 1e3:.3f} ms: {cpu[-1]:+.2%})"
            print(said, flush=True)
    said = f"median of {rounds}: {statistics.median(clock):+.2%} of the clock"
    print(said + (f", {statistics.median(cpu):+.2%} of the CPU" if cpu else ""))


if __name__ == "__main__":
    main()
