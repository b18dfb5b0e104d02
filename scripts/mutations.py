#!/usr/bin/env python3
"""Put small faults into the program, one by one, and see that the tests find them.
Usage: scripts/mutations.py [--list | --places] [--named | --all] [-j N] [--folder DIR] [NAME]...     all mutations without a name

scripts/mutations.toml is the table: of each mutation its name, what it breaks, a piece of the source before and after, and the tests
that are to find it, which run first. If they pass, all tests of `scripts/test --quick` run, less what checks only how the source is
written; if these pass too, the mutation has survived, or, with --all, all other tests run. A survivor wants a test.

  --list      print the table and end
  --places    look for each piece of source, and end: it must stand in the program exactly once
  --named     run only the tests that the table names
  --all       run all tests where the quick ones find nothing: half an hour for each
  -j N        so many compilers and tests at a time (the number of cores)
  --folder    where the copy of the tree, and its build, are kept (build-mutations); the checkout is only read

A piece is looked for by content, in darknet-ddp/ and in the patched Darknet, so that files may move; white space does not count. Who
changes such a line mends the table. A mutation that does not compile, or whose tests fail without it, is an error of the table.
Not part of continuous integration: half an hour. Exit status: 0 all were caught, 1 some survived, 2 the table or the tree is wrong."""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "scripts", "mutations.toml")
SOURCES = (".c", ".h", ".cpp", ".cu", ".def")
OF_DARKNET = ("src", "include", "examples")
NO_TESTS_OF_IT = "^lint$"  # they would find a mutation by its format
LEAST_LIMIT_S = 60


class Wrong(Exception):
    """Of the table, or of the tree without a mutation."""


def run(command, log, limit_s=None, **options):
    """Its exit status, with its output at the end of the file log; None where it did not end in time, and then it is killed."""
    with open(log, "a", encoding="utf-8") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True, **options)
    try:
        return child.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def write_bytes(path, data):
    """Also where it hangs on another name."""
    with open(path + ".new", "wb") as f:
        f.write(data)
    shutil.copymode(path, path + ".new")
    os.replace(path + ".new", path)


def same_file(a, b):
    if os.path.islink(a) or os.path.islink(b):
        return os.path.islink(a) and os.path.islink(b) and os.readlink(a) == os.readlink(b)
    return os.path.isfile(b) and os.access(a, os.X_OK) == os.access(b, os.X_OK) and read_bytes(a) == read_bytes(b)


def copy_changed(names, source, target, keep):
    """Only what differs, so that no more is built than must be; what the source no longer has is removed, but for the folder keep."""
    for name in names:
        a, b = os.path.join(source, name), os.path.join(target, name)
        if same_file(a, b):
            continue
        os.makedirs(os.path.dirname(b), exist_ok=True)
        if os.path.lexists(b):
            os.remove(b)
        shutil.copy(a, b, follow_symlinks=False)
    kept = set(names)
    for path, folders, files in os.walk(target):
        folders[:] = [f for f in folders if os.path.join(path, f) != keep]
        for file in files:
            if os.path.relpath(os.path.join(path, file), target) not in kept:
                os.remove(os.path.join(path, file))


