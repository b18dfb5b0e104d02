#!/usr/bin/env python3
# ddp-test: usual
"""Validation while training, and `detector map`: the same figures to the last bit on any number of ranks, the best
weights kept, an end where nothing improves, and training that is not disturbed by it."""
import contextlib
import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402

COCO_CHECK = os.path.join(here, "..", "python", "coco_check.py")
DETECTOR = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
CLASSIFIER = ("classifier", *DETECTOR[1:])


def figures(result):
    """Of each validation, (step, its figures), without the time that it took."""
    return re.findall(r"^Validation after step (\d+): (.*?); \d+ pictures, [\d.]+ s; (.*)$", result.out, re.M)


class Validate(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=10)
        self.data.list("valid.list", self.data.pictures[:7])
        self.data.data("train.data", valid="valid.list")

    def detector(self, **values):
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(**{"max_batches": 12, "learning_rate": 0.01, **values}))

    def test_the_same_on_any_number_of_ranks(self):
        self.detector(batch=8, subdivisions=4)
        one = self.succeeds(*DETECTOR, "-ddp_exact", "-ddp_validate", "4")
        self.assertEqual([step for step, _, _ in figures(one)], ["4", "8", "12"], one)
        best = self.weights("tiny_best.weights")
        for ranks in (2, 4):
            several = self.succeeds(*DETECTOR, "-ddp_exact", "-ddp_validate", "4", ranks=ranks)
            self.assertEqual(figures(several), figures(one), several)
            self.same_weights(self.weights("tiny_best.weights"), best)
        for name in ("tiny_best.weights.state", "tiny_last.weights", "tiny_last.weights.state"):
            self.assertTrue(os.path.getsize(self.path(f"backup/{name}")) > 0)

    def test_best_weights_that_are_lost(self):
        self.detector()
        self.succeeds(*DETECTOR, "-ddp_validate", "4")
        os.remove(self.path("backup/tiny_best.weights"))
        self.detector(max_batches=16)
        again = self.succeeds(*DETECTOR, "-ddp_validate", "4", "-resume_force", ranks=2)
        self.assertRegex(again.out, r"(?m)^DDP: backup/tiny_best\.weights is not there: the next validation writes it, better than ")
        self.assertTrue(os.path.exists(self.path("backup/tiny_best.weights")), again)
        self.assertNotIn("is not there", self.succeeds(*DETECTOR, "-ddp_validate", "4", "-resume_force").out)

    def test_a_faulty_cfg_is_named(self):
        self.detector()
        self.succeeds(*DETECTOR, "-ddp_validate", "0")
        self.write("bad.cfg", darknet.detector_cfg().replace("stride=", "strid=", 1))
        for verb in ("map", "valid"):
            for ranks in (0, 2):
                result = self.refused("detector", verb, "train.data", "bad.cfg", "backup/tiny_final.weights", ranks=ranks, code=1,
                                      says="strid=2: no key of [convolutional]")
                self.assertEqual(result.err.count("no key of"), 1, result)
        for verb in ("map", "valid", "recall"):
            self.refused("detector", verb, "train.data", "backup/tiny_final.weights", "tiny.cfg", code=2,
                         says="backup/tiny_final.weights is a weights file, and a cfg is wanted in its place")
        self.refused("detector", "test", "train.data", "backup/tiny_final.weights", "tiny.cfg", "images/cat0.png", code=2,
                     says="is a weights file, and a cfg is wanted in its place")

    def test_map_on_any_number_of_ranks(self):
        self.detector()
        self.succeeds(*DETECTOR, "-ddp_validate", "0")
        reports = []
        for ranks in (0, 2, 3, 4):
            result = self.succeeds("detector", "map", "train.data", "tiny.cfg", "backup/tiny_final.weights", "-json",
                                   f"map{ranks}.json", ranks=ranks)
            self.assertIn("AP@0.5", result.out, result)
            self.assertEqual((result.out + result.err).count("Loading weights"), 1, result)
            with open(self.path(f"map{ranks}.json"), encoding="utf-8") as f:
                reports.append(f.read())
        self.assertEqual(len(set(reports)), 1)
        report = json.loads(reports[0])
        self.assertEqual(len(report["truth"]), 7)
        for names, says in (("cat\n", "names= has 1 name for classes=2: they have numbers here\n"), ("cat\ndog\ncow\n", "names= has 3 names for classes=2\n"), ("cat\ndog\n", None)):
            self.write("some.names", names)
            self.data.data("some.data", valid="valid.list", names="some.names")
            out = self.succeeds("detector", "map", "some.data", "tiny.cfg", "backup/tiny_final.weights").out
            self.assertIn(says, out) if says else self.assertNotIn("names=", out)
        self.assertTrue(0 <= report["ap"] <= report["ap50"] <= 1, report["ap"])

    def test_map_is_what_coco_says(self):
        if not importlib.util.find_spec("pycocotools"):
            self.skipTest("pycocotools is not there")
        self.detector(max_batches=60)
        self.succeeds(*DETECTOR, "-ddp_validate", "0")
        self.succeeds("detector", "map", "train.data", "tiny.cfg", "backup/tiny_final.weights", "-json", "map.json")
        subprocess.run([sys.executable, COCO_CHECK, self.path("map.json")], check=True)

    def detected(self, ranks, *options, **keys):
        """Train, find on valid=, and return the files of results/ as {name: lines}."""
        self.data.data("valid.data", valid="valid.list", **keys)
        shutil.rmtree(self.path("results"), ignore_errors=True)
        result = self.succeeds("detector", "valid", "valid.data", "tiny.cfg", "backup/tiny_final.weights", *options, ranks=ranks)
        self.assertIn("AP@0.5", result.out, result)
        found = {}
        for name in os.listdir(self.path("results")):
            with open(self.path(f"results/{name}"), encoding="ascii") as f:
                found[name] = f.read().splitlines()
        return found

    def test_valid_writes_darknets_files_on_any_number_of_ranks(self):
        self.detector(max_batches=60)
        self.succeeds(*DETECTOR, "-ddp_validate", "0")
        self.succeeds("detector", "map", "train.data", "tiny.cfg", "backup/tiny_final.weights", "-json", "map.json")
        with open(self.path("map.json"), encoding="utf-8") as f:
            report = json.load(f)
        found = report["found"]
        self.assertGreater(len(found), 5)
        self.assertEqual(report["names"], ["cat", "dog"])
        self.assertEqual(report["pictures"], self.lines("valid.list"))
        voc = self.detected(0)
        self.assertEqual(sorted(voc), [f"comp4_det_test_{kind}.txt" for kind in ("cat", "dog")])
        for kind, name in enumerate(("cat", "dog")):
            lines = [line.split() for line in voc[f"comp4_det_test_{name}.txt"]]
            wanted = [self.corners(d, 1) for d in found if d["class"] == kind]
            self.assertEqual([line[0] for line in lines], [w[0] for w in wanted])
            for line, (_, *numbers) in zip(lines, wanted):
                for value, number in zip(line[1:], numbers):
                    self.assertAlmostEqual(float(value), number, delta=1e-4)
        self.assertEqual(self.detected(3), voc)
        one = next(lines for lines in voc.values() if lines)[0].split()[0]
        for folder, end in (("images", "png"), ("labels", "txt")):
            shutil.copy(self.path(f"{folder}/{one}.{end}"), self.path(f"{folder}/{one}.rf.1.{end}"))
        with open(self.path("valid.list"), encoding="ascii") as f:
            listed = f.read()
        self.write("valid.list", f"images/{one}.rf.1.png\n")
        dotted = [line.split()[0] for lines in self.detected(0).values() for line in lines]
        self.assertEqual(set(dotted), {one + ".rf.1"})
        self.write("valid.list", listed)
        named = self.detected(2, "-out", "mine_")
        self.assertEqual(sorted(named), ["mine_cat.txt", "mine_dog.txt"])
        coco = json.loads("\n".join(self.detected(2, eval="coco")["coco_results.json"]))
        self.assertEqual(len(coco), len(found))
        self.assertEqual({d["category_id"] for d in coco}, {d["class"] + 1 for d in found})
        self.assertEqual({d["image_id"] for d in coco}, {d["picture"] + 1 for d in found})  # names without a number
        seen, last = {d["picture"] for d in found}, len(listed.split()) - 1
        for k, picture in enumerate(listed.split()):
            for folder, end in (("images", "png"), ("labels", "txt")):
                for name in (str(90 - k), f"7_{k // 2}"):
                    shutil.copy(self.path(picture.replace("images", folder)[:-3] + end), self.path(f"{folder}/{name}.{end}"))
        for name, ids in ((lambda k: 90 - k, {90 - k for k in seen}),  # a number each; and two with one number
                          (lambda k: f"7_{k // 2}", {k + 1 for k in range(last + 1) if min(k | 1, last) in seen})):
            self.write("valid.list", "".join(f"images/{name(k)}.png\n" for k in range(last + 1)))
            coco = json.loads("\n".join(self.detected(0, eval="coco")["coco_results.json"]))
            self.assertEqual({d["image_id"] for d in coco}, ids)
        self.write("valid.list", listed)
        imagenet = self.detected(2, eval="imagenet", results="results")["imagenet-detection.txt"]
        self.assertEqual(sorted({int(line.split()[0]) for line in imagenet}), sorted({d["picture"] + 1 for d in found}))

    def lines(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read().split()

    def label(self, picture):
        return picture.replace("images/", "labels/").replace(".png", ".txt")

    def test_pictures_without_label_files(self):
        """Their boxes are written, and nothing is measured."""
        self.detector(max_batches=1)
        self.succeeds(*DETECTOR, "-ddp_validate", "0")
        for picture in self.lines("valid.list"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(self.label(picture)))
        words = ("detector", "map", "train.data", "tiny.cfg", "backup/tiny_final.weights")
        self.refused(*words, says="no picture has a label file")
        for ranks in (1, 2):
            result = self.succeeds(*words, "-json", "map.json", ranks=ranks)
            self.assertNotIn("-1", result.out)
            with open(self.path("map.json"), encoding="utf-8") as f:
                report = json.load(f)
            self.assertEqual((report["truth"], report["pictures"]), ([], self.lines("valid.list")))

    def test_boxes_are_suppressed_as_nms_kind_says(self):
        """A square of 0.375 in each of 8x8 cells: beside each other they have an IoU of 0.5, from which the distance takes
        (1/8)^2 / (0.5^2 + 0.375^2) = 0.04 to the power of 0.6, 0.145. So without a key neighbours go, as 0.5 > 0.45, and with it none."""
        found = {}
        for key in ("", "nms_kind=greedynms\n", "nms_kind=diounms\nbeta_nms=1\n"):  # 0.46 > 0.45
            self.detector(max_batches=2)
            with open(self.path("tiny.cfg"), encoding="ascii") as f:
                text = f.read()
            self.write("tiny.cfg", text.replace("[yolo]\n", "[yolo]\n" + key))
            self.succeeds(*DETECTOR, "-ddp_validate", "0")
            name = self.path("backup/tiny_final.weights")
            with open(name, "rb") as f:
                whole = f.read()
            with open(name, "wb") as f:
                f.write(whole[:-140] + struct.pack("<7f", 0, 0, 0, 0, 9, 9, 9) + struct.pack("<28f", *[0] * 28))
            self.succeeds("detector", "map", "train.data", "tiny.cfg", name, "-json", "map.json", ranks=2)
            with open(self.path("map.json"), encoding="utf-8") as f:
                found[key] = len(json.load(f)["found"])
        plain, greedy, diou = found.values()
        self.assertEqual(greedy, 7 * 8 * 8 * 2)
        self.assertLess(plain, greedy)
        self.assertLess(diou, greedy)

    def test_a_box_that_is_not_finite_is_left_out(self):
        """Where a weight makes each box wider than a float can be."""
        self.detector(max_batches=2)
        self.succeeds(*DETECTOR, "-ddp_validate", "0")
        name = self.path("backup/tiny_final.weights")
        with open(name, "rb") as f:
            whole = f.read()
        biases, weights = list(struct.unpack("<7f", whole[-140:-112])), list(struct.unpack("<28f", whole[-112:]))
        biases[4:7], weights[16:28] = [9, 9, 9], [0] * 12  # all boxes count, in both classes
        ended = {}
        for width in (0, 200):
            biases[2], weights[8:12] = width, [0] * 4
            with open(name, "wb") as f:
                f.write(whole[:-140] + struct.pack("<7f", *biases) + struct.pack("<28f", *weights))
            for ranks in (0, 2):
                result = self.succeeds("detector", "map", "train.data", "tiny.cfg", name, "-json", "map.json", ranks=ranks)
                ended[width, ranks] = re.findall(r"^(\d+) boxes are not finite and left out: ", result.out, re.M)
                with open(self.path("map.json"), encoding="utf-8") as f:
                    report = json.load(f, parse_constant=self.fail)  # Infinity and NaN are no JSON
                self.assertEqual(len(report["found"]) == 0, width > 0)
            coco = self.detected(2, eval="coco")["coco_results.json"]
            self.assertEqual(len(json.loads("\n".join(coco), parse_constant=self.fail)) == 0, width > 0)
        self.assertEqual(ended[0, 0] + ended[0, 2], [])
        self.assertEqual(ended[200, 0], [str(7 * 8 * 8 * 2)])  # pictures, cells, classes
        self.assertEqual(ended[200, 2], ended[200, 0])

    def corners(self, d, first):
        left, top, width, height = (32 * v for v in d["box"])
        name = os.path.basename(self.data.pictures[d["picture"]]).replace(".png", "")
        return (name, d["score"], max(left + first, first), max(top + first, first), min(left + width + first, 32),
                min(top + height + first, 32))

    def test_a_missing_picture_is_seen_before_the_first_step(self):
        """One that the look at some of them leaves out."""
        self.detector(max_batches=2)
        pictures = [self.data.pictures[i % 7] for i in range(5000)]
        pictures[1] = "images/gone.png"
        self.data.list("valid.list", pictures)
        for ranks in (0, 2):
            for options in ((), ("-nocheck",)):
                result = self.refused(*DETECTOR, *options, ranks=ranks, code=1, says="valid.list:2: cannot read images/gone.png: No such file")
                self.assertNotIn(" avg, ", result.out, result)
        self.succeeds(*DETECTOR, "-ddp_validate", "0")

    def test_valid_that_cannot_be(self):
        self.detector(max_batches=2)
        self.succeeds(*DETECTOR, "-ddp_validate", "0")
        words = ("detector", "valid", "train.data", "tiny.cfg")
        self.refused(*words, says="usage: darknet detector valid DATA CFG WEIGHTS", code=2)
        self.refused(*words, "none.weights", says="none.weights", code=1)
        self.data.data("train.data", valid="valid.list", results="no/such/place")
        for ranks in (0, 2):
            self.refused(*words, "backup/tiny_final.weights", ranks=ranks, says="cannot make the folder no/such/place", code=1)
        for command in ("valid", "map"):
            self.write("some.map", "1\n0\n")
            for classes, values in ((5, {}), (1, {}), (3, {"map": "some.map"})):
                self.data.data("train.data", valid="valid.list", classes=classes, **values)
                self.refused("detector", command, *words[2:], "backup/tiny_final.weights", says=f"classes={classes} in the .data file, and the cfg has 2", code=2)
            self.write("train.data", "train=train.list\nvalid=valid.list\nnames=classes.names\n")
            self.refused("detector", command, *words[2:], "backup/tiny_final.weights", says="train.data has no classes=, the number of classes", code=2)
        for names, says in (("cat/tiger\ndog\n", "no file can have the name cat/tiger: it has a /"), ("cat\ncat\n", "classes 0 and 1 have one name, cat")):
            self.write("odd.names", names)
            self.data.data("train.data", valid="valid.list", names="odd.names")
            self.refused(*words, "backup/tiny_final.weights", says="results of VOC have a file for each class, and " + says, code=2)
        self.write("other.cfg", darknet.classifier_cfg())
        self.refused("detector", "valid", "train.data", "other.cfg", "backup/tiny_final.weights", "-weights_force",
                     says="the cfg has no [yolo], [region] or [detection]", code=2)

    def test_valid_writes_over_its_own_results_alone(self):
        self.detector(max_batches=60)
        self.succeeds(*DETECTOR, "-ddp_validate", "0")
        words = ("detector", "valid", "valid.data", "tiny.cfg", "backup/tiny_final.weights")
        for style, name, end, of in (("voc", "comp4_det_test_", "dog.txt", "VOC"), ("coco", "coco_results", ".json", "COCO"),
                                     ("imagenet", "imagenet-detection", ".txt", "ImageNet")):
            mine, name = "mine" + end, name + end
            found = self.detected(0, eval=style)
            self.succeeds(*words)  # over its own
            self.assertGreater(len(found[name]), 1)
            for ranks, text in ((2, "what I wrote by hand\n"), (0, "[]\n"), (0, "img0 0.5 1 2 3 4\n"), (0, "1 x 0.500000 1.000000 2.000000 3.000000 4.00000\n"), (0, "0.500000")):
                self.write("results/" + name, text)
                result = self.refused(*words, ranks=ranks, code=2, says=[f"detector valid without -out would write over results/{name}, which is there and is no earlier result of {of} "
                                                                         f"(eval={style}): name another file"])
                self.assertNotIn("what was found", result.out)
                self.assertEqual(open(self.path("results/" + name), encoding="ascii").read(), text)
            self.write("results/" + mine, "mine\n")
            self.refused(*words, "-out", "mine", code=2, says=[f"detector valid -out would write over results/{mine}, which is there"])
            self.write("results/" + name, "")
            self.succeeds(*words)
            self.assertEqual(open(self.path("results/" + name), encoding="ascii").read().splitlines(), found[name])

    def test_valid_of_a_classifier(self):
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=9))
        one = self.succeeds(*CLASSIFIER, "-ddp_validate", "9")
        top1, loss = re.search(r"top-1 ([\d.]+), top-5 1.0000, loss ([\d.]+)", one.out).groups()
        for ranks in (0, 3):
            result = self.succeeds("classifier", "valid", "train.data", "tiny.cfg", "backup/tiny_last.weights", ranks=ranks)
            said = re.search(r"^7 pictures: top 1: ([\d.]+), top 5: 1.000000, loss: ([\d.]+), ", result.out, re.M)
            self.assertAlmostEqual(float(said[1]), float(top1), delta=1e-4)
            self.assertAlmostEqual(float(said[2]), float(loss), delta=1e-4)

    def test_training_is_not_disturbed(self):
        for random, step in (("0", "1"), ("1", "3")):
            self.detector(learning_rate=1e-5) # at a size of 608 larger ones end in NaN
            with open(self.path("tiny.cfg"), encoding="ascii") as f:
                text = f.read().replace("random=0", f"random={random}")
            self.write("tiny.cfg", text)
            self.succeeds(*DETECTOR, "-ddp_validate", "0", ranks=2)
            alone = self.weights("tiny_final.weights")
            self.succeeds(*DETECTOR, "-ddp_validate", step, ranks=2)
            self.same_weights(self.weights("tiny_final.weights"), alone, f"random={random}")

    def test_a_classifier(self):
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=9, batch=4, subdivisions=4))
        one = self.succeeds(*CLASSIFIER, "-ddp_exact", "-ddp_validate", "3")
        self.assertRegex(one.out, r"Validation after step 9: top-1 [01]\.\d{4}, top-5 1\.0000, loss \d\.\d{4}; 7 pictures")
        four = self.succeeds(*CLASSIFIER, "-ddp_exact", "-ddp_validate", "3", ranks=4)
        self.assertEqual(figures(four), figures(one), four)

    def test_after_whole_epochs_by_default_of_at_least_100_steps(self):
        """By steps alone: a run that is resumed validates when it would have."""
        self.detector(max_batches=250)  # 4 pictures a step
        for pictures, said, steps in ((10, "every 40 epochs (100 steps) and ", ["100", "200", "250"]),
                                      (390, "every 2 epochs (195 steps) and ", ["195", "250"]),
                                      (410, "each epoch (102.5 steps) and ", ["103", "205", "250"]),
                                      (1004, "each epoch (251 steps) and ", ["250"])):
            self.data.list("train.list", [self.data.pictures[i % 10] for i in range(pictures)])
            result = self.succeeds(*DETECTOR, ranks=2)
            self.assertIn(f"\nDDP: validates on 7 pictures, and saves, after {said}the last step\n", result.out, result)
            self.assertEqual([step for step, _, _ in figures(result)], steps, result)
        self.detector(max_batches=330)
        result = self.succeeds(*DETECTOR, "-resume_force")
        self.assertEqual([step for step, _, _ in figures(result)], ["251", "330"], result)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "110")
        self.assertIn("\nDDP: validates on 7 pictures, and saves, after every 110 steps and the last step\n", result.out, result)
        self.assertEqual([step for step, _, _ in figures(result)], ["110", "220", "330"], result)

    def test_between_updates_of_several_batches_it_waits(self):
        self.detector(max_batches=10)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-ddp_sync_every", "3")
        self.assertEqual([step for step, _, _ in figures(result)], ["6", "10"], result)

    def test_what_was_cut_short_takes_place_after_resuming(self):
        def steps(name="tiny.csv"):
            with open(self.path("backup/" + name), encoding="ascii") as f:
                return [line.split(",")[0] for line in f]

        says = "DDP: no weights of a validation after step {} are there: it comes now\n"
        self.detector()
        every = self.succeeds(*DETECTOR, "-ddp_validate", "4")
        shutil.rmtree(self.path("backup"))
        os.mkdir(self.path("backup"))
        self.detector(max_batches=8)
        self.succeeds(*DETECTOR, "-ddp_validate", "5")
        for name in ("tiny_last.weights", "tiny_best.weights"):
            os.remove(self.path("backup/" + name))
            os.remove(self.path("backup/" + name + ".state"))
        with open(self.path("backup/tiny.csv"), "r", encoding="ascii") as f:
            lines = f.readlines()
        self.write("backup/tiny.csv", "".join(lines[:5] + lines[6:8])) # as far as a run has come that is killed while it validates
        self.detector()
        result = self.succeeds(*DETECTOR, "-ddp_validate", "4", "-resume_force", ranks=2)
        self.assertIn(says.format(8), result.out)
        self.assertEqual([found[:2] for found in figures(result)], [found[:2] for found in figures(every)[1:]])
        self.assertEqual(steps()[-5:], ["8", "9", "10", "11", "12"])
        for name in ("tiny_last.weights", "tiny_best.weights"):
            os.remove(self.path("backup/" + name + ".state"))
            os.remove(self.path("backup/" + name))
        self.write("backup/tiny.csv", "".join(open(self.path("backup/tiny.csv"), encoding="ascii").readlines()[:-1]))
        result = self.succeeds(*DETECTOR, "-ddp_validate", "4", "-resume")
        self.assertIn(says.format(12), result.out)
        self.assertEqual([step for step, _, _ in figures(result)], ["12"])
        self.assertTrue(os.path.exists(self.path("backup/tiny_last.weights")))
        self.assertEqual(steps()[-1], "12")
        self.assertNotIn("Validation", self.succeeds(*DETECTOR, "-ddp_validate", "4", "-resume").out)

    def test_best_weights_of_before_are_named(self):
        self.detector(max_batches=8, learning_rate=0)
        self.succeeds(*DETECTOR, "-ddp_validate", "4")
        self.detector(max_batches=12, learning_rate=0)
        self.assertIn("DDP: in backup: tiny_best.weights, tiny_last.weights, ", self.succeeds(*DETECTOR, "-ddp_validate", "4", "-resume_force").out)

    def test_classes_in_another_order_are_other_pictures(self):
        self.data.data("train.data", valid="valid.list")
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=4))
        self.succeeds(*CLASSIFIER, "-ddp_validate", "2")
        names = open(self.path("names.list"), encoding="ascii").read().split()
        self.write("names.list", "\n".join(reversed(names)) + "\n")
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=8))
        result = self.succeeds(*CLASSIFIER, "-ddp_validate", "2", "-resume_force")
        self.assertIn("they have other labels, or -points or -best is another: the figures of the first 4 batches count no more\n", result.out)

    def test_patience(self):
        self.detector(learning_rate=0, max_batches=50)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "2", "-patience", "3", ranks=2)
        self.assertEqual([step for step, _, _ in figures(result)], ["2", "4", "6", "8"], result)
        self.assertIn("DDP: 3 validations were not better than mAP@0.5:0.95", result.out)
        self.assertTrue(os.path.exists(self.path("backup/tiny.backup.state")))
        self.assertRegex(result.out, "DDP: with more -patience `.* -patience 6 -resume` goes on from backup/tiny.backup\n")
        result = self.succeeds(*DETECTOR, "-ddp_validate", "2", "-patience", "3", "-resume", ranks=2)  # as it was typed
        self.assertIn("DDP: 4 validations were not better than mAP@0.5:0.95", result.out)
        self.assertRegex(result.out, "DDP: with more -patience `.* -patience 7 -resume` goes on from backup/tiny.backup\n")

    def test_patience_that_ends_with_the_run(self):
        """All is trained: nothing of it is another end than that of any run."""
        self.detector(learning_rate=0, max_batches=8)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "2", "-patience", "3", ranks=2)
        self.assertIn("DDP: trained to batch 8 of 8\n", result.out)
        self.assertNotIn("(-patience)", result.out)
        self.assertTrue(os.path.exists(self.path("backup/tiny_final.weights.state")))

    def test_without_pictures_to_validate_on(self):
        self.detector()
        self.data.data("train.data")
        self.assertEqual(figures(self.succeeds(*DETECTOR)), [])
        self.refused(*DETECTOR, "-ddp_validate", "2", says="train.data has no valid=", code=2)
        self.data.data("train.data", valid="none.list")
        self.refused(*DETECTOR, says=["valid=", "none.list"], code=1)
        self.data.data("train.data", valid="train.list")
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=1))
        for option in (("-best", "map50"), ("-points", "11"), ("-labels_required",)):
            self.refused("classifier", *DETECTOR[1:], *option, says=f"{' '.join(option)} is for detectors", code=2)


if __name__ == "__main__":
    darknet.main()
