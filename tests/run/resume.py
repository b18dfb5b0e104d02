#!/usr/bin/env python3
# ddp-test: usual cost=100
"""A run that was ended, by a signal or by kill -9 at any moment, goes on from its last checkpoint to the very weights that it
would have come to."""
import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
from resuming import FINAL, Resume  # noqa: E402

DRAW = random.Random(int(os.environ.get("DDP_TEST_SEED", "1")))
KILLS = int(os.environ.get("DDP_TEST_KILLS", "5"))
STEPS = 250 * KILLS
TRIES = 5


class Signals(Resume):
    def stopped(self, command, *options, ranks, send):
        """The steps of a run that a signal ends somewhere in the middle."""
        self.cfg(command, max_batches=100000)
        job = self.begin(*self.words(command, "-ddp_seed", "7", *options), ranks=ranks,
                         until=DRAW.randrange(2, 9))
        send(job)
        code = self.end(job)
        self.assertEqual(code, 0, job.text)
        self.assertIn("tiny.backup", os.listdir(self.path("backup")), job.text)
        self.assertIn("tiny.backup.state", os.listdir(self.path("backup")), job.text)
        return len(re.findall(" avg, ", job.text))

    def term(self, job):
        darknet.tell(self.ranks_of(job), signal.SIGTERM)

    def check_resumed(self, command, *options, first, then, send=None):
        self.empty()
        steps = self.stopped(command, *options, ranks=first, send=send or self.term)
        self.cfg(command, max_batches=steps + 10)
        expected = self.kept(lambda: self.straight(command, *options, ranks=first))
        result = self.succeeds(*self.words(command, "-resume_force", *options), ranks=then)
        self.assertIn("backup/tiny.backup", result.out, result)
        self.assertEqual(len(re.findall(" avg, ", result.out + result.err)), 10, result)
        self.same_weights(self.read(FINAL[command]), expected)

    def kept(self, what):
        """Do it with another backup directory in place of this one."""
        os.rename(self.path("backup"), self.path("kept"))
        os.mkdir(self.path("backup"))
        value = what()
        os.rmdir(self.path("backup"))
        os.rename(self.path("kept"), self.path("backup"))
        return value

    def test_on_the_same_number_of_ranks(self):
        for command, ranks in (("detector", 0), ("detector", 3), ("classifier", 2), ("rnn", 2)):
            with self.subTest(command=command, ranks=ranks):
                self.check_resumed(command, first=ranks, then=ranks)

    def test_with_batchnorm_over_all_ranks(self):
        self.check_resumed("detector", "-ddp_sync_bn", "1", first=2, then=2)

    def test_on_another_number_of_ranks(self):
        for command, first, then in (("detector", 4, 1), ("detector", 0, 4), ("classifier", 2, 4),
                                     ("classifier", 1, 2)):
            with self.subTest(command=command, first=first, then=then):
                self.check_resumed(command, "-ddp_exact", first=first, then=then)

    def test_one_rank_tells_the_others(self):
        self.check_resumed("detector", first=2, then=2, send=lambda job: os.kill(
            self.ranks_of(job)[1], signal.SIGTERM))

    def test_mpirun_tells_the_ranks(self):
        """SIGUSR2 comes through it at once, and leaves its exit status at 0."""
        self.check_resumed("classifier", first=2, then=2, send=lambda job: os.kill(
            job.pid, signal.SIGUSR2))

    def test_an_interrupt(self):
        """Ctrl-C on one process, which no mpirun guards."""
        self.check_resumed("classifier", first=0, then=0, send=lambda job: job.send_signal(signal.SIGINT))

    def test_an_interrupt_of_ranks_started_here(self):
        """mpirun would give them a second, and end with another exit status."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                self.empty()
                self.stopped("detector", "-ddp_ranks", "2", ranks=0, send=lambda job, number=number: job.send_signal(number))

    def test_signals_that_are_ignored(self):
        """nohup has its program ignore SIGHUP, and a shell in the background SIGINT."""
        ignored = (signal.SIGHUP, signal.SIGINT)
        self.cfg("classifier", max_batches=200)
        for options in ((), ("-ddp_ranks", "2")):
            with self.subTest(options=options):
                self.empty()
                job = self.begin(*self.words("classifier", *options), ranks=0, until=2,
                                 preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in ignored])
                for number in ignored:
                    job.send_signal(number)
                self.assertEqual(self.end(job), 0, job.text)
                self.assertIn("tiny.weights", os.listdir(self.path("backup")), job.text)

    def test_two_signals_at_once_are_one_wish(self):
        """`timeout` sends one to its program, and one to the program's group."""
        for number, ranks in ((signal.SIGINT, 0), (signal.SIGINT, 2), (signal.SIGTERM, 2)):
            with self.subTest(number=number, ranks=ranks):
                self.empty()
                def twice(job, number=number):
                    os.kill(job.pid, number)
                    os.killpg(job.pid, number)
                self.stopped("detector", *(("-ddp_ranks", str(ranks)) if ranks else ()), ranks=0, send=twice)

    def test_a_second_interrupt_ends_at_once(self):
        self.cfg("classifier", max_batches=100000)
        job = self.begin(*self.words("classifier", "-ddp_ranks", "2"), ranks=0, until=3)
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as f:
            mpirun, = map(int, f.read().split())
        os.kill(mpirun, signal.SIGSTOP)  # it tells the ranks of no signal, which could have saved before the second one
        for number in (signal.SIGINT, signal.SIGTERM):
            job.send_signal(number)
        self.assertNotEqual(self.end(job), 0, job.text)
        self.assertNotIn("DDP: stopped after", job.text)

    def test_ranks_end_when_what_started_them_is_killed(self):
        self.cfg("classifier", max_batches=100000)
        job = self.begin(*self.words("classifier", "-ddp_ranks", "2"), ranks=0, until=3)
        job.kill()
        self.end(job) # reads until no rank has its output any more
        self.assertEqual(job.returncode, -signal.SIGKILL, job.text)

    def test_mpirun_is_interrupted(self):
        """It reads no output from then on, and these ranks write a lot."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                self.assertTrue(any(self.saves_before_mpirun_kills(number) for _ in range(TRIES)), f"not in {TRIES} runs")

    def saves_before_mpirun_kills(self, number):
        """mpirun gives ranks a second, in which others may have the cores."""
        self.empty()
        self.cfg("detector", max_batches=100000, batch=128, subdivisions=128)
        job = self.begin(*self.words("detector"), ranks=2, until=2)
        job.send_signal(number)
        self.end(job)
        return "tiny.backup.state" in os.listdir(self.path("backup"))

    def test_the_mpirun_of_ranks_started_here_is_told(self):
        """By `pkill mpirun`, say: the ranks save and end, and so does what started them, whatever mpirun's own status is."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                self.assertTrue(any(self.saves_and_ends_well(number) for _ in range(TRIES)), f"not in {TRIES} runs")

    def saves_and_ends_well(self, number):
        self.empty()
        self.cfg("detector", max_batches=100000)
        job = self.begin(*self.words("detector", "-ddp_ranks", "2"), ranks=0, until=2)
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as f:
            mpirun, = map(int, f.read().split())
        os.kill(mpirun, number)
        code = self.end(job)
        return code == 0 and "the ranks have ended" not in job.text and "tiny.backup.state" in os.listdir(self.path("backup"))

    def test_while_ranks_start(self):
        """They agree once whether they train: who is asked to end before that writes nothing, and who is asked later saves."""
        self.cfg("detector", max_batches=100000)
        job = self.begin(*self.words("detector"), ranks=2, until=0)
        rank = self.until(lambda: darknet.ranks_under(job.pid)[1:], lambda: job.text, job)[0]
        self.until(lambda: signal.SIGUSR2 in darknet.signals_in(rank, "SigCgt"), lambda: job.text, job)
        os.kill(rank, signal.SIGUSR2)
        status = self.end(job)
        if "DDP: stopped after" in job.text:
            self.assertEqual(status, 0, job.text)
            self.assertIn("tiny.backup.state", os.listdir(self.path("backup")), job.text)
        else:
            self.assertEqual(status, 128 + signal.SIGUSR2, job.text)
            self.assertIn("ends before it has begun to train; nothing is saved", job.text)
            saved = os.listdir(self.path("backup")) if os.path.isdir(self.path("backup")) else []
            self.assertFalse([name for name in saved if name.endswith((".backup", ".weights", ".state"))], job.text)

    def test_signals_at_any_moment_do_no_harm(self):
        """Most of the time goes to products of matrices, which have a stack of their own."""
        body = "".join(darknet.convolutional(48) for _ in range(3))
        self.write("tiny.cfg", darknet.classifier_cfg(body=body, batch=8, width=64, height=64,
                                                      max_batches=30))
        expected = self.straight("classifier", ranks=0)
        signals = 0
        while signals <= 100:  # of all runs together: on a busy machine one may get few
            self.empty()
            job = self.begin(*self.words("classifier", "-ddp_seed", "7"), ranks=0, until=1)
            while job.poll() is None:
                os.kill(job.pid, signal.SIGUSR1)
                signals += 1
                time.sleep(.0005)
            self.assertEqual(self.end(job), 0, job.text)
            self.assertTrue(self.read(FINAL["classifier"]) == expected, job.text)

    def test_a_save_in_between(self):
        """SIGUSR1 saves, and the run goes on."""
        self.cfg("detector", max_batches=100000)
        job = self.begin(*self.words("detector", "-ddp_seed", "7"), ranks=2, until=3)
        os.kill(self.ranks_of(job)[1], signal.SIGUSR1)
        for line in job.stdout:
            job.text += line
            if "Saving weights to backup/tiny.backup" in line:
                break
        for line in job.stdout:
            job.text += line
            if " avg, " in line:
                break
        self.assertIsNone(job.poll(), job.text)
        darknet.end_group(job)
        job.stdout.close()
        self.assertIn("tiny.backup.state", os.listdir(self.path("backup")))


