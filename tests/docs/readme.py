#!/usr/bin/env python3
"""README's commands, as they stand and in their order, in an empty copy of the project; and the pictures of the demo,
drawn anew from what it leaves. Only Darknet's source is not fetched again, and objects come from a compiler cache where there is one:
with CCACHE_BASEDIR paths count from the project, wherever it is, so that it knows what scripts/test has compiled.
Usage: tests/docs/readme.py PROJECT DARKNET-SOURCE [CMAKE-OPTION]..."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
PROJECT, SOURCE, *OPTIONS = sys.argv[1:]
sys.path.insert(0, os.path.join(PROJECT, "tests", "python"))
import blocks  # noqa: E402

LIMIT_S = 1500
PICTURES = 60
# Where the blocks under a heading are typed, from the project.
FOLDERS = {"Your own data in ten lines": "mine"}
# A validation comes after 100 steps at the earliest: of a small network, which nobody would have the patience for otherwise.
SMALL = "sed -i 's/^batch=.*/batch=4/; s/^subdivisions=.*/subdivisions=2/; s/^width=.*/width=96/; s/^height=.*/height=96/' x.cfg"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                   PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
# Of a picture by scripts/draw-page.py: curves, and where the axis of a chart begins and ends, in pixels.
CURVE = re.compile(r'<path data-series="([^"]+)" data-axis="(\w+) (\S+) (\S+)" [^>]* d="([^"]+)"')
BOTTOM, TOP = 166, 34
# Of a picture by scripts/draw-found.py: a box that was found, in pixels, and how far another machine's may be.
FOUND = re.compile(r'<rect x="(-?\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)" data-found="([^"]+)"')
NEAR = 25


def fail(text):
    sys.exit(f"readme: {text}")


def copy_project(to):
    """What git knows of it, or would."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if os.path.exists(os.path.join(PROJECT, name)):
            os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
            shutil.copy2(os.path.join(PROJECT, name), os.path.join(to, name))


def make_pictures(folder):
    """What the reader has: pictures in images/, boxes in labels/. Darknet's own, over and over."""
    for name in ("images", "labels"):
        os.makedirs(os.path.join(folder, name))
    demo = os.path.join(PROJECT, "scripts", "demo-data")
    names = sorted(name[:-4] for name in os.listdir(demo))
    for i in range(PICTURES):
        name, own = names[i % len(names)], "one" if i == 0 else f"p{i}"
        shutil.copy(os.path.join(SOURCE, "data", name + ".jpg"), os.path.join(folder, "images", own + ".jpg"))
        with open(os.path.join(demo, name + ".txt"), encoding="ascii") as f:
            boxes = [line.split(maxsplit=1) for line in f]
        with open(os.path.join(folder, "labels", own + ".txt"), "w", encoding="ascii") as f:
            f.writelines(f"{int(kind) % 3} {box}" for kind, box in boxes)


