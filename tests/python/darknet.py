"""Helpers of the tests in tests/run: small data sets, small networks, and running $DARKNET on
some ranks with a limit on its time. Standard library only."""
import concurrent.futures
import contextlib
import functools
import itertools
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest
import zlib

import weights

PROGRAM = os.environ["DARKNET"]

signal.signal(signal.SIGINT, signal.default_int_handler) # a shell in the background has its programs ignore it, and these theirs

# A GPU's number: then all that trains with -ddp trains on it, every rank, with these options.
GPU = os.environ.get("DARKNET_GPU")
# What is compared are bits, or all but the last: fixed algorithms, float32 throughout.
GPU_OPTIONS = ["-ddp_deterministic", "1", "-ddp_fp32", "1", *os.environ.get("DARKNET_GPU_OPTIONS", "").split()]
# What every run gets. Nobody changes it: tests of one script run side by side, and would run with each other's variables.
# tests/CMakeLists.txt has the same for programs that are no Python, and says what each is for.
ENVIRONMENT = types.MappingProxyType(dict(
    os.environ,
    OMP_NUM_THREADS="1",
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
    OMPI_MCA_hwloc_base_binding_policy="none",
    PRTE_MCA_hwloc_default_binding_policy="none",
    PMIX_MCA_mca_base_param_files="none",
    OMPI_MCA_btl_vader_single_copy_mechanism="none",
    OMPI_MCA_pml="ob1",
))

# On a GPU each run measures anew which algorithms are fastest, and may find others: the emulated device's noise is another for each, too.
RUNS = itertools.count(int(os.environ.get("EMULATED_NOISE", 0)))

# The emulated device is none that several processes have to share.
REAL_GPU = GPU and not PROGRAM.endswith("emulated")

# Far more than any run here takes, on a machine that is busy with other things, too: whatever needs so long hangs. A machine with a GPU
# is lent by the minute.
LIMIT_S = 60 if REAL_GPU else 240

SESSIONS = "openmpi"

AT_A_TIME = int(os.environ.get("DDP_TESTS_AT_A_TIME", 3))

# Darknet's own progress line, less its newline.
FLOAT = r"-?\d+\.\d+"
PROGRESS = rf"\d+, {FLOAT}: {FLOAT}, {FLOAT} avg, {FLOAT} rate, {FLOAT} seconds, \d+ images"
DETECTOR_PROGRESS = rf"\d+: {FLOAT}, {FLOAT} avg, {FLOAT} rate, {FLOAT} seconds, \d+ images"
APPENDED = rf", {FLOAT} images/s, \d+% comm(?:, \d+% loading)?, \d+(?:\.\d)? (?:seconds?|minutes|hours) left"


class Result:
    """How a run ended. code is 'hang' if it was ended at its limit."""

    def __init__(self, args, code, out, err, seconds, noise=None):
        self.args, self.code, self.out, self.err, self.seconds, self.noise = args, code, out, err, seconds, noise

    def __str__(self):
        command = (f"EMULATED_NOISE={self.noise} " if self.noise else "") + " ".join(self.args)
        return (f"{command}\nexit {self.code} after {self.seconds:.1f} s\n"
                f"--- standard output\n{self.out[-6000:]}\n--- standard error\n{self.err[-6000:]}")


def end_group(process):
    """End a process started with start_new_session and what it started."""
    if process.poll() is not None and os.path.exists(f"/proc/{process.pid}"):
        return  # it ended long ago, and its number is another's now: many processes at a time use up all numbers within a minute
    for sig in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sig)
        except ProcessLookupError:
            return
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            continue


def sessions_beside(folder):
    """Variables for a run in a Case's folder: Open MPI keeps its files beside it. Of all runs in one place, one that ends removes the
    folder in which another, that starts in the same instant, is about to make its own."""
    place = os.path.join(os.path.dirname(os.path.abspath(folder)), SESSIONS)
    return {"OMPI_MCA_orte_tmpdir_base": place, "PRTE_MCA_prte_tmpdir_base": place} if os.path.isdir(place) else {}


STARTED = []  # processes, each a session of its own


def end_on_sigterm():
    """What this script has started, in sessions of their own, ends with it."""
    def end(*_):
        for process in STARTED:
            if process.poll() is None:
                end_group(process)
        os._exit(128 + signal.SIGTERM)
    signal.signal(signal.SIGTERM, end)


