#!/usr/bin/env python3
# ddp-test: usual
"""The watch over a run: who stands still, is gone or hangs on a file is named, the job ends in time, and
nothing is said of a run that only stood still with its host. Small timeouts; all on this host."""
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402

FAULT = os.path.join(here, "..", "preload", "fault.c")
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
TIMEOUT_S = 6  # of the watch
TABLE = r"where the ranks are\n  rank 0 @ \S+: step \d+.*\n  rank 1 @ \S+: step \d+"


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rpartition(")")[2].split()[0]


class Watch(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1000000))

    def start(self, *options, ranks=2, environment=None):
        """Returns once it trains."""
        with open(self.path("said"), "w", encoding="utf-8") as said, open(self.path("steps"), "w", encoding="utf-8") as steps:
            process = darknet.start(darknet.command(*TRAIN, *options, ranks=ranks), self.folder, environment, stdout=steps, stderr=said)
        self.addCleanup(darknet.end_group, process)
        self.until(lambda: self.steps() > 1, self.said, process)
        return process

    def steps(self):
        with open(self.path("steps"), encoding="utf-8", errors="replace") as f:
            return len(re.findall(r"(?m)^\d+: ", f.read()))

    def ranks_of(self, process):
        """Two, once rank 0's watch has heard of a step of both: it prints so, asked again and again."""
        found = darknet.ranks_under(process.pid)
        self.assertEqual(len(found), 2, self.said())
        self.until(lambda: os.kill(found[1], signal.SIGQUIT) or time.sleep(1) or re.search(TABLE, self.said()), self.said, process)
        return found

    def ends(self, process):
        try:
            code = process.wait(darknet.LIMIT_S)
        except subprocess.TimeoutExpired:
            self.fail(f"goes on after {darknet.LIMIT_S} s: {self.said()}")
        self.assertNotEqual(code, 0, self.said())

    def ranks_it_started(self, process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as f:
            return [rank for pid in f.read().split() for rank in darknet.ranks_under(int(pid))]

    def test_ctrl_z_stops_all_ranks_and_is_no_hang(self):
        process = self.start("-ddp_ranks", "2", "-ddp_timeout", "3", ranks=0)
        ranks = self.ranks_it_started(process)
        self.assertEqual(len(ranks), 2)
        process.send_signal(signal.SIGTSTP)
        self.until(lambda: all(state(pid) == "T" for pid in (process.pid, *ranks)), self.said)
        steps = self.steps()
        time.sleep(5)
        self.assertEqual(self.steps(), steps)
        process.send_signal(signal.SIGCONT)
        self.until(lambda: self.steps() > steps + 1, self.said, process)
        self.assertEqual(self.said().count("darknet: stopped, with all ranks; `fg` goes on\n"), 1)
        self.assertNotIn("nothing has moved", self.said())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(darknet.LIMIT_S), 0, self.said())

    def test_ctrl_backslash_asks_where_the_ranks_are(self):
        process = self.start("-ddp_ranks", "2", ranks=0)
        self.until(lambda: process.send_signal(signal.SIGQUIT) or time.sleep(1) or re.search(TABLE, self.said()), self.said, process)
        steps = self.steps()
        self.until(lambda: self.steps() > steps + 1, self.said, process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(darknet.LIMIT_S), 0, self.said())

    def why(self):
        return self.succeeds("ddp", "why", "backup/tiny.events").out

    def test_a_stopped_rank_is_named(self):
        process = self.start("-ddp_timeout", str(TIMEOUT_S))
        ranks = self.ranks_of(process)
        began = time.monotonic()
        os.kill(ranks[1], signal.SIGSTOP)
        self.ends(process)
        self.assertGreater(time.monotonic() - began, TIMEOUT_S - 2)
        self.assertRegex(self.said(), r"rank 0 @ .*: nothing has moved for \d+ s, and the run ends; the others wait for rank 1 "
                                      r"on \S+, which is not heard any more: step \d+ completed, by what it sent up to \d+\.\d s ago; "
                                      r"when last heard, \d+\.\d s ago, it was at (step \d+|starting)")
        # Steps take milliseconds here: by what it sent it is known to have come to the step before that of the others.
        waits, completed = (int(re.findall(pattern, self.said())[-1]) for pattern in
                            (r"  rank 0 @ \S+: step (\d+), ", r"  rank 1 @ \S+: step (\d+) completed"))
        self.assertIn(waits - completed, (0, 1), self.said())
        self.assertIn(f"Step {completed} it had completed, by what it had sent up to", self.why())
        self.assertRegex(self.said(), r"  rank 0 @ \S+: step \d+, mini-batch \d, waiting")
        self.assertIn(" says which rank broke off first; more: darknet-ddp/docs/failures.md\n", self.said())
        self.assertIn("Rank 1 on", self.why())
        self.assertIn("was not heard any more", self.why())

    def test_a_rank_that_holds_others_up_is_named(self):
        """On the screen and in the log by a sentence; the page says how long each rank waits."""
        process = self.start()
        rank, began = darknet.ranks_under(process.pid)[1], time.monotonic()
        says = r"rank 1 on \S+ holds the others up: they wait for it (\d+)% of their time"
        self.until(lambda: darknet.slow(rank) or re.search(says, self.said()), self.said, process)
        self.assertGreater(time.monotonic() - began, 9)
        self.assertGreater(int(re.search(says, self.said())[1]), 50, self.said())
        for name, pattern in (("tiny.log", says), ("tiny.html", r"rank 1 on \S+ waits least, [\d.]+% of its time; rank 0 [\d.]+%")):
            self.until(lambda of=name, text=pattern: darknet.slow(rank) or re.search(text, self.contents("backup/" + of)), lambda of=name: of, process)

    def test_so_it_is_without_records(self):
        process = self.start("-ddp_records", "0")
        rank = darknet.ranks_under(process.pid)[1]
        self.until(lambda: darknet.slow(rank) or "rank 1 on " in self.said() and " holds the others up" in self.said(), self.said, process)

    def contents(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as f:
            return f.read()

    def test_a_stopped_rank_0_ends_the_others(self):
        process = self.start("-ddp_timeout", str(TIMEOUT_S))
        ranks = self.ranks_of(process)
        os.kill(ranks[0], signal.SIGSTOP)
        self.ends(process)
        self.assertRegex(self.said(), r"rank 1 @ .*: rank 0 on \S+ has not been heard for \d+ s")

    def test_a_killed_rank_ends_the_job_at_once(self):
        for number in (signal.SIGKILL, signal.SIGSEGV):
            process = self.start("-ddp_timeout", "1000")
            os.kill(self.ranks_of(process)[1], number)
            self.ends(process)

    def test_a_stopped_host_is_no_fault(self):
        """All ranks stopped for longer than the timeout, as a suspended machine does to them."""
        process = self.start("-ddp_timeout", str(TIMEOUT_S))
        ranks = self.ranks_of(process)
        for pid in ranks:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(TIMEOUT_S + 4)
        before = self.steps()
        for pid in ranks:
            os.kill(pid, signal.SIGCONT)
        time.sleep(4)
        self.until(lambda: self.steps() > before + 1, self.said, process)
        self.assertIsNone(process.poll(), self.said())
        self.assertNotIn("the run ends", self.said())

    def test_the_table_is_printed_when_asked_for(self):
        process = self.start()
        self.ranks_of(process)
        time.sleep(1)
        self.assertIsNone(process.poll(), self.said())

    def test_a_loader_that_hangs_is_named(self):
        """A picture that nobody can read: a FIFO without a writer."""
        for ranks in (0, 2):
            process = self.start("-ddp_timeout", "4", "-ddp_io_timeout", str(TIMEOUT_S), ranks=ranks)
            picture = self.path(self.data.pictures[3])
            os.link(picture, picture + ".away")
            os.mkfifo(picture + ".fifo")
            os.replace(picture + ".fifo", picture)  # at once: the loader must not find the place empty
            self.ends(process)
            self.assertRegex(self.said(), r"and the run ends.*waiting for its loader")
            self.assertRegex(self.said(), rf"a loader has been at {self.data.pictures[3]}, or its labels, for \d+ s\n")
            os.replace(picture + ".away", picture)

    def test_a_file_that_hangs_at_the_start_is_named(self):
        """A picture and a label file: FIFOs without a writer, as files are on a server that is gone. (scripts/faults.py has a list on such
        a server; one that is a FIFO is refused.)"""
        for name in (self.data.pictures[3], self.data.label(self.data.pictures[3])):
            for ranks in (0, 2):
                with self.subTest(name=name, ranks=ranks):
                    os.rename(self.path(name), self.path("away"))
                    os.mkfifo(self.path(name))
                    result = self.darknet(*TRAIN, "-ddp_timeout", "2", "-ddp_io_timeout", "3", ranks=ranks)
                    os.replace(self.path("away"), self.path(name))
                    self.assertEqual(result.code, 1, result)
                    self.assertRegex(result.err, rf"and the run ends.*, at the file {name}\n", result)

    def test_a_rank_that_ends_is_named_though_something_else_was_said_before(self):
        library = self.path("fault.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, FAULT], check=True)
        process = self.start("-ddp_ranks", "2", "-ddp_timeout", "10", ranks=0,
                             environment={"LD_PRELOAD": library, "FAULT": "exit", "FAULT_RANK": "1", "FAULT_WHEN": self.path("now")})
        rank = self.ranks_it_started(process)[1]
        os.kill(rank, signal.SIGSTOP)
        self.until(lambda: "nothing has moved" in self.said(), self.said, process)
        os.kill(rank, signal.SIGCONT)
        steps = self.steps()
        self.until(lambda: self.steps() > steps + 1, self.said, process)
        self.write("now", "")
        self.ends(process)
        self.assertRegex(self.said(), r"rank 1 on \S+ has ended")

    def test_a_list_that_is_a_fifo_is_refused(self):
        os.remove(self.path("train.list"))
        os.mkfifo(self.path("train.list"))
        for ranks in (0, 2):
            self.refused(*TRAIN, ranks=ranks, says="train.list is no regular file", code=1)

    def test_a_run_that_ends_well_says_nothing(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=20))
        for ranks in (0, 3):
            result = self.succeeds(*TRAIN, "-ddp_batch", "rank", ranks=ranks)
            self.assertNotIn("nothing has moved", result.err)
            self.assertNotIn("has ended", result.err)
            self.assertFalse(os.path.exists(self.path("backup/tiny.events")))


if __name__ == "__main__":
    darknet.main()
