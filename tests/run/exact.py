#!/usr/bin/env python3
# ddp-test: usual cost=100
"""-ddp_exact: networks with BatchNorm, dropout, momentum, decay and random sizes train to
the same weights files, byte for byte, on 1, 2, 4 and 8 ranks, whatever the buckets."""
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

STEPS = {"batch": 8, "subdivisions": 8, "max_batches": 12}  # Darknet draws another size every 10

SMALL = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
MIDDLE = ("-ddp_bucket_mb", "0.01")
LARGE = ("-ddp_bucket_mb", "25")
STILL = ("-ddp_overlap", "0")

# Ranks and options: every number of ranks, every size with and without overlap.
RUNS = (
    (0, ()), (1, SMALL), (2, SMALL), (2, MIDDLE), (2, LARGE), (2, SMALL + STILL),
    (2, MIDDLE + STILL), (2, LARGE + STILL), (4, SMALL), (4, MIDDLE + STILL), (4, LARGE),
    (8, SMALL + STILL), (8, MIDDLE), (8, LARGE),
)
FEW = RUNS[1::4]  # of each number of ranks one, every size, with and without overlap
if darknet.GPU:  # where a run takes seconds to start
    RUNS = RUNS[::4]


def classifier_cfg(**values):
    """Takes sizes from 128 to 448."""
    body = (darknet.convolutional(6, size=5, stride=8, batch_normalize=1)
            + darknet.section("dropout", probability=.3)
            + darknet.convolutional(8, stride=2, batch_normalize=1))
    return (darknet.net(**{**STEPS, "random": 1, "angle": 7, "hue": .1, "saturation": .75,
                           "exposure": .75, "aspect": .75, **values}) + body
            + darknet.section("avgpool") + darknet.section("dropout", probability=.2)
            + darknet.section("connected", output=2, activation="linear")
            + darknet.section("softmax"))


def detector_cfg(random=0, **values):
    body = (darknet.convolutional(6, size=5, stride=4, batch_normalize=1)
            + darknet.section("dropout", probability=.2)
            + darknet.convolutional(8, stride=4 if random else 1, batch_normalize=1))
    return (darknet.net(**{**STEPS, "hue": .1, "saturation": 1.5, "exposure": 1.5, **values})
            + body + darknet.convolutional(7, size=1, activation="linear")
            + darknet.section("yolo", mask=0, anchors="12,12", classes=2, num=1, jitter=.3,
                              ignore_thresh=.7, truth_thresh=1, random=random))


class Trained(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=11)
        self.data.boxes()

    def trained(self, command, *options, ranks):
        result = self.succeeds(command, "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed",
                               "7", *options, ranks=ranks)
        name = {"detector": "tiny_final.weights", "classifier": "tiny.weights"}[command]
        with open(self.path("backup/" + name), "rb") as f:
            weights = f.read()
        losses = re.findall(r"^\d+.*?: (-?\d+\.\d+), (-?\d+\.\d+) avg,", result.out, re.M)
        self.assertEqual(len(losses), STEPS["max_batches"], result)
        return weights, losses


class Exact(Trained):
    def check_exact(self, command, runs=FEW):
        expected = self.trained(command, "-ddp_exact", ranks=0)
        self.assertGreater(len(set(expected[1])), 10, "the losses do not move")
        for ranks, options in runs:
            with self.subTest(ranks=ranks, options=options):
                found = self.trained(command, "-ddp_exact", "-threads", "1", *options, ranks=ranks)
                self.assertEqual(found[1], expected[1])
                self.same_weights(found[0], expected[0])

    def test_a_classifier(self):
        self.write("tiny.cfg", classifier_cfg())
        self.check_exact("classifier")

    def test_a_detector(self):
        self.write("tiny.cfg", detector_cfg())
        self.check_exact("detector", RUNS[1:])

    def test_a_detector_of_yolov1(self):
        body = (darknet.convolutional(6, size=5, stride=4, batch_normalize=1)
                + darknet.section("dropout", probability=.2))
        self.write("tiny.cfg", darknet.yolov1_cfg(body=body, **STEPS))
        self.check_exact("detector")

    def test_lines_of_rnn(self):
        """A line for each batch, with its loss: the same lines on any number of ranks."""
        self.write("text", "to be or not to be, that is the question: " * 9)
        self.write("tiny.cfg", darknet.rnn_cfg(batch=8, subdivisions=4, max_batches=6))
        runs = []
        for ranks in (0, 2, 4):
            result = self.succeeds("rnn", "train", "tiny.cfg", "-file", "text", "-backup", "backup", "-ddp",
                                   "-ddp_seed", "7", "-ddp_exact", ranks=ranks)
            lines = re.findall(r"^(\d+): (\S+), (\S+) avg, (\S+) rate, \S+ seconds, (\S+) epochs", result.out, re.M)
            self.assertEqual([line[0] for line in lines], [str(i) for i in range(1, 7)], result)
            with open(self.path("backup/tiny_final.weights"), "rb") as f:
                runs.append((lines, f.read()))
        self.assertGreater(len({line[1] for line in runs[0][0]}), 4, "the losses do not move")
        self.assertTrue(runs[0] == runs[1] == runs[2], [run[0] for run in runs])

    def weights_after_100_steps(self, *options, ranks):
        path = self.path("backup/tiny_100.weights")
        job = darknet.start(darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp",
                                            "-ddp_seed", "7", "-verbose", *options, ranks=ranks), self.folder,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        sizes, saved = [], False
        for line in job.stdout:
            if line.strip().isdigit():
                sizes.append(int(line))
            saved = os.path.exists(path)
            if saved:
                break
        darknet.end_group(job)
        job.stdout.close()
        self.assertTrue(saved, "no weights after 100 steps")
        with open(path, "rb") as f:
            weights = f.read()
        os.remove(path)
        return weights, sizes[:10]

    def test_a_detector_of_many_sizes(self):
        self.write("tiny.cfg", detector_cfg(random=1, max_batches=400))
        one = self.weights_after_100_steps("-ddp_exact", ranks=0)
        four = self.weights_after_100_steps("-ddp_exact", *SMALL, ranks=4)
        self.assertEqual(one[1], four[1])
        self.assertGreater(len(set(one[1])), 4, one[1])
        self.same_weights(one[0], four[0])


