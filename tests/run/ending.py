#!/usr/bin/env python3
# ddp-test: usual
"""Ending what was started, whatever it is at, and what a run says last."""
import collections
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
from launches import PROMISED_S, TRAIN, Start  # noqa: E402

CHATTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "preload", "chatter.c")
CORES = len(os.sched_getaffinity(0))
TRIES = 5


def of_session(session):
    """Processes of this session that have not ended. What mpirun starts stays in it."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(name))
    return found


class Interrupts(Start):
    """Ctrl-C before a run has begun to train says so."""

    SAYS = "darknet: the run ends before it has begun to train; nothing is saved\n"

    def begin(self, *words):
        return self.begin_command(*TRAIN, "-ddp", *words)

    def begin_command(self, *words):
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*words), self.folder, stdout=said, stderr=said)
        self.addCleanup(darknet.end_group, job)
        return job

    def check(self, job, number=signal.SIGINT):
        job.send_signal(number)
        self.assertNotIn(job.wait(darknet.LIMIT_S), (0, 1), self.said())
        self.assertEqual(self.said().count(self.SAYS), 1, self.said())
        self.assertEqual(os.listdir(self.path("backup")), [])

    def test_of_ranks(self):
        job = self.begin("-ddp_ranks", "2")
        mpirun = self.until(lambda: [pid for pid in of_session(job.pid) if pid != job.pid and re.search("mpi|prte", darknet.command_line(pid).split()[0])],
                            self.said, job)[0]
        os.kill(mpirun, signal.SIGSTOP)  # and starts no rank
        self.check(job)

    def test_over_an_earlier_run(self):
        """Either nothing of it has moved, and that is said, or the run has begun, and is saved, and that is said."""
        self.succeeds(*TRAIN, "-ddp", "-ddp_ranks", "2", "-ddp_oversubscribe")
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))
        earlier = sorted(os.listdir(self.path("backup")))
        ends = set()
        for delay in (.1, .2, .25, .3, .35, .4, .6, 2):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(delay=delay, signal=number):
                    job = self.begin("-ddp_ranks", "2", "-ddp_oversubscribe")
                    time.sleep(delay)
                    job.send_signal(number)
                    code = job.wait(darknet.LIMIT_S)
                    found = sorted(os.listdir(self.path("backup")))
                    ends.add(code)
                    if code == 0:
                        self.assertEqual(self.said().count("darknet: saving, then ending; once more to end at once\n"), 1, self.said())
                        self.assertNotIn(self.SAYS, self.said())
                        self.assertIn("tiny.1", found)
                        self.assertIn("tiny.backup.state", found)
                        shutil.rmtree(self.path("backup/tiny.1"))
                        earlier = sorted(set(found) - {"tiny.1"})
                        continue
                    self.assertIn(code, (128 + number, -number), self.said())
                    self.assertEqual(found, earlier, self.said())
                    if code > 0:
                        self.assertEqual(self.said().count(self.SAYS), 1, self.said())
                        self.assertEqual(self.said().count("darknet"), 1, self.said())
        self.assertTrue(ends & {128 + signal.SIGINT, 128 + signal.SIGTERM}, ends)

    def test_of_one_process(self):
        os.remove(self.path("labels/cat0.txt"))
        os.mkfifo(self.path("labels/cat0.txt"))  # it waits for these labels
        job = self.begin()
        self.until(lambda: signal.SIGINT in darknet.signals_in(job.pid, "SigCgt"), self.said, job)
        self.check(job)

    def test_of_one_process_that_owns_its_name(self):
        """NAME.lock goes, too, also where a terminal is closed."""
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                self.assertTrue(any(self.ends_untrained(number) for _ in range(30)))

    def ends_untrained(self, number):
        """Asked between the lock and the first step, if it is not too late."""
        shutil.rmtree(self.path("backup"))
        os.mkdir(self.path("backup"))
        job = self.begin()
        while not os.path.exists(self.path("backup/tiny.lock")):
            pass
        job.send_signal(number)
        code = job.wait(darknet.LIMIT_S)
        self.assertFalse(os.path.exists(self.path("backup/tiny.lock")), self.said())
        self.assertEqual(self.SAYS in self.said(), code != 0, self.said())
        return code != 0

    def test_of_what_does_not_train(self):
        job = self.begin_command("ddp", "bench", "tiny.cfg", "-steps", "100000")
        self.until(lambda: signal.SIGUSR1 in darknet.signals_in(job.pid, "SigCgt"), self.said, job)
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(darknet.LIMIT_S), -signal.SIGINT, self.said())
        self.assertNotIn(self.SAYS, self.said())

    def test_ctrl_backslash_ends_what_does_not_train(self):
        """Its ranks do not say where they are."""
        self.succeeds(*TRAIN)
        with open(self.path("train.data"), "a", encoding="ascii") as f:
            f.write("valid=long.list\n")
        self.write("long.list", "images/cat0.png\n" * 300000)
        job = self.begin_command("detector", "map", "train.data", "tiny.cfg", "backup/tiny_final.weights", "-ddp_ranks", "2")
        self.until(lambda: sum(darknet.command_line(pid).startswith(darknet.PROGRAM) for pid in of_session(job.pid)) == 3, self.said, job)
        job.send_signal(signal.SIGQUIT)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertNotIn("no rank", self.said())


class Ends(Start):
    def begin(self, *options, until=None):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000, batch=64, subdivisions=64))
        job = darknet.start([darknet.PROGRAM, *TRAIN, "-ddp", *options], self.folder, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        if until:
            self.assertTrue(any(until in line for line in job.stdout), "it ended before")
        return job

    def ends(self, job, number):
        """All of it; its exit status. self.took is then how long that took."""
        before = of_session(job.pid)
        began = time.monotonic()
        job.send_signal(number)
        self.until(lambda: not of_session(job.pid), lambda: f"{of_session(job.pid)} of {before} are left")
        self.took = time.monotonic() - began
        job.stdout.close()
        return job.wait(darknet.LIMIT_S)

    def in_time(self, end):
        """end() ends a job; once at least within what is promised, since something else may have had the cores meanwhile."""
        took = []
        while not took or min(took) >= PROMISED_S and len(took) < TRIES:
            end()
            took.append(self.took)
        self.assertLess(min(took), PROMISED_S, took)

    def goes_on(self):
        job = self.begin("-resume", until=" avg, ")
        self.assertEqual(self.ends(job, signal.SIGTERM), 0)

    def test_while_ranks_start(self):
        """From the first moment on, many of them on few cores. Who trains by then saves, and ends well."""
        for delay in (0, .05, .3, 1.5):
            for number in (signal.SIGTERM, signal.SIGINT):
                with self.subTest(delay=delay, signal=number):
                    self.in_time(lambda delay=delay, number=number: self.end_after(delay, number))

    def end_after(self, delay, number):
        job = self.begin("-ddp_ranks", str(8 * CORES), "-ddp_oversubscribe")
        time.sleep(delay)
        code = self.ends(job, number)
        took = self.took
        if code == 0:
            self.assertIn("tiny.backup.state", os.listdir(self.path("backup")))
        elif "tiny.backup" in os.listdir(self.path("backup")):  # mpirun had not told ranks that it had begun to start
            self.goes_on()
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        self.took = took

    def test_many_ranks_that_train(self):
        def end():
            job = self.begin("-ddp_ranks", str(8 * CORES), "-ddp_oversubscribe", until="DDP: seed")
            self.ends(job, signal.SIGTERM)

        self.in_time(end)

    def test_ranks_that_answer_nothing(self):
        """Stopped ranks neither save nor end, and mpirun's SIGTERM does not reach them."""
        def end():
            job = self.begin("-ddp_ranks", "2", "-ddp_oversubscribe", until=" avg, ")
            for process in of_session(job.pid):
                if process != job.pid:
                    os.kill(process, signal.SIGSTOP)
            job.send_signal(signal.SIGTERM)
            # A second one that comes before the first is taken is no second one.
            self.until(lambda: signal.SIGTERM not in darknet.signals_in(job.pid, "ShdPnd"), job=job)
            time.sleep(.3)  # nor is one that comes within a quarter of a second
            self.assertNotEqual(self.ends(job, signal.SIGTERM), 0)

        self.in_time(end)

    def test_bench(self):
        self.write("tiny.cfg", darknet.detector_cfg())

        def end():
            job = darknet.start([darknet.PROGRAM, "ddp", "bench", "tiny.cfg", "-steps", "100000", "-ddp_ranks", "2"], self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.addCleanup(darknet.end_group, job)
            time.sleep(1.5)
            self.assertNotEqual(self.ends(job, signal.SIGINT), 0)

        self.in_time(end)


class Output(Start):
    """What becomes of a run whose output is closed, and what is the last that a run says."""

    def setUp(self):
        super().setUp()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))

    def begin(self, *words, launcher=()):
        with open(self.path("err"), "w", encoding="utf-8") as err:
            job = darknet.start([*launcher, darknet.PROGRAM, *TRAIN, "-ddp", *words], self.folder, stdout=subprocess.PIPE,
                                stderr=err)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if " avg, " in line:
                return job
        self.fail("no batch was trained: " + self.said())

    def said(self):
        with open(self.path("err"), encoding="utf-8") as f:
            return f.read()

    def wait_for_checkpoint(self):
        self.until(lambda: os.path.exists(self.path("backup/tiny.backup")), self.said)

    def wait_for_another(self, job):
        state = self.path("backup/tiny.backup.state")
        self.until(lambda: os.path.exists(state), self.said)
        before = os.stat(state).st_mtime_ns
        job.send_signal(signal.SIGUSR1)
        self.until(lambda: os.path.exists(state) and os.stat(state).st_mtime_ns != before, self.said)

    def test_nobody_reads(self):
        """As in `| head`: the run goes on, and a signal still saves and ends it."""
        for words in ((), ("-ddp_ranks", "2")):
            with self.subTest(words=words):
                job = self.begin(*words)
                job.stdout.close()
                time.sleep(1)
                self.assertIsNone(job.poll(), self.said())
                job.send_signal(signal.SIGINT)
                self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
                self.assertIn("tiny.backup.state", os.listdir(self.path("backup")))
                os.remove(self.path("backup/tiny.backup.state"))

    def test_lines_of_ranks_are_whole(self):
        """Also where each rank prints long ones, in pieces, at the same time."""
        library = self.path("chatter.so")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, CHATTER], check=True)
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=2))
        result = self.succeeds(*TRAIN, "-ddp", "-ddp_ranks", "4", "-ddp_oversubscribe", environment={"LD_PRELOAD": library})
        lines = [line for line in result.err.splitlines() if "rank " in line or re.search(r"(\d)\1{20}", line)]
        self.assertEqual(collections.Counter(lines), {f"rank {str(rank) * 400}": 300 for rank in range(4)})

    def test_a_full_disk_under_the_log(self):
        full = os.open("/dev/full", os.O_WRONLY)
        self.addCleanup(os.close, full)
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=200))
        for words in ((), ("-ddp_ranks", "2")):
            job = darknet.start([darknet.PROGRAM, *TRAIN, "-ddp", *words], self.folder, stdout=full, stderr=full)
            self.addCleanup(darknet.end_group, job)
            self.assertEqual(job.wait(darknet.LIMIT_S), 0)
            os.remove(self.path("backup/tiny_final.weights.state"))

    def test_what_goes_on_is_said_when_a_signal_ends_a_run(self):
        program = f"{darknet.PROGRAM} {' '.join(TRAIN)} -ddp"
        for words, launcher, line in (((), (), program), (("-ddp_ranks", "2"), (), program + " -ddp_ranks 2"),
                                      ((), ("mpirun", "-np", "2"), "mpirun -np 2 " + program)):
            with self.subTest(line=line):
                job = self.begin(*words, launcher=launcher)
                job.send_signal(signal.SIGUSR2)
                out = job.stdout.read()
                self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
                job.stdout.close()
                self.assertRegex(out, r"DDP: stopped after batch \d+ of 10000000\n")
                self.assertIn(f"DDP: `{line} -resume` goes on from backup/tiny.backup\n", out)

    def test_what_was_said_last_is_ours(self):
        """No box of mpirun's, where it was started by the program: that is in the log."""
        job = self.begin("-ddp_ranks", "2")
        job.send_signal(signal.SIGUSR1)
        self.wait_for_checkpoint()
        self.wait_for_another(job)  # by then it is known of the first that it was saved
        mpirun = [p for p in of_session(job.pid) if p != job.pid]
        ranks = [r for p in mpirun for r in darknet.ranks_under(p)]
        os.kill(ranks[1], signal.SIGKILL)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0)
        job.stdout.close()
        self.assertRegex(self.said(), r"darknet: rank 1 on \S+ was ended by signal 9 \(Killed\); it had had \d+\.\d\d GB of memory\n")
        self.assertRegex(self.said(), r"`\S+ .* -ddp -ddp_ranks 2 -resume` goes on from the last checkpoint")
        self.assertNotIn("------", self.said())
        self.assertNotIn("mpiexec", self.said())
        with open(self.path("backup/tiny.log"), encoding="utf-8") as f:
            self.assertRegex(f.read(), r"on\s+signal 9 \(Killed\)")

    def test_nothing_is_said_of_a_checkpoint_where_none_was_saved(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=256, subdivisions=64, max_batches=10000000))  # long steps
        for words in ((), ("-resume",)):
            job = self.begin("-ddp_ranks", "2", *words)
            for rank in [r for p in of_session(job.pid) if p != job.pid for r in darknet.ranks_under(p)]:
                os.kill(rank, signal.SIGKILL)
            self.assertNotEqual(job.wait(darknet.LIMIT_S), 0)
            job.stdout.close()
            self.assertRegex(self.said(), r"was ended by signal 9 \(Killed\)")
            self.assertNotIn("goes on from", self.said())

    def test_an_error_of_the_ranks_stands_alone(self):
        with open(self.path("cut.weights"), "wb") as f:
            f.write(struct.pack("<3iq", 0, 2, 0, 0) + bytes(20))
        result = self.refused("detector", "train", "train.data", "tiny.cfg", "cut.weights", "-ddp", "-ddp_ranks", "2", says="cut.weights")
        self.assertRegex(result.err, r"\ndarknet\[rank 0 @ \S+\]: cut.weights ends inside of the weights of layer 0[^\n]*\n\Z")
        self.assertEqual(result.err.count("darknet["), 1, result)


if __name__ == "__main__":
    darknet.main()
