#!/usr/bin/env python3
"""Try the five calls for a lent GPU without one: scripts/pack-gpu.py packs a build with the emulated device, which then runs in an empty
folder without network, and without this machine's Open MPI, ssh and libraries of programs.

Usage: tests/gpu/dry.py [-build BUILD] [-slow N] [-D...] [good[=CALL,...]|wrong[=PART,...]|ended[=SECONDS,...]]...
       all three by default, and all calls, parts and times of each; BUILD: build-dry; as root

  good    each call: all that it begins is good, and ends within its budget
  wrong   each check is BAD when something is put wrong: a kernel that does nothing on one rank, a call that fails
  ended   after a call was ended after so many seconds, by SIGTERM or killed, alone or with its group, no process is left

-slow: limits are N times as long, where the machine is busy. -D...: for scripts/pack-gpu.py, where BUILD is not there. All three take
half an hour on two cores. Exit status: 0, 1, or 77 where no namespaces can be made."""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CALLS = ("1", "2", "3", "4", "5")
BUDGET_S = 540
SECONDS = (.2, 1, 2, 4, 7, 12, 20, 33)
# Left out there are trace and sanitize, which want a GPU.
CHECKS = {"machine": ("machine",), "bf16": ("bf16", "layers-bf16"), "layers": ("layers",), "sums": ("sums",), "bench": ("bench",),
          "profile": ("profile-bf16", "profile"), "parity": ("parity",), "nets": ("nets",), "heads": ("heads",),
          "compress": ("compress",), "tf32": ("layers-tf32",),
          "run": ("run-exact", "run-exact-mpi", "run-resume", "run-checkpoints", "run-ranks", "run-compress", "run-compressions", "run-sizes"),
          "failures": ("failures",)}
# What puts a part wrong, by its variables; another program, which fails where it should not, for the one that looks for failures.
FAULTS = {"machine": "launch:20", "bench": "launch:20", "profile": "launch:20", "run": "launch:120", "failures": None}
WRONG_NUMBERS = ",".join(f"nothing:{n}" for n in range(7, 60))
# Of the machine, out of sight: mpirun, ssh and what is packed.
HIDDEN = ("openmpi-bin", "libopenmpi3", "openssh-client", "libgloo0", "libpmix2", "libhwloc15", "libxxhash0", "libdnnl2")


def files_of(package):
    listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout.split("\n")
    return [path for path in listed if os.path.isfile(path) and not os.path.islink(path) and ("/bin/" in path or ".so" in path)]


