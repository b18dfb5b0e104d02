#!/usr/bin/env python3
"""Run ctest, with the time that is left behind each test's line. The last line tells how many tests passed at once, how many only at
the second try (tests/again), which were skipped for which reason, and how many failed.
Usage: tests/progress.py [--repeat N] ctest --test-dir BUILD OPTION...

What is left is reckoned by what the tests took in earlier runs, which ctest keeps; of a test that has not run yet, by the mean.

--repeat N: N times, while as many busy loops as there are cores run; tests of deadlines have one try each ($DDP_TESTS_TRIES,
tests/again). At the end each test that failed, and how often. Exit status: ctest's, or of N runs the first that is not 0."""
import collections
import contextlib
import multiprocessing
import os
import re
import subprocess
import sys
import time

LINE = re.compile(r"\s*(\d+)/(\d+) Test\s+#\d+: (\S+) \.+\s*(.*)")


def costs(build):
    """{test: seconds}, as ctest keeps them: a line a test, its name, how often it ran, and what it takes."""
    found = {}
    with contextlib.suppress(OSError):
        with open(os.path.join(build, "Testing", "Temporary", "CTestCostData.txt"), encoding="utf-8") as f:
            for line in f:
                words = line.split()
                if len(words) == 3 and int(words[1]):
                    found[words[0]] = float(words[2])
    return found


def chosen(command):
    """Names of the tests that will run."""
    listed = subprocess.run([*command, "--show-only"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return re.findall(r"(?m)^\s*Test\s+#\d+: (\S+)$", listed)


def words(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


class Left:
    """How much of the work is done, and so how long the rest will take."""

    def __init__(self, tests, known):
        mean = sum(known.get(name, 0) for name in tests) / max(1, sum(name in known for name in tests)) or 1
        self.cost = {name: known.get(name, mean) + .1 for name in tests}
        self.done, self.all, self.began = 0, sum(self.cost.values()), time.monotonic()

    def after(self, name):
        self.done += self.cost.pop(name, 0)
        return (time.monotonic() - self.began) * (self.all - self.done) / self.done if self.done else 0


def last_words(build, name):
    """The last line of a test's output in ctest's log, in front of what mpirun says of its exit status."""
    with open(os.path.join(build, "Testing", "Temporary", "LastTest.log"), encoding="utf-8", errors="replace") as f:
        text = f.read()
    found = re.search(rf"(?m)^\d+/\d+ Test: {re.escape(name)}$.*?^-{{20,}}\n(.*?)^<end of output>$", text, re.S)
    lines = re.split(r"(?m)^-{20,}$", found[1])[0].strip().splitlines() if found else []
    return lines[-1].strip() if lines else "no reason given"


def counted(reasons):
    """Reasons that begin alike: how many, and the whole of it where it is one and the same, else an example."""
    more = ", as" if len(set(reasons)) > 1 else ""
    return f"{len(reasons)}{more} {reasons[0]}"


def sum_up(build, passed, failed, skipped):
    """The last line. A test that failed twice is among the failed alone."""
    again = set()
    with contextlib.suppress(OSError):
        with open(os.path.join(build, "Testing", "again.log"), encoding="utf-8") as f:
            again = {line.split()[0] for line in f} & passed
    reasons = collections.defaultdict(list)
    for name in skipped:
        why = last_words(build, name)
        reasons[why.split(": ")[0]].append(why)
    said = [f"{len(passed) - len(again)} tests passed"]
    said += [f"{len(again)} only at the second try ({', '.join(sorted(again))}; {build}/Testing/Temporary/LastTest.log)"] * bool(again)
    said += [f"{len(skipped)} skipped ({'; '.join(map(counted, reasons.values()))})"] * bool(skipped)
    print(", ".join([*said, f"{len(failed)} failed"]), flush=True)


def once(command, failed):
    """Returns ctest's exit status, and counts the tests that failed."""
    build = command[command.index("--test-dir") + 1]
    left = Left(chosen(command), costs(build))
    passed, skipped, failed_now = set(), [], set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
        for line in ctest.stdout:
            found = LINE.match(line)
            if found:
                rest = left.after(found[3])
                if found[1] != found[2]:
                    line = f"{line.rstrip()}   {words(rest)} left\n"
                if found[4].startswith("Passed"):
                    passed.add(found[3])
                elif found[4].startswith("***Skipped"):
                    skipped.append(found[3])
                else:
                    failed[found[3]] += 1
                    failed_now.add(found[3])
            if not re.match(r"\s+Start\s+\d+: ", line):
                sys.stdout.write(line)
                sys.stdout.flush()
    sum_up(build, passed, failed_now, skipped)
    return ctest.returncode


def busy():
    while True:
        pass


def main():
    given = sys.argv[1:]
    times = int(given[1]) if given[0] == "--repeat" else 0
    command = given[2:] if times else given
    failed = collections.Counter()
    if not times:
        return once(command, failed)
    os.environ["DDP_TESTS_TRIES"] = "1"
    loops = [multiprocessing.Process(target=busy, daemon=True) for _ in range(os.cpu_count())]
    for loop in loops:
        loop.start()
    status = 0
    try:
        for number in range(1, times + 1):
            print(f"---- run {number} of {times}", flush=True)
            status = once(command, failed) or status
    finally:
        for loop in loops:
            loop.terminate()
    for name, count in failed.most_common():
        print(f"{name} failed in {count} of {times} runs")
    print(f"{times} runs: {'no test failed' if not failed else f'{len(failed)} tests failed'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
