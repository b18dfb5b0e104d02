#!/usr/bin/env python3
"""Provoke faults in small runs at random steps, and check that each run ends or goes on as it should.
Usage: scripts/faults.py [-times N] [-hours H] [-json FILE] [FAULT]...      all faults without

Each time a detector trains on 2 ranks (-ddp_exact) in a folder of its own, the fault comes, and within its time the job must end with
a status that is not 0 on all hosts, name what is wrong, and leave a whole pair; or go on, where that is right. Then the fault is
mended, -resume goes on, and the weights must be those of a run that nothing disturbed, bit for bit. With -ddp_max_restarts the job
goes on by itself. A table is printed at the end, with the seconds between the fault and the end of the last process, or to the
restart; each try when it has ended, on standard error. Faults on two hosts need root, for network namespaces; those of disks too, for
a tmpfs; so does want of memory, for a control group.

20 times all: an hour or two on 2 cores; after -hours (6), or SIGTERM, no more tries are begun, and the table is of those that were. A
busy machine makes the seconds more, and fails nothing: limits are far above them. DARKNET names the program (build/darknet).
Exit status: 0 all held, 1 not (said)."""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("DARKNET", os.path.join(HERE, "..", "build", "darknet"))
OWN = tempfile.TemporaryDirectory(prefix="darknet-faults.")  # with a copy of the program: it may be built anew meanwhile
os.environ["DARKNET"] = shutil.copy(os.environ["DARKNET"], os.path.join(OWN.name, "darknet"))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
import darknet  # noqa: E402
from faults import FAULTS  # noqa: E402
from trial import TRAIN, Failed, TooLate, Trial, Unavailable  # noqa: E402

TRIES = 20
END_S = 120  # for a fault to end a job; all but a hang take less
RUN_S = 600  # for a whole run

asked_to_end = threading.Event()


def wait(trial, seconds):
    try:
        return trial.job.wait(seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f"goes on after {seconds} s: " + trial.said()[-3000:]) from None


def check_words(trial):
    if not re.search(trial.says, trial.said(), re.DOTALL):
        raise Failed(f"says nothing of {trial.says}: " + trial.said()[-3000:])


def check_weights(trial, expected):
    if trial.digest() != expected:
        raise Failed("other weights than undisturbed")


def seconds_to_recovery(trial, began):
    while trial.job.poll() is None and time.monotonic() - began < END_S:
        if re.search(trial.recovers, trial.said()):
            return time.monotonic() - began
        time.sleep(.05)
    raise Failed(f"does not begin again: no {trial.recovers}: " + trial.said()[-3000:])


def goes_to_its_end(trial, expected, began):
    """Seconds until it went on; None where it never stood still."""
    seconds = seconds_to_recovery(trial, began) if trial.recovers else None
    code = wait(trial, RUN_S)
    if code != 0:
        raise Failed(f"ended with status {code}: " + trial.said()[-3000:])
    check_words(trial)
    check_weights(trial, expected)
    return seconds


def ends_and_goes_on(trial, expected, began):
    """Seconds until it had ended."""
    code = wait(trial, END_S)
    seconds = time.monotonic() - began
    if code == 0:
        raise Failed("ended with status 0: " + trial.said()[-3000:])
    check_words(trial)
    trial.mend()
    again = darknet.run([*TRAIN, "-resume", "-ddp_ranks", "2"], trial.folder, RUN_S)
    if again.code != 0:
        raise Failed(f"does not go on: {again}")
    if "resuming from" not in again.out:
        raise Failed(f"the pair is gone: {again}")
    check_weights(trial, expected)
    return seconds


def run_once(name, seed, expected):
    trial = FAULTS[name](seed)
    try:
        trial.prepare()
        trial.start()
        trial.wait_for_step()
        began = time.monotonic()
        trial.inject()
        check = goes_to_its_end if trial.goes_on else ends_and_goes_on
        return check(trial, expected[kind(trial)], trial.began or began)
    finally:
        trial.clean()


def run_trial(name, seed, expected):
    """The same, again where the fault came too late."""
    for again in range(TRIES):
        try:
            return run_once(name, f"{seed} {again}", expected)
        except TooLate:
            continue
    raise Failed(f"too late {TRIES} times")


def kind(trial):
    """Trials of a kind have the same weights in the end."""
    return trial.still, trial.batches


def undisturbed(fault):
    trial = type("Undisturbed", (Trial,), {"still": fault.still, "batches": fault.batches})(0)
    try:
        result = darknet.run([*TRAIN], trial.folder, RUN_S)
        if result.code != 0:
            sys.exit(f"scripts/faults.py: {result}")
        return trial.digest()
    finally:
        trial.clean()


class Tally:
    """What came of one fault."""

    def __init__(self, name):
        self.name, self.held, self.failed, self.seconds, self.unavailable = name, 0, 0, [], None

    def row(self):
        if self.seconds:
            text = f"{min(self.seconds):.1f}, {statistics.median(self.seconds):.1f}, {max(self.seconds):.1f}"
        elif self.held:
            text = "goes on"
        else:
            text = f"not tried: {self.unavailable}" if self.unavailable else ""
        return f"| {self.name} | {self.held} of {self.held + self.failed} | {text} |"


def try_one(tally, number, seed, expected, until):
    """In turns of all faults, so that those that time does not allow are missing from each alike."""
    if tally.unavailable or time.monotonic() > until or asked_to_end.is_set():
        return
    try:
        seconds = run_trial(tally.name, f"{tally.name} {seed} {number}", expected)
    except Unavailable as e:
        tally.unavailable = str(e)
        said = f"not tried: {e}"
    except (Failed, OSError, subprocess.SubprocessError) as e:
        tally.failed += 1
        said = f"FAILED: {e}"
    else:
        tally.held += 1
        tally.seconds += [] if seconds is None else [seconds]
        said = "goes on" if seconds is None else f"{seconds:.1f} s"
    print(f"{tally.name}, time {number + 1}: {said}", file=sys.stderr, flush=True)


def parse():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("-times", type=int, default=1, help="how often each")
    words.add_argument("-hours", type=float, default=6, help="after which no more tries are begun")
    words.add_argument("-at_a_time", type=int, default=2, help="faults that are tried side by side")
    words.add_argument("-seed", default="1", help="of the steps; drawn ones are the same for the same seed")
    words.add_argument("-json", help="write the seconds there")
    words.add_argument("faults", nargs="*", metavar="FAULT", help="names, or parts of them; all without")
    given = words.parse_args()
    given.names = [n for n in FAULTS if not given.faults or any(word == n or (word not in FAULTS and word in n) for word in given.faults)]
    if not given.names:
        words.error("there is no such fault: " + ", ".join(FAULTS))
    return given


def main():
    given = parse()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked_to_end.set())
    expected = {kind(fault): undisturbed(fault) for fault in {kind(FAULTS[name]): FAULTS[name] for name in given.names}.values()}
    tallies = [Tally(name) for name in given.names]
    until = time.monotonic() + 3600 * given.hours
    with concurrent.futures.ThreadPoolExecutor(given.at_a_time) as pool:
        tries = [pool.submit(try_one, tally, number, given.seed, expected, until) for number in range(given.times) for tally in tallies]
        for done in tries:
            done.result()
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, {given.at_a_time} at a time\n")
    print("| fault | held | seconds until the job has ended, or begun again: lowest, median, highest |\n|---|---|---|")
    print("\n".join(tally.row() for tally in tallies), flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as f:
            json.dump([vars(tally) for tally in tallies], f)
    sys.exit(1 if any(tally.failed for tally in tallies) else 0)


if __name__ == "__main__":
    main()
