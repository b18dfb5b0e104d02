"""Faults at a start: a run is stopped, and a file or host that it needs to go on does not answer."""
import os
import time

import darknet
from trial import TRAIN, Trial


HERE = os.path.dirname(os.path.abspath(__file__))


class StartHangs(Trial):
    words = ("-ddp_ranks", "2")

    def spoil(self):
        """Before the start."""

    def inject(self):
        self.stop()
        self.spoil()
        self.began = time.monotonic()
        self.begin(*TRAIN, "-resume", *self.words)


class LabelHangs(StartHangs):
    """As on a server that is gone: a FIFO that nobody writes."""

    name = "labels/cat0.txt"
    says = r"and the run ends.*at the file labels/cat0\.txt"

    def spoil(self):
        os.rename(self.path(self.name), self.path("away"))
        os.mkfifo(self.path(self.name))

    def mend(self):
        os.replace(self.path("away"), self.path(self.name))


class Refused(StartHangs):
    """What is read at the start is damaged."""

    name = None
    bytes_ = b""

    def spoil(self):
        os.rename(self.path(self.name), self.path("away"))
        with open(self.path(self.name), "wb") as f:
            f.write(self.bytes_)

    def mend(self):
        os.replace(self.path("away"), self.path(self.name))


class LabelOfNulls(Refused):
    """As a disk leaves it after power loss."""

    name = "labels/cat0.txt"
    bytes_ = bytes(40)
    says = r"labels/cat0\.txt:1: has bytes of 0"


class ListOfNulls(Refused):
    name = "train.list"
    bytes_ = bytes(400)
    says = r"train\.list has bytes of 0"


class CfgOverflows(Refused):
    """More values than an int counts: memory for fewer was taken."""

    name = "tiny.cfg"
    says = r"tiny\.cfg:\d+: height=65536: the input is too large"

    def spoil(self):
        self.bytes_ = darknet.detector_cfg(width=65536, height=65536, batch=8, subdivisions=8, max_batches=self.batches).encode()
        super().spoil()


class PictureOverflows(Refused):
    """A JPEG whose Huffman table has more than 256 codes."""

    name = "images/cat0.png"
    says = r"images/cat0\.png\W+ Bogus Huffman table definition"

    def spoil(self):
        with open(os.path.join(HERE, "..", "..", "corpus", "jpeg", "444.jpg"), "rb") as f:
            jpeg = bytearray(f.read())
        table = jpeg.index(b"\xff\xc4") + 5  # behind marker, length and kind
        jpeg[table:table + 16] = bytes([255] * 16)
        self.bytes_ = bytes(jpeg)
        super().spoil()


class NameWithEscapes(Refused):
    """A list names a file whose name moves a terminal's cursor."""

    name = "train.list"
    bytes_ = b"images/\x1b[2Jx.png\n"
    says = r"images/\\x1b\[2Jx\.png"


class HostHangs(StartHangs):
    """What reaches the other host does not come back."""

    words = ("-ddp_hosts", "localhost:1,far.example:1")
    says = r"no rank runs after \d s, and the job ends; agent has not come back from far\.example"
    answer = "sleep 600"

    def spoil(self):
        self.data.write("agent", f"#!/bin/sh\n{self.answer}\n")
        os.chmod(self.path("agent"), 0o755)
        self.environment = {"OMPI_MCA_plm_rsh_agent": self.path("agent"), "PRTE_MCA_plm_ssh_agent": self.path("agent")}

    def mend(self):
        self.environment = {}


class HostRefuses(HostHangs):
    says = r"no rank can be started on host far\.example: Connection refused"
    answer = "echo Connection refused >&2; exit 255"
