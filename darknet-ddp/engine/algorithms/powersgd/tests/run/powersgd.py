#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_compress powersgd:R: what is its own (the rest: tests/run/compressions.py): its words, and Q, which is saved."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 6, "tests", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")


class Case(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=11).boxes()
        self.cfg(12)

    def cfg(self, steps):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=steps).replace("filters=4", "filters=12"))

    def trained(self, *options, ranks=2):
        result = self.succeeds(*TRAIN, *options, ranks=ranks)
        return self.weights("tiny_final.weights"), result


class PowerSgd(Case):
    def test_ranks_differ_in_what_they_send_and_come_to(self):
        two, result = self.trained("-ddp_compress", "powersgd:2")
        self.assertRegex(result.out, "\nDDP: gradients travel by PowerSGD of rank 2: 0.00[1-9] MB of 0.00[2-9], and ranks keep what that leaves out")
        self.assertNotEqual(self.trained("-ddp_compress", "powersgd:1")[0], two)

    def test_q_goes_on(self):
        self.cfg(130)
        self.trained("-ddp_compress", "powersgd:2")
        expected = self.weights("tiny_final.weights.state")
        self.cfg(100)
        self.trained("-ddp_compress", "powersgd:2")
        self.cfg(130)
        self.trained("-ddp_compress", "powersgd:2", "-resume_force")
        state = self.weights("tiny_final.weights.state")
        begin = expected.index(b"PowerSGD Q\0")
        self.assertTrue(state[begin:-8] == expected[begin:-8], "another Q")

    def test_another_rank_is_another_run(self):
        self.trained("-ddp_compress", "powersgd:2")
        self.refused(*TRAIN, "-ddp_compress", "powersgd:1", "-resume", ranks=2, says="-ddp_compress was powersgd:2, is now powersgd:1")
        self.cfg(20)
        result = self.succeeds(*TRAIN, "-ddp_compress", "powersgd:1", "-resume_force", ranks=2)
        self.assertIn("resumed all the same: -ddp_compress was powersgd:2, is now powersgd:1\n", result.out, result)

    def test_where_nothing_is_large_enough_to_compress(self):
        how = ("-ddp_compress", "powersgd:64")
        self.cfg(110)
        plain, _ = self.trained()
        weights, result = self.trained(*how)
        self.assertIn("\nDDP: -ddp_compress powersgd:64 would make no matrix of this network smaller: gradients travel as they are\n", result.out)
        self.same_weights(weights, plain)
        self.cfg(120)
        plain, _ = self.trained()
        self.cfg(110)
        self.trained(*how)
        self.cfg(120)
        self.same_weights(self.trained(*how, "-resume_force")[0], plain)


if __name__ == "__main__":
    darknet.main()