def start(args, cwd, environment=None, **options):
    """environment: variables of this run alone."""
    noise = {"EMULATED_NOISE": str(next(RUNS))} if "EMULATED_NOISE" in ENVIRONMENT else {}
    process = subprocess.Popen(args, cwd=cwd, env={**ENVIRONMENT, **noise, **sessions_beside(cwd), **(environment or {})}, stdin=subprocess.DEVNULL, text=True,
                               errors="replace", start_new_session=True, **options)
    STARTED.append(process)
    process.noise = noise.get("EMULATED_NOISE")
    return process


def run(args, cwd, limit_s=LIMIT_S, environment=None):
    return ended(start(args, cwd, environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE), limit_s)


def command_line(pid):
    """Of a process; a name in brackets where it has none any more."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace").strip() or f"[{pid}]"
    except OSError:
        return f"[{pid}]"


def ranks_under(parent):
    """Process ids of the darknets that the mpirun `parent` has started, by rank."""
    found = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                ppid = int(f.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{name}/environ", "rb") as f:
                variables = dict(v.split(b"=", 1) for v in f.read().split(b"\0") if b"=" in v)
        except (OSError, ValueError, IndexError):
            continue
        if ppid == parent and b"OMPI_COMM_WORLD_RANK" in variables:
            found[int(variables[b"OMPI_COMM_WORLD_RANK"])] = int(name)
    return [found[rank] for rank in sorted(found)]


def tell(pids, number):
    """Send a signal to processes, of which the first may have ended the others before they have it."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def slow(pid):
    """Leave a process a fiftieth of a tenth of a second."""
    for number, seconds in ((signal.SIGSTOP, .098), (signal.SIGCONT, .002)):
        os.kill(pid, number)
        time.sleep(seconds)


def signals_in(pid, name):
    """Of /proc/PID/status: the numbers in a set of signals, such as SigCgt (which have a handler) or ShdPnd (which wait for theirs)."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        bits = next(int(line.split()[1], 16) for line in f if line.startswith(name + ":"))
    return {number for number in range(1, 65) if bits >> (number - 1) & 1}


def command(*args, ranks=0, launched=True):
    """ranks 0: without a launcher, which another number has, too, that is not to be launched."""
    raw = ["--output", ":raw"] if ranks and launched and open_mpi() >= 5 else [] # lines that are not whole are passed on, too
    launcher = ["mpirun", "-np", str(ranks), *raw] if ranks and launched else []
    return [*launcher, PROGRAM, *map(str, args), *(gpu_options(ranks, "-ddp_backend" in args) if "-ddp" in args else [])]


def by_hand(args, folder, ranks, launch=(), **options):
    """Start ranks one by one, which meet by a file in the folder: processes, by rank. launch: of each rank, what stands before its
    command."""
    words = [*command(*args, ranks=ranks, launched=False), "-ddp_rendezvous", os.path.join(folder, "meet")]
    return [start([*(launch[rank] if launch else ()), *words], folder,
                  {"DARKNET_DDP_RANK": str(rank), "DARKNET_DDP_RANKS": str(ranks)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                  **options)
            for rank in range(ranks)]


def ended(process, limit_s=LIMIT_S):
    """The Result of a process that `start` has started with pipes."""
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=limit_s)
        code = process.returncode
    except subprocess.TimeoutExpired:
        end_group(process)
        out, err = process.communicate()
        code = "hang"
    return Result(process.args, code, out, err, time.monotonic() - began, process.noise)


@functools.cache
def options():
    """The program's table of options, {name: row}, as `darknet ddp options -json` has it."""
    return {row["name"]: row for row in json.loads(run(command("ddp", "options", "-json"), ".").out)["options"]}


def compressions(on_gpus=bool(GPU)):
    """Of each compression of -ddp_compress what asks for it: ["powersgd:2", ...]."""
    words = [word for word in options()["-ddp_compress"]["words"] if word["compresses"] and (word["on_gpus"] or not on_gpus)]
    return [word["word"] + (f":{min(max(word['low'], 2), word['high']):g}" if word["argument"] else "") for word in words]


