#!/usr/bin/env python3
# ddp-test: usual
"""Who saves in a folder: a second run of the same name is refused, on the same host and from another, a dead one holds nothing, and
-ddp_take_over ends the first."""
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
os.environ["DDP_HOSTS_ID"] = str(os.getpid())
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402

NAMESPACES = os.path.join(here, "..", "hosts", "namespaces.sh")
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7")
LOCK = "backup/tiny.lock"


class Owner(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1000000))

    def start(self, *words):
        """Returns once it trains. It owns backup/tiny.lock then."""
        job = darknet.start(list(words), self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(darknet.end_group, job)
        self.job = job
        for line in job.stdout:
            if " avg, " in line:
                return job
        self.fail(job.communicate()[1])

    def stop(self, job, pid=None):
        """As a user does; it saves."""
        os.kill(pid or job.pid, signal.SIGUSR2)
        _, err = job.communicate(timeout=darknet.LIMIT_S)
        self.assertEqual(job.returncode, 0, err)

    def owner(self):
        if not os.path.exists(self.path(LOCK)):
            self.fail(f"no {LOCK}; exit status of its run, None while it goes on: {self.job.poll()}")
        with open(self.path(LOCK), encoding="ascii") as f:
            return dict(line.rstrip("\n").split(" ", 1) for line in f)

    def short(self, **values):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=3, **values))


