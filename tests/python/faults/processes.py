"""Faults of processes, and of the machine that they run on."""
import os
import signal
import subprocess
import time

import darknet
from trial import TRAIN, Failed, Trial, Unavailable


class Killed(Trial):
    number = signal.SIGKILL
    named = (r"rank 0 on \S+ was ended by signal 9 \(Killed\)", r"rank 1 on \S+ was ended by signal 9 \(Killed\)")  # by rank

    def inject(self):
        rank = self.draw.randrange(2)
        self.says = self.named[rank]
        os.kill(self.ranks()[rank], self.number)


class Crashed(Killed):
    number = signal.SIGSEGV
    named = (r"rank 0 on \S+ was ended by signal 11", r"rank 1 on \S+ was ended by signal 11")


class Stopped(Killed):
    number = signal.SIGSTOP
    named = (r"rank 0 on \S+ has not been heard for", r"wait for rank 1 on \S+, which is not heard any more")


class Preloaded(Trial):
    """The fault is in the program from the start, and waits for a file."""

    def inject(self):
        self.data.write("now", "")

    def mend(self):
        self.environment = {}


class LeavesEarly(Preloaded):
    says = r"rank 1 on \S+ has ended"
    batches = 10000  # the others go on for a moment

    def prepare(self):
        self.preload("exit", FAULT_RANK="1")


class OutOfMemory(Preloaded):
    """In a control group with less memory than a rank of it takes in the end: the kernel ends that rank."""

    named = r"rank %d on \S+ was ended by signal 9 \(Killed\); it had had 0\.[1-9]\d GB of memory, and the kernel has ended a process here for"
    batches = 10000  # it takes a second to come to the limit
    limit = 400 << 20
    group = None

    def prepare(self):
        rank = self.draw.randrange(2)
        self.says = self.named % rank
        self.preload("leak", FAULT_RANK=str(rank))
        for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            group = os.path.join(root, os.path.basename(self.folder))
            try:
                os.mkdir(group)
            except OSError:
                continue
            self.group = group
            if os.path.exists(os.path.join(group, limit)):
                with open(os.path.join(group, limit), "w", encoding="ascii") as f:
                    f.write(str(self.limit))
                self.before = ("sh", "-c", 'echo 0 > "$0" && exec "$@"', os.path.join(group, "cgroup.procs"))
                return
            os.rmdir(group)
            self.group = None
        raise Unavailable("no control group of memory can be made")

    def clean(self):
        super().clean()
        for _ in range(100):
            try:
                if self.group:
                    os.rmdir(self.group)
                return
            except OSError:  # what was killed there is not quite gone
                time.sleep(.1)


class MpirunKilled(Trial):
    says = r"mpirun was ended by signal 9"

    def inject(self):
        os.kill(self.below(self.job.pid)[0], signal.SIGKILL)


class Clock(Preloaded):
    """Set back an hour, for this job alone."""

    goes_on = True

    def prepare(self):
        self.preload("clock")

    def set_by(self, seconds):
        self.data.write("later", str(seconds))
        os.replace(self.path("later"), self.path("now"))

    def inject(self):
        self.set_by(-3600)


class ClockBackAndForth(Clock):
    """Days, several times, while it trains and saves."""

    batches = 10000

    def inject(self):
        for days in (1, -2, 300, 0):
            self.set_by(days * 86400)
            time.sleep(.5)


class OutputClosed(Trial):
    goes_on = True

    def start(self):
        self.job = darknet.start([*TRAIN, *self.starts], self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wait_for_step(self):
        for line in self.job.stdout:
            if line.startswith(f"{self.step}: "):
                return
        raise Failed(f"ended before step {self.step}")

    def said(self):
        return ""

    def inject(self):
        self.job.stdout.close()