class Threads(darknet.Case):
    def test_threads_that_compute(self):
        """Rows of 64x64 products, which oneDNN shares out to threads, and sums in parts."""
        darknet.DataSet(self.folder)
        cfg = darknet.classifier_cfg(body=darknet.convolutional(32, stride=2)
                                     + darknet.convolutional(64, stride=2), batch=4,
                                     subdivisions=2, max_batches=3, width=256, height=256)
        self.write("tiny.cfg", cfg)
        first = None
        for threads in (1, 2, 4):
            words = ["env", f"OMP_NUM_THREADS={threads}"] + darknet.command(
                "classifier", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7",
                "-ddp_exact")
            result = darknet.run(words, self.folder)
            self.assertEqual(result.code, 0, result)
            with open(self.path("backup/tiny.weights"), "rb") as f:
                weights = f.read()
            first = first or weights
            self.same_weights(weights, first, f"{threads} threads")


class NotExact(Trained):
    """Without -ddp_exact sums round differently."""

    def check_close(self, command, cfg):
        for ranks, batch in ((2, 8), (3, 6)):
            self.write("tiny.cfg", cfg(batch=batch, subdivisions=batch))
            one = self.trained(command, ranks=0)[0]
            with self.subTest(ranks=ranks):
                first = self.trained(command, "-threads", "3", ranks=ranks)[0]
                again = self.trained(command, *SMALL, ranks=ranks)[0]
                self.assertTrue(first == again, "two runs differ")
                self.assertFalse(first == one, "as exact as -ddp_exact")
                self.assertLess(difference(one, first), 1e-5)

    def test_a_classifier(self):
        self.check_close("classifier", classifier_cfg)

    def test_a_detector(self):
        self.check_close("detector", detector_cfg)


def parameters(weights):
    """The numbers of a weights file of the cfgs above, less BatchNorm's statistics."""
    numbers = struct.unpack(f"<{(len(weights) - 20) // 4}f", weights[20:])
    found, at = [], 0
    for filters, inputs, size in ((6, 3, 5), (8, 6, 3)):
        found += numbers[at:at + 2 * filters]  # biases and scales
        at += 4 * filters
        found += numbers[at:at + filters * inputs * size * size]
        at += filters * inputs * size * size
    return found + list(numbers[at:])


def difference(a, b):
    """The largest between the parameters of two weights files, relative to their largest."""
    a, b = parameters(a), parameters(b)
    return max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, a))


class Refusals(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()

    def test_what_cannot_be_exact(self):
        for ranks, values, options, says in (
                (3, {"batch": 12, "subdivisions": 4}, (), "3 ranks"),
                (3, {"batch": 16, "subdivisions": 4}, (), "3 ranks"),
                (8, {"batch": 8, "subdivisions": 4}, (), "8 ranks"),
                (2, {"batch": 12, "subdivisions": 6}, (), "subdivisions"),
                (2, {"batch": 8, "subdivisions": 4}, ("-ddp_sync_every", "2"), "-ddp_sync_every"),
                (2, {"batch": 8, "subdivisions": 4}, ("-ddp_batch", "rank"), "-ddp_batch"),
                (2, {"batch": 8, "subdivisions": 4}, ("-ddp_broadcast_buffers", "save"),
                 "-ddp_broadcast_buffers")):
            with self.subTest(ranks=ranks, values=values, options=options):
                self.write("tiny.cfg", darknet.detector_cfg(**values))
                result = self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp",
                                      "-ddp_exact", *options, ranks=ranks, says=says, code=2)
                self.assertIn("-ddp_exact", result.err, result)


if __name__ == "__main__":
    darknet.main()