@functools.cache
def open_mpi():
    """The first number of the version of the Open MPI whose mpirun is in PATH."""
    return int(re.search(r"\d+", run(["mpirun", "--version"], ".").out)[0])


def has_gloo():
    return "wants Gloo" not in run(command("detector", "train", "x", "x", "-ddp", "-ddp_backend", "gloo"), ".").err


def gpu_options(ranks, has_backend=False):
    """What $DARKNET_GPU adds to a command of so many ranks. NCCL's kernels wait for each other, and those of many processes take turns at
    a real GPU, some milliseconds each: from three ranks on it is MPI that sums."""
    if not GPU:
        return []
    backend = ["-ddp_backend", "mpi"] if REAL_GPU and ranks > 2 and not has_backend and "-ddp_backend" not in GPU_OPTIONS else []
    return ["-gpus", ",".join([GPU] * max(ranks, 1)), *backend, *GPU_OPTIONS]


# ---- data ----


def png(path, width, height, pixel):
    """pixel(x, y) is (red, green, blue)."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y))
                    for y in range(height))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        f.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        f.write(chunk(b"IDAT", zlib.compress(rows)))
        f.write(chunk(b"IEND", b""))


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


KINDS = ("cat", "dog")


class DataSet:
    """count pictures of 32x32 with a rectangle in each, of two kinds, with labels
    of every command's form; in folder, with paths relative to it."""

    def __init__(self, folder, count=8):
        draw = random.Random(1)
        self.folder = folder
        self.pictures = []
        for sub in ("images", "labels", "backup"):
            os.makedirs(os.path.join(folder, sub), exist_ok=True)
        for i in range(count):
            self._add(i, draw)
        self.list("train.list", self.pictures)
        self.write("names.list", "\n".join(KINDS) + "\n")
        self.data("train.data")

    def write(self, name, text):
        write(os.path.join(self.folder, name), text)

    def list(self, name, paths):
        self.write(name, "".join(p + "\n" for p in paths))

    def data(self, name, **values):
        values = {"classes": 2, "train": "train.list", "labels": "names.list",
                  "names": "names.list", "backup": "backup", **values}
        self.write(name, "".join(f"{k}={v}\n" for k, v in values.items() if v is not None))

    def label(self, picture):
        return picture.replace("images", "labels").replace(".png", ".txt")

    def boxes(self):
        """Labels of `detector`: class, centre and size of a box."""
        for picture, (kind, x, y, w, h) in zip(self.pictures, self.rectangles):
            self.write(self.label(picture), f"{kind} {(x + w / 2) / 32} {(y + h / 2) / 32} "
                                            f"{w / 32} {h / 32}\n")

    def masks(self):
        """Labels of `segmenter` and `isegmenter`: class and run lengths."""
        for picture, (kind, x, y, w, h) in zip(self.pictures, self.rectangles):
            runs, zeros = [], y * 32 + x
            for _ in range(h):
                runs += [zeros, w]
                zeros = 32 - w
            self.write(picture.replace("images", "mask").replace(".png", ".txt"),
                       f"{kind} {','.join(map(str, runs))}\n")

    def numbers(self):
        """Labels of `regressor` with classes=2."""
        for picture, (_, x, y, _, _) in zip(self.pictures, self.rectangles):
            self.write(self.label(picture), f"{x / 32} {y / 32}\n")

    def tags(self):
        """Labels of `classifier` with tag=1."""
        for picture, (kind, _, _, _, _) in zip(self.pictures, self.rectangles):
            self.write(self.label(picture), f"{kind}\n")

    rectangles = ()

    def _add(self, i, draw):
        kind = i % 2
        x, y, w, h = draw.randrange(2, 12), draw.randrange(2, 12), draw.randrange(8, 18), 10
        ink = (200, draw.randrange(80), 30) if kind else (30, draw.randrange(80), 200)
        name = f"images/{KINDS[kind]}{i}.png"
        png(os.path.join(self.folder, name), 32, 32,
            lambda px, py: ink if x <= px < x + w and y <= py < y + h else (120, 130, 120))
        self.pictures.append(name)
        self.rectangles = (*self.rectangles, (kind, x, y, w, h))


# ---- networks ----


def section(kind, **values):
    return f"[{kind}]\n" + "".join(f"{k}={v}\n" for k, v in values.items()) + "\n"