class Copy:
    """The copy of the tree, and in it, as in any checkout, its build: a compiler's cache knows most of it."""

    def __init__(self, folder, at_once):
        self.tree, self.build = folder, os.path.join(folder, "build")
        self.log, self.at_once = os.path.join(self.build, "mutations.log"), str(at_once)
        self.darknet = os.path.join(self.build, "darknet-src")
        os.makedirs(self.build, exist_ok=True)
        with open(self.log, "w", encoding="utf-8"):
            pass

    def make(self):
        """As the checkout is, with all that a run that was interrupted left mended."""
        listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
        names = sorted(name for name in listed.stdout.split("\0") if name and os.path.lexists(os.path.join(ROOT, name)))
        copy_changed(names, ROOT, self.tree, self.build)
        made = self.darknet + ".made"
        for part in OF_DARKNET:
            if os.path.isdir(os.path.join(made, part)) and os.path.isdir(os.path.join(self.darknet, part)):
                files = [os.path.relpath(os.path.join(p, f), made) for p, _, fs in os.walk(os.path.join(made, part)) for f in fs]
                for name in files:
                    if not same_file(os.path.join(made, name), os.path.join(self.darknet, name)):
                        shutil.copy(os.path.join(made, name), os.path.join(self.darknet, name))
        command = ["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DDDP_EMULATED=ON"]
        command.append(f"-DDDP_REFERENCE_DIR={os.path.join(ROOT, '..', 'shared')}")
        self.must(command + self.of_checkout(), "cmake")

    @staticmethod
    def of_checkout():
        """What the checkout's own build was told of where Darknet is."""
        cache = os.path.join(ROOT, "build", "CMakeCache.txt")
        if not os.path.exists(cache):
            return []
        with open(cache, encoding="utf-8") as f:
            return [f"-DDARKNET_SOURCE_DIR={line.split('=', 1)[1].strip()}" for line in f if re.match(r"DARKNET_SOURCE_DIR:\w+=.", line)]

    def must(self, command, what):
        if run(command, self.log):
            raise Wrong(f"{what} fails without a mutation: {self.log}")

    def sources(self):
        places = [os.path.join(self.tree, "darknet-ddp")] + [os.path.join(self.darknet, part) for part in OF_DARKNET]
        for place in places:
            for path, folders, files in os.walk(place):
                folders[:] = sorted(f for f in folders if f not in ("emulated", "tests"))
                yield from (os.path.join(path, f) for f in sorted(files) if f.endswith(SOURCES))

    def tests(self):
        """Of each test its labels, and the targets that it runs."""
        outputs = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
        outputs = {line.split(": ", 1)[0] for line in outputs.splitlines()}
        found = {}
        for path, _, files in os.walk(self.build):
            if "CTestTestfile.cmake" not in files:
                continue
            with open(os.path.join(path, "CTestTestfile.cmake"), encoding="utf-8") as f:
                for line in f:
                    self.read_test(line, outputs, found)
        return found

    def read_test(self, line, outputs, found):
        words = re.match(r"(?:add_test|set_tests_properties)\(\[=\[(.*?)\]=\]", line)
        if not words:
            return
        labels, targets = found.setdefault(words[1], (set(), set()))
        told = re.search(r' LABELS "([^"]*)"', line)
        labels.update(told[1].split(";") if told else [])
        inside = re.escape(self.build) + r'/([^";=]+)'
        targets.update(name for name in re.findall(inside, line.split("_BACKTRACE_TRIPLES")[0]) if name in outputs)

    def compile(self, targets):
        return run(["ninja", "-C", self.build, "-j", self.at_once, *sorted(targets)], self.log) == 0

    def test(self, selection, limit_s=None):
        """The first test that fails and True, "..." and False where none does; "" where all had not ended in time."""
        failed = os.path.join(self.build, "Testing", "Temporary", "LastTestsFailed.log")
        if os.path.exists(failed):
            os.remove(failed)
        command = ["ctest", "--test-dir", self.build, "-j", self.at_once, "--output-on-failure", "--stop-on-failure", "--no-tests=error"]
        status = run(command + selection, self.log, limit_s)
        if status == 0:
            return None
        if status is None:
            return "a standstill"
        names = read_bytes(failed).decode().splitlines() if os.path.exists(failed) else []
        if not names:
            raise Wrong(f"ctest fails and names no test: {self.log}")
        return names[0].split(":", 1)[1]


def pattern_of(piece):
    """White space may be any between tokens, or none where these are not both words."""
    tokens = re.findall(r"\w+|[^\w\s]", piece)
    gaps = [r"\s+" if re.match(r"\w", a) and re.match(r"\w", b) else r"\s*" for a, b in zip(tokens, tokens[1:])]
    ends = [r"\b" if re.match(r"\w", token) else "" for token in (tokens[0], tokens[-1])]
    return re.compile(ends[0] + "".join(re.escape(token) + gap for token, gap in zip(tokens, gaps + [""])) + ends[1])


def place_of(mutation, sources):
    """The one file, and where in it."""
    pattern = pattern_of(mutation["before"])
    found = [(path, match) for path, text in sources.items() for match in pattern.finditer(text)]
    if len(found) != 1:
        files = ", ".join(sorted({os.path.basename(path) for path, _ in found})) or "no file"
        raise Wrong(f"{mutation['name']}: `{' '.join(mutation['before'].split())}` stands {len(found)} times, in {files}: mend scripts/mutations.toml")
    return found[0]


def table(names):
    with open(TABLE, "rb") as f:
        rows = tomllib.load(f)["mutation"]
    known = [row["name"] for row in rows]
    if len(set(known)) != len(known):
        raise Wrong("two mutations have one name")
    for name in names:
        if name not in known:
            raise Wrong(f"no mutation is named '{name}': scripts/mutations.py --list")
    return [row for row in rows if not names or row["name"] in names]


