#!/usr/bin/env python3
# ddp-test: usual
"""`darknet ddp check`: faults of all kinds sown into a long list are all found, none is invented, on
one rank and on several, and the exit status says whether training would be wrong."""
import os
import random
import re
import sys
import time

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402
from checked import GOOD_LABEL, Checked, cfg, read, replace, replace_or_make  # noqa: E402

PICTURES = 20000

# What is done to a picture or its label, and what is to be found: kind and line, None where the fault is
# a matter of the list.
PICTURE_FAULTS = [
    (lambda p: os.remove(p), "picture-unreadable"),
    (lambda p: replace(p, b""), "picture-broken"),
    (lambda p: replace(p, b"no picture at all" + p.encode()), "picture-broken"),
    (lambda p: replace(p, read(p)[:-20] + p.encode()), "picture-broken"),
    (lambda p: replace(p, b"RIFF\0\0\0\0WEBPVP8 " + p.encode()), "picture-broken"),
    (lambda p: replace(p, b"\xff\xd8\xff\xe0\0\x10JFIF" + p.encode()), "picture-broken"),
]
LABEL_FAULTS = [
    (GOOD_LABEL + "0 0.5 0.5 0.2\n", "label-columns", 2),
    ("0 0.5 0.5 0.2 0.2 1\n", "label-columns", 1),
    ("0 0.5 x 0.2 0.2\n", "label-number", 1),
    ("0 0.5 nan 0.2 0.2\n", "label-number", 1),
    (GOOD_LABEL * 1 + "7 0.5 0.5 0.2 0.2\n", "label-class", 2),
    ("-1 0.5 0.5 0.2 0.2\n", "label-class", 1),
    ("0 0.5 1.5 0.2 0.2\n", "label-range", 1),
    ("0 -0.5 0.5 0.2 0.2\n", "label-range", 1),
    ("0 0.5 0.5 -0.2 0.2\n", "label-size", 1),
    ("0 0.5 0.5 0 0.2\n", "label-zero", 1),
    ("0 120 80 30 20\n", "label-pixels", 1),
    (GOOD_LABEL + "\0" * 40, "label-zeros", 2),
    ("".join(f"0 0.5 0.5 0.2 0.{i}\n" for i in range(100, 131)), "label-many", 0),
]