class Kills(Resume):
    """kill -9 while checkpoints are written all the time."""

    def killed(self, command, *options, ranks, seconds):
        """Whether the run was still going on after that long."""
        job = self.begin(*self.words(command, "-resume", *options), ranks=ranks, until=1)
        processes = self.ranks_of(job)
        end = time.monotonic() + seconds
        while job.poll() is None and time.monotonic() < end:
            for process in processes[:1]:
                try:
                    os.kill(process, signal.SIGUSR1)
                except ProcessLookupError:
                    pass
            time.sleep(0.002)
        going = job.poll() is None
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.end(job)
        return going

    def check(self, command, *options, ranks):
        self.cfg(command, max_batches=STEPS)
        expected = self.straight(command, *options, ranks=ranks[0])
        kills = 0
        for _ in range(20 * KILLS):
            if kills == KILLS:
                break
            if self.killed(command, "-ddp_seed", "7", *options, ranks=ranks[kills % len(ranks)], seconds=DRAW.uniform(0, .4)):
                kills += 1
            else:  # it ended before it was killed: from the beginning
                self.empty()
        result = self.succeeds(*self.words(command, "-resume", *options), ranks=ranks[-1])
        self.assertIn("DDP: resum", result.out, result)
        self.assertEqual(kills, KILLS, "runs end before they are killed")
        self.assertTrue(self.read(FINAL[command]) == expected, result)

    def test_one_process(self):
        self.check("classifier", ranks=[0])

    def test_two_ranks(self):
        self.check("detector", ranks=[2])

    def test_any_ranks(self):
        self.check("detector", "-ddp_exact", ranks=[2, 0, 4])


if __name__ == "__main__":
    darknet.main()
