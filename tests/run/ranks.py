#!/usr/bin/env python3
# ddp-test: usual
"""What makes ranks one job: each reads its own part of every batch, all start from the same
weights, those that disagree are named, and one that is lost ends the others."""
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp")


class Ranks(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg())

    def weights(self, name="backup/tiny_final.weights"):
        with open(self.path(name), "rb") as f:
            return f.read()


class Lists(Ranks):
    def test_each_picture_is_looked_for_by_one_rank(self):
        """Rank r of 3 looks for those of lines r, r + 3, ...; the others wait for it."""
        self.write("tiny.cfg", darknet.detector_cfg(batch=6, max_batches=1))
        for i in (0, 4, 5, 7):
            picture = self.data.pictures[i]
            hidden = self.path(picture + ".hidden")
            os.rename(self.path(picture), hidden)
            result = self.refused(*TRAIN, ranks=3, says=f"darknet[rank {i % 3} @ ")
            self.assertEqual(result.err.count(f": cannot read {picture}: "), 1,
                             result)
            self.assertEqual(result.err.count("darknet[rank"), 1, result)
            os.rename(hidden, self.path(picture))

    def test_a_list_may_have_fewer_lines_than_there_are_ranks(self):
        self.data.list("train.list", self.data.pictures[:1])
        self.succeeds(*TRAIN, ranks=2)

    def test_each_rank_reads_every_line(self):
        """A batch is the whole list, with a broken label on one line. With seed 3 the line comes
        first, with 6 sixth of 8; more seeds in case the other rank has read ahead."""
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, max_batches=1))
        self.write(self.data.label(self.data.pictures[3]), "broken\n")
        said = set()
        for seed in (3, 6, 1, 2, 7, 8):
            result = self.refused(*TRAIN, "-ddp_seed", seed, "-threads", 1, ranks=2,
                                  says="darknet[rank ")
            said.update(rank for rank in (0, 1) if f"darknet[rank {rank} @ " in result.err)
            if said == {0, 1}:
                break
        self.assertEqual(said, {0, 1})


class Seeds(Ranks):
    def trained(self, *options, ranks, **values):
        self.write("tiny.cfg", darknet.detector_cfg(momentum=0, decay=0, **values))
        self.succeeds(*TRAIN, *options, ranks=ranks)
        return self.weights()

    def first_weights(self, *options, ranks):
        """Learning rate 0 leaves all but BatchNorm's statistics, of which there are none here."""
        body = darknet.convolutional(4, stride=4)
        self.write("tiny.cfg", darknet.net(learning_rate=0, momentum=0, decay=0, max_batches=1)
                   + body + darknet.convolutional(7, size=1, activation="linear")
                   + darknet.section("yolo", mask=0, anchors="12,12", classes=2, num=1))
        self.succeeds(*TRAIN, *options, ranks=ranks)
        return self.weights()

    def test_a_seed_gives_the_same_first_weights_on_any_ranks(self):
        first = self.first_weights("-ddp_seed", "5", ranks=0)
        for ranks in (1, 2):
            self.same_weights(self.first_weights("-ddp_seed", "5", ranks=ranks), first)
        self.assertNotEqual(self.first_weights("-ddp_seed", "6", ranks=2), first)
        self.assertNotEqual(self.first_weights(ranks=2), first)

    def losses(self, ranks):
        """Of each step: the mini-batches are the same, so is the loss, but for the order of
        its sum."""
        self.write("tiny.cfg", darknet.detector_cfg(batch=12, subdivisions=6, max_batches=4))
        result = self.succeeds(*TRAIN, "-ddp_seed", "5", ranks=ranks)
        found = [float(words) for words in re.findall(r"^\d+: (\d+\.\d+), ", result.out, re.M)]
        self.assertEqual(len(found), 4, result)
        return found

    def test_ranks_train_with_the_samples_of_one_process(self):
        one = self.losses(ranks=0)
        for ranks in (1, 2, 3):
            for step, loss in enumerate(self.losses(ranks=ranks)):
                self.assertAlmostEqual(loss, one[step], delta=1e-4 * one[step])
        self.assertGreater(len(set(one)), 1)

    def test_a_run_can_be_repeated(self):
        runs = [self.trained("-ddp_seed", "5", "-threads", "1", ranks=2) for _ in range(2)]
        self.same_weights(*runs)


