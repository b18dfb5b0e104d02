#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_verify_every: a bit that flips in the memory of a running rank is found, by layer, ranks and step, on every rank, which name the
minority; the last pair stays. The bit is flipped through /proc/PID/mem."""
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

HEADER = 20


def may_write_memory():
    """Of other processes of this user."""
    child = subprocess.Popen(["sleep", "60"])
    try:
        with open(f"/proc/{child.pid}/mem", "r+b", buffering=0):
            return True
    except OSError:
        return False
    finally:
        child.kill()
        child.wait()


def flip(pid, pattern):
    """The lowest bit of the first float of each place in the memory of pid that holds these bytes. Returns how many there are."""
    found = 0
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as f:
        spans = [line.split() for line in f]
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        for span, rights, *rest in spans:
            if not rights.startswith("rw") or rest[-1].startswith("/dev"):
                continue
            start, end = (int(word, 16) for word in span.split("-"))
            memory.seek(start)
            try:
                data = memory.read(end - start) or b""
            except OSError:
                continue
            at = data.find(pattern)
            while at >= 0:
                memory.seek(start + at)
                memory.write(bytes([pattern[0] ^ 1]))
                found += 1
                at = data.find(pattern, at + 1)
    return found


class Verify(darknet.Case):
    def setUp(self):
        super().setUp()
        if not may_write_memory():
            self.skipTest("this user may not write the memory of other processes")
        darknet.DataSet(self.folder).boxes()
        # At rate 0 the weights stay what they are saved as, so that they can be found in memory.
        self.write("tiny.cfg", darknet.detector_cfg(learning_rate=0, momentum=0, decay=0, batch=12, subdivisions=6, max_batches=100000))

    def start(self, *options, ranks=3):
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "1", *options,
                                                ranks=ranks), self.folder, stdout=said, stderr=subprocess.PIPE)
        self.addCleanup(darknet.end_group, job)
        return job

    def step(self):
        """The last that was printed."""
        return max((int(step) for step in re.findall(r"(?m)^(\d+): .*\n", self.said())), default=0)

    def wait_for_step(self, job, step):
        self.until(lambda: self.step() >= step, self.said, job)

    def flip_between_saves(self, job, rank, pattern):
        """In a rank that stands still some steps after a save (every 100 steps) and before the next: a bit that flips between a comparison
        and a save of the same step is saved, and so is one in the copy that is being written."""
        pid = darknet.ranks_under(job.pid)[rank]

        def flipped():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(.2)  # what was printed arrives
            try:
                return 40 <= self.step() % 100 <= 90 and flip(pid, pattern)
            finally:
                os.kill(pid, signal.SIGCONT)

        self.until(flipped, self.said, job)

    def weights(self):
        """Of the convolution of layer 2, without BatchNorm's; its place in the file follows from the cfg."""
        self.write("one.cfg", darknet.detector_cfg(learning_rate=0, momentum=0, decay=0, batch=12, subdivisions=6, max_batches=1))
        self.succeeds("detector", "train", "train.data", "one.cfg", "-ddp", "-ddp_seed", "1")
        return self.weights_in("one_final.weights")

    def weights_in(self, name):
        with open(self.path("backup/" + name), "rb") as f:
            data = f.read()[HEADER:]
        first = 4 * (4 * 4 + 4 * 3 * 9)  # of layer 0: biases, scales, mean and variance; weights
        return data[first + 4 * 16:][:64]

    def test_a_flipped_bit(self):
        pattern = self.weights()
        for rank in (0, 2):
            with self.subTest(rank=rank):
                job = self.start("-ddp_verify_every", "50")
                self.wait_for_step(job, 60)
                self.flip_between_saves(job, rank, pattern)
                _, err = job.communicate(timeout=darknet.LIMIT_S)
                self.assertNotIn(job.returncode, (0, None), err)
                said = re.findall(r"(?m)^darknet\[rank (\d) @ .*?\]: step (\d+): layer 2 \(convolutional\) weights of (.*?) on .* "
                                  r"no longer have the bits of (.*?) on .*, which are more: .*; after step (\d+) they were still the "
                                  r"same", err)
                self.assertEqual(sorted(words[0] for words in said), ["0", "1", "2"], err)
                for _, step, odd, others, same in said:  # the minority has failed
                    self.assertEqual((odd, others), ("rank 2", "ranks 0, 1") if rank else ("rank 0", "ranks 1, 2"), err)
                    self.assertEqual(int(step) % 50, 0)
                    self.assertEqual(int(step) - int(same), 50, err)
                for name in self.saved():
                    if name.startswith("tiny") and not name.endswith(".state"):
                        self.assertEqual(self.weights_in(name), pattern, self.said())

    def test_two_ranks_are_undecided(self):
        pattern = self.weights()
        job = self.start("-ddp_verify_every", "50", ranks=2)
        self.wait_for_step(job, 60)
        self.flip_between_saves(job, 0, pattern)
        _, err = job.communicate(timeout=darknet.LIMIT_S)
        self.assertNotIn(job.returncode, (0, None), err)
        self.assertRegex(err, r"weights of rank 0 on \S+ and of rank 1 on \S+ no longer have the same bits: .* it is undecided on which")

    def test_never(self):
        pattern = self.weights()
        job = self.start("-ddp_verify_every", "0")
        self.wait_for_step(job, 20)
        self.assertGreater(flip(darknet.ranks_under(job.pid)[1], pattern), 0)
        self.wait_for_step(job, self.step() + 1000)
        job.send_signal(signal.SIGUSR2)
        _, err = job.communicate(timeout=darknet.LIMIT_S)
        self.assertEqual(job.returncode, 0, err)


if __name__ == "__main__":
    darknet.main()
