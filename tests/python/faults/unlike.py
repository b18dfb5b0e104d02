"""Faults of ranks that are not alike: a run is stopped, and resumed with a rank 1 that has other files, options or another program."""
import glob
import os
import re
import shutil
import time

import darknet
from trial import TRAIN, Trial


class Differs(Trial):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has '.*', not '"
    words = ("-resume",)
    only = ()                  # what rank 1 alone is told
    program = darknet.PROGRAM  # rank 1's

    def change(self, path):
        """What path names is rank 1's."""

    def inject(self):
        self.stop()
        other = self.path("other")
        shutil.copytree(self.folder, other, ignore=shutil.ignore_patterns("said"))
        self.change(lambda name: os.path.join(other, name))
        self.began = time.monotonic()
        self.begin("mpirun", "-np", "1", *TRAIN, *self.words, ":", "-np", "1", "--wdir", other, self.program, *TRAIN[1:], *self.words,
                   *self.only)


class OtherCfg(Differs):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has 'learning_rate 0\.5.*', not '"

    def change(self, path):
        with open(path("tiny.cfg"), encoding="ascii") as f:
            text = f.read()
        with open(path("tiny.cfg"), "w", encoding="ascii") as f:
            f.write(text.replace("learning_rate=0.001", "learning_rate=0.5"))


class OtherList(Differs):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has '8 images listed, hash \w+', not '"

    def change(self, path):
        pictures = self.data.pictures[:]
        self.draw.shuffle(pictures)
        darknet.write(path("train.list"), "".join(p + "\n" for p in [pictures[-1], *pictures[1:]]))


class OtherLabel(Differs):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has 'labels/\w+\.txt: contents "

    def change(self, path):
        darknet.write(path(self.data.label(self.draw.choice(self.data.pictures))), "1 .5 .5 .25 .25\n")


class OtherWeights(Differs):
    """A run that begins with a weights file, of which rank 1 has another."""

    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has 'first weights: contents "
    words = ("first.weights", "-clear")

    def change(self, path):
        weights = sorted(glob.glob(self.path("backup/*.weights")), key=os.path.getmtime)[0]
        for name in (self.path("first.weights"), path("first.weights")):
            shutil.copy(weights, name)
        with open(path("first.weights"), "r+b") as f:
            f.seek(-4 * self.draw.randint(1, 50), os.SEEK_END)
            f.write(b"\0\0\0\0")


class OtherOption(Differs):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has '.*ddp_verify_every.* 21\b.*', not '"
    only = ("-ddp_verify_every", "21")


class OtherBuild(Differs):
    """The same program, but for a digit of the checksum of the source that it was built from."""

    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has '(darknet-ddp \S+ source|Darknet's source with its patches)"

    def change(self, path):
        with open(darknet.PROGRAM, "rb") as f:
            program = f.read()
        sums = [m.start(1) for m in re.finditer(rb"\0([0-9a-f]{16})\0", program) if m[1] != b"0123456789abcdef"]
        at = self.draw.choice(sums)
        self.program = path("darknet")
        with open(self.program, "wb") as f:
            f.write(program[:at] + (b"1" if program[at:at + 1] == b"0" else b"0") + program[at + 1:])
        os.chmod(self.program, 0o755)


class OtherProcessor(Differs):
    """As far as oneDNN is told: its sums have other last bits there."""

    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has 'computes on CPU; .* oneDNN's choice \d+', not '"

    def change(self, path):
        self.program = path("older")
        darknet.write(self.program, f'#!/bin/sh\nDNNL_MAX_CPU_ISA=SSE41 exec {darknet.PROGRAM} "$@"\n')
        os.chmod(self.program, 0o755)
