"""Faults of a disk under the backup folder that is slow, or does not answer any more (FUSE)."""
import os
import shutil
import time

import darknet
from mounts import NoFuse, SlowDisk
from trial import TIMEOUT_S, Trial, Unavailable
from faults.starts import StartHangs

FOR_EVER = 100000


class OnSlowDisk(Trial):
    disk = None

    def prepare(self):
        os.mkdir(self.path("disk"))
        try:
            self.disk = SlowDisk(self.path("disk"), self.path("backup"))
        except NoFuse:
            raise Unavailable("no FUSE, or no python3-fusepy") from None

    def mend(self):
        self.disk.delay()

    def clean(self):
        if self.job:
            darknet.end_group(self.job)
        if self.disk:
            self.disk.unmount()
        super().clean()


class DiskSlow(OnSlowDisk):
    """Saves take seconds, for a while."""

    goes_on = True
    starts = ("-ddp_ranks", "2", "-ddp_io_timeout", "120")

    def inject(self):
        self.disk.delay("fsync 1 *", "rename .5 *", "write .2 *.part-*")
        time.sleep(5 * TIMEOUT_S)
        self.disk.delay()


class DiskGone(OnSlowDisk):
    says = r"nothing has moved for \d+ s, and the run ends; the others wait for rank 0 on \S+: step \d+[^\n]*, at the file \S*backup/tiny"

    def inject(self):
        self.disk.delay(f"* {FOR_EVER} *")


class LockHangs(OnSlowDisk, StartHangs):
    says = r"and the run ends; the others wait for rank 0 on \S+: starting, at the file backup/tiny\.lock"

    def spoil(self):
        self.disk.delay(f"* {FOR_EVER} tiny.lock")


class ListHangs(OnSlowDisk, StartHangs):
    """A FIFO would be refused at once."""

    says = r"and the run ends; this one waits for the file train\.list"

    def prepare(self):
        super().prepare()
        shutil.move(self.path("train.list"), self.path("backup/train.list"))
        os.symlink("backup/train.list", self.path("train.list"))

    def spoil(self):
        self.disk.delay(f"* {FOR_EVER} train.list")