class Place:
    """An empty folder with the pack, and how to run it there."""

    def __init__(self, pack, folder):
        self.folder, self.hide = folder, os.path.join(folder, "hide")
        shutil.copytree(pack, os.path.join(folder, ".gpu"))
        os.mkdir(os.path.join(folder, "tmp"))
        with open(self.hide, "w", encoding="ascii") as f:
            for package in HIDDEN:
                f.writelines(f"mount --bind /dev/null {path}\n" for path in files_of(package))
            f.write("[ -z \"$(command -v mpirun ssh)\" ] || exit 3\nexec \"$@\"\n")

    def start(self, *words, before=(), **environment):
        mark = str(uuid.uuid4())
        clean = {name: value for name, value in os.environ.items() if not re.match("OMPI_|LD_|OUT$|DARKNET", name)}
        process = subprocess.Popen([*before, "unshare", "-n", "-m", "sh", self.hide, "sh", ".gpu/go", *words], cwd=self.folder, text=True,
                                   env={**clean, "TMPDIR": os.path.join(self.folder, "tmp"), "DRY_MARK": mark, **environment},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        return process, mark

    def run(self, *words, **environment):
        """Exit status, what was said, seconds. It ends where this script does."""
        began = time.monotonic()
        process, _ = self.start(*words, before=(os.path.join(ROOT, "tests", "gpu", "within.py"), "3600"), **environment)
        said, _ = process.communicate()
        return process.returncode, said, time.monotonic() - began

    def unpacked(self):
        return next(entry.path for entry in os.scandir(os.path.join(self.folder, "tmp")) if entry.name.startswith("ddp-gpu-"))


def marked(mark):
    """Processes that have it in their environment: {id: command}."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                if mark.encode() not in f.read():
                    continue
            with open(f"/proc/{name}/cmdline", "rb") as f:
                found[int(name)] = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return found


def say(good, words):
    print(("ok   " if good else "BAD  ") + words, flush=True)
    return good


def good(place, calls):
    results = []
    for call in calls:
        code, said, seconds = place.run(call)
        in_time = seconds < BUDGET_S * int(os.environ["TEST_GPU_SLOW"])
        results.append(say(code == 0 and in_time and " 0 bad" in said, f"call {call}: exit {code}, {seconds:.0f} s"))
        if not results[-1]:
            print(said)
    return all(results)


def without_failures(place):
    """Puts a program in place of ours that no call can fail in; returns how to put it back."""
    program = os.path.join(place.unpacked(), "build", "darknet-emulated")
    os.rename(program, program + ".real")
    with open(program, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\nexec env -u EMULATED_FAIL {program}.real \"$@\"\n")
    os.chmod(program, 0o755)
    return lambda: os.replace(program + ".real", program)


def wrong(place, parts):
    results = []
    place.run("--limits")
    for part in parts:
        fault = FAULTS.get(part, WRONG_NUMBERS)
        restore = None if fault else without_failures(place)
        code, said, seconds = place.run(part, **({"EMULATED_FAIL": fault} if fault else {}))
        if restore:
            restore()
        for check in CHECKS[part]:
            found = re.search(rf"BAD  \((?:exit \d+|no end)\) {check},", said)
            verdict = "BAD" if found else "not noticed"
            results.append(say(bool(found) and code == 1, f"{check}, put wrong: {verdict}, {seconds:.0f} s in all"))
            if not found:
                print(said)
    return all(results)


def ended(place, seconds):
    results = []
    for i, after in enumerate(map(float, seconds)):
        call = CALLS[i % len(CALLS)]
        for sig, end in ((signal.SIGTERM, os.kill), (signal.SIGKILL, os.kill), (signal.SIGKILL, os.killpg)):
            process, mark = place.start(call)
            time.sleep(after)
            end(process.pid, sig)
            process.wait()
            process.stdout.close()
            limit = time.monotonic() + 20
            while (left := marked(mark)) and time.monotonic() < limit:
                time.sleep(.2)
            results.append(say(not left, f"call {call}, {sig.name} after {after} s: {len(left)} processes left {list(left.values())[:3]}"))
            for pid in left:
                os.kill(pid, signal.SIGKILL)
    return all(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-build", default=os.path.join(ROOT, "build-dry"))
    parser.add_argument("-slow", type=int, default=1)
    parser.add_argument("what", nargs="*", default=["good", "wrong", "ended"])
    args, options = parser.parse_known_args()
    if subprocess.run(["unshare", "-n", "-m", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("no namespaces can be made here: run it as root")
        return 77
    packing = [os.path.join(ROOT, "scripts", "pack-gpu.py"), args.build, "-DDDP_CUDA=OFF", "-DDDP_EMULATED=ON", *options]
    if subprocess.run(packing, check=False).returncode:
        return 1
    results = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TEST_GPU_SLOW"] = str(args.slow)
        place = Place(os.path.join(ROOT, ".gpu"), folder)
        for name, _, which in (word.partition("=") for word in args.what):
            run, all_of_it = {"good": (good, CALLS), "wrong": (wrong, CHECKS), "ended": (ended, SECONDS)}[name]
            results.append(run(place, which.split(",") if which else all_of_it))
    return not all(results)


if __name__ == "__main__":
    sys.exit(main())
