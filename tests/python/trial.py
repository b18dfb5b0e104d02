"""A small run in a folder of its own, in which scripts/faults.py provokes a fault, and the checks of what becomes of it."""
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

import darknet

HERE = os.path.dirname(os.path.abspath(__file__))
PRELOAD = os.path.join(HERE, "..", "preload", "fault.c")
TIMEOUT_S = int(os.environ.get("DDP_FAULTS_TIMEOUT_S", "3"))
TRAIN = (darknet.PROGRAM, "detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_exact", "-ddp_seed", "7", "-threads", "1",
         "-ddp_timeout", str(TIMEOUT_S), "-ddp_io_timeout", str(TIMEOUT_S + 2), "-ddp_verify_every", "20")
BATCHES = int(os.environ.get("DDP_FAULTS_STEPS", "3000"))
FIRST, LAST = 110, BATCHES // 2  # steps between which a fault comes; the first checkpoint is of step 100
START_S = 120            # for a job to begin to train, on a busy machine
STEPS_S = 300            # for it to come to the step of the fault


class Failed(Exception):
    """The run did something else than it should."""


class TooLate(Exception):
    """The run had ended before the fault came, or nearly: it is tried again."""


class Unavailable(Exception):
    """The fault cannot be provoked here."""


class Trial:
    """One run in a folder of its own."""

    before = ()           # what starts the program
    starts = ("-ddp_ranks", "2")
    rank_count = 2
    goes_on = False       # the fault does not end the run
    batches = BATCHES
    still = False         # at rate 0, so that the weights can be found in memory
    says = ""             # a pattern of what the run has to say; with goes_on, of what it may do without
    recovers = None       # a pattern of what it says when it goes on by itself, and is timed

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.step = self.draw.randint(FIRST, LAST)
        self.folder = tempfile.mkdtemp(prefix="darknet-fault.")
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        values = {"learning_rate": 0, "momentum": 0, "decay": 0} if self.still else {}
        self.data.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=self.batches, **values))
        self.environment = {}
        self.job = None
        self.began = None     # where the fault is a job that is started: when

    def path(self, name):
        return os.path.join(self.folder, name)

    def prepare(self):
        """Before the start."""

    def inject(self):
        """The fault."""

    def mend(self):
        """So that the run can go on."""

    def clean(self):
        if self.job:
            darknet.end_group(self.job)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- what trials ask of a run ----

    def said(self):
        with open(self.path("said"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def begin(self, *words):
        with open(self.path("said"), "a", encoding="utf-8") as said:
            self.job = darknet.start(words, self.folder, self.environment, stdout=said, stderr=subprocess.STDOUT)

    def start(self):
        self.begin(*self.before, *TRAIN, *self.starts)

    def stop(self):
        """The run saves and ends."""
        self.job.send_signal(signal.SIGTERM)
        if self.job.wait(START_S) != 0:
            raise Failed("SIGTERM: " + self.said()[-3000:])

    def reached(self):
        steps = re.findall(r"(?m)^(\d+): ", self.said())
        return int(steps[-1]) if steps else 0

    def wait_for_step(self):
        """Returns when the run is at the step of the fault, or a little behind it."""
        began = time.monotonic()
        while self.reached() < self.step:
            seconds = time.monotonic() - began
            if self.job.poll() is not None:
                raise Failed(f"ended before step {self.step}: " + self.said()[-3000:])
            if seconds > STEPS_S or (seconds > START_S and self.reached() == 0):
                raise Failed(f"at step {self.reached()} after {seconds:.0f} s: " + self.said()[-3000:])
            time.sleep(.02)
        if self.reached() > self.batches * 2 // 3:
            raise TooLate

    def below(self, parent):
        try:
            with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as f:
                return [int(pid) for pid in f.read().split()]
        except FileNotFoundError:
            return []

    def ranks(self):
        """Process ids, by rank, wherever they are below the job."""
        found, look = [], [self.job.pid]
        while look and not found:
            found = darknet.ranks_under(look[0])
            look = look[1:] + self.below(look[0])
        if len(found) != self.rank_count:
            raise TooLate
        return found

    def picture(self):
        return self.path(self.draw.choice(self.data.pictures))

    def preload(self, fault, **variables):
        """From the start; it happens when the file `now` is written."""
        library = self.path("fault.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, PRELOAD], check=True)
        self.environment = {"LD_PRELOAD": library, "FAULT": fault, "FAULT_WHEN": self.path("now"), **variables}

    def digest(self):
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
