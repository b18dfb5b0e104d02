#!/usr/bin/env python3
# ddp-test: ci
"""The backup folder on a disk that is slow, or does not answer any more (a file system in user space; skipped without FUSE and
Debian's python3-fusepy): steps wait for no save but the one before theirs, what is waited for is named with its seconds, what is saved
is what a fast disk gets; and a run whose disk is gone ends, at the start and later."""
import hashlib
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402
import mounts  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-ddp_exact", "-threads", "1")
TIMES = ("-ddp_timeout", "3", "-ddp_io_timeout", "5")
GONE_S = 100000


class Disk(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        os.mkdir(self.path("disk"))
        disk = mounts.SlowDisk(self.path("disk"), self.path("backup"))
        self.addCleanup(disk.unmount)
        self.delay = disk.delay

    def cfg(self, batches):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=batches))

    def begin(self, *words, ranks=0):
        starts = ("-ddp_ranks", str(ranks)) if ranks else ()
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start([darknet.PROGRAM, *TRAIN, *starts, *words], self.folder, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def reached(self):
        return max(map(int, re.findall(r"(?m)^(\d+): ", self.said())), default=0)

    def digests(self):
        found = {}
        for name in os.listdir(self.path("disk")):
            if name.endswith((".weights", ".backup")):
                with open(self.path("disk/" + name), "rb") as f:
                    found[name] = hashlib.sha256(f.read()).hexdigest()
        return found

    def test_a_save_that_takes_long(self):
        """Of step 100. Training goes on to step 200, whose save waits for it; that is said."""
        self.cfg(250)
        self.succeeds(*TRAIN)
        expected = self.digests()
        for name in os.listdir(self.path("disk")):
            os.remove(self.path("disk/" + name))
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                self.delay(*(f"{call} {GONE_S} tiny*.{kind}*" for call in ("fsync", "flush", "rename") for kind in ("weights", "backup")))
                job = self.begin("-ddp_timeout", "3", "-ddp_io_timeout", "1000", ranks=ranks)
                named = r"nothing has moved for \d+ s.*: step 200, mini-batch \d, saving, at the file \S*backup/tiny\S*\n"
                self.until(lambda: re.search(named, self.said()), self.said, job)
                self.assertEqual(self.reached(), 200)
                self.delay()
                self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
                self.assertEqual(self.digests(), expected)
                for name in os.listdir(self.path("disk")):
                    os.remove(self.path("disk/" + name))

    def test_each_write_takes_long(self):
        """A save takes longer than the -ddp_timeout, and the -ddp_io_timeout counts; NAME.log and NAME.csv hold no step up."""
        self.cfg(250)
        self.delay("fsync 2 *", "rename 1 *", "write .5 *.part-*")
        job = self.begin("-ddp_timeout", "2", "-ddp_io_timeout", "60")
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertNotIn("the run ends", self.said())
        self.assertIn("tiny_final.weights", self.digests())

    def ends(self, job, words):
        began = time.monotonic()
        self.assertEqual(job.wait(darknet.LIMIT_S), 1, self.said())
        self.assertRegex(self.said(), rf"nothing has moved for [5-9] s, and the run ends.*: {words}\S*backup(/tiny[\w.]*)?\n")
        return time.monotonic() - began

    def test_a_lock_that_hangs_at_the_start(self):
        """As on a file server that has died."""
        self.cfg(10)
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                self.delay(f"* {GONE_S} tiny.lock")
                self.assertLess(self.ends(self.begin(*TIMES, ranks=ranks), "starting, at the file "), 60)
                self.delay()

    def test_a_disk_that_is_gone(self):
        """Neither the log, nor the events, nor the lock can be written any more. The last checkpoint is there when it comes back."""
        self.cfg(10000000)
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                job = self.begin(*TIMES, ranks=ranks)
                self.until(lambda: os.path.exists(self.path("disk/tiny_100.weights.state")), self.said, job)
                self.delay(f"* {GONE_S} *")
                self.assertLess(self.ends(job, r"step \d+, mini-batch \d+, .*at the file "), 60)
                self.delay()
                self.cfg(max(map(int, re.findall(r"tiny_(\d+)\.weights\.state", " ".join(os.listdir(self.path("disk"))))), default=0) + 5)
                self.assertIn("resuming from", self.succeeds(*TRAIN, "-resume_force").out)
                self.cfg(10000000)
                for name in os.listdir(self.path("disk")):
                    os.remove(self.path("disk/" + name))


def main():
    if subprocess.run([mounts.SLOW_DISK], check=False, stderr=subprocess.PIPE).returncode == 77:
        sys.exit(77)
    darknet.main()


if __name__ == "__main__":
    main()
