#!/usr/bin/env python3
# ddp-test: usual
"""Checkpoints are written while training goes on: on a disk whose fsync takes long, or does not end before it may (a library that is
loaded first), steps wait for a copy alone, what is saved is what a fast disk gets, and what fails is said at a step soon after."""
import csv
import fcntl
import hashlib
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
FSYNC_S = 1
BATCH = 4

# fsync of a state file or weights takes its time, or waits until a file is gone, or fails as a full disk does.
SLOW = """
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
int fsync(int fd)
{
    if (getenv("FSYNC_FAILS") && access(getenv("FSYNC_FAILS"), F_OK) == 0) { errno = ENOSPC; return -1; }
    while (getenv("FSYNC_WAITS") && access(getenv("FSYNC_WAITS"), F_OK) == 0) usleep(1000);
    usleep((unsigned)(atof(getenv("FSYNC_S")) * 1e6));
    return (int)syscall(SYS_fsync, fd);
}
"""


class Saving(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=150))
        self.write("slow.c", SLOW)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("slow.so"), self.path("slow.c")], check=True)

    def slow(self, **more):
        return {"LD_PRELOAD": self.path("slow.so"), "FSYNC_S": str(FSYNC_S), **more}

    def digests(self):
        found = {}
        for name in os.listdir(self.path("backup")):
            if name.endswith((".weights", ".backup")):
                with open(self.path("backup/" + name), "rb") as f:
                    found[name] = hashlib.sha256(f.read()).hexdigest()
        return found

    def test_what_killed_runs_left_is_cleared(self):
        """Parts of files that this run never writes; not those that somebody still writes, nor of other names."""
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))
        dead, written, other = (self.path(f"backup/{name}.part-0123abcd") for name in ("tiny_9000.weights", "tiny_9100.weights", "tiny_two_100.weights"))
        for path in (dead, written, other):
            darknet.write(path, "part")
        with open(written, "r+b") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            self.succeeds(*TRAIN)
        self.assertEqual([os.path.exists(path) for path in (dead, written, other)], [False, True, True])

    def test_steps_do_not_wait_for_the_disk(self):
        self.succeeds(*TRAIN)
        expected = self.digests()
        self.assertIn("tiny.backup", expected)
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        self.write("disk is busy", "")
        job = darknet.start(darknet.command(*TRAIN), self.folder, self.slow(FSYNC_S="0", FSYNC_WAITS=self.path("disk is busy")),
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        self.assertTrue(any(line.startswith("149:") for line in job.stdout), "it ended before")
        self.assertFalse(os.path.exists(self.path("backup/tiny_100.weights.state")))
        os.remove(self.path("disk is busy"))
        job.stdout.read()
        job.stdout.close()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0)
        self.assertEqual(self.digests(), expected)
        self.assertEqual([n for n in os.listdir(self.path("backup")) if ".part" in n], [])

    def test_a_signal_waits_for_what_it_saves(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))
        job = darknet.start(darknet.command(*TRAIN), self.folder, self.slow(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if line.startswith("2:"):
                break
        began = time.monotonic()
        job.send_signal(signal.SIGTERM)
        out = job.stdout.read()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0)
        job.stdout.close()
        self.assertGreater(time.monotonic() - began, FSYNC_S)
        self.assertIn("goes on from backup/tiny.backup", out)
        self.assertIn("DDP: resuming from backup/tiny.backup", self.resumed())

    def resumed(self):
        job = darknet.start(darknet.command(*TRAIN, "-resume"), self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        out = ""
        for line in job.stdout:
            out += line
            if " avg, " in line:
                break
        job.send_signal(signal.SIGTERM)
        job.stdout.read()
        job.stdout.close()
        job.wait(darknet.LIMIT_S)
        return out

    def test_a_folder_that_was_removed_is_made_again(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=256, subdivisions=64, max_batches=10000000))  # long steps: no other save is under way
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*TRAIN), self.folder, stdout=said, stderr=said)
        self.addCleanup(darknet.end_group, job)
        self.until(lambda: " avg, " in self.said(), self.said, job)
        job.send_signal(signal.SIGUSR1)
        self.wait_for("tiny.backup.state", job)
        shutil.rmtree(self.path("backup"))
        job.send_signal(signal.SIGUSR1)
        self.wait_for("tiny.backup.state", job)
        self.check_refused(self.darknet(*TRAIN), "backup/tiny.lock: another run saves there", code=2)  # the name is owned as before
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertEqual(self.said().count("darknet: backup is not there any more, removed or moved, and is made again, without the weights"), 1,
                         self.said())
        # A fast machine comes to step 100, which has weights of its own.
        self.assertRegex(self.said(), r"DDP: in backup: tiny\.backup(, tiny_\d+\.weights( and .*)?)?, tiny\.csv, tiny\.html, tiny\.log\n")
        self.check_rows(list(range(1, max(int(step) for step in re.findall(r"(?m)^(\d+): ", self.said())) + 1)))
        with open(self.path("backup/tiny.log"), encoding="utf-8") as f:
            log = f.read()
        self.assertRegex(log, r"\A# .*\n# in ")
        self.assertRegex(log, r"(?m)^1: ")
        self.assertIn("DDP: resuming from backup/tiny.backup", self.resumed())

    def check_rows(self, steps):
        with open(self.path("backup/tiny.csv"), encoding="utf-8") as f:
            self.assertEqual([int(row["step"]) for row in csv.DictReader(f)], steps)

    def test_what_could_not_be_saved_is_no_measure(self):
        """With a rate of 0 no validation is better than the first ones, whose weights the full disk has not taken."""
        self.write("train.data", "classes=2\ntrain=train.list\nvalid=train.list\nbackup=backup\n")
        self.write("tiny.cfg", darknet.detector_cfg(batch=BATCH, max_batches=4000, learning_rate=0))
        self.write("full", "")
        job = darknet.start(darknet.command(*TRAIN, "-ddp_validate", "20", "-ddp_on_save_error", "continue"), self.folder,
                            self.slow(FSYNC_S="0", FSYNC_FAILS=self.path("full")), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        out = ""
        for line in job.stdout:
            out += line
            if line.startswith("Validation after step 60:"):
                os.remove(self.path("full"))
        job.stdout.close()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0)
        best = int(re.findall(r"Validation after step (\d+): .*the best so far\n", out)[-1])
        self.assertGreaterEqual(best, 60)
        self.assertLessEqual(best, 1000)
        self.assertRegex(out, r"DDP: backup/tiny_best.weights is not there: the next validation writes it, better than mAP@0.5:0.95 0.\d+ of step \d+ or not\n")
        self.assertRegex(out, rf"(?m)^DDP: best mAP@0.5:0.95 0.\d+, after step {best}$")
        with open(self.path("backup/tiny_best.weights"), "rb") as f:
            self.assertEqual(struct.unpack("<3iQ", f.read(20))[3], best * BATCH)  # images, as weights count

    def test_what_fails_is_said_soon(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))
        full = self.slow(FSYNC_S="0", FSYNC_FAILS=self.path("full"))
        self.write("full", "")
        for ranks in (0, 2):
            result = self.darknet(*TRAIN, ranks=ranks, environment=full)
            self.check_refused(result, "cannot write backup/tiny.backup: No space left on device", code=1)
            batches = [line for line in result.out.splitlines() if " avg, " in line]
            self.assertGreaterEqual(len(batches), 100)
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=150))
        result = self.darknet(*TRAIN, "-ddp_on_save_error", "continue", environment=full)
        self.assertEqual(result.code, 1, result)
        self.assertIn("; the run is not ended for it\n", result.err)
        self.assertTrue(result.err.endswith("darknet: the last save failed; no weights were saved before\n"), result)
        self.assertIn("150: ", result.out)


if __name__ == "__main__":
    darknet.main()
