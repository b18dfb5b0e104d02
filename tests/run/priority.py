#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_priority: one result with and without it, over shared memory and over TCP, exact and not; a rank that is lost; where it does nothing."""
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
SMALL = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
TCP = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}
NOTHING = "DDP: -ddp_priority 1 does nothing here: "


class Priority(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=11).boxes()
        self.cfg(12)

    def cfg(self, steps, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**{"batch": 12, "subdivisions": 12, "max_batches": steps, **values}))

    def trained(self, *options, ranks, environment=None):
        result = self.succeeds(*TRAIN, *options, ranks=ranks, environment=environment)
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            return f.read(), result

    def test_with_and_without_it_there_is_one_result(self):
        for ranks in (2, 3, 4):
            expected, _ = self.trained("-ddp_priority", "0", ranks=ranks)
            for options in ((), SMALL, (*SMALL, "-ddp_defer_mb", "0"), (*SMALL, "-ddp_schedule", "direct"), (*SMALL, "-ddp_sync_every", "1")):
                with self.subTest(ranks=ranks, options=options):
                    weights, result = self.trained("-ddp_priority", "1", *options, ranks=ranks)
                    self.same_weights(weights, expected)
                    self.assertNotIn(NOTHING, result.out)

    def test_exact_and_over_tcp(self):
        self.cfg(12, batch=8, subdivisions=8)
        expected, _ = self.trained("-ddp_exact", ranks=1)
        for environment in (None, TCP):
            weights, _ = self.trained("-ddp_exact", "-ddp_priority", "1", *SMALL, ranks=2, environment=environment)
            self.same_weights(weights, expected)

    def test_goes_on_to_the_same_result(self):
        expected, _ = self.trained("-ddp_priority", "0", ranks=2)
        os.remove(self.path("backup/tiny_final.weights"))
        self.cfg(5)
        self.trained("-ddp_priority", "1", *SMALL, ranks=2)
        self.cfg(12)
        weights, _ = self.trained("-ddp_priority", "1", *SMALL, "-resume_force", ranks=2)
        self.same_weights(weights, expected)

    def test_a_rank_that_is_killed_is_named(self):
        self.cfg(10000000)
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*TRAIN, *SMALL, "-ddp_priority", "1", ranks=2), self.folder, stdout=said,
                                stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        self.wait_for("tiny_100.weights.state", job)
        os.kill(darknet.ranks_under(job.pid)[1], signal.SIGKILL)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertRegex(self.said(), r"darknet\[rank 0 .*: rank 1 .*")

    def test_where_it_does_nothing_it_says_so(self):
        for options, what in ((("-ddp_on_nan", "skip", "3"), "where steps may be skipped, what is sent"), (("-ddp_shard_optimizer", "1"), "what is shared out"),
                              (("-ddp_compress", darknet.compressions()[0]), "what is compressed"), (("-ddp_overlap", "0"), "without overlap, what is sent")):
            _, result = self.trained("-ddp_priority", "1", *options, ranks=2)
            self.assertIn(NOTHING + what, result.out)
            _, result = self.trained(*options, ranks=2)
            self.assertNotIn(NOTHING, result.out)


if __name__ == "__main__":
    darknet.main()