class Sums(Ranks):
    def run_limited(self, *options):
        """No file may be as long as the memory that two ranks share, which is one."""
        words = darknet.command(*TRAIN, "-ddp_seed", 7, *options)
        return darknet.run(["mpirun", "-np", "2", "prlimit", "--fsize=8000000", *words], self.folder)

    def test_ranks_that_cannot_share_memory_send_messages(self):
        result = self.succeeds(*TRAIN, "-ddp_seed", 7, ranks=2)
        self.assertIn("\nDDP: sums over ranks: 1 level (2 ranks a host in shared memory)\n", result.out, result)
        expected = self.weights()
        result = self.run_limited()
        self.assertEqual(result.code, 0, result)
        self.assertIn("\nDDP: sums over ranks: direct\n", result.out, result)
        self.same_weights(self.weights(), expected)

    def test_unless_they_are_to_share_it(self):
        self.check_refused(self.run_limited("-ddp_schedule", "hierarchical"), "-ddp_schedule hierarchical: rank 0 (host ", code=2)


class Disagreement(Ranks):
    def disagree(self, says, other, program=TRAIN, together=True):
        """Rank 1 runs `other`. together: every rank says so."""
        words = ["mpirun", "-np", "1", darknet.PROGRAM, *program, ":",
                 "-np", "1", darknet.PROGRAM, *other]
        result = self.check_refused(darknet.run(words, self.folder), says)
        self.assertEqual(sorted(re.findall(r"darknet\[rank (\d)", result.err)), ["0", "1"] if together else ["1"], result)
        self.assertNotIn(" avg, ", result.out, result)
        self.assertEqual(os.listdir(self.path("backup")), [])

    def test_on_the_cfg(self):
        for values, line in (
                ({"batch": 8}, "mini-batch 4, subdivisions 2"),
                ({"learning_rate": 0.5}, "learning_rate 0.5"),
                ({"max_batches": 7}, "max_batches 7"),
                ({"width": 64}, "input 64x32x3")):
            self.write("other.cfg", darknet.detector_cfg(**values))
            with self.subTest(line=line):
                self.disagree((": it has '", line),
                              [*TRAIN[:3], "other.cfg", "-ddp"])
        self.write("other.cfg", darknet.detector_cfg().replace("filters=4", "filters=6", 1))
        self.disagree(": it has 'layer 0 conv",
                      [*TRAIN[:3], "other.cfg", "-ddp"])

    def test_on_the_list(self):
        self.data.list("other.list", self.data.pictures[::-1])
        self.data.data("other.data", train="other.list")
        self.disagree(": it has '8 images listed, hash ",
                      ["detector", "train", "other.data", "tiny.cfg", "-ddp"])

    def test_on_options(self):
        for option, line in ((("-ddp_seed", "3"), "'-ddp_seed 3', not 'no -ddp_seed'"),
                             (("-ddp_bucket_mb", "3"), "'-ddp_bucket_mb 3', not 'no -ddp_bucket_mb'"),
                             (("-ddp_sync_every", "2"), "'-ddp_sync_every 2', not"),
                             (("-ddp_replace",), "'-ddp_replace', not 'no -ddp_replace'"),
                             (("-resume",), "'-resume', not 'no -resume'")):
            with self.subTest(option=option):
                self.disagree(": it has " + line, [*TRAIN, *option])

    def test_on_the_command_line(self):
        self.disagree("darknet[rank 1 @ ", [*TRAIN, "-ddp_foo"], together=False)
        self.disagree("darknet[rank 1 @ ", [*TRAIN, "-foo"], together=False)


class Loss(Ranks):
    def children(self, parent):
        """Of /proc: {rank: process id} of the darknets under parent."""
        found = {}
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                    ppid = int(f.read().rpartition(")")[2].split()[1])
                with open(f"/proc/{name}/environ", "rb") as f:
                    variables = dict(v.split(b"=", 1) for v in f.read().split(b"\0") if b"=" in v)
            except (OSError, ValueError, IndexError):
                continue
            if ppid == parent and b"OMPI_COMM_WORLD_RANK" in variables:
                found[int(variables[b"OMPI_COMM_WORLD_RANK"])] = int(name)
        return found

    def test_a_killed_rank_ends_the_job(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))
        for rank in (0, 1):
            with self.subTest(rank=rank):
                job = darknet.start(darknet.command(*TRAIN, ranks=2), self.folder,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                self.addCleanup(darknet.end_group, job)
                for line in job.stdout:
                    if " avg, " in line:
                        break
                os.kill(self.children(job.pid)[rank], signal.SIGKILL)
                job.stdout.close()
                try:
                    code = job.wait(darknet.LIMIT_S)
                except subprocess.TimeoutExpired:
                    self.fail("the job outlives its rank")
                self.assertNotEqual(code, 0)


if __name__ == "__main__":
    darknet.main()