class Trials:
    def __init__(self, copy, rows, how_far):
        self.copy, self.rows, self.how_far = copy, rows, how_far
        self.sources = {path: read_bytes(path).decode(errors="surrogateescape") for path in copy.sources()}
        self.known = copy.tests()
        self.results = []

    def check_places(self):
        wrong = []
        for row in self.rows:
            try:
                place_of(row, self.sources)
                self.named(row)
            except Wrong as e:
                wrong.append(str(e))
        if wrong:
            raise Wrong("\n".join(wrong))

    def named(self, row):
        found = [name for name in self.known if re.fullmatch(row["test"], name)]
        if not found:
            raise Wrong(f"{row['name']}: no test is named {row['test']}")
        return found

    def targets_of(self, names):
        return set().union(*(self.known[name][1] for name in names))

    def check_tests(self):
        """What is to find mutations passes without them."""
        names = sorted({name for row in self.rows for name in self.named(row)})
        if not self.copy.compile(self.targets_of(names)):
            raise Wrong(f"the tree does not compile without a mutation: {self.copy.log}")
        failed = self.copy.test(["-R", "^(" + "|".join(map(re.escape, names)) + ")$"])
        if failed:
            raise Wrong(f"{failed} fails without a mutation: {self.copy.log}")

    def limit_s(self, names):
        """For a standstill: ten times what they took when they were last run."""
        costs = {}
        path = os.path.join(self.copy.build, "Testing", "Temporary", "CTestCostData.txt")
        for line in read_bytes(path).decode().splitlines() if os.path.exists(path) else []:
            words = line.split()
            if len(words) == 3:
                costs[words[0]] = float(words[2])
        return LEAST_LIMIT_S + 10 * sum(costs.get(name, 0) for name in names)

    def find(self, row):
        """The test that finds it, or None."""
        names = self.named(row)
        if not self.copy.compile(self.targets_of(names)):
            raise Wrong(f"{row['name']} does not compile: {self.copy.log}")
        found = self.copy.test(["-R", "^(" + row["test"] + ")$"], self.limit_s(names))
        if found:
            return found if found in self.known else f"{names[0]}, {found}"
        if self.how_far == "named":
            return None
        if not self.copy.compile({"quick"}):
            raise Wrong(f"{row['name']} does not compile: {self.copy.log}")
        found = self.copy.test(["-L", "^quick$", "-LE", NO_TESTS_OF_IT], 1800)
        if not found and self.how_far == "all":
            if not self.copy.compile({"all"}):
                raise Wrong(f"{row['name']} does not compile: {self.copy.log}")
            found = self.copy.test(["-LE", "^(lint|quick)$"], 7200)
        return found

    def kind(self, found):
        labels = self.known[found.split(",")[0]][0] if found.split(",")[0] in self.known else {"quick"}
        return "quick" if "quick" in labels else "all" if "ci" in labels else "test"

    def try_one(self, row):
        path, match = place_of(row, self.sources)
        before = read_bytes(path)
        text = self.sources[path]
        start = time.monotonic()
        try:
            write_bytes(path, (text[:match.start()] + row["after"] + text[match.end():]).encode(errors="surrogateescape"))
            found = self.find(row)
        finally:
            write_bytes(path, before)
        kind = self.kind(found) if found else None
        self.results.append((row["name"], found, kind, time.monotonic() - start))
        words = {"quick": "quick", "test": "scripts/test", "all": "scripts/test --all", None: ""}[kind]
        print(f"{row['name']:44} {'caught by ' + found if found else 'SURVIVED':48} {words:18} {self.results[-1][3]:5.0f} s", flush=True)

    def sum_up(self, seconds):
        kinds = [kind for _, _, kind, _ in self.results]
        caught = len(kinds) - kinds.count(None)
        print(f"{len(kinds)} mutations: {caught} caught, {kinds.count('quick')} of them by scripts/test --quick, "
              f"{kinds.count('quick') + kinds.count('test')} by scripts/test; {kinds.count(None)} survived; {seconds:.0f} s", flush=True)
        return 0 if caught == len(kinds) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--places", action="store_true")
    far = parser.add_mutually_exclusive_group()
    far.add_argument("--named", dest="how_far", action="store_const", const="named", default="quick")
    far.add_argument("--all", dest="how_far", action="store_const", const="all")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build-mutations"), metavar="DIR")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    start = time.monotonic()
    try:
        rows = table(args.names)
        if args.list:
            for row in rows:
                print(f"{row['name']:44} {row['breaks']}")
            return 0
        copy = Copy(os.path.abspath(args.folder), args.j)
        copy.make()
        trials = Trials(copy, rows, args.how_far)
        trials.check_places()
        if args.places:
            return 0
        trials.check_tests()
        print(f"{len(rows)} mutations; all of their tests pass without them, {time.monotonic() - start:.0f} s", flush=True)
        for row in rows:
            trials.try_one(row)
        return trials.sum_up(time.monotonic() - start)
    except Wrong as e:
        print(f"mutations: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
