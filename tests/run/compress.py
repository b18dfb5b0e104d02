#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_compress bf16, fp16 and fp8: one result whatever the schedule, the buckets and the overlap; ended, killed and resumed to the same
weights; an overflow of fp16 is seen; what does not go with it is refused. (What the result is: parity.wire, unit.group_wire.)"""
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
OTHERWISE = (SMALL, ("-ddp_schedule", "direct"), ("-ddp_schedule", "hierarchical", "-ddp_overlap", "0"), (*SMALL, "-ddp_defer_mb", "0"))


class Compress(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=11)
        self.data.boxes()
        self.cfg(12)

    def cfg(self, steps):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=steps))

    def trained(self, *options, ranks=2):
        result = self.succeeds(*TRAIN, *options, ranks=ranks)
        return self.weights(), result


class Results(Compress):
    def test_one_result_for_each_number_of_ranks(self):
        for ranks, format_ in ((2, "bf16"), (2, "fp16"), (4, "bf16"), (2, "fp8"), (4, "fp8")):
            plain, result = self.trained(ranks=ranks)
            self.assertNotIn("DDP: gradients travel", result.out)
            rounded, result = self.trained("-ddp_compress", format_, ranks=ranks)
            self.assertIn(f"\nDDP: gradients travel as {format_} and are added in float32\n", result.out, result)
            self.assertNotEqual(rounded, plain)
            for options in OTHERWISE[:4 if ranks == 2 else 2]:
                with self.subTest(ranks=ranks, format=format_, options=options):
                    self.same_weights(self.trained("-ddp_compress", format_, *options, ranks=ranks)[0], rounded)

    def test_one_rank_sends_nothing_and_rounds_nothing(self):
        plain, _ = self.trained(ranks=0)
        rounded, result = self.trained("-ddp_compress", "bf16", ranks=0)
        self.same_weights(rounded, plain)
        self.assertNotIn("DDP: gradients travel", result.out)

    def test_layers_that_ran_on_no_rank_and_updates_of_several_batches(self):
        for format_ in ("fp16",) if darknet.GPU else ("fp16", "fp8"):  # NCCL does not add 8 bits
            options = ("-ddp_compress", format_, "-ddp_sync_every", "3")
            self.same_weights(self.trained(*options)[0], self.trained(*options, *SMALL)[0])

    def test_8_bits_in_urgent_pieces_and_on_each_rank_its_share(self):
        """Neither cuts a block of them."""
        expected, _ = self.trained("-ddp_compress", "fp8")
        for options in (("-ddp_priority", "1"), ("-ddp_shard_optimizer", "1"), ("-ddp_shard_optimizer", "1", *SMALL)):
            with self.subTest(options=options):
                self.same_weights(self.trained("-ddp_compress", "fp8", *options)[0], expected)

    def test_bench_sends_half_or_less(self):
        said = {}
        for format_ in ("none", "bf16", "fp8"):
            result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", "-json", "figures", "-ddp_compress", format_, ranks=2)
            with open(self.path("figures"), encoding="ascii") as f:
                self.assertIn(f'"compress": "{format_}"', f.read())
            said[format_] = result.out
        for format_ in ("bf16", "fp8"):
            self.assertIn(f", gradients travel as {format_}\n", said[format_])
        self.assertNotIn("travel", said["none"])


class Resumed(Compress):
    def start(self, *options):
        words = darknet.command(*TRAIN, "-ddp_compress", "bf16", *options, ranks=2)
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(words, self.folder, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def test_a_run_that_was_ended_goes_on_to_the_same_weights(self):
        self.cfg(100000)
        job = self.start()
        self.wait_for("tiny_100.weights.state", job)
        darknet.tell(darknet.ranks_under(job.pid), signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        steps = len(re.findall(" avg, ", self.said())) + 10
        self.cfg(steps)
        self.succeeds(*TRAIN, "-ddp_compress", "bf16", "-resume_force", ranks=2)
        resumed = self.weights()
        self.empty()
        self.same_weights(self.trained("-ddp_compress", "bf16")[0], resumed)

    def test_a_killed_rank_ends_the_job_and_the_rest_is_made_up_for(self):
        self.cfg(3000)
        expected, _ = self.trained("-ddp_compress", "bf16")
        self.empty()
        job = self.start()
        self.wait_for("tiny_100.weights.state", job)
        ranks = darknet.ranks_under(job.pid)
        if len(ranks) == 2:
            os.kill(ranks[1], signal.SIGKILL)
            self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
            self.assertNotIn("tiny_final.weights", os.listdir(self.path("backup")), self.said())
        else:
            job.wait(darknet.LIMIT_S)  # it was over already, on a machine that stood still
        result = self.succeeds(*TRAIN, "-ddp_compress", "bf16", "-resume", ranks=2)
        self.assertTrue(self.weights() == expected, result)

    def test_another_wire_is_another_run(self):
        self.trained("-ddp_compress", "bf16")
        self.refused(*TRAIN, "-resume", ranks=2, says="-ddp_compress was bf16, is now none")


class Refused(Compress):
    def test_an_exact_run_rounds_nothing_on_the_way(self):
        for ranks in (0, 2):
            self.refused(*TRAIN, "-ddp_exact", "-ddp_compress", "fp16", ranks=ranks, code=2,
                         says="-ddp_exact does not go with -ddp_compress fp16, whose result depends on the number of ranks")

    def test_ranks_must_agree(self):
        words = ["mpirun", "-np", "1", darknet.PROGRAM, *TRAIN, ":", "-np", "1", darknet.PROGRAM, *TRAIN, "-ddp_compress", "bf16"]
        result = darknet.run(words, self.folder)
        self.check_refused(result, "-ddp_compress bf16")
        self.assertIn("-ddp_compress none", result.err, result)


class Overflow(Compress):
    def setUp(self):
        super().setUp()
        self.write("tiny.cfg", darknet.regressor_cfg(max_batches=3, learning_rate=1e-12))
        for picture in self.data.pictures:
            self.write(self.data.label(picture), "90000 -90000\n")

    def train(self, *options):
        return ("regressor", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1", *options)

    def test_fp16_says_that_a_sum_is_too_large(self):
        for schedule in ("direct", "hierarchical"):
            self.refused(*self.train("-ddp_compress", "fp16", "-ddp_schedule", schedule), ranks=2, code=1,
                         says=("not finite", "too large for fp16, which ends at 65504: -ddp_compress bf16 does not"))

    def test_steps_with_it_can_be_skipped(self):
        result = self.succeeds(*self.train("-ddp_compress", "fp16", "-ddp_on_nan", "skip", "9"), ranks=2)
        self.assertEqual(len(re.findall("DDP: step [0-9]+ skipped", result.out)), 3, result)

    def test_bf16_has_the_range_of_float32(self):
        for format_ in ("none", "bf16"):
            self.succeeds(*self.train("-ddp_compress", format_), ranks=2)


if __name__ == "__main__":
    darknet.main()