def trainings(shell):
    """Process ids of `darknet detector train` that this shell has started."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                parent = int(f.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if parent == shell and words[1:3] == [b"detector", b"train"]:
            yield int(pid)


class Reader:
    """Somebody who types README's lines into one shell, and presses Ctrl-C once a training has validated, as it says one may."""

    def __init__(self, folder):
        environment = {**ENVIRONMENT, "DESTDIR": os.path.join(folder, "installed"), "CCACHE_BASEDIR": folder, "CCACHE_NOHASHDIR": "1"}
        self.shell = subprocess.Popen(["bash", "-e"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        self.folder, self.interrupted = folder, set()
        self.limit = threading.Timer(LIMIT_S, self.end)
        self.limit.start()

    def end(self):
        self.limit.cancel()
        if self.shell.poll() is None:
            os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()

    def type(self, block):
        """Returns what its commands print."""
        self.shell.stdin.write(f"cd '{os.path.join(self.folder, FOLDERS.get(block.heading, '.'))}'\n")
        commands = []
        for command in block.commands:
            commands += [command, SMALL] if command.endswith(" -o x.cfg") else [command]
        self.shell.stdin.write("\n".join([*commands, f"echo 'done: {block.place}'", ""]))
        self.shell.stdin.flush()
        said = []
        for line in self.shell.stdout:
            if line == f"done: {block.place}\n":
                return "".join(said)
            said.append(line)
            if line.startswith("Validation after step"):
                for pid in set(trainings(self.shell.pid)) - self.interrupted:
                    os.kill(pid, signal.SIGINT)
                    self.interrupted.add(pid)
        return fail(f"{block.place}: {block.commands} ended with {self.shell.wait()} after\n{''.join(said)[-6000:]}")


def curves(svg):
    """{name: (its figures, logarithms where the axis is logarithmic; how far those of the same run elsewhere may be)}, and titles."""
    found = {}
    for name, kind, low, high, points in CURVE.findall(svg):
        low, high = float(low), float(high)
        heights = [float(each.split(",")[1]) for each in points[1:].split("L")]
        found[name] = [low + (BOTTOM - y) / (BOTTOM - TOP) * (high - low) for y in heights], .4 if kind == "log" else .1 * high
    return found, re.findall(r'<text class="title"[^>]*>([^<]*)<', svg)


def far(kept, drawn):
    """What of README's picture is not so any more; None: all is. Other processors round otherwise, and so train somewhat otherwise."""
    (old, titles), (new, new_titles) = curves(kept), curves(drawn)
    if titles != new_titles or {name: len(old[name][0]) for name in old} != {name: len(new[name][0]) for name in new} or not old:
        return f"has {sorted(old)} of {titles}, and the run {sorted(new)} of {new_titles}"
    for name, (figures, near) in old.items():
        apart = sum(abs(a - b) for a, b in zip(figures, new[name][0])) / len(figures)
        if apart > near:
            return f"has a curve '{name}' that is {apart:.2g} from the run's, on average"
    return None


def boxes(svg):
    """{(picture, class): its boxes from left to right} of what scripts/draw-found.py has drawn."""
    found = {}
    for *box, what in FOUND.findall(svg):
        found.setdefault(what, []).append([int(side) for side in box])
    return {what: sorted(each) for what, each in found.items()}


def far_boxes(kept, drawn):
    """What of README's picture of boxes the demo does not find any more, or elsewhere; None: all is there."""
    old, new = boxes(kept), boxes(drawn)
    if not old or {what: len(each) for what, each in old.items()} != {what: len(each) for what, each in new.items()}:
        return f"has {sorted(old)}, and the demo finds {sorted(new)}"
    apart = max(abs(a - b) for what in old for one, other in zip(old[what], new[what]) for a, b in zip(one, other))
    return f"has a box that is {apart} pixels from the demo's" if apart > NEAR else None


def check_found(folder):
    with open(os.path.join(folder, "darknet-ddp/docs/found.svg"), encoding="utf-8") as f:
        kept = f.read()
    drawn = subprocess.run([os.path.join(folder, "scripts/draw-found.py")], stdout=subprocess.PIPE, text=True, check=True).stdout
    wrong = far_boxes(kept, drawn)
    if wrong:
        fail(f"darknet-ddp/docs/found.svg {wrong}: `scripts/draw-found.py >darknet-ddp/docs/found.svg` after `scripts/demo`")
    if "finds" not in (far_boxes(kept.replace(' dog"', ' cat"'), drawn) or ""):
        fail("a picture with a cat in it would pass")


def check_picture(folder):
    with open(os.path.join(folder, "darknet-ddp/docs/run.svg"), encoding="utf-8") as f:
        kept = f.read()
    drawn = subprocess.run([os.path.join(folder, "scripts/draw-page.py")], stdout=subprocess.PIPE, text=True, check=True).stdout
    wrong = far(kept, drawn)
    if wrong:
        fail(f"darknet-ddp/docs/run.svg {wrong}: `scripts/draw-page.py >darknet-ddp/docs/run.svg` after `scripts/demo`")
    other = re.sub(r'(data-axis="log )(\S+) (\S+)"', lambda m: f'{m[1]}{float(m[2]) + 1:g} {float(m[3]) + 1:g}"', kept)
    if "a curve" not in (far(other, drawn) or ""):
        fail("a picture with ten times the loss would pass")


def main():
    page = blocks.of_page(os.path.join(PROJECT, "README.md"), "README.md")
    with tempfile.TemporaryDirectory(prefix="readme.") as folder:
        copy_project(folder)
        cache = shutil.which("ccache")
        subprocess.run(["cmake", "-S", folder, "-B", folder + "/build", "-G", "Ninja", f"-DDARKNET_SOURCE_DIR={SOURCE}", *OPTIONS,
                        *([f"-DCMAKE_C_COMPILER_LAUNCHER={cache}"] if cache else [])], stdout=subprocess.DEVNULL, check=True)
        make_pictures(os.path.join(folder, "mine"))
        reader = Reader(folder)
        try:
            for block in page:
                if block.why_not:
                    print(f"{block.place}: not run: {block.why_not}", flush=True)
                    continue
                began = time.monotonic()
                missing = block.missing(reader.type(block))
                print(f"{block.place}: {time.monotonic() - began:.0f} s", flush=True)
                if missing:
                    fail(f"{block.place}: does not print a line like '{missing}'")
        finally:
            reader.end()
        check_picture(folder)
        check_found(folder)


main()
