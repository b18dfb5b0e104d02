#!/usr/bin/env python3
"""run HARNESS CASE...: train each CASE, a folder of reference/ in the reference data, and compare with its numbers.

Without that data (DDP_REFERENCE_DIR) exit status 77. DDP_REFERENCE_KEEP=FOLDER keeps what was computed.

A value that rounding moves across a threshold (a leaky's kink, which of two is larger) changes all that is learnt after
it: so a case whose first step is within its limits, and a later one is not, is tried again from weights that are moved by one
unit in the last place, as the reference's own spread was found. What is wrong stays wrong from there, too."""
import array
import os
import random
import re
import subprocess
import sys
import tempfile

from compare import HEADER, LIMITS, compare, unpacked
from darknet import reference

FIRST_STEP = {"loss 1", "output", "delta", "array 1", "update 1"}
TRIES = 4


def cfg_of(case):
    """Its cfg, trained by the later forks' formulas also where no key asks for them: that is what the numbers are of."""
    with open(f"{case}/net.cfg") as file:
        text = file.read()
    return text if "yolo_math" in text else re.sub(r"(?m)^\[net\]\s*$", "[net]\nyolo_math=v4", text, count=1)


def moved(data, seed):
    """A weights file with every value moved by at most one unit in the last place; seed 0: as it is."""
    bits = array.array("i", data[HEADER:])
    draw = random.Random(seed)
    if seed:
        bits = array.array("i", (b + draw.choice((-1, 0, 1)) if b & 0x7FFFFF else b for b in bits))
    return data[:HEADER] + bits.tobytes()


def train(harness, case, folder, seed):
    with open(f"{folder}/net.cfg", "w") as file:
        file.write(cfg_of(case))
    with open(f"{folder}/w0.weights", "wb") as file:
        file.write(moved(unpacked(f"{case}/w0.weights"), seed))
    result = subprocess.run([harness, f"{folder}/net.cfg", f"{folder}/w0.weights", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode == 77:
        print("no GPU")
        sys.exit(77)
    if result.returncode:
        sys.exit(f"{case}: exit status {result.returncode}\n" + "\n".join(result.stdout.splitlines()[-5:]))


def over_limits(harness, case, seed):
    """The names of what is over its limit."""
    with tempfile.TemporaryDirectory() as folder:
        keep = os.environ.get("DDP_REFERENCE_KEEP", folder)
        train(harness, case, keep, seed)
        found, small = compare(case, keep)
    over = {name for name, (off, _) in found.items() if not off <= LIMITS[name][small]}
    for name, (off, where) in found.items():
        print(f"{os.path.basename(case)}: {name} {off:.1e}, limit {LIMITS[name][small]:.0e} {where}{'  OVER' if name in over else ''}")
    return over


def check(harness, case):
    """Is the case within its limits?"""
    for seed in range(TRIES):
        over = over_limits(harness, case, seed)
        if not over or over & FIRST_STEP:
            return not over
        print(f"{os.path.basename(case)}: a later step is off, the first is not: again from weights moved by one unit in the last place")
    return False


def main():
    harness, names = sys.argv[1], sys.argv[2:]
    cases = [reference(f"reference/{name}") for name in names]
    return 0 if all([check(harness, case) for case in cases]) else 1


if __name__ == "__main__":
    sys.exit(main())
