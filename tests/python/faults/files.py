"""Faults of data files, and of the disk that checkpoints are written to."""
import os
import re
import shutil
import subprocess
import time

import darknet
from trial import Trial, Unavailable


class Fifo(Trial):
    named = (r"nothing has moved for \d+ s, and the run ends; the others wait for rank ([01]) on \S+: step \d+[^\n]*loader"
             r".*rank \1 @ \S+\]: a loader has been at %s, or its labels, for \d+ s")
    bad = None

    def inject(self):
        self.bad = self.picture()
        self.says = self.named % re.escape(os.path.relpath(self.bad, self.folder))
        os.link(self.bad, self.path("away"))
        os.mkfifo(self.path("fifo"))
        os.replace(self.path("fifo"), self.bad)

    def mend(self):
        os.replace(self.path("away"), self.bad)


class PictureGone(Trial):
    says = r"images/\w+\.png"
    bad = None

    def inject(self):
        self.bad = self.picture()
        os.rename(self.bad, self.path("away"))

    def mend(self):
        os.replace(self.path("away"), self.bad)


class PictureCut(PictureGone):
    def inject(self):
        self.bad = self.picture()
        shutil.copy(self.bad, self.path("away"))
        shutil.copy(self.bad, self.path("cut"))
        os.truncate(self.path("cut"), 40)
        os.replace(self.path("cut"), self.bad)


class LabelBad(PictureGone):
    says = r"labels/\w+\.txt"

    def inject(self):
        self.bad = self.picture().replace("images", "labels").replace(".png", ".txt")
        shutil.copy(self.bad, self.path("away"))
        with open(self.path("bad"), "w", encoding="ascii") as f:
            f.write(self.draw.choice(["0 nan 0.5 0.1 0.1\n", "0 0.5 0.5 -0.2 0.1\n", "7 0.5 0.5 0.2 0.1\n", "cat\n"]))
        os.replace(self.path("bad"), self.bad)


def fill(path):
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(512))
        except OSError:
            pass


class Disk(Trial):
    """The backup folder is a file system of its own."""

    mounts = 1  # one above the other, at most

    def prepare(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", self.path("backup")], check=False)
        if done.returncode:
            raise Unavailable("no tmpfs can be mounted")

    def clean(self):
        if self.job:
            darknet.end_group(self.job)
        for _ in range(self.mounts):
            subprocess.run(["umount", "-l", self.path("backup")], check=False, stderr=subprocess.DEVNULL)
        super().clean()


class DiskFull(Disk):
    says = r"backup/tiny\S*: No space left on device"

    def inject(self):
        fill(self.path("backup/filler"))

    def mend(self):
        os.remove(self.path("backup/filler"))


class DiskFullForAWhile(Disk):
    """Until the CSV file was to grow, and could not."""

    starts = ("-ddp_ranks", "2", "-ddp_on_save_error", "continue")
    goes_on = True
    batches = 10000
    says = r"cannot write backup/tiny\.csv: No space left on device.*the run is not ended for it"

    def inject(self):
        fill(self.path("backup/filler"))
        while not re.search(self.says, self.said(), re.DOTALL) and self.job.poll() is None:
            time.sleep(.05)
        os.remove(self.path("backup/filler"))


class DiskReadOnly(Disk):
    """For new files: what is open for writing stays so."""

    mounts = 2
    says = r"backup/tiny\S*.*: Read-only file system"

    def inject(self):
        subprocess.run(["mount", "--bind", self.path("backup"), self.path("backup")], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", self.path("backup")], check=True)

    def mend(self):
        subprocess.run(["umount", self.path("backup")], check=True)


class FolderGone(Trial):
    goes_on = True
    says = r"backup is not there any more, removed or moved, and is made again"

    def inject(self):
        os.rename(self.path("backup"), self.path("moved"))
