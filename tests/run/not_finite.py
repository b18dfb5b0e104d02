#!/usr/bin/env python3
# ddp-test: usual
"""Numbers that are not finite: a rate too high and a label too large, on 1, 2 and 4 ranks; what is said, what is kept."""
import hashlib
import math
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

DETECTOR = ("detector", "train", "train.data", "tiny.cfg")
REGRESSOR = ("regressor", "train", "train.data", "tiny.cfg")
EXACT = ("-ddp", "-ddp_exact", "-ddp_seed", "1")
RANKS = (0, 2, 4)


def hash_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def numbers(path):
    with open(path, "rb") as f:
        data = f.read()[20:]
    return struct.unpack(f"<{len(data) // 4}f", data)


class NotFinite(darknet.Case):
    def files(self):
        """Weights and states: all but the run's records and events."""
        folder = self.path("backup")
        return {name: hash_of(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
                if re.search(r"\.(?:weights|backup|state|part)", name)}

    def explode(self, **values):
        """Good for 4 batches; then at a rate of 1e9."""
        self.write("tiny.cfg", darknet.detector_cfg(**{"batch": 8, "subdivisions": 4, "max_batches": 60, "policy": "steps",
                                                       "steps": 4, "scales": 1e12, **values}))


class Stops(NotFinite):
    def setUp(self):
        super().setUp()
        self.pictures = darknet.DataSet(self.folder).boxes()

    def test_the_job_ends_and_names_what_it_knows(self):
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                self.explode()
                result = self.refused(*DETECTOR, *EXACT, ranks=ranks, says="learning_rate", code=1)
                found = re.search(r"step (\d+): (the gradients of layers? [\d to]+|the loss) (?:are|is) not finite; first the "
                                  r"(?:output|delta) of layer \d \(\w+\) of rank (\d) \(host \S+\), mini-batch (\d)",
                                  result.err)
                self.assertIsNotNone(found, result)
                self.assertLess(int(found.group(1)), 10, result)
                self.assertIn("No weights were saved before", result.err)
                self.assertEqual(len(re.findall(r"(?m)^DDP:   line \d+ of the training list, images/(?:cat|dog)\d\.png$",
                                                result.out)), 2, result)
                self.assertNotRegex(result.out, r"(?m)^\d+: .*(?:nan|inf)")
                self.assertEqual(self.files(), {})
                with open(self.path("backup/tiny.csv"), encoding="ascii") as f:
                    self.assertEqual(len(f.readlines()), int(found.group(1)), "a line for the names, and one for each step before")
                with open(self.path("backup/tiny.html"), encoding="utf-8") as f:
                    self.assertIn(f"step {int(found.group(1)) - 1} of 60, failed", f.read())

    def test_the_last_good_pair_stays_and_is_named(self):
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                for name in os.listdir(self.path("backup")):
                    os.remove(self.path("backup/" + name))
                self.explode(max_batches=3)
                self.succeeds(*DETECTOR, *EXACT, ranks=ranks)
                before = self.files()
                self.assertIn("tiny_final.weights", before)
                self.explode()
                result = self.refused(*DETECTOR, *EXACT, "-resume_force", "-keep", "1", ranks=ranks,
                                      says="The last good weights are backup/tiny_final.weights", code=1)
                for end in ("", ".state"):  # what the finished run had learnt has a second name now
                    before["tiny_final_3.weights" + end] = before["tiny_final.weights" + end]
                self.assertEqual(self.files(), before, result)

    def test_sums_in_the_default_order_and_all_at_once(self):
        for options in ((), ("-ddp_defer_mb", "0"), ("-ddp_overlap", "0"), ("-ddp_sync_every", "2"),
                        ("-ddp_broadcast_buffers", "save"), ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")):
            with self.subTest(options=options):
                self.explode()
                self.refused(*DETECTOR, "-ddp", "-ddp_seed", "1", *options, ranks=2, says="not finite", code=1)
                self.assertEqual(self.files(), {})

    def test_one_step_is_enough(self):
        """The last step is spoilt: its weights are not saved either."""
        self.explode(max_batches=6, steps=5)
        for ranks in RANKS:
            result = self.refused(*DETECTOR, *EXACT, ranks=ranks, says="not finite", code=1)
            self.assertEqual(self.files(), {}, result)

    def test_weights_to_begin_with(self):
        self.explode(max_batches=1)
        self.succeeds(*DETECTOR, *EXACT)
        good = self.path("backup/tiny_final.weights")
        with open(good, "rb") as f:
            data = bytearray(f.read())
        data[20 + 4 * 5:20 + 4 * 6] = struct.pack("<f", math.nan)
        with open(self.path("nan.weights"), "wb") as f:
            f.write(data)
        for ranks in RANKS:
            self.refused(*DETECTOR, "nan.weights", *EXACT, ranks=ranks, code=1,
                         says="nan.weights: a weight of layer 0 is NaN or infinite")



class Skips(NotFinite):
    """A label of 3e38, whose square is no float, in one picture of 32."""

    def setUp(self):
        super().setUp()
        data = darknet.DataSet(self.folder, count=32)
        data.numbers()
        data.write(data.label(data.pictures[11]), "3e38 0.5\n")
        self.write("tiny.cfg", darknet.regressor_cfg(batch=8, subdivisions=4, max_batches=12))

    def train(self, *options, ranks):
        return self.succeeds(*REGRESSOR, *EXACT, *options, ranks=ranks)

    def test_steps_with_it_are_skipped_alike(self):
        kept = set()
        for ranks in RANKS:
            result = self.train("-ddp_on_nan", "skip", "3", ranks=ranks)
            skipped = re.findall(r"(?m)^DDP: step (\d+) skipped, 1 in a row: .*? not finite; first the .* of rank (\d)", result.out)
            self.assertEqual(len(skipped), 3, result) # one an epoch
            self.assertEqual(result.out.count(", images/dog11.png"), 3, result)
            weights = self.path("backup/tiny.weights")
            self.assertTrue(all(map(math.isfinite, numbers(weights))), result)
            self.assertNotRegex(result.out, r"(?m)^\d+, .*(?:nan|inf)")
            kept.add((hash_of(weights), tuple(step for step, _ in skipped)))
        self.assertEqual(len(kept), 1, kept)

    def test_without_exact_on_two_ranks(self):
        for options in ((), ("-ddp_sync_every", "3"), ("-ddp_broadcast_buffers", "save")):
            with self.subTest(options=options):
                result = self.succeeds(*REGRESSOR, "-ddp", "-ddp_seed", "1", "-ddp_on_nan", "skip", "4", *options, ranks=2)
                self.assertIn(" skipped, 1 in a row: ", result.out)
                self.assertTrue(all(map(math.isfinite, numbers(self.path("backup/tiny.weights")))), result)

    def test_what_is_skipped_leaves_no_statistics(self):
        """Of an update of several steps, none: whatever else keeps statistics meanwhile."""
        kept = set()
        for options in ((), ("-ddp_on_bad_data", "skip", "5")):
            self.succeeds(*REGRESSOR, "-ddp", "-ddp_seed", "1", "-ddp_on_nan", "skip", "4", "-ddp_sync_every", "3", *options, ranks=2)
            kept.add(hash_of(self.path("backup/tiny.weights")))
        self.assertEqual(len(kept), 1, kept)

    def test_too_many_in_a_row_end_the_job(self):
        Stops.explode(self)
        darknet.DataSet(self.folder).boxes()
        for ranks in (0, 2):
            result = self.refused(*DETECTOR, *EXACT, "-ddp_on_nan", "skip", "2", ranks=ranks, code=1,
                                  says=" after 2 steps that were skipped: ")
            self.assertEqual(result.out.count(" in a row: "), 2, result)
            self.assertEqual(self.files(), {})

    def test_by_default_it_stops(self):
        for ranks in RANKS:
            result = self.refused(*REGRESSOR, *EXACT, ranks=ranks, says="not finite; first the ", code=1)
            self.assertIn(", images/dog11.png", result.out, result)


if __name__ == "__main__":
    darknet.main()
