"""Faults that other processes on the machine cause: they connect to the ranks' ports, or take their core."""
import os
import shlex
import subprocess
import time

import darknet
import strangers
from trial import HERE, START_S, TRAIN, Failed, Trial

LATE = os.path.join(HERE, "..", "preload", "late.c")


class Besieged(Trial):
    """Strangers come to each port that ranks of Gloo listen on, from the start to the end. The last rank connects when they are there."""

    goes_on = True
    siege = None

    def start(self):
        library, until = self.path("late.so"), self.path("until")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, LATE], check=True)
        rank = shlex.join([*TRAIN, "-ddp_rendezvous", self.path("meet")])
        self.environment = {"DARKNET_DDP_RANKS": "2"}
        self.begin("sh", "-c", f"DARKNET_DDP_RANK=1 LATE_UNTIL={until} LD_PRELOAD={library} {rank} & "
                               f"DARKNET_DDP_RANK=0 {rank} && wait $!")
        self.siege = strangers.Strangers(lambda: self.below(self.job.pid))
        self.siege.start()
        until_s = time.monotonic() + START_S
        while self.siege.met_by(3 * strangers.EACH) < 1:
            if time.monotonic() > until_s or self.job.poll() is not None:
                raise Failed(f"no port has let so many connect: {self.siege.met}: " + self.said()[-3000:])
            time.sleep(.01)
        self.data.write("until", "")

    def inject(self):
        if ports := strangers.ports_of(self.below(self.job.pid)):
            raise Failed(f"ranks that train listen on {ports}")

    def clean(self):
        if self.siege:
            self.siege.end()
        super().clean()


class Straggler(Trial):
    """Rank 1 is left a fiftieth of the time, until it is named."""

    goes_on = True
    says = r"rank 1 on \S+ holds the others up: they wait for it \d+% of their time"

    def inject(self):
        rank, until_s = self.ranks()[1], time.monotonic() + START_S
        while "holds the others up" not in self.said():
            if time.monotonic() > until_s or self.job.poll() is not None:
                raise Failed("is not named: " + self.said()[-3000:])
            darknet.slow(rank)
