#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_layer_drop: one result whatever the buckets, and with -ddp_exact on any number of ranks; a run that was ended or killed
goes on to the same weights; what is left out is not sent; a cfg without residual blocks is refused. (What the result is:
glue.layer_drop, unit.layer_drop.)"""
import array
import os
import re
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 6, "tests", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
DROP = ("-ddp_layer_drop", "0.8")
SMALL = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
OTHERWISE = (SMALL, ("-ddp_schedule", "direct"), ("-ddp_schedule", "hierarchical", "-ddp_overlap", "0"), (*SMALL, "-ddp_defer_mb", "0"),
             ("-ddp_find_unused", "0", "-ddp_verify_every", "1"), ("-ddp_on_nan", "skip", "2"))

EXACT = ((1, ()), (2, SMALL), (2, ()), (4, SMALL), (4, ("-ddp_defer_mb", "0")))


def block(filters=4, inner=8):
    return (darknet.convolutional(inner, batch_normalize=1) + darknet.convolutional(filters, batch_normalize=1)
            + darknet.section("shortcut", **{"from": -3, "activation": "linear"}))


def cfg(blocks=3, **values):
    return (darknet.net(**{"batch": 8, "subdivisions": 8, "max_batches": 30, **values}) + darknet.BODY + block() * blocks
            + darknet.convolutional(7, size=1, activation="linear")
            + darknet.section("yolo", mask=0, anchors="12,12", classes=2, num=1, jitter=.1, ignore_thresh=.7, truth_thresh=1,
                              random=0))


def distance(a, b):
    """Of two weights files, whose headers take 20 bytes."""
    return sum((x - y) ** 2 for x, y in zip(array.array("f", a[20:]), array.array("f", b[20:]))) ** .5


class LayerDrop(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=11).boxes()
        self.write("tiny.cfg", cfg())

    def trained(self, *options, ranks=2):
        result = self.succeeds(*TRAIN, *options, ranks=ranks)
        return self.weights(), result


class Results(LayerDrop):
    def test_exact_on_any_number_of_ranks(self):
        expected, result = self.trained(*DROP, "-ddp_exact", ranks=0)
        self.assertIn("\nDDP: layer drop: 3 residual blocks; a step leaves out more and more of them, in the end 53.3% on average, "
                      "the last one 80.0% of the time\n", result.out)
        self.write("one.cfg", cfg(blocks=1, max_batches=2))
        self.assertIn("\nDDP: layer drop: 1 residual block; more and more steps leave it out, in the end 80.0% of them\n",
                      self.succeeds(*TRAIN[:3], "one.cfg", *TRAIN[4:], *DROP).out)
        left_out = int(re.search(r"\nDDP: layer drop: (\d+) of 90 blocks of all steps were left out", result.out).group(1))
        self.assertTrue(20 < left_out < 70, result)
        for ranks, options in EXACT[1::2] if darknet.GPU else EXACT:
            with self.subTest(ranks=ranks, options=options):
                weights, result = self.trained(*DROP, "-ddp_exact", *options, ranks=ranks)
                self.assertIn(f"layer drop: {left_out} of 90 blocks", result.out)
                self.same_weights(weights, expected)
        self.assertNotEqual(self.trained("-ddp_exact", ranks=0)[0], expected)

    @unittest.skipUnless(darknet.GPU, "no GPU is asked for")
    def test_a_gpu_computes_what_a_cpu_does(self):
        on_gpu, _ = self.trained(*DROP, ranks=1)
        whole, _ = self.trained(ranks=1)
        result = darknet.run([darknet.PROGRAM, *TRAIN, *DROP, "-nogpu"], self.folder)
        self.assertEqual(result.code, 0, result)
        on_cpu = self.weights()
        self.assertLess(distance(on_gpu, on_cpu), distance(on_gpu, whole) / 100)

    def test_one_result_for_each_number_of_ranks(self):
        for ranks in (2, 3):
            self.write("tiny.cfg", cfg(**({"batch": 6, "subdivisions": 6} if ranks == 3 else {})))
            expected, _ = self.trained(*DROP, ranks=ranks)
            for options in OTHERWISE[:6 if ranks == 2 else 2]:
                with self.subTest(ranks=ranks, options=options):
                    self.same_weights(self.trained(*DROP, *options, ranks=ranks)[0], expected)

    def test_it_goes_with_other_options(self):
        plain, _ = self.trained(*DROP)
        for options in (("-ddp_compress", "bf16"), ("-ddp_sync_bn", "1"), ("-ddp_local_sgd", "4"), ("-ddp_sync_every", "2")):
            with self.subTest(options=options):
                result = self.succeeds(*TRAIN, *DROP, *options, ranks=2)
                self.assertIn(" blocks of all steps were left out", result.out, result)
                self.assertNotIn("nan", result.out)
                self.assertNotEqual(self.weights(), plain)

    def test_a_classifier_whose_network_is_freed_before_the_end(self):
        self.write("tiny.cfg", darknet.net(batch=8, subdivisions=2, max_batches=9) + darknet.BODY + block() * 2
                   + darknet.convolutional(2, size=1, activation="linear") + darknet.section("avgpool") + darknet.section("softmax"))
        result = self.succeeds("classifier", "train", "train.data", "tiny.cfg", "-ddp", *DROP, ranks=2)
        self.assertIn(" of 18 blocks of all steps were left out", result.out, result)

    def test_what_it_sends(self):
        """Nearly all gradients are those of the last block."""
        self.write("tiny.cfg", cfg(1).replace("filters=8", "filters=2000"))
        sent = []
        for options in (("-ddp_layer_drop", "0.0001"), ("-ddp_layer_drop", "0.9")):
            _, result = self.trained(*options, "-ddp_schedule", "direct")
            sent.append(float(re.search(r"; rank 0 sent ([0-9.]+) MB a step\n", result.out).group(1)))
            out = float(re.search(r"left out, ([0-9.]+)%", result.out).group(1)) / 100
        self.assertGreater(out, .5)
        self.assertLess(sent[1], sent[0] * (1.05 - out))


class Saved(LayerDrop):
    def start(self, *options, ranks=2):
        words = darknet.command(*TRAIN, *DROP, *options, ranks=ranks)
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(words, self.folder, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def keep(self, step):
        for name in os.listdir(self.path("backup")):
            if not name.startswith(f"tiny_{step}"):
                os.remove(self.path("backup/" + name))

    def test_a_resumed_run_comes_to_the_same_bits_though_its_seed_is_drawn(self):
        self.write("tiny.cfg", cfg(max_batches=130))
        drawn = [word for word in TRAIN if word not in ("-ddp_seed", "7")]
        self.succeeds(*drawn, *DROP, "-ddp_exact", ranks=2)
        expected = self.weights()
        for ranks in (2, 1):
            self.keep(100)
            result = self.succeeds(*drawn, *DROP, "-ddp_exact", "-resume", ranks=ranks)
            self.assertIn("resuming from backup/tiny_100.weights: 100 batches", result.out, result)
            self.same_weights(self.weights(), expected)

    def test_a_rank_that_is_killed_is_named_and_the_run_goes_on(self):
        self.write("tiny.cfg", cfg(max_batches=100000))
        job = self.start()
        self.wait_for("tiny_100.weights.state", job)
        os.kill(darknet.ranks_under(job.pid)[1], signal.SIGKILL)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertRegex(self.said(), r"darknet\[rank 0 .*: rank 1 .*")
        number = self.keep_newest_numbered()
        self.write("tiny.cfg", cfg(max_batches=number + 20))
        result = self.succeeds(*TRAIN, *DROP, "-resume_force", ranks=2)
        self.assertIn(f"resuming from backup/tiny_{number}.weights", result.out)
        self.assertIn(" of 60 blocks of all steps were left out", result.out, result)

    def test_another_probability_is_another_run(self):
        self.trained(*DROP)
        for options, says in ((("-ddp_layer_drop", "0.5"), "-ddp_layer_drop was 0.8, is now 0.5"), ((), "-ddp_layer_drop was 0.8")):
            self.refused(*TRAIN, *options, "-resume", ranks=2, says=says)


class Refused(LayerDrop):
    def test_a_cfg_without_residual_blocks(self):
        self.write("tiny.cfg", cfg(0))
        for ranks in (0, 2):
            self.refused(*TRAIN, *DROP, ranks=ranks, code=2, says="layer drop leaves residual blocks out, and this cfg has none")

    def test_a_cfg_that_does_not_say_how_long_it_trains(self):
        self.write("tiny.cfg", cfg(max_batches=0))
        self.refused(*TRAIN, *DROP, ranks=2, code=2, says="max_batches=0: nothing would be trained")

    def test_what_does_not_train(self):
        self.refused("ddp", "bench", "tiny.cfg", *DROP, code=2, says="-ddp_layer_drop is for training")

    def test_ranks_must_agree(self):
        words = ["mpirun", "-np", "1", darknet.PROGRAM, *TRAIN, ":", "-np", "1", darknet.PROGRAM, *TRAIN, *DROP]
        self.check_refused(darknet.run(words, self.folder), "-ddp_layer_drop 0.8")


if __name__ == "__main__":
    darknet.main()
