#!/usr/bin/env python3
# ddp-test: usual
"""How the cfg's batch is cut over ranks: the banner's words, what is counted, what is refused."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp")
SMALLER = "DDP: these mini-batches are smaller than the cfg's, so BatchNorm sees fewer images"


class Batch(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()

    def train(self, *options, ranks, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**values))
        result = self.succeeds(*TRAIN, *options, ranks=ranks)
        line = re.search(r"(?m)^DDP: (batch .*)$", result.out)
        self.assertIsNotNone(line, result)
        return result, line.group(1)

    def refuse(self, sentence, *options, ranks, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**values))
        result = self.refused(*TRAIN, *options, ranks=ranks, says=f": {sentence}\n", code=2)
        self.assertEqual(result.err.count(sentence), 1, result)
        self.assertEqual(os.listdir(self.path("backup")), [])

    def images(self, result):
        return [int(n) for n in re.findall(r"(?m) seconds, (\d+) images", result.out)]

    def test_ranks_take_whole_mini_batches(self):
        result, line = self.train(batch=8, subdivisions=4, ranks=2)
        self.assertEqual(line, "batch 8 = 2 ranks x 2 mini-batches x 2 images")
        self.assertNotIn(SMALLER, result.out)
        self.assertEqual(self.images(result), [8, 16, 24])

    def test_one_process_keeps_the_cfg(self):
        for ranks in (0, 1):
            _, line = self.train(batch=8, subdivisions=4, ranks=ranks)
            self.assertEqual(line, "batch 8 = 1 rank x 4 mini-batches x 2 images")

    def test_mini_batches_are_cut_further_with_a_notice(self):
        result, line = self.train(batch=12, subdivisions=2, ranks=3)
        self.assertEqual(line, "batch 12 = 3 ranks x 2 mini-batches x 2 images")
        self.assertIn(SMALLER, result.out)
        self.assertIn("subdivisions=6 in the cfg would be the same\n", result.out)
        self.assertEqual(self.images(result), [12, 24, 36])

    def test_what_cannot_be_cut_is_refused_with_values_that_work(self):
        self.refuse("batch=8 cannot be cut evenly over 3 ranks; batch=6, batch=12 or "
                    "-ddp_batch rank would work", batch=8, subdivisions=2, ranks=3)
        for values in ({"batch": 6, "subdivisions": 2}, {"batch": 12, "subdivisions": 2}):
            self.train(ranks=3, max_batches=1, **values)
        self.train("-ddp_batch", "rank", ranks=3, max_batches=1, batch=8, subdivisions=2)

    def test_batchnorm_over_one_value_is_refused_with_values_that_work(self):
        bodies = {darknet.section("avgpool") + darknet.convolutional(4, size=1, batch_normalize=1): (4, 2, 4),
                  darknet.section("connected", output=4, batch_normalize=1): (2, 1, 2),
                  darknet.section("connected", output=4, activation="linear")
                  + darknet.section("batchnorm"): (3, 3, 1)}
        works = (("batch=8 or 2 ranks", 8, 2, 4), ("batch=4 or 1 rank", 2, 1, 1),
                 ("subdivisions=1 or batch=6", 3, 1, 1))
        for (body, (batch, subdivisions, ranks)), (says, *then) in zip(bodies.items(), works):
            tail = (darknet.section("connected", output=2, activation="linear")
                    + darknet.section("softmax"))
            for number, (batch, subdivisions, ranks) in enumerate(((batch, subdivisions, ranks), then)):
                with self.subTest(batch=batch, subdivisions=subdivisions, ranks=ranks):
                    self.write("tiny.cfg", darknet.net(batch=batch, subdivisions=subdivisions)
                               + darknet.convolutional(4) + body + tail)
                    words = ("classifier", "train", "train.data", "tiny.cfg", "-ddp")
                    if number:
                        result = self.succeeds(*words, ranks=ranks)
                        self.assertNotIn("nan", result.out, result)
                    else:
                        self.refused(*words, ranks=ranks, says=[
                            "makes mini-batches of one image", f"; {says} would work"])

    def test_a_batch_that_leaves_images_out_is_refused(self):
        for ranks in (0, 2):
            self.refuse("batch=8 is not a multiple of subdivisions=3: 2 of its images would be left "
                        "out of every step; batch=6, batch=%s, subdivisions=2 or subdivisions=4 "
                        "would work" % (12 if ranks else 9), batch=8, subdivisions=3, ranks=ranks)

    def test_advice_under_ddp_exact_works_there_too(self):
        self.refuse("batch=9 is not a multiple of subdivisions=4: 1 of its images would be left out of every step; "
                    "batch=8 or batch=12 with 4 ranks would work", "-ddp_exact", batch=9, subdivisions=4, ranks=6)
        self.refuse("batch=22 is not a multiple of subdivisions=8: 6 of its images would be left out of every step; "
                    "batch=16, batch=24 or subdivisions=2 would work", "-ddp_exact", batch=22, subdivisions=8, ranks=2)
        for batch, subdivisions, ranks in ((8, 4, 4), (12, 4, 4), (16, 8, 2), (24, 8, 2), (22, 2, 2)):
            self.train("-ddp_exact", ranks=ranks, max_batches=1, batch=batch, subdivisions=subdivisions)

    def test_ddp_batch_rank_gives_every_rank_the_cfgs_batch(self):
        result, line = self.train("-ddp_batch", "rank", batch=4, subdivisions=2, ranks=2)
        self.assertEqual(line, "batch 8 = 2 ranks x 2 mini-batches x 2 images")
        self.assertIn("DDP: learning rate x 2 for 2 times the batch", result.out, result)
        self.assertEqual(self.images(result), [8, 16, 24])
        self.assertEqual(re.findall(r" avg, (\S+) rate", result.out), ["0.002000"] * 3, result)

    def test_a_scaled_rate_is_what_every_command_says(self):
        self.write("text", "to be or not to be that is the question " * 20)
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=1))
        for words in (TRAIN, ("classifier", *TRAIN[1:])):
            self.write("tiny.cfg", (darknet.detector_cfg if words == TRAIN else darknet.classifier_cfg)(max_batches=1))
            for option, rate in (("rank", "0.002"), ("global", "0.001")):
                result = self.succeeds(*words, "-ddp_batch", option, ranks=2)
                self.assertEqual(re.findall(r"Learning Rate: ([\d.]+),", result.out), [rate], result)
                self.assertEqual(re.findall(r" avg, (\S+) rate", result.out), [rate + "000"], result)
        self.write("tiny.cfg", darknet.rnn_cfg(learning_rate=0.001, max_batches=1))
        result = self.succeeds("rnn", "train", "tiny.cfg", "-file", "text", "-backup", "backup", "-ddp", "-ddp_batch",
                               "rank", ranks=2)
        self.assertEqual(re.findall(r"Learning Rate: ([\d.]+),", result.err), ["0.002"], result)

    def test_time_steps_count_as_images(self):
        self.write("text", "to be or not to be that is the question " * 20)
        self.write("tiny.cfg", darknet.rnn_cfg(batch=8, time_steps=2, subdivisions=2, max_batches=2))
        batch = "batch 16 = 2 ranks x 1 mini-batch x 4 images x 2 time steps\n"
        result = self.succeeds("rnn", "train", "tiny.cfg", "-file", "text", "-backup", "backup", "-ddp", ranks=2)
        self.assertIn("DDP: " + batch, result.out, result)
        self.assertIn(batch, self.succeeds("ddp", "plan", "tiny.cfg", "-np", "2").out)
        result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "1", ranks=2)
        self.assertIn(", 16 images a step on 2 ranks ", result.out, result)

    def test_one_is_said_in_the_singular(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=1, subdivisions=1, max_batches=1))
        self.succeeds(*TRAIN)
        self.write("tiny.cfg", darknet.detector_cfg(batch=1, subdivisions=1, max_batches=2))
        result = self.succeeds(*TRAIN, "-resume_force")
        self.assertIn(": 1 batch, 1 image, by 1 rank\n", result.out, result)
        result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "1")
        self.assertIn(", 1 image a step on 1 rank ", result.out, result)
        self.write("tiny.cfg", darknet.detector_cfg(batch=64, subdivisions=64, max_batches=400))
        result = self.succeeds(*TRAIN)
        self.assertNotIn(" 1 seconds left", result.out)
        self.assertIn(" 1 second left", result.out)

    def test_sync_every_updates_once_in_a_while(self):
        result, line = self.train("-ddp_sync_every", "2", batch=4, subdivisions=2, ranks=2,
                                  max_batches=4)
        self.assertEqual(line, "batch 4 = 2 ranks x 1 mini-batch x 2 images, "
                               "an update every 2 batches")
        self.assertEqual(self.images(result), [4, 8, 12, 16])


if __name__ == "__main__":
    darknet.main()
