#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_channels K: one result for any K, over shared memory and over TCP; going on with another; a rank that is lost; what has one channel refuses more."""
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
SMALL = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
TCP = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}


class Channels(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=11).boxes()
        self.cfg(12)

    def cfg(self, steps, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**{"batch": 12, "subdivisions": 12, "max_batches": steps, **values}))

    def trained(self, *options, ranks, environment=None):
        result = self.succeeds(*TRAIN, *SMALL, *options, ranks=ranks, environment=environment)
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            return f.read(), result

    def start(self, *options, environment=None):
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*TRAIN, *options, ranks=2), self.folder, environment, stdout=said,
                                stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def test_any_number_has_one_result(self):
        for ranks in (2, 3, 4):
            expected, result = self.trained(ranks=ranks)
            self.assertNotIn("take turns", result.out)
            for options in (("2",), ("4", "-ddp_schedule", "direct"), ("4", "-ddp_overlap", "0")):
                with self.subTest(ranks=ranks, options=options):
                    weights, result = self.trained("-ddp_channels", *options, ranks=ranks)
                    self.assertIn(f"\nDDP: sums take turns at {options[0]} MPI communicators\n", result.out)
                    self.same_weights(weights, expected)

    def test_exact_runs_too(self):
        self.cfg(12, batch=8, subdivisions=8)
        expected, _ = self.trained("-ddp_exact", ranks=1)
        for channels in ("1", "2", "4"):
            self.same_weights(self.trained("-ddp_exact", "-ddp_channels", channels, ranks=2)[0], expected)

    def test_over_tcp(self):
        expected, _ = self.trained(ranks=2)
        weights, _ = self.trained("-ddp_channels", "4", ranks=2, environment=TCP)
        self.same_weights(weights, expected)

    def test_goes_on_to_the_same_result(self):
        expected, _ = self.trained(ranks=2)
        for first, then in (("4", "1"), ("2", "4")):
            os.remove(self.path("backup/tiny_final.weights"))
            self.cfg(5)
            self.trained("-ddp_channels", first, ranks=2)
            self.cfg(12)
            weights, result = self.trained("-ddp_channels", then, "-resume_force", ranks=2)
            self.assertIn("DDP: resum", result.out, result)
            self.same_weights(weights, expected)

    def test_a_rank_that_is_killed_is_named(self):
        self.cfg(10000000)
        job = self.start("-ddp_channels", "4")
        self.wait_for("tiny_100.weights.state", job)
        os.kill(darknet.ranks_under(job.pid)[1], signal.SIGKILL)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertRegex(self.said(), r"darknet\[rank 0 .*: rank 1 .*")

    def test_one_rank_has_nothing_to_sum(self):
        _, result = self.trained("-ddp_channels", "4", ranks=0)
        self.assertNotIn("take turns", result.out)

    def test_bench_says_it(self):
        result = self.succeeds("ddp", "bench", "tiny.cfg", "-ddp_channels", "2", "-steps", "2", "-json", "bench.json", ranks=2)
        self.assertIn("\nsums take turns at 2 channels\n", result.out)
        with open(self.path("bench.json"), encoding="utf-8") as f:
            self.assertTrue(re.search('"channels": 2,', f.read()))

    def test_refusals(self):
        for options, says in ((("9",), "-ddp_channels wants a whole number from 1 to 8, not '9'"),
                              (("0",), "-ddp_channels wants a whole number from 1 to 8, not '0'"),
                              (("2", "-ddp_backend", "gloo"), "-ddp_channels 2 wants ranks that MPI connects: Gloo has no communicators")):
            for ranks in (0, 2):
                self.refused(*TRAIN, "-ddp_channels", *options, ranks=ranks, code=2, says=says)

    def test_ranks_must_agree(self):
        words = ["mpirun", "-np", "1", darknet.PROGRAM, *TRAIN, ":", "-np", "1", darknet.PROGRAM, *TRAIN, "-ddp_channels", "2"]
        self.check_refused(darknet.run(words, self.folder), "-ddp_channels 2")


if __name__ == "__main__":
    darknet.main()
