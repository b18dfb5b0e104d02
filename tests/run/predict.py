#!/usr/bin/env python3
# ddp-test: usual
"""Predictions: one picture, several, a list, a folder, on one rank and on two, in each form in which they are written. They are the
boxes of `detector map`, and those that follow from weights that are written by hand."""
import json
import math
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
import tiny_weights  # noqa: E402

WEIGHTS = tiny_weights.PATH
TEST = ("detector", "test", "train.data", "tiny.cfg", WEIGHTS)
LEAST = ("-thresh", "0.005")  # as of `detector map`
LINE = re.compile(r"^(\w+): (\d+)%\t\(left_x: +(-?\d+)   top_y: +(-?\d+)   width: +(-?\d+)   height: +(-?\d+)\)$", re.M)


def share(x):
    return 1 / (1 + math.exp(-x))


def by_size(box):
    return (-box["score"], box["class"], box["left"], box["top"])


class Predict(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=7)
        self.data.boxes()
        self.data.data("train.data", valid="train.list")
        self.write("tiny.cfg", darknet.detector_cfg())
        tiny_weights.write(self.path(WEIGHTS), tiny_weights.drawn())

    def json(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return json.load(f)

    def pictures(self, *words, ranks=0):
        """What -json says of pictures that these words name."""
        result = self.succeeds(*TEST, *words, *LEAST, "-json", "found.json", ranks=ranks)
        return self.json("found.json")["pictures"], result

    def mapped(self):
        """By picture, the boxes of `detector map` in pixels."""
        self.succeeds("detector", "map", "train.data", "tiny.cfg", WEIGHTS, "-json", "map.json")
        boxes = [[] for _ in self.data.pictures]
        for box in self.json("map.json")["found"]:
            left, top, width, height = (32 * side for side in box["box"])
            boxes[box["picture"]].append({"class": box["class"], "score": box["score"], "left": left, "top": top, "width": width, "height": height})
        return [sorted(of, key=by_size) for of in boxes]

    def check_boxes(self, found, expected, within=1e-6):
        self.assertEqual([box["class"] for box in found], [box["class"] for box in expected])
        for box, other in zip(found, expected):
            for key in ("score", "left", "top", "width", "height"):
                self.assertAlmostEqual(box[key], other[key], delta=within * max(1, abs(other[key])))

    def test_they_are_those_of_map(self):
        """However the pictures are named, on one rank, two and three."""
        expected = self.mapped()
        self.assertGreater(sum(map(len, expected)), 5)
        for words, ranks in ((("train.list",), 0), (("train.list",), 2), (("train.list",), 3), (self.data.pictures, 0), (("images/",), 0)):
            with self.subTest(words=words, ranks=ranks):
                found, result = self.pictures(*words, ranks=ranks)
                order = sorted if words == ("images/",) else list
                self.assertEqual([p["path"] for p in found], order(self.data.pictures), result)
                for picture in found:
                    self.assertEqual((picture["width"], picture["height"]), (32, 32))
                    self.check_boxes(sorted(picture["boxes"], key=by_size), expected[self.data.pictures.index(picture["path"])])
                    self.assertEqual([box["name"] for box in picture["boxes"]], [("cat", "dog")[box["class"]] for box in picture["boxes"]])
                self.assertRegex(result.out, rf"(?m)^7 pictures in [\d.]+ seconds, [\d.]+ a second; a forward pass takes [\d.]+ ms; {sum(map(len, expected))} boxes$")

    def test_boxes_by_hand(self):
        """The last convolution has no weights but its biases: each cell of 8 x 8 has the same box, in a picture that has margins above
        and below in the network's square."""
        x, y, w, h, object_, first, second = biases = (0.3, -0.2, 0.1, -0.4, 1.2, 0.7, -1.5)
        tiny_weights.write(self.path(WEIGHTS), [*tiny_weights.drawn()[:-tiny_weights.LAST], *biases, *[0] * 28])
        darknet.png(self.path("images/wide.png"), 64, 32, lambda column, row: (column, row, 0))
        expected = []
        for cell in range(64):
            width, height = math.exp(w) * 12 / 32 * 64, math.exp(h) * 12 / 32 * 64
            left, top = (cell % 8 + share(x)) / 8 * 64 - width / 2, ((cell // 8 + share(y)) / 8 - 0.25) * 64 - height / 2
            for kind, value in enumerate((first, second)):
                expected.append({"class": kind, "score": share(object_) * share(value), "left": left, "top": top, "width": width, "height": height})
        found, _ = self.pictures("images/wide.png", "-nms", "0")
        self.assertEqual((found[0]["width"], found[0]["height"]), (64, 32))
        place = lambda box: (box["class"], round(box["top"]), round(box["left"]))  # noqa: E731
        self.check_boxes(sorted(found[0]["boxes"], key=place), sorted(expected, key=place), 1e-5)
        self.assertEqual(found[0]["boxes"], sorted(found[0]["boxes"], key=lambda box: -box["score"]))

    def test_heads_of_unlike_classes(self):
        """A box has room for the classes of the first head, which has 60 times as many as the last."""
        head = {"mask": 0, "anchors": "12,12", "num": 1}
        self.write("two.cfg", darknet.net(max_batches=1, learning_rate=1e-9) + darknet.BODY + darknet.convolutional(65, size=1, activation="linear")
                   + darknet.section("yolo", classes=60, **head) + darknet.section("route", layers=-3)
                   + darknet.convolutional(6, size=1, activation="linear") + darknet.section("yolo", classes=1, **head))
        self.write("one.data", "classes=1\ntrain=train.list\nnames=one.names\n")
        self.write("one.names", "thing\n")
        for picture in self.data.pictures:
            self.write(self.data.label(picture), "0 .5 .5 .3 .3\n")
        self.succeeds("detector", "train", "one.data", "two.cfg", "-ddp", "-ddp_seed", "7", "-nocheck")
        self.succeeds("detector", "test", "one.data", "two.cfg", "backup/two_final.weights", "train.list", *LEAST, "-json", "found.json")
        boxes = [box for picture in self.json("found.json")["pictures"] for box in picture["boxes"]]
        self.assertEqual({box["name"] for box in boxes}, {"thing"})

    def test_in_words(self):
        """-ext_output prints the boxes of -json in whole pixels; without it there are lines as ever."""
        for ranks in (0, 2):
            found, result = self.pictures("train.list", "-ext_output", ranks=ranks)
            boxes = [box for picture in found for box in picture["boxes"]]
            lines = LINE.findall(result.out)
            self.assertEqual(len(lines), len(boxes), result)
            for line, box in zip(lines, boxes):
                self.assertEqual(line[0], box["name"])
                self.assertAlmostEqual(int(line[1]), 100 * box["score"], delta=0.500001)
                for side, key in zip(line[2:], ("left", "top", "width", "height")):
                    self.assertAlmostEqual(int(side), box[key], delta=0.500001)
            self.assertEqual(re.findall(r"^(\S+): Predicted in \d+\.\d+ seconds\.$", result.out, re.M), self.data.pictures)
        self.assertRegex(self.pictures("train.list")[1].out, r"(?m)^(cat|dog): \d+%$")

    def test_coco(self):
        found, _ = self.pictures("train.list")
        self.succeeds(*TEST, "train.list", *LEAST, "-json", "coco.json", "-json_format", "coco")
        expected = [(number + 1, box) for number, picture in enumerate(found) for box in picture["boxes"]]
        results = self.json("coco.json")
        self.assertEqual([(r["image_id"], r["category_id"]) for r in results], [(number, box["class"] + 1) for number, box in expected])
        for result, (_, box) in zip(results, expected):
            left, top = max(0, box["left"]), max(0, box["top"])
            right, bottom = min(32, box["left"] + box["width"]), min(32, box["top"] + box["height"])
            for side, other in zip(result["bbox"], (left, top, right - left, bottom - top)):
                self.assertAlmostEqual(side, other, delta=1e-4)
            self.assertAlmostEqual(result["score"], box["score"], delta=1e-6)
        self.refused(*TEST, "train.list", "-json", "coco.json", code=2, says="coco.json, which is there and is no earlier file of predictions")

    def test_labels(self):
        """They are read back as the boxes that were found, cut off at the picture's edges; one that is there stays."""
        found, _ = self.pictures("train.list")
        with open(self.path("labels/cat0.txt"), encoding="ascii") as f:
            kept = f.read()
        for picture in self.data.pictures[1:]:
            os.remove(self.path(self.data.label(picture)))
        for ranks in (0, 2):
            result = self.succeeds(*TEST, "train.list", *LEAST, "-save_labels", ranks=ranks)
            self.assertIn("-save_labels: wrote 6 label files; 1 that was there is left as it is\n", result.out)
            with open(self.path("labels/cat0.txt"), encoding="ascii") as f:
                self.assertEqual(f.read(), kept)
            for picture in found[1:]:
                path = self.path(self.data.label(picture["path"]))
                with open(path, encoding="ascii") as f:
                    lines = [line.split() for line in f]
                self.assertEqual([int(line[0]) for line in lines], [box["class"] for box in picture["boxes"]])
                for line, box in zip(lines, picture["boxes"]):
                    x, y, width, height = map(float, line[1:])
                    for side, other in ((x - width / 2, max(0, box["left"] / 32)), (y + height / 2, min(1, (box["top"] + box["height"]) / 32))):
                        self.assertAlmostEqual(side, other, delta=2e-6)
                os.remove(path)
        self.succeeds("ddp", "check", "train.data", "tiny.cfg")

    def test_nms(self):
        """Two boxes that overlap by more are one; 0 keeps both."""
        counts = [sum(len(p["boxes"]) for p in self.pictures("train.list", "-nms", nms)[0]) for nms in ("0.01", "0.45", "0")]
        self.assertTrue(counts[0] <= counts[1] <= counts[2], counts)
        self.assertLess(counts[0], counts[2])

    def test_pictures_with_boxes(self):
        """One is NAME.jpg, several go into a folder, and no two have one name."""
        picture = self.data.pictures[0]
        self.succeeds(*TEST, picture, *LEAST)
        self.succeeds(*TEST, picture, *LEAST, "-out", "one")
        self.succeeds(*TEST, picture, *LEAST, "-out", "other.jpg")
        for name in "one.jpg", "other.jpg":
            with open(self.path("predictions.jpg"), "rb") as f, open(self.path(name), "rb") as g:
                self.assertEqual(f.read(), g.read())
        os.mkdir(self.path("other"))
        shutil.copy(self.path(picture), self.path("other/"))
        for ranks in (0, 2):
            self.succeeds(*TEST, "train.list", "other/cat0.png", *LEAST, "-out", "seen", ranks=ranks)
            names = [os.path.basename(p)[:-4] + ".jpg" for p in self.data.pictures[1:]] + ["cat0-1.jpg", "cat0-8.jpg"]
            self.assertEqual(sorted(os.listdir(self.path("seen"))), sorted(names))
            shutil.rmtree(self.path("seen"))
        shutil.copy(self.path("one.jpg"), self.path("other/one.jpg"))
        self.refused(*TEST, "other/", "-out", "other", code=2, says="-out would write over other/one.jpg, which this command reads")

    def test_a_disk_for_two_label_files(self):
        """The third is an error, and is not left in part."""
        shutil.rmtree(self.path("labels"))
        os.mkdir(self.path("labels"))
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", self.path("labels")], capture_output=True, check=False).returncode:
            self.skipTest("no tmpfs can be mounted")
        self.addCleanup(subprocess.run, ["umount", self.path("labels")], check=True)
        self.refused(*TEST, "train.list", *LEAST, "-save_labels", code=1, says="-save_labels: cannot write labels/")
        names = sorted(os.listdir(self.path("labels")))
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertGreater(os.path.getsize(self.path("labels/" + name)), 0)

    def test_the_truth_is_drawn_too(self):
        """Thin, where a picture has a label file: the picture with one and that without differ along the box's sides alone."""
        picture = self.data.pictures[0]
        self.succeeds(*TEST, picture, "-thresh", "1", "-out", "with")
        os.remove(self.path(self.data.label(picture)))
        self.succeeds(*TEST, picture, "-thresh", "1", "-out", "without")
        with open(self.path("with.jpg"), "rb") as f, open(self.path("without.jpg"), "rb") as g:
            self.assertNotEqual(f.read(), g.read())

    def test_a_picture_that_cannot_be_read(self):
        """The others are predicted all the same, and the command fails."""
        self.write("images/broken.jpg", "no picture")
        self.data.list("some.list", [self.data.pictures[0], "images/broken.jpg", self.data.pictures[1]])
        for ranks in (0, 2):
            result = self.refused(*TEST, "some.list", *LEAST, "-json", "found.json", ranks=ranks, code=1, says='Cannot load image "images/broken.jpg"')
            self.assertEqual(len(re.findall("Predicted in", result.out)), 2, result)
            self.assertIn("; 1 cannot be read\n", result.out)
            found = self.json("found.json")["pictures"]
            self.assertEqual([set(p) - {"path"} for p in found], [{"width", "height", "boxes"}, {"error"}, {"width", "height", "boxes"}])

    def test_it_asks_where_no_picture_is_named(self):
        result = subprocess.run([darknet.PROGRAM, *TEST, *LEAST], cwd=self.folder, input="images/cat0.png\nimages/none.png\nimages/dog1.png\n",
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(re.findall(r"Enter Image Path: (\S+): Predicted in", result.stdout), ["images/cat0.png", "images/dog1.png"])
        self.assertIn('Cannot load image "images/none.png"', result.stderr)
        self.assertTrue(os.path.exists(self.path("predictions.jpg")))

    def test_the_first_picture_s_time_is_that_of_a_pass(self):
        """What a first pass prepares is not in it."""
        times = [float(t) for t in re.findall(r"Predicted in ([\d.]+) seconds", self.succeeds(*TEST, "train.list").out)]
        self.assertEqual(len(times), 7)
        self.assertLess(times[0], 0.001 + 20 * sorted(times)[3], times)

    def test_in_bf16(self):
        """Scores move by what bf16 rounds. A CPU without instructions for it, as which oneDNN can be told to see this one, refuses."""
        words = ("train.list", *LEAST, "-nms", "0", "-json")
        self.succeeds(*TEST, *words, "found.json")
        expected = [sorted(box["score"] for box in picture["boxes"])[-40:] for picture in self.json("found.json")["pictures"]]
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            has_bf16 = "avx512_bf16" in f.read()
        result = self.darknet(*TEST, *words, "half.json", "-bf16", "1")
        if has_bf16 and "without oneDNN" not in result.err:
            self.assertEqual(result.code, 0, result)
            found = [sorted(box["score"] for box in picture["boxes"])[-40:] for picture in self.json("half.json")["pictures"]]
            self.assertNotEqual(found, expected)
            for one, other in zip(found, expected):
                self.assertEqual(len(one), len(other))
                for score, exact in zip(one, other):
                    self.assertAlmostEqual(score, exact, delta=.02)
            self.succeeds("detector", "map", "train.data", "tiny.cfg", WEIGHTS, "-bf16", "1")
        for command in (("detector", "map"), ("detector", "valid"), ("detector", "test")):
            result = self.darknet(*command, "train.data", "tiny.cfg", WEIGHTS, *(["train.list"] if command[1] == "test" else []), "-bf16", "1",
                                  environment={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"})
            self.check_refused(result, "-bf16 1: this CPU has no instructions for bf16", 2)

    def test_a_classifier(self):
        self.write("class.cfg", darknet.classifier_cfg(max_batches=40))
        self.succeeds("classifier", "train", "train.data", "class.cfg", "-ddp_seed", "7")
        words = ("classifier", "predict", "train.data", "class.cfg", "backup/class.weights")
        for ranks in (0, 2):
            result = self.succeeds(*words, "train.list", "-t", "2", "-json", "found.json", ranks=ranks)
            found = self.json("found.json")["pictures"]
            self.assertEqual([p["path"] for p in found], self.data.pictures)
            lines = [(name, float(share)) for share, name in re.findall(r"^ *([\d.]+)%: (\w+)$", result.out, re.M)]
            said = [(c["name"], 100 * c["score"]) for p in found for c in p["classes"]]
            self.assertEqual([name for name, _ in lines], [name for name, _ in said])
            for (_, share), (_, other) in zip(lines, said):
                self.assertAlmostEqual(share, other, delta=0.00501)
            for picture in found:
                self.assertAlmostEqual(sum(c["score"] for c in picture["classes"]), 1, delta=1e-5)
        alone = self.succeeds(*words, self.data.pictures[3], "-t", "2")
        self.assertRegex(alone.out, r"^ *[\d.]+%: \w+\n *[\d.]+%: \w+\n$")


if __name__ == "__main__":
    darknet.main()