class OneHost(Owner):
    def test_a_second_run_is_refused(self):
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                first = self.start(*darknet.command(*TRAIN, ranks=ranks))
                owner = self.owner()
                pid = int(owner["process"])
                self.assertEqual(pid, darknet.ranks_under(first.pid)[0] if ranks else first.pid)
                self.refused(*TRAIN, ranks=ranks, code=2, says=[
                    f"backup/tiny.lock: another run saves there, process {pid} on {owner['host']}, since {owner['since']}; ",
                    "-ddp_take_over"])
                self.assertEqual(self.owner()["owner"], owner["owner"])
                self.stop(first, pid)
                self.assertFalse(os.path.exists(self.path(LOCK)))

    def test_nobody_is_ended_for_a_run_that_is_refused(self):
        self.short()
        self.succeeds(*TRAIN)
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1000000))
        first = self.start(*darknet.command(*TRAIN, "-resume_force"))
        owner = self.owner()
        for ranks in (0, 2):
            self.refused(*TRAIN, "-batch", "8", "-resume", "-ddp_take_over", ranks=ranks, code=2, says="cannot resume from backup/tiny")
        self.assertEqual(self.owner()["owner"], owner["owner"])
        self.stop(first)

    def test_nothing_is_taken_from_under_a_run_in_an_earlier_ones_folder(self):
        for _ in range(2):
            self.stop(self.start(*darknet.command(*TRAIN)))
        for name in os.listdir(self.path("backup")):
            if name != "tiny.1":
                os.remove(self.path("backup/" + name))
        with open(self.path("train.data"), encoding="ascii") as f:
            self.write("aside.data", f.read().replace("backup=backup", "backup=backup/tiny.1"))
        first = self.start(*darknet.command(TRAIN[0], TRAIN[1], "aside.data", *TRAIN[3:], "-resume"))
        self.refused(*TRAIN, "-resume", code=2, says="backup/tiny.1/tiny.lock: another run saves there, process ")
        self.stop(first)
        before = os.listdir(self.path("backup/tiny.1"))
        self.refused(*TRAIN, "-resume", "-learning_rate", "0.5", code=2, says="cannot resume from backup/tiny.1/")
        self.assertEqual(os.listdir(self.path("backup/tiny.1")), before)
        self.stop(self.start(*darknet.command(*TRAIN, "-resume")))
        self.assertFalse(os.path.exists(self.path("backup/tiny.1")))

    def test_a_copy_of_a_folder_is_free(self):
        first = self.start(*darknet.command(*TRAIN))
        shutil.copytree(self.path("backup"), self.path("copy"), ignore=shutil.ignore_patterns("*.part*"))  # they come and go
        with open(self.path("train.data"), encoding="ascii") as f:
            self.write("copy.data", f.read().replace("backup=backup", "backup=copy"))
        result = self.succeeds(TRAIN[0], TRAIN[1], "copy.data", *TRAIN[3:], "-epochs", "1")
        self.assertIn("DDP: nobody saves here, the file is a copy of another run's: copy/tiny.lock: process ", result.out)
        self.stop(first)

    def test_another_name_is_free(self):
        first = self.start(*darknet.command(*TRAIN))
        self.write("other.cfg", darknet.detector_cfg())
        self.succeeds(*TRAIN[:3], "other.cfg", "-ddp")
        self.stop(first)

    def test_it_counts_while_it_lives(self):
        first = self.start(*darknet.command(*TRAIN))
        count = int(self.owner()["count"])
        self.until(lambda: int(self.owner()["count"]) != count, job=first)
        self.stop(first)

    def test_a_dead_one_holds_nothing(self):
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                self.write("tiny.cfg", darknet.detector_cfg(max_batches=1000000))
                first = self.start(*darknet.command(*TRAIN, ranks=ranks))
                owner = self.owner()
                os.kill(int(owner["process"]), signal.SIGKILL)
                first.communicate(timeout=darknet.LIMIT_S)
                self.assertEqual(self.owner()["owner"], owner["owner"])
                self.short()
                result = self.succeeds(*TRAIN, "-resume_force", ranks=ranks)
                self.assertIn(f"DDP: the run is gone that saved at backup/tiny.lock: process {owner['process']} on ", result.out,
                              result)
                self.assertFalse(os.path.exists(self.path(LOCK)))

    def test_a_process_of_the_same_number_is_not_it(self):
        """Of this one, which began at another time than the lock says."""
        first = self.start(*darknet.command(*TRAIN))
        with open(self.path(LOCK), encoding="ascii") as f:
            text = f.read()
        self.stop(first)
        self.write(LOCK, re.sub(r"(?m)^process \d+$", f"process {os.getpid()}", text))
        self.short()
        self.succeeds(*TRAIN)

    @unittest.skipUnless(os.getuid() == 0, "it becomes another user")
    def test_a_dead_one_that_cannot_be_removed(self):
        """Another user's, in a folder where nobody but a file's owner may rename it."""
        first = self.start(*darknet.command(*TRAIN))
        first.kill()
        first.communicate(timeout=darknet.LIMIT_S)
        self.short()
        for name in os.listdir(self.path("backup")):
            if name != os.path.basename(LOCK):  # could not be set aside, either
                os.remove(self.path(f"backup/{name}"))
        for folder in (self.folder, self.path("backup")):
            os.chmod(folder, 0o1777)
        os.chown(self.path(LOCK), 4242, 4242)
        os.chown(self.path("backup"), 4242, 4242)
        words = ["setpriv", "--reuid", "12345", "--clear-groups", *darknet.command(*TRAIN, "-resume_force")]
        result = darknet.run(words, self.folder, limit_s=60)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.out.count("the run is gone that saved at backup/tiny.lock"), 1, result.out[:2000])
        self.assertIn("cannot remove backup/tiny.lock: Operation not permitted", result.out)

    def test_a_wait_for_a_dead_one_of_another_host_is_no_standstill(self):
        """It takes 10 s, more than the watch gives files here."""
        self.write(LOCK, "owner 0123456789abcdef\nhost elsewhere\nprocess 1\nstart 1\nboot x\nspace x\nsince yesterday\ncount 7\n")
        self.short()
        result = self.succeeds(*TRAIN, "-ddp_timeout", "3", "-ddp_io_timeout", "4", ranks=2)
        self.assertIn("the run is gone that saved at backup/tiny.lock", result.out)

    def test_after_an_error_it_is_free(self):
        self.write("train.list", "images/none.png\n")
        self.write("labels/none.txt", "")
        for ranks in (0, 2):
            self.refused(*TRAIN, ranks=ranks, says="cannot read images/none.png")
            self.assertFalse(os.path.exists(self.path(LOCK)) and ranks == 0)

    def test_take_over(self):
        first = self.start(*darknet.command(*TRAIN, ranks=2))
        pid = self.owner()["process"]
        os.kill(int(pid), signal.SIGUSR1)
        self.until(lambda: os.path.exists(self.path("backup/tiny.backup.state")))
        second = self.start(*darknet.command(*TRAIN, "-ddp_take_over"))
        self.assertEqual(self.owner()["process"], str(second.pid))
        _, err = first.communicate(timeout=darknet.LIMIT_S)
        self.assertNotIn(first.returncode, (0, None), err)
        self.assertRegex(err, rf"backup/tiny\.lock: another run saves there, process {second.pid} on .*: it has taken over, and "
                              r"this run ends")
        self.assertNotIn("-resume", err)  # what it has saved is set aside
        self.assertNotEqual(pid, str(second.pid))
        self.stop(second)
        self.assertFalse(os.path.exists(self.path(LOCK)))


    def test_take_over_of_a_run_that_starts_its_own_ranks(self):
        """It is not started again, either."""
        first = self.start(*darknet.command(*TRAIN, "-ddp_ranks", "2", "-ddp_max_restarts", "2", "-nocheck"))
        self.until(lambda: os.path.exists(self.path("backup/tiny.backup.state")))
        second = self.start(*darknet.command(*TRAIN, "-ddp_take_over"))
        _, err = first.communicate(timeout=darknet.LIMIT_S)
        self.assertEqual(first.returncode, 1, err)
        self.assertIn("it has taken over, and this run ends", err)
        self.assertNotIn("restart", err)
        self.assertNotIn("-resume", err)
        self.stop(second)

    def test_a_take_over_that_has_ended_is_noticed(self):
        """By a run that was stopped meanwhile: it saves nothing any more."""
        first = self.start(*darknet.command(*TRAIN))
        first.send_signal(signal.SIGSTOP)
        self.short()
        self.succeeds(*TRAIN, "-ddp_take_over")
        self.assertTrue(os.path.exists(self.path(LOCK)))
        weights = {name: os.stat(self.path(f"backup/{name}")).st_mtime_ns for name in os.listdir(self.path("backup")) if "weights" in name}
        first.send_signal(signal.SIGCONT)
        first.send_signal(signal.SIGUSR1)
        _, err = first.communicate(timeout=darknet.LIMIT_S)
        self.assertNotEqual(first.returncode, 0, err)
        self.assertIn("it has taken over, and this run ends", err)
        self.assertEqual({name: os.stat(self.path(f"backup/{name}")).st_mtime_ns for name in weights}, weights)
        self.assertFalse(os.path.exists(self.path("backup/tiny.backup")))
        self.assertIn("the run is gone that saved at backup/tiny.lock", self.succeeds(*TRAIN).out)
        self.assertFalse(os.path.exists(self.path(LOCK)))


