#!/usr/bin/env python3
# ddp-test: usual
"""BatchNorm over the mini-batches of all ranks (-ddp_sync_bn 1): ranks of one image at a time, going on, a lost rank, refusals. That it
computes what one process does with the whole mini-batch, parity.sync_bn.* shows."""
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("classifier", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-ddp_sync_bn", "1")
# One value a channel and image, which has no variance where a rank has one image.
ONE_VALUE = (darknet.convolutional(4) + darknet.section("avgpool") + darknet.convolutional(4, size=1, batch_normalize=1)
             + darknet.section("connected", output=2, activation="linear") + darknet.section("softmax"))


class SyncBn(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder)
        self.cfg()

    def cfg(self, **values):
        self.write("tiny.cfg", darknet.classifier_cfg(**{"batch": 8, "subdivisions": 2, "max_batches": 8, **values}))

    def weights(self):
        with open(self.path("backup/tiny.weights"), "rb") as f:
            return f.read()

    def test_the_banner_says_it(self):
        result = self.succeeds(*TRAIN, ranks=4)
        self.assertIn("DDP: BatchNorm over 8 images, those of 4 mini-batches\n", result.out)
        self.assertNotIn("BatchNorm sees fewer", result.out)

    def test_one_rank_has_its_own(self):
        self.succeeds(*TRAIN, ranks=1)
        with_it = self.weights()
        self.succeeds(*TRAIN[:-2], ranks=1)
        self.same_weights(self.weights(), with_it)

    def test_one_image_a_rank_is_enough(self):
        self.write("tiny.cfg", darknet.net(batch=4, subdivisions=4, max_batches=8) + ONE_VALUE)
        result = self.succeeds(*TRAIN, ranks=4)
        self.assertNotIn("nan", result.out, result)
        self.refused(*TRAIN[:-2], ranks=4, code=2, says="batch")

    def test_statistics_are_those_of_all_ranks(self):
        """What is saved does not depend on whether rank 0's are sent to the others."""
        self.succeeds(*TRAIN, ranks=4)
        sent = self.weights()
        self.succeeds(*TRAIN, "-ddp_broadcast_buffers", "save", ranks=4)
        self.same_weights(self.weights(), sent)
        self.succeeds(*TRAIN[:-2], ranks=4)
        self.assertNotEqual(self.weights(), sent)

    def test_another_number_of_ranks_is_another_run(self):
        self.succeeds(*TRAIN, ranks=2)
        self.refused(*TRAIN, "-resume", ranks=4, code=2, says="-ddp_sync_bn")

    def test_a_run_goes_on_to_the_same_weights(self):
        self.succeeds(*TRAIN, ranks=2)
        expected = self.weights()
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        self.cfg(max_batches=3)
        self.succeeds(*TRAIN, ranks=2)
        self.cfg()
        result = self.succeeds(*TRAIN, "-resume_force", ranks=2)
        self.assertIn("DDP: resum", result.out, result)
        self.same_weights(self.weights(), expected)

    def test_a_lost_rank(self):
        self.cfg(max_batches=10000000)
        job = darknet.start(darknet.command(*TRAIN, ranks=2), self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(darknet.end_group, job)
        self.assertTrue(any(" avg, " in line for line in job.stdout), "it ended before")
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as f:
            os.kill(int(f.read().split()[1]), signal.SIGKILL)
        _, err = job.communicate(timeout=darknet.LIMIT_S)
        self.assertNotEqual(job.returncode, 0, err)
        self.assertIn("rank 1", err)

    def test_not_with_exact(self):
        self.refused(*TRAIN, "-ddp_exact", ranks=2, code=2, says="-ddp_exact does not go with -ddp_sync_bn 1")


if __name__ == "__main__":
    darknet.main()
