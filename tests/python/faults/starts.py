"""Of a start: the run is stopped, and what it needs to go on does not answer."""
import os
import time

from trial import TRAIN, Trial


class StartHangs(Trial):
    words = ("-ddp_ranks", "2")

    def spoil(self):
        """Before the start."""

    def inject(self):
        self.stop()
        self.spoil()
        self.began = time.monotonic()
        self.begin(*TRAIN, "-resume", *self.words)


class ListHangs(StartHangs):
    """As on a server that is gone: a FIFO that nobody writes."""

    name = "train.list"
    says = r"and the run ends; the others wait for rank \d on \S+: starting, at the file train\.list"

    def spoil(self):
        os.rename(self.path(self.name), self.path("away"))
        os.mkfifo(self.path(self.name))

    def mend(self):
        os.replace(self.path("away"), self.path(self.name))


class LabelHangs(ListHangs):
    name = "labels/cat0.txt"
    says = r"and the run ends.*at the file labels/cat0\.txt"


class HostHangs(StartHangs):
    """What reaches the other host does not come back."""

    words = ("-ddp_hosts", "localhost:1,far.example:1")
    says = r"no rank runs after \d s, and the job ends; agent has not come back from far\.example"
    answer = "sleep 600"

    def spoil(self):
        self.data.write("agent", f"#!/bin/sh\n{self.answer}\n")
        os.chmod(self.path("agent"), 0o755)
        self.environment = {"OMPI_MCA_plm_rsh_agent": self.path("agent")}

    def mend(self):
        self.environment = {}


class HostRefuses(HostHangs):
    says = r"no rank can be started on host far\.example: Connection refused"
    answer = "echo Connection refused >&2; exit 255"