def net(**values):
    return section("net", **{"batch": 4, "subdivisions": 2, "width": 32, "height": 32,
                             "channels": 3, "momentum": 0.9, "decay": 0.0005,
                             "learning_rate": 0.001, "max_batches": 3, **values})


def convolutional(filters, **values):
    return section("convolutional", **{"filters": filters, "size": 3, "stride": 1, "pad": 1,
                                       "activation": "leaky", **values})


BODY = (convolutional(4, stride=2, batch_normalize=1) + section("maxpool", size=2, stride=2)
        + convolutional(4, batch_normalize=1))


def detector_cfg(**values):
    return (net(**values) + BODY + convolutional(7, size=1, activation="linear")
            + section("yolo", mask=0, anchors="12,12", classes=2, num=1, jitter=.1,
                      ignore_thresh=.7, truth_thresh=1, random=0))


def yolov1_cfg(side=3, body=BODY, **values):
    return (net(**values) + body
            + section("connected", output=side * side * 12, activation="linear")
            + section("detection", classes=2, coords=4, rescore=1, side=side, num=2, sqrt=1,
                      jitter=.2))


def classifier_cfg(outputs=2, body=BODY, **values):
    return (net(**values) + body + convolutional(outputs, size=1, activation="linear")
            + section("avgpool") + section("softmax"))


def regressor_cfg(outputs=2, **values):
    return (net(**values) + BODY + section("connected", output=outputs, activation="linear")
            + section("cost", type="sse"))


def segmenter_cfg(**values):
    return (net(**values) + BODY + convolutional(80, size=1, activation="linear")
            + section("logistic"))


def isegmenter_cfg(**values):
    return (net(**values) + BODY + convolutional(82, size=1, activation="linear")
            + section("iseg", classes=80, ids=2))


def go_cfg(**values):
    return (net(width=19, height=19, **values) + convolutional(4)
            + section("connected", output=19 * 19 + 2, activation="logistic")
            + section("cost", type="sse"))


def rnn_cfg(**values):
    return (section("net", **{"inputs": 256, "batch": 4, "subdivisions": 1, "time_steps": 3,
                              "momentum": 0.9, "decay": 0.001, "learning_rate": 0.01,
                              "max_batches": 3, **values})
            + section("rnn", output=8, hidden=8, activation="leaky")
            + section("connected", output=256, activation="leaky") + section("softmax"))


# ---- cases ----


class TooLate(Exception):
    """A run had come to its end before the test could disturb it."""


def again_if_too_late(test):
    """Of a test that disturbs a run on its way: where that comes too late, it is tried again with longer runs. The test multiplies its
    steps by self.longer; it finds the backup folder empty."""
    @functools.wraps(test)
    def tried(self):
        for self.longer in (1, 4, 16):
            try:
                return test(self)
            except TooLate:
                shutil.rmtree(self.path("backup"))
                os.mkdir(self.path("backup"))
        return self.fail("runs of three lengths had ended before they could be disturbed")
    return tried


