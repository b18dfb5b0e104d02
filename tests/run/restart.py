#!/usr/bin/env python3
# ddp-test: usual
"""A job that fails starts again, and ends in the weights of a run that nothing disturbed: a killed rank on one host, a host whose
cable is pulled on two (network namespaces; skipped where these cannot be made). What is not mended by that is not tried again."""
import hashlib
import os
import re
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
os.environ["DDP_HOSTS_ID"] = str(os.getpid())
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402
from namespaces import NAMESPACES, ON_HOSTS  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-ddp_exact", "-threads", "1")


class Base(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.cfg()

    def cfg(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=1500 * self.longer))

    def digest(self):
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()

    def undisturbed(self):
        self.succeeds(*TRAIN)
        digest = self.digest()
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        return digest

    def begin(self, *words, before=(), environment=None):
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start([*before, darknet.PROGRAM, *TRAIN, *words], self.folder, environment,
                                stdout=subprocess.DEVNULL, stderr=said)
        self.addCleanup(darknet.end_group, job)
        return job

    def kill_rank_1(self, job):
        """Of the mpirun below the job."""
        os.kill(self.until(lambda: self.ranks_of(job), self.said, job)[1], signal.SIGKILL)

    def ranks_of(self, job):
        """None while they are not both there; raises TooLate when the job has ended well."""
        if job.poll() == 0:
            raise darknet.TooLate
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as f:
            ranks = [r for p in f.read().split() for r in darknet.ranks_under(int(p))]
        return ranks if len(ranks) == 2 else None

    def check_restarts(self, job, *lines):
        """It ends well, and has said so. Raises TooLate where it was not disturbed that often."""
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        if self.said().count(", from the last checkpoint\n") < len(lines):
            raise darknet.TooLate
        for line in lines:
            self.assertIn(line, self.said())


class Restart(Base):
    @darknet.again_if_too_late
    def test_a_killed_rank(self):
        """Twice, once before and once after numbered checkpoints."""
        self.cfg()
        expected = self.undisturbed()
        job = self.begin("-ddp_ranks", "2", "-ddp_max_restarts", "2")
        for name in ("tiny_100.weights.state", "tiny_600.weights.state"):
            self.wait_for(name, job)
            self.kill_rank_1(job)
        self.check_restarts(job, *(f"restart {number} of 2, 2 ranks, from the last checkpoint\n" for number in (1, 2)))
        self.assertEqual(self.digest(), expected, self.said())

    def test_an_older_checkpoint_is_not_taken(self):
        """A job that fails before it has saved begins again: what lies in the folder is another run's."""
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=20))
        self.succeeds(*TRAIN)
        before = sorted(name for name in os.listdir(self.path("backup")) if name != "tiny.csv")
        os.remove(self.path("backup/tiny.csv"))
        self.write("tiny.cfg", darknet.detector_cfg(batch=64, subdivisions=64, max_batches=10000000))  # slow: seconds to a save
        job = self.begin("-ddp_ranks", "2", "-ddp_max_restarts", "1")

        def log():
            if not os.path.exists(self.path("backup/tiny.log")):
                return ""
            with open(self.path("backup/tiny.log"), encoding="utf-8") as f:
                return f.read()

        self.wait_for("tiny.csv", job)
        self.kill_rank_1(job)
        self.until(lambda: "restart 1 of 1, 2 ranks, from the beginning, for it has saved nothing yet\n" in self.said(), self.said, job)
        self.until(lambda: log().count("\n1: ") == 2, self.said, job)
        self.assertNotIn("Loading weights", self.said())
        self.assertEqual(sorted(os.listdir(self.path("backup/tiny.1"))), before)
        self.assertFalse(os.path.exists(self.path("backup/tiny.2"))) # the job goes on in its own files
        with open(self.path("backup/tiny.csv"), encoding="ascii") as f:
            self.assertLess(sum(line.startswith("1,") for line in f), 2)

    @darknet.again_if_too_late
    def test_the_last_failure_ends_it(self):
        self.cfg()
        job = self.begin("-ddp_ranks", "2", "-ddp_max_restarts", "0")
        self.wait_for("tiny_100.weights.state", job)
        self.kill_rank_1(job)
        if job.wait(darknet.LIMIT_S) == 0:
            raise darknet.TooLate
        self.assertNotIn("restart", self.said().replace("-ddp_max_restarts", ""))

    def test_what_never_trained_is_not_tried_again(self):
        result = self.refused("detector", "train", "train.data", "none.cfg", "-ddp", "-ddp_ranks", "2", "-ddp_max_restarts", "3",
                              says="none.cfg")
        self.assertNotIn("restart 1", result.err)

    def test_a_signal_is_no_failure(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=10000000))
        job = self.begin("-ddp_ranks", "2", "-ddp_max_restarts", "3", "-ddp_grace", "30")
        self.wait_for("tiny_100.weights.state", job)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertNotIn("restart 1", self.said())

    def test_a_grace_that_is_too_short_is_said(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=3))
        result = self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_grace", "0.00001")
        self.assertEqual(len(re.findall(r"more than -ddp_grace 1e-05: when a signal ends the run", result.out)), 1, result)

    def test_refused(self):
        train = ("detector", "train", "train.data", "tiny.cfg", "-ddp")
        for words, says in ((("-ddp_hosts", "a,,b"), "-ddp_hosts wants hosts with commas between them, such as a,b:4"),
                            (("-ddp_hosts", "a:0"), "or a file of them, not 'a:0'"), (("-ddp_hosts", "b,a:x"), "or a file of them, not 'a:x'"),
                            (("-ddp_hosts", "./hosts"), "-ddp_hosts ./hosts: the file of hosts cannot be read: No such file or directory")):
            self.refused(*train, *words, says=says, code=2)
        for words in (("-ddp_hosts", "localhost"), ("-ddp_max_restarts", "2")):
            self.refused(*train, *words, ranks=2, code=2, says=f"{words[0]} is for ranks that this program starts, and a launcher")


class Hosts(Base):
    def setUp(self):
        super().setUp()
        if not HAS_HOSTS:
            raise unittest.SkipTest("no network namespaces")

    @darknet.again_if_too_late
    def test_a_host_that_goes_away(self):
        self.cfg()
        expected = self.undisturbed()
        self.write("hosts", "# two\n10.77.0.1 slots=1\n10.77.0.2\n")
        job = self.begin("-ddp_hosts", "hosts", "-ddp_max_restarts", "1", "-ddp_timeout", "4", before=(NAMESPACES, "on", "1"),
                         environment=ON_HOSTS)
        self.wait_for("tiny_100.weights.state", job)
        subprocess.run([NAMESPACES, "link", "2", "down"], check=True)
        try:
            self.check_restarts(job, "restart 1 of 1, 1 rank, from the last checkpoint\n")
        finally:
            subprocess.run([NAMESPACES, "link", "2", "up"], check=True)
        self.assertIn("darknet: host 10.77.0.2 does not answer, and is left out\n", self.said())
        self.assertEqual(self.digest(), expected, self.said())


HAS_HOSTS = False


def main():
    global HAS_HOSTS
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        HAS_HOSTS = subprocess.run([NAMESPACES, "up"], check=False).returncode == 0
        darknet.main()
    finally:
        subprocess.run([NAMESPACES, "down"], check=False)


if __name__ == "__main__":
    main()