class Lists(Checked):
    def test_31_faults_among_twenty_thousand_pictures(self):
        names = self.make(PICTURES)
        random.seed(5)
        places = iter(random.sample(names, 40))
        sown = []
        for _ in range(2):
            for spoil, kind in PICTURE_FAULTS:
                name = next(places)
                spoil(self.path(f"images/{name}.png"))
                sown.append((f"{name}.png", kind, 0))
        for text, kind, line in LABEL_FAULTS:
            name = next(places)
            with open(self.path(f"labels/{name}.txt"), "w", encoding="ascii") as f:
                f.write(text)
            sown.append((f"{name}.txt", kind, line))
        os.remove(self.path(f"labels/{next(places)}.txt"))
        for _ in range(6):
            name = next(places)
            with open(self.path("train.list"), "a", encoding="ascii") as f:
                f.write(self.path(f"images/{name}.png\n"))
        sown += [("train.list", "list-twice", PICTURES + 1 + i) for i in range(6)]
        self.assertEqual(len(sown), 31)
        result, report, found = self.found(0)
        self.assertEqual(found, sorted(sown), result)
        self.assertEqual(result.code, 1, result)
        self.assertEqual(report["errors"], 25)
        self.assertEqual(report["without_labels"], 1)
        self.assertIn("25 errors, 6 warnings", result.out)
        self.assertRegex(result.out, r"(?m)^anchors that fit a sample of \d{4}, 100.0%: ")
        on_three, again, found = self.found(3)
        self.assertEqual(found, sorted(sown), on_three)
        self.assertEqual(again["classes"], report["classes"])
        self.assertEqual(on_three.out, result.out)
        print(f"{PICTURES} pictures: {result.seconds:.2f} s, on 3 ranks {on_three.seconds:.2f} s; "
              f"reading them: {self.seconds_to_read(names):.2f} s")

    def seconds_to_read(self, names):
        began = time.monotonic()
        for name in names:
            for path in (f"images/{name}.png", f"labels/{name}.txt"):
                if os.path.exists(self.path(path)):
                    read(self.path(path))
        return time.monotonic() - began

    def test_good_data_are_good(self):
        self.make(20)
        result, report, found = self.found(2, "-deep")
        self.assertEqual((result.code, found), (0, []), result)
        self.assertEqual(report["classes"], [20, 0, 0])
        self.assertEqual(report["boxes"], 20)
        self.assertAlmostEqual(report["anchor_iou"], 1.0)
        self.assertIn("2 classes with nothing to learn from: b, c\n", result.out)

    def test_boxes_that_training_takes(self):
        """90 of a picture, and 200 by the formulas of the forks that have YOLOv4."""
        label = self.path(f"labels/{self.make(1)[0]}.txt")
        for key, boxes, wanted in (("", 90, []), ("", 91, ["label-many"]), ("iou_loss=ciou\n", 200, []), ("iou_loss=ciou\n", 201, ["label-many"])):
            with self.subTest(key=key, boxes=boxes):
                self.write("net.cfg", cfg().replace("max=30\n", key))
                replace(label, "".join(f"0 0.5 0.5 0.2 0.{i}\n" for i in range(100, 100 + boxes)).encode())
                _, _, found = self.found(0)
                self.assertEqual([kind for _, kind, _ in found], wanted)

    def test_no_labels_at_all(self):
        names = self.make(30)
        for name in names[1:]:
            os.remove(self.path(f"labels/{name}.txt"))
        self.assertEqual(self.found(0)[2], [])
        os.remove(self.path(f"labels/{names[0]}.txt"))
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        for ranks in (0, 2):
            result, _, found = self.found(ranks)
            self.assertEqual((result.code, found), (1, [("train.list", "labels-none", 0)]), result)
            self.assertIn(f"no picture has a label file; that of {self.path('images/p00000.png')} would be {self.path('labels/p00000.txt')}", result.out)
            self.check_refused(self.before_a_run(ranks=ranks), "train.list: no picture has a label file; that of ", code=1)
        for name in names:
            self.write(f"labels/{name}.txt", "")
        result, _, found = self.found(0)
        self.assertEqual((result.code, found), (0, [("train.list", "labels-empty", 0)]), result)
        self.assertEqual(self.before_a_run().code, 0)

    def test_numbers_that_the_loader_refuses(self):
        """Before a run, too, and where only the loader looks: none of them is trained with."""
        label = self.path(f"labels/{self.make(1)[0]}.txt")
        self.write("net.cfg", darknet.detector_cfg(max_batches=1).replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        for text, kind in (("0.0 .5 .5 .3 .2", "class"), ("1e0 .5 .5 .3 .2", "class"), ("0x1 .5 .5 .3 .2", "class"), ("1. .5 .5 .3 .2", "class"),
                           ("0 0x1p-1 .5 .3 .2", "number"), ("0 .5 .5 .3 0X.4", "number"), ("0 -2e6 .5 .3 .2", "number"), ("0 .5 inf .3 .2", "number")):
            with self.subTest(text=text):
                replace(label, text.encode())
                result, _, found = self.found(0)
                self.assertEqual(found, [("p00000.txt", f"label-{kind}", 1)], result)
                self.assertIn(" 0 with an empty one", result.out)
                says = "labels/p00000.txt:1: " + result.out.split(":1: error: ")[1].splitlines()[0]
                self.assertIn(says, self.check_refused(self.before_a_run(), "at which training would end", code=1).err)
                self.check_refused(self.before_a_run("-nocheck"), says, code=1)
        replace(label, b"+1 5e-1 .5 +.3 2E-1\t\r\n\n")
        self.assertEqual(self.found(0)[2], [])
        self.assertEqual(self.before_a_run("-nocheck").code, 0)

    def test_a_picture_of_both_lists_has_its_faults_once(self):
        names = self.make(6)
        replace(self.path(f"images/{names[1]}.png"), b"no picture")
        replace(self.path(f"labels/{names[2]}.txt"), b"7 .5 .5 .2 .2\n")
        replace(self.path(f"labels/{names[3]}.txt"), b"\n")
        twice = "".join(f"images/{name}.png\n" for name in names)
        self.write("train.list", twice + f"images/{names[2]}.png\n")
        self.write("valid.list", twice)
        self.write("net.data", "classes=3\ntrain=train.list\nvalid=valid.list\nnames=net.names\n")
        for ranks in (0, 2):
            result, report, found = self.found(ranks)
            self.assertEqual(found, [(f"{names[1]}.png", "picture-broken", 0), (f"{names[2]}.txt", "label-class", 1), ("train.list", "list-twice", 7),
                                     ("valid.list", "list-shared", 1)], result)
            self.assertEqual((report["errors"], report["without_boxes"]), (2, 1))

    def test_few_labels_of_a_long_list(self):
        """The look before a run takes every second of these lines; only another has a label file."""
        names = self.make(2)
        os.remove(self.path(f"labels/{names[0]}.txt"))
        bare, labelled = (self.path(f"images/{name}.png\n") for name in names)
        self.write("train.list", bare + labelled + bare * 4094)
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        for ranks in (0, 2):
            result = self.before_a_run(ranks=ranks)
            self.assertEqual(result.code, 0, result)
        os.remove(self.path(f"labels/{names[1]}.txt"))
        for ranks in (0, 2):
            self.check_refused(self.before_a_run(ranks=ranks), "train.list: no picture has a label file; that of ", code=1)

    def test_labels_beside_the_pictures(self):
        names = self.make(2)
        os.rename(self.path(f"labels/{names[0]}.txt"), self.path(f"images/{names[0]}.txt"))
        _, report, found = self.found(0)
        self.assertEqual((found, report["without_labels"], report["boxes"]), ([], 0, 2))

    def test_a_folder_of_a_name_like_a_picture(self):
        """Only the end of a path is what says which kind of file it is."""
        names = self.make(2)
        os.mkdir(self.path("set.png"))
        for folder in ("images", "labels"):
            os.rename(self.path(folder), self.path(f"set.png/{folder}"))
        self.write("train.list", "".join(self.path(f"set.png/images/{name}.png\n") for name in names))
        _, report, found = self.found(0)
        self.assertEqual((found, report["without_labels"], report["boxes"]), ([], 0, 2))

    def test_deep_decodes(self):
        names = self.make(3)
        picture = self.path(f"images/{names[1]}.png")
        data = bytearray(read(picture))
        data[45] ^= 0xff  # within the compressed rows
        replace(picture, bytes(data))
        self.assertEqual(self.found(0)[2], [])
        self.assertEqual(self.found(0, "-deep")[2], [(f"{names[1]}.png", "picture-broken", 0)])

    def test_deep_names_what_the_decoder_warns_of(self):
        names = self.make(2)
        corpus = os.path.join(here, "..", "corpus", "jpeg", "444.jpg")
        picture = f"images/{names[1]}.jpg"
        replace_or_make(self.path(picture), read(corpus)[:-2] + b"\7" * 9 + b"\xff\xd9")
        self.write("train.list", f"images/{names[0]}.png\n{picture}\n")
        os.rename(self.path(f"images/{names[1]}.png"), self.path("spare.png"))
        self.assertEqual(self.found(0)[2], [])
        result, _, found = self.found(0, "-deep")
        self.assertEqual(found, [(f"{names[1]}.jpg", "picture-warned", 0)])
        self.assertIn("extraneous bytes before marker 0xd9", result.out)

    def test_names_are_shown_without_control_characters(self):
        names = self.make(2)
        self.write("net.names", "a\033[2J\x7f\nb\nc\n")
        odd = f"images/\033]0;x\007{names[0]}.png"
        os.rename(self.path(f"images/{names[0]}.png"), self.path(odd))
        replace(self.path(odd), b"")
        replace(self.path(f"labels/{names[1]}.txt"), b"\xff\xfe" + GOOD_LABEL.encode())
        self.write("train.list", f"{odd}\nimages/{names[1]}.png\n")
        result = self.darknet("ddp", "check", "net.data", "net.cfg")
        both = result.out + result.err
        self.assertNotRegex(both, "[\x00-\x08\x0b-\x1f\x7f]", result)
        self.assertIn(r"images/\x1b]0;x\x07", both)
        self.assertIn(r"'\xff\xfe0' is no number", both)

    def test_lists_that_are_none(self):
        self.make(2)
        for name, says in (("train.list", "has bytes of 0"), ("net.names", "has bytes of 0"), ("net.data", "has bytes of 0"),
                           ("net.cfg", "has bytes of 0")):
            with self.subTest(name=name):
                kept = read(self.path(name))
                replace(self.path(name), bytes(200))
                result = self.darknet("ddp", "check", "net.data", "net.cfg")
                self.assertEqual(result.code, 1, result)
                self.assertIn(f"{name} {says}", result.out + result.err)
                replace(self.path(name), kept)
        os.remove(self.path("train.list"))
        os.mkdir(self.path("train.list"))
        result = self.darknet("ddp", "check", "net.data", "net.cfg")
        self.assertEqual(result.code, 1, result)
        self.assertIn(f"net.data:2: error: train=train.list: cannot be read in {self.folder}: it is a folder\n", result.out)

    def test_many_faults_of_a_kind_are_cut_short(self):
        names = self.make(70)
        for name in names[:60]:
            replace(self.path(f"images/{name}.png"), b"no picture" + name.encode())
        self.write("net.cfg", cfg(filters=255))
        result, report, _ = self.found(2)
        self.assertEqual((len(report["faults"]), result.out.count("is no picture")), (61, 50), result)
        self.assertIn("... and 10 more like these; -json FILE writes all of them\n", result.out)
        self.assertIn("net.cfg:8: error: filters=255", result.out)

    def test_pictures_of_valid(self):
        names = self.make(4)
        self.write("valid.list", "".join(f"images/{name}.png\n" for name in (names[0], "gone", names[0])))
        self.write("net.data", "classes=3\ntrain=train.list\nvalid=valid.list\nnames=net.names\n")
        for ranks in (0, 2):
            _, report, found = self.found(ranks)
            self.assertEqual(found, [("gone.png", "picture-unreadable", 0), ("valid.list", "list-shared", 1),
                                     ("valid.list", "list-twice", 3)])
            self.assertEqual(report["pictures"], 4)

    def test_pictures_of_train_in_valid(self):
        names = self.make(6)
        self.write("valid.list", "".join(f"{name}\n" for name in ("new.png", "", f"images/{names[4]}.png", f"./images/{names[2]}.png")))
        self.write("net.data", "classes=3\ntrain=train.list\nvalid=valid.list\nnames=net.names\n")
        os.link(self.path("one.png"), self.path("new.png"))
        for ranks in (0, 2):
            result, _, found = self.found(ranks)
            self.assertEqual((result.code, found), (0, [("valid.list", "list-shared", 3)]), result)
            self.assertIn(f"valid.list:3: warning: 2 of 3 pictures to validate on are in train.list, too, images/{names[4]}.png first", result.out)

    def test_two_label_files_that_differ(self):
        names = self.make(4)
        for name, text in ((names[1], "1 0.5 0.5 0.1 0.1\n"), (names[2], GOOD_LABEL), (names[3], "")):
            self.write(f"images/{name}.txt", text)
        result, _, found = self.found(0)
        self.assertEqual((result.code, found), (0, [(f"{names[1]}.png", "label-two", 0)]), result)
        self.assertIn(f"labels/{names[1]}.txt is taken, {self.path(f'images/{names[1]}.txt')} is not", result.out)

    def test_a_picture_under_two_names(self):
        names = self.make(3)
        os.symlink(self.path(f"images/{names[2]}.png"), self.path("images/copy.png"))
        self.write("labels/copy.txt", GOOD_LABEL)
        self.write("train.list", "".join(f"images/{name}.png\n" for name in (*names, "copy")))
        result, _, found = self.found(0)
        self.assertEqual((result.code, found), (0, [("train.list", "list-same", 4)]), result)
        self.assertIn(f"1 picture of this list is another one under a different name: images/copy.png is images/{names[2]}.png of line 3", result.out)

    def test_a_name_that_stands_twice(self):
        self.make(1)
        self.write("net.names", "p0\nq\np0\n")
        self.write("net.data", "classes=3\ntrain=train.list\nlabels=net.names\n")
        self.write("net.cfg", "[net]\nbatch=4\nwidth=4\nheight=4\nchannels=3\n[connected]\noutput=3\nactivation=linear\n[softmax]\n")
        self.assertIn(("net.names", "list-twice", 3), self.found(0)[2])

    def test_labels_that_have_corners(self):
        names = self.make(30)
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        for corners, found in ((20, [("train.list", "labels-corners", 0)]), (19, [])):
            for i, name in enumerate(names):
                self.write(f"labels/{name}.txt", "0 0.3 0.3 0.8 0.8\n" if i >= 30 - corners else "0 0.5 0.5 1 1\n")
            for ranks in (0, 2):
                result, report, all_found = self.found(ranks)
                self.assertEqual([fault for fault in all_found if fault[1] != "cfg-anchors"], found, result)
                out = self.before_a_run(ranks=ranks).out
                says = f"DDP: train.list: {corners} of 30 boxes reach beyond the edge of their picture: a label is CLASS X Y WIDTH HEIGHT, and X Y are the middle of the box, no corner\n"
                (self.assertIn if found else self.assertNotIn)(says, out)

    def test_a_list_to_validate_on_without_labels(self):
        """All figures would be nothing, the first weights the best for good, and -patience would end the run."""
        names = self.make(6)
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        self.write("net.data", read(self.path("net.data")).decode() + "valid=valid.list\n")
        self.write("valid.list", "".join(self.path(f"images/{name}.png\n") for name in names[:3]))
        self.write("train.list", "".join(self.path(f"images/{name}.png\n") for name in names[3:]))
        self.assertEqual(self.before_a_run().code, 0)
        weights = self.path("backup/net_final.weights")
        os.remove(self.path(f"labels/{names[0]}.txt"))
        self.assertEqual(self.found(0)[2], [])
        for ranks in (0, 2):
            self.check_refused(self.before_a_run("-clear", "-labels_required", ranks=ranks), "valid=valid.list: 1 of 3 pictures have no label file, ", code=1)
        for name in names[1:3]:
            os.remove(self.path(f"labels/{name}.txt"))
        says = f"no picture has a label file; that of {self.path(f'images/{names[0]}.png')} would be {self.path(f'labels/{names[0]}.txt')}"
        for ranks in (0, 2):
            result, _, found = self.found(ranks)
            self.assertEqual((result.code, found), (1, [("valid.list", "labels-none", 0)]), result)
            self.assertIn(says, result.out)
            result = self.check_refused(self.before_a_run("-clear", ranks=ranks), f"valid=valid.list: {says}", code=1)
            self.assertEqual(result.err.count("; -ddp_validate 0 trains without validation"), 1, result)
            self.refused("detector", "map", "net.data", "net.cfg", weights, says=says, ranks=ranks, code=1)
        self.assertTrue(os.path.exists(weights))
        self.assertEqual(self.before_a_run("-clear", "-ddp_validate", "0").code, 0)
        for name in names[:3]:
            self.write(f"labels/{name}.txt", "")
        self.assertEqual(self.found(0)[2], [("valid.list", "labels-empty", 0)])
        self.assertIn("DDP: no picture of valid=valid.list has a box: a validation measures nothing there\n", self.before_a_run("-clear", ranks=2).out)

    def test_pictures_that_are_elsewhere_are_no_matter_of_labels(self):
        self.make(8)
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        os.rename(self.path("images"), self.path("elsewhere"))
        os.rename(self.path("labels"), self.path("others"))
        for ranks in (0, 2):
            result = self.check_refused(self.before_a_run(ranks=ranks), "train.list", code=1)
            self.assertNotIn("label", result.err)
            self.assertIn("No such file or directory", result.err)

    def test_a_look_before_a_run(self):
        names = self.make(12)
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        good = self.before_a_run(ranks=2)
        self.assertEqual(good.code, 0, good)
        self.assertNotIn("`darknet ddp check", good.out + good.err)
        with open(self.path(f"labels/{names[5]}.txt"), "w", encoding="ascii") as f:
            f.write("0 .5 .5 1.01 .5\n")  # is cut
        self.assertIn("DDP: 1 fault, in a look at 12 of 12 pictures; `darknet ddp check net.data net.cfg` says which\n",
                      self.before_a_run(ranks=3).out)
        self.write(f"images/{names[4]}.txt", "1 .5 .5 .1 .1\n")  # is not taken
        self.assertIn("DDP: 2 faults, in a look at 12 of 12 pictures; ", self.before_a_run(ranks=3).out)
        with open(self.path(f"labels/{names[7]}.txt"), "w", encoding="ascii") as f:
            f.write("0 120 80 30 20\n")
        replace(self.path(f"images/{names[3]}.png"), b"no picture")
        for ranks in (0, 1, 3):
            result = self.check_refused(self.before_a_run(ranks=ranks), [
                f"labels/{names[7]}.txt:1: 120 80 30 20 are pixels", f"images/{names[3]}.png: is no picture", "(train.list:4)",
                "2 faults at which training would end", "-nocheck trains without looking"], code=1)
            self.assertEqual(result.err.count("are pixels"), 1, result)
            self.assertNotIn(" avg, ", result.out)
        self.write(f"labels/{names[7]}.txt", "0 58.6 57 36 41\n")
        self.check_refused(self.before_a_run(), f"labels/{names[7]}.txt:1: 58.6 57 36 41 are pixels or percentages; fractions of the picture are wanted: ")
        self.check_refused(self.before_a_run("-nocheck"), f"images/{names[3]}.png", code=1)
        self.write(f"labels/{names[7]}.txt", GOOD_LABEL)
        os.link(self.path("one.png"), self.path("valid.png"))
        self.write("valid.txt", GOOD_LABEL * 3 + "0 .5 .5 1.01 .5\n")
        self.write("train.list", "".join(f"images/{name}.png\n" for name in names if name != names[3]))
        self.write("net.data", "classes=3\ntrain=train.list\nvalid=valid.list\nnames=net.names\nbackup=backup\n")
        self.write("valid.list", "valid.png\nnone.png\n")
        self.check_refused(self.before_a_run(ranks=2), ["valid.txt:4: .5 .5 1.01 .5 are not all", "none.png: cannot be read", "(valid.list:2)"],
                           code=1)

    def test_a_look_before_a_run_is_short(self):
        names = self.make(20000)
        self.write("net.cfg", darknet.detector_cfg(max_batches=1).replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        for name in names[::5]:
            replace(self.path(f"images/{name}.png"), b"no picture")
        took = []
        while not took or min(took) >= 20 and len(took) < 5:  # once at least: the cores may have been another's
            result = self.check_refused(self.before_a_run(ranks=2), "faults at which training would end", code=1)
            took.append(result.seconds)
        self.assertLess(min(took), 20)
        self.assertLessEqual(len(re.findall(r"is no picture", result.err)), 10, result)

    def test_refusals(self):
        self.refused("ddp", "check", "net.data", "net.cfg", says="net.data", code=1)
        self.make(1)
        self.write("train.list", "")
        self.assertIn("net.data:2: error: train=train.list: no picture is listed there", self.found(0)[0].out)
        self.write("net.data", "classes=3\n")
        self.assertIn("net.data: error: net.data has no train=, the list of pictures", self.found(0)[0].out)
        self.refused("ddp", "why", "net.data", says="line 1: no event of a run", code=1)


if __name__ == "__main__":
    darknet.main()