class Case(unittest.TestCase):
    """A test with a folder of its own, in which Darknet runs."""

    longer = 1

    def setUp(self):
        own = tempfile.mkdtemp(prefix="darknet-run.")
        self.addCleanup(shutil.rmtree, own, ignore_errors=True)
        self.folder = os.path.join(own, "run")
        for name in (self.folder, os.path.join(own, SESSIONS)):
            os.mkdir(name)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        write(self.path(name), text)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def weights(self, name="tiny_final.weights"):
        """What a file in backup/ holds."""
        return self.read("backup/" + name)

    def step_of(self, name):
        """Of the state file beside these weights."""
        return int(re.search(rb"\nstep ([0-9]+)\n", self.weights(name + ".state")).group(1))

    def empty(self):
        """Remove all files of backup/."""
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))

    def keep_newest_numbered(self):
        """Leave the newest numbered weights alone in backup/, which have a whole state, and return their number."""
        found = (re.fullmatch(r"tiny_(\d+)\.weights\.state", name) for name in os.listdir(self.path("backup")))
        number = max(int(match[1]) for match in found if match)
        for name in os.listdir(self.path("backup")):
            if not name.startswith(f"tiny_{number}."):
                os.remove(self.path("backup/" + name))
        return number

    def saved(self):
        """The checkpoints in backup/, sorted: not what else a run leaves there."""
        return sorted(n for n in os.listdir(self.path("backup")) if n.endswith((".weights", ".backup", ".state")) or "part" in n)

    def said(self):
        """By a job whose output goes to the file `said`."""
        try:
            with open(self.path("said"), encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def until(self, happened, why=str, job=None):
        """Waits until happened() is true, and returns what it is. Fails after LIMIT_S, and when the job has ended before; why() says
        more then."""
        limit = time.monotonic() + LIMIT_S
        while True:
            ended_before = job and job.poll() is not None
            found = happened()
            if found:
                return found
            if ended_before or time.monotonic() > limit:
                return self.fail(f"{'the job has ended' if ended_before else f'not in {LIMIT_S} s'}: {why()}")
            time.sleep(.02)

    def wait_for(self, name, job):
        """Until that file is in backup/."""
        self.until(lambda: os.path.exists(self.path("backup/" + name)), lambda: f"no {name}: {self.said()}", job)

    def darknet(self, *args, ranks=0, limit_s=LIMIT_S, environment=None):
        return run(command(*args, ranks=ranks), self.folder, limit_s, environment)

    def succeeds(self, *args, ranks=0, environment=None):
        result = self.darknet(*args, ranks=ranks, environment=environment)
        self.assertEqual(result.code, 0, result)
        return result

    def same_weights(self, found, expected, what="", cfg="tiny.cfg"):
        """Of two weights files of the network that is in the folder; the first array that differs is named, then `what`."""
        with open(self.path(cfg), encoding="ascii", errors="replace") as f:
            differs = weights.difference(found, expected, f.read())
        if differs:
            self.fail(f"{differs}\n{what}")

    def refused(self, *args, says, ranks=0, code=None, environment=None):
        """Ends by itself, not with 0 (or with code), and says so on standard error."""
        return self.check_refused(self.darknet(*args, ranks=ranks, environment=environment), says, code)

    def check_refused(self, result, says, code=None):
        self.assertNotEqual(result.code, "hang", result)
        self.assertNotEqual(result.code, 0, result)
        if isinstance(result.code, int) and result.code < 0:
            self.fail(f"ended by signal {-result.code}: {result}")
        if code is not None:
            self.assertEqual(result.code, code, result)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.err, result)
        self.assertNotIn("signal 11", result.err, result)
        self.assertNotIn("signal 6", result.err, result)
        return result


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def run_test(test):
    result = unittest.TestResult()
    began = time.monotonic()
    test.run(result)
    bad = [text for _, text in result.failures + result.errors]
    skipped = "".join(f"skipped: {reason}" for _, reason in result.skipped)
    word = f"FAILED {len(bad)}" if bad else skipped or "ok"
    print(f"{time.monotonic() - began:5.1f} s  {test.id()} {word}", *bad, sep="\n" if bad else "",
          flush=True)
    return not bad


def reference(name):
    """The path of a file or folder in the reference data beside the project; without it the script ends, as skipped."""
    path = os.path.join(os.environ.get("DDP_REFERENCE_DIR", ""), name)
    if not os.environ.get("DDP_REFERENCE_DIR") or not os.path.exists(path):
        print(f"no reference data: {path} is not there (DDP_REFERENCE_DIR)")
        sys.exit(77)
    return path


def sees_no_gpu():
    result = run([PROGRAM, "ddp", "bench", "x", *gpu_options(1)], ".")
    return "has none that CUDA can use" in result.err


def main():
    """Run the tests of the script, several at a time, for they mostly wait: mpirun takes a
    second to end a job that failed. Names of tests or classes as arguments run these alone.
    With DARKNET_GPU on a machine without a GPU: exit status 77."""
    end_on_sigterm()
    if GPU and sees_no_gpu():
        print("no GPU")
        sys.exit(77)
    names = [f"__main__.{name}" for name in sys.argv[1:]] or ["__main__"]
    tests = list(tests_of(unittest.defaultTestLoader.loadTestsFromNames(names)))
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        good = list(pool.map(run_test, tests))
    print(f"{sum(good)} of {len(good)} tests passed")
    sys.exit(0 if good and all(good) else 1)