class TwoHosts(Owner):
    """They share the folder, as over NFS, and know nothing of each other's processes."""

    def setUp(self):
        super().setUp()
        self.hosts = [f"ddp{os.environ['DDP_HOSTS_ID']}-{number}" for number in (1, 2)]

    def on(self, number, *args):
        return [NAMESPACES, "rsh", f"10.77.0.{number}", f"cd {self.folder} && exec {' '.join(darknet.command(*args))}"]

    def test_one_that_lives_and_one_that_is_dead(self):
        first = self.start(*self.on(1, *TRAIN))
        owner = self.owner()
        self.assertEqual(owner["host"], self.hosts[0])
        took = []
        while not took or min(took) >= 10 and len(took) < 5:  # less at least once: the cores may have been another's
            result = self.check_refused(darknet.run(self.on(2, *TRAIN), self.folder), f"on {self.hosts[0]}, since ", code=2)
            self.assertIn("DDP: waiting 10 s at most, to see whether the run is alive that saves at backup/tiny.lock: process ",
                          result.out, result)
            took.append(result.seconds)
        self.assertLess(min(took), 10, result)
        os.kill(int(owner["process"]), signal.SIGKILL)
        first.communicate(timeout=darknet.LIMIT_S)
        self.short()
        result = darknet.run(self.on(2, *TRAIN), self.folder)
        self.assertEqual(result.code, 0, result)
        self.assertIn("DDP: the run is gone that saved at backup/tiny.lock: ", result.out, result)
        self.assertFalse(os.path.exists(self.path(LOCK)))


if __name__ == "__main__":
    made = subprocess.run([NAMESPACES, "up"], check=False)
    if made.returncode:
        del TwoHosts
    try:
        darknet.main()
    finally:
        subprocess.run([NAMESPACES, "down"], check=False)
