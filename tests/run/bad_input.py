#!/usr/bin/env python3
# ddp-test: usual
"""Data, cfgs and folders that are missing or wrong: one sentence that names the file,
the line or the value, an exit status that is not 0, and no hang; alone and on 2 ranks."""
import math
import os
import shutil
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

# On one rank and on two, where the loader is to find what the look before a run (the test run.check) would.
WAYS = ((0, ("-nocheck",)), (2, ("-ddp", "-nocheck")))


class BadInput(darknet.Case):
    cfg = staticmethod(darknet.detector_cfg)
    name = "detector"

    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.prepare()
        self.write("tiny.cfg", self.cfg(max_batches=100))

    def prepare(self):
        self.data.boxes()

    def remove(self, name):
        os.remove(self.path(name))

    def everywhere(self, says, *more, code=None, steps=False, ways=WAYS):
        """Refused in every way; steps: it may be found only while training."""
        for ranks, ddp in ways:
            with self.subTest(ranks=ranks):
                result = self.refused(self.name, "train", "train.data", "tiny.cfg", *more, *ddp,
                                      ranks=ranks, says=says, code=code)
                if not steps:
                    self.assertNotIn(" avg, ", result.out, result)
                    self.assertEqual(result.err.count(says), 1, result)

    def change_picture(self, content):
        with open(self.path("images/cat0.png"), "wb") as f:
            f.write(content)

    def write_bytes(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def change_cfg(self, old, new):
        cfg = self.cfg()
        self.assertIn(old, cfg)
        self.write("tiny.cfg", cfg.replace(old, new, 1))


class Pictures(BadInput):
    def test_missing(self):
        self.remove("images/dog1.png")
        for ranks in (0, 1, 2):
            result = self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", "-nocheck",
                                  ranks=ranks, says="train.list:2: cannot read images/dog1.png: No such file or directory\n")
            self.assertNotIn(" avg, ", result.out, result)
        self.assertIn("darknet[rank 1 @ ", result.err, result)

    def test_paths_that_end_with_a_blank_or_are_of_windows(self):
        for path, says in (("images/dog1.png ", "No such file or directory (the name ends with a blank)"),
                           ("images\\dog1.png", "No such file or directory (folders are divided by / here, and not by \\)")):
            self.write("train.list", f"images/cat0.png\n{path}\n")
            self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", says=f"train.list:2: cannot read {path}: {says}\n")
            result = self.darknet("ddp", "check", "train.data", "tiny.cfg")
            self.assertIn(f"{path}: error: cannot be read: {says} (train.list:2)", result.out)

    def test_truncated(self):
        with open(self.path("images/cat0.png"), "rb") as f:
            self.change_picture(f.read()[:60])
        self.everywhere('Cannot load image "images/cat0.png"', steps=True)

    def test_of_another_kind(self):
        for content in (b"", b"\x89PNG this is not\n" * 100):
            self.change_picture(content)
            self.everywhere('Cannot load image "images/cat0.png"', steps=True, ways=WAYS[:1])


    def test_a_jpeg_with_more_codes_than_a_table_holds(self):
        counts = bytes([0] * 7 + [255, 255] + [0] * 7)
        table = b"\0" + counts + bytes(510)
        self.change_picture(b"\xff\xd8\xff\xc4" + struct.pack(">H", 2 + len(table)) + table + b"\xff\xd9")
        self.everywhere('Cannot load image "images/cat0.png"', steps=True, ways=WAYS[:1])


class Zeros(BadInput):
    """What a disk may have of a file after a loss of power."""
    def test_a_file_of_zeros(self):
        for name, steps in (("labels/cat0.txt", True), ("train.list", False), ("train.data", False), ("tiny.cfg", False)):
            with self.subTest(name=name):
                with open(self.path(name), "rb") as f:
                    kept = f.read()
                self.write_bytes(name, bytes(len(kept)))
                self.everywhere(f"{name} has bytes of 0: it is no text file, or was not written whole", steps=steps, ways=WAYS[:1])
                self.write_bytes(name, kept)

    def test_a_file_that_an_editor_has_saved_as_utf_16(self):
        for name, steps in (("labels/cat0.txt", True), ("train.list", False), ("train.data", False), ("tiny.cfg", False)):
            kept = self.read(name)
            for code in ("utf-16-le", "utf-16-be"):
                with self.subTest(name=name, code=code):
                    self.write_bytes(name, ("\ufeff" + kept.decode()).encode(code))
                    self.everywhere(f"{name} is UTF-16 text: save it as UTF-8", steps=steps, ways=WAYS[:1])
            self.write_bytes(name, kept)
        self.write_bytes("labels/cat0.txt", "\ufeff0 .5 .5 .2 .2\n".encode("utf-16-le"))
        self.refused(self.name, "train", "train.data", "tiny.cfg", "-ddp", says="labels/cat0.txt:1: is UTF-16 text: save it as UTF-8")

    def test_a_list_that_is_a_directory(self):
        self.remove("train.list")
        os.mkdir(self.path("train.list"))
        self.everywhere(f"train=train.list: cannot be read in {self.folder}: it is a folder")


class Labels(BadInput):
    file = "labels/cat0.txt"
    wrong = (("0 .5 .5 .2\n", "labels/cat0.txt:1: 4 columns, and CLASS X Y WIDTH HEIGHT are five"),
             ("0 .5 .5 .2 .2\n\n0 .5 .5 .2 wide\n", "labels/cat0.txt:3: 'wide' is no number: "),
             ("0 .5 .5 .2 nan\n", "labels/cat0.txt:1: 'nan' is no number: "),
             ("2 .5 .5 .2 .2\n", "labels/cat0.txt:1: class 2 is not one of the 2 classes 0 to 1"),
             ("-1 .5 .5 .2 .2\n", "labels/cat0.txt:1: class -1 is not one of the 2 classes"),
             ("0 .5 .5 .2 .2\n0 .5 .5 -.2 .2\n", "labels/cat0.txt:2: .5 .5 -.2 .2: a box of negative size"),
             ("0 .5 .5 .2 -1e-6\n", "labels/cat0.txt:1: .5 .5 .2 -1e-6: a box of negative size"))

    def test_missing(self):
        self.remove(self.file)
        if self.name == "detector":  # which takes it for a picture without objects, unless asked not to
            self.everywhere("1 of 8 pictures have no label file, images/cat0.png", "-labels_required")
        else:
            self.everywhere(f"Couldn't open file: {self.file} (No such file or directory)", steps=True)

    def test_wrong(self):
        for i, (text, sentence) in enumerate(self.wrong):
            with self.subTest(text=text):
                self.write(self.file, text)
                self.everywhere(sentence, steps=True, ways=WAYS[:1] if i else WAYS)


class Masks(Labels):
    cfg = staticmethod(darknet.segmenter_cfg)
    name = "segmenter"
    file = "mask/cat0.txt"
    wrong = (("0\n", "mask/cat0.txt: a mask is a class number and its run lengths"),
             ("0 what\n", "mask/cat0.txt: a mask is a class number and its run lengths"),
             ("80 1,2\n", "mask/cat0.txt: class 80 is not one of the 80 classes 0 to 79"),
             ("0 1000,1000\n", "mask/cat0.txt: run lengths exceed the 32 x 32 picture"))

    def prepare(self):
        self.data.masks()


class InstanceMasks(Masks):
    cfg = staticmethod(darknet.isegmenter_cfg)
    name = "isegmenter"


class Numbers(Labels):
    cfg = staticmethod(darknet.regressor_cfg)
    name = "regressor"
    wrong = (("", "labels/cat0.txt: 0 values, 2 expected"),
             (".5\n\n", "labels/cat0.txt: 1 values, 2 expected"),
             (".5 what\n", "labels/cat0.txt:1: 'what' is no number"),
             ("nan .5\n", "labels/cat0.txt:1: 'nan' is no number"),
             (".5\n-inf\n", "labels/cat0.txt:2: '-inf' is no number"),
             (".5 1e39\n", "labels/cat0.txt:1: '1e39' is no number"),
             (".5 0x1\n", "labels/cat0.txt:1: '0x1' is no number"))

    def prepare(self):
        self.data.numbers()


class Tags(Labels):
    cfg = staticmethod(darknet.regressor_cfg)
    name = "classifier"
    wrong = (("one\n", "labels/cat0.txt:1: 'one' is not one of the 2 tags 0 to 1"),
             ("0\n2\n", "labels/cat0.txt:2: '2' is not one of the 2 tags 0 to 1"))

    def prepare(self):
        self.data.tags()
        self.data.data("train.data", tag=1)


class Lists(BadInput):
    def test_missing(self):
        self.remove("train.list")
        self.everywhere(f"train.data:2: train=train.list: cannot be read in {self.folder}: No such file or directory")

    def test_empty(self):
        for text in ("", "\n \n\t\n"):
            self.write("train.list", text)
            self.everywhere("train.data:2: train=train.list: no picture is listed there, a path in each line")

    def test_blank_lines_and_carriage_returns_are_no_harm(self):
        self.data.list("train.list", [p + "\r" for p in self.data.pictures] + [""])
        self.write("tiny.cfg", self.cfg(max_batches=20))
        for ranks, ddp in WAYS:
            self.succeeds("detector", "train", "train.data", "tiny.cfg", *ddp, ranks=ranks)


class Names(BadInput):
    cfg = staticmethod(darknet.classifier_cfg)
    name = "classifier"

    def test_missing(self):
        self.data.data("train.data", names="none.list")
        self.everywhere(f"names=none.list: cannot be read in {self.folder}: No such file or directory")
        self.data.data("train.data")
        self.remove("names.list")
        self.everywhere(f"train.data:3: labels=names.list: cannot be read in {self.folder}: No such file or directory")

    def test_too_few(self):
        self.write("names.list", "cat\n")
        self.everywhere("names.list has 1 labels, classes=2 in train.data needs more")

    def test_classes_that_do_not_fit(self):
        for classes, sentence in (("abc", "train.data:1: classes=abc: not a number"),
                                  ("0x10", "train.data:1: classes=0x10: not a number"), ("nan", "train.data:1: classes=nan: not a number"),
                                  ("99999999999", "train.data:1: classes=99999999999: out of range"),
                                  ("1", "filters=2: as many values as that come out, and train.data has classes=1: filters=1 is wanted")):
            self.data.data("train.data", classes=classes)
            self.everywhere(sentence)

    def test_pictures_of_more_values_than_an_int_counts(self):
        """One that fills a network of 16 x 65536 has 65536 x 65536. A classifier's network has to be a square."""
        pool, head = darknet.section("maxpool", size=16, stride=16), darknet.section("connected", output=2)
        self.write("tiny.cfg", darknet.net(height=16, width=65536, batch=1, subdivisions=1, max_batches=1) + pool
                   + darknet.section("avgpool") + head + darknet.section("softmax"))
        self.name = "regressor"
        self.everywhere(" is too large: it has more than 2147483647 values", ways=WAYS[:1], steps=True)


class Files(BadInput):
    def test_missing_data_file(self):
        self.remove("train.data")
        self.everywhere(f"train.data: cannot be read in {self.folder}: No such file or directory")

    def test_missing_cfg(self):
        self.remove("tiny.cfg")
        self.everywhere(f"tiny.cfg: cannot be read in {self.folder}: No such file or directory")
        for ranks, ddp in WAYS:
            self.refused("detector", "train", "train.data", *ddp, ranks=ranks,
                         says="usage: darknet detector train DATA CFG [WEIGHTS]")

    def test_missing_weights(self):
        self.everywhere(f"none.weights: cannot be read in {self.folder}: No such file or directory", "none.weights")
        self.everywhere(f"no/none.weights: cannot be read in {self.folder}/no: there is no such folder", "no/none.weights")
        self.everywhere(f"images: cannot be read in {self.folder}: it is a folder", "images")

    def test_truncated_weights(self):
        self.write("cut.weights", "0123456789")
        self.everywhere("cut.weights is no weights file", "cut.weights")
        self.write_bytes("cut.weights", struct.pack("<3iq", 0, 2, 0, 0) + bytes(20))
        self.everywhere("cut.weights ends inside of the weights of layer 0", "cut.weights")

    def test_weights_of_a_larger_network(self):
        """Its layers do not end where this one's do."""
        small = self.cfg(max_batches=2)
        self.write("large.cfg", small.replace("filters=7", "filters=27").replace("classes=2", "classes=22"))
        self.write("tiny.cfg", small)
        self.data.data("large.data", classes=22)
        self.succeeds("detector", "train", "large.data", "large.cfg")
        more = 20 * (4 + 1) * 4  # a bias and 4 weights of each filter
        self.everywhere(f"backup/large_final.weights has {more} bytes more than this network takes: it is of another "
                        "cfg. `darknet partial` with that cfg writes the layers that both have; -weights_force loads them all in their order, those of another size wrongly", "backup/large_final.weights")
        for ranks, ddp in WAYS:
            result = self.succeeds("detector", "train", "train.data", "tiny.cfg", "backup/large_final.weights",
                                   "-weights_force", "-clear", *ddp, ranks=ranks)
            self.assertEqual(result.err.count(f"{more} bytes of backup/large_final.weights are left over\n"), 1, result)

    def test_weights_of_the_first_layers(self):
        self.write("tiny.cfg", self.cfg(max_batches=2))
        self.succeeds("detector", "train", "train.data", "tiny.cfg")
        for layers, missing in ((1, 2), (3, 3)):
            names = [f"first.{word}.{layers}" for word in ("conv", "weights")]
            for name in names:
                self.succeeds("partial", "tiny.cfg", "backup/tiny_final.weights", name, str(layers))
            self.everywhere(f"{names[1]} ends before layer {missing} of the 5 that this network has: it was cut, or is of another cfg", names[1])
            for ranks, ddp in WAYS:
                for words in ((names[0],), (names[1], "-weights_force")):
                    result = self.succeeds("detector", "train", "train.data", "tiny.cfg", *words, "-clear", *ddp, ranks=ranks)
                    self.assertEqual(result.err.count(f"{words[0]} has weights for the first {missing} of 5 layers; the others begin at random\n"), 1, result)

    def test_weights_of_a_version_that_is_none(self):
        for major, minor in ((2 ** 31 - 1, 2), (300000000, 2), (0, -1), (-5, 2), (0x30303030, 0x30303030)):
            self.write_bytes("odd.weights", struct.pack("<3iq", major, minor, 0, 0) + bytes(10000))
            self.everywhere("odd.weights is no weights file",
                            "odd.weights", ways=WAYS[:1])

    def test_weights_that_are_no_numbers(self):
        self.write("tiny.cfg", self.cfg(max_batches=1))
        self.succeeds("detector", "train", "train.data", "tiny.cfg")
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            whole = f.read()
        last = len(whole) // 4 - 1  # of the last layer with weights, 3
        for index, layer in ((5, 0), (40, 0), (last, 3)):
            for i, odd in enumerate((math.nan, math.inf, -math.inf)):
                self.write_bytes("odd.weights", whole[:4 * index] + struct.pack("<f", odd) + whole[4 * index + 4:])
                self.everywhere(f"odd.weights: a weight of layer {layer} is NaN or infinite", "odd.weights",
                                ways=WAYS if index == 5 and i == 0 else WAYS[:1])

    def test_a_rate_that_falls_to_no_end(self):
        self.write("tiny.cfg", darknet.classifier_cfg(policy="poly", power=1, max_batches=0))
        says = "max_batches=, which is 0"
        for words in (("classifier", "train", "train.data", "tiny.cfg", "-ddp"), ("classifier", "train", "train.data", "tiny.cfg")):
            self.refused(*words, says=["policy=poly: the rate falls to 0 at " + says], code=2)
        self.assertIn(says, self.darknet("ddp", "check", "train.data", "tiny.cfg").out)

    def test_a_classifier_without_a_loss(self):
        cfg = darknet.classifier_cfg()
        self.write("tiny.cfg", cfg[:cfg.index("[softmax]")])
        says = "[avgpool] is the last section, and none gives a loss: [softmax], [cost] or [logistic] do"
        for options in ((), ("-ddp",)):
            self.refused("classifier", "train", "train.data", "tiny.cfg", *options, says=says, code=2)
        self.assertIn(says, self.darknet("ddp", "check", "train.data", "tiny.cfg").out)

    def test_weights_that_are_none(self):
        """Before an earlier run makes way."""
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=2))
        self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp")
        before = sorted(os.listdir(self.path("backup")))
        self.refused("detector", "train", "train.data", "tiny.cfg", "names.list", says="names.list is no weights file", code=2)
        self.assertEqual(sorted(os.listdir(self.path("backup"))), before)
        result = self.succeeds("detector", "train", "train.data", "tiny.cfg")
        self.assertIn("as long as this run has saved nothing, -resume_force brings them back", result.out)

    def test_backup(self):
        self.data.data("train.data", backup="no/backup")
        self.everywhere(f"train.data:5: backup=no/backup: there is no folder {self.folder}/no to make it in")
        self.data.data("train.data", backup="names.list")
        self.everywhere("train.data:5: backup=names.list: this is a file, and a folder is wanted")
        os.symlink("nowhere", self.path("link"))
        self.data.data("train.data", backup="link")
        self.everywhere("train.data:5: backup=link: this is a link to what is not there")

    @darknet.unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_backup_without_permission(self):
        os.chmod(self.path("backup"), 0o500)
        self.everywhere("train.data:5: backup=backup: no permission to write in backup")

    def test_backup_beside_the_data_file(self):
        """Made when all else has been read, and not before."""
        os.rmdir(self.path("backup"))
        os.mkdir(self.path("sets"))
        self.data.data("sets/train.data", backup=None)
        self.write("tiny.cfg", self.cfg(max_batches=1))
        self.write("cut.weights", "0123456789")
        for ranks, ddp in WAYS:
            line = ("detector", "train", "sets/train.data", "tiny.cfg")
            self.refused(*line, "cut.weights", *ddp, ranks=ranks, says="cut.weights is no weights file")
            self.assertEqual(os.listdir(self.path("sets")), ["train.data"])
            result = self.succeeds(*line, *ddp, ranks=ranks)
            self.assertEqual(result.err.count("sets/train.data has no backup=: weights are saved in sets/backup\n"), 1, result)
            self.assertTrue(os.path.exists(self.path("sets/backup/tiny_final.weights")))
            shutil.rmtree(self.path("sets/backup"))

    def test_blanks_and_byte_order_marks(self):
        """A path may have blanks within, and an editor may begin a file with a mark: both train as without."""
        self.data.data("train.data", valid="train.list")
        self.write("tiny.cfg", self.cfg(max_batches=2))
        for ranks, ddp in WAYS:
            self.write_bytes("plain.data", self.read("train.data"))
            options = (*ddp, "-ddp_seed", "1")
            self.succeeds("detector", "train", "plain.data", "tiny.cfg", *options, ranks=ranks)
            plain = self.read("backup/tiny_final.weights")
            texts = {"my train.data": self.read("train.data").replace(b"train=train", b"train = my train").replace(
                         b"backup=backup", b" backup =\tmy backup \r").replace(b"valid=train", b"valid=my train").replace(b"names=", b"names=my "),
                     "my train.list": self.read("train.list"), "my names.list": self.read("names.list"), "my.cfg": self.read("tiny.cfg"),
                     **{name: self.read(name) for name in map(self.data.label, self.data.pictures)}}
            for name, text in texts.items():
                self.write_bytes(name, b"\xef\xbb\xbf" + text.removeprefix(b"\xef\xbb\xbf"))
            os.makedirs(self.path("my backup"), exist_ok=True)
            self.succeeds("detector", "train", "my train.data", "my.cfg", *options, ranks=ranks)
            self.assertEqual(plain, self.read("my backup/my_final.weights"))
            shutil.rmtree(self.path("my backup"))
        result = self.darknet("ddp", "check", "my train.data", "my.cfg")
        self.assertEqual(result.code, 0, result)
        for name in texts:
            self.assertIn(name, result.out)
        self.assertIn("begins with a byte-order mark", result.out)


class Cfgs(BadInput):
    def test_bad_numbers(self):
        for old, new, sentence in (
                ("batch=4", "batch=abc", "tiny.cfg:2: batch=abc: not a number"),
                ("batch=4", "batch=0", "tiny.cfg:2: batch=0: must be positive"),
                ("subdivisions=2", "subdivisions=0", "tiny.cfg:3: subdivisions=0: must be positive"),
                ("width=32", "width=-1", "tiny.cfg:4: width=-1: must be positive"),
                ("height=32", "height=1e9", "tiny.cfg:5: height=1e9: the input is too large"),
                ("momentum=0.9", "momentum=much", "tiny.cfg:7: momentum=much: not a number"),
                ("learning_rate=0.001", "learning_rate=", "tiny.cfg:9: option without a value"),
                ("learning_rate=0.001", "learning_rate=nan", "tiny.cfg:9: learning_rate=nan"),
                ("filters=4", "filters=-1", "tiny.cfg:13: filters=-1: must be positive"),
                ("batch=4", "batch=8.5", "tiny.cfg:2: batch=8.5: not a whole number"),
                ("mask=0", "mask=0.5", "mask=0.5: not a whole number"),
                ("max_batches=3", "max_batches=3\npolicy=steps\nsteps=1.5\nscales=.1", ": steps=1.5: not a whole number")):
            with self.subTest(new=new):
                self.change_cfg(old, new)
                self.everywhere(sentence, ways=WAYS if "abc" in new else WAYS[:1])

    def test_values_that_nothing_can_be_learnt_with(self):
        for old, new, sentence in (
                ("learning_rate=0.001", "learning_rate=-1", "tiny.cfg:9: learning_rate=-1: must not be negative"),
                ("max_batches=3", "max_batches=3\nburn_in=-5", "burn_in=-5: must not be negative"),
                ("momentum=0.9", "momentum=0.9\nmin_crop=-5", "min_crop=-5: must be at least 1"),
                ("momentum=0.9", "momentum=1", "tiny.cfg:7: momentum=1: must be from 0 to less than 1"),
                ("max_batches=3", "max_batches=3\nsaturation=-1", "saturation=-1: must not be negative"),
                ("jitter=0.1", "jitter=3", "jitter=3: must be from 0 to less than 1"),
                ("ignore_thresh=0.7", "ignore_thresh=7", "ignore_thresh=7: must be from 0 to 1"),
                ("anchors=12,12", "anchors=12,0", "anchors=12,0: must be more than 0, each of them"),
                ("width=32", "width=822222222", "tiny.cfg:4: width=822222222: the input is too large")):
            with self.subTest(new=new):
                self.change_cfg(old, new)
                self.everywhere(sentence, ways=WAYS[:1])
        result = self.darknet("detector", "train", "train.data", "tiny.cfg", "-ddp", "-learning_rate", "-1")
        self.assertNotEqual(result.code, 0)
        self.assertIn("learning_rate", result.err)

    def test_lists_of_unlike_lengths(self):
        steps = "max_batches=3\npolicy=steps\nsteps=1,2\nscales="
        for old, new, sentence in (
                ("12,12", "12,12,30", "anchors=12,12,30: an odd number of values, where each anchor has two"),
                ("12,12", "12", "anchors=12: an odd number of values"),
                ("mask=0", "mask=1", "mask=1: names an anchor that anchors= does not have"),
                ("max_batches=3", steps + ".1", "scales=.1: fewer values than steps"),
                ("max_batches=3", steps + ".1,.1,.1", "scales=.1,.1,.1: more values than steps")):
            with self.subTest(new=new):
                self.change_cfg(old, new)
                self.everywhere(sentence, ways=WAYS[:1])
        for old, new in (("12,12", "12,12 # one"), ("max_batches=3", steps + ".1,.1 ; each"),
                         ("max_batches=3", steps + ".1,.1,"), ("12,12", "12,12,30,20"), ("num=1", "num=9"), ("mask=0", "mask=0,"), ("num=1", "num=1\nrandom=0.4")):
            self.change_cfg(old, new)
            self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp")

    def test_a_picture_that_cells_do_not_divide(self):
        says = "tiny.cfg:5: height=33: 36x33 pixels are no whole number of the cells of [yolo] (layer 4), 4x4 each: boxes will be off their places; " \
               "width=36 and height=32 would fit\n"
        for width, height, times in ((36, 33, 1), (36, 32, 0)):
            self.write("tiny.cfg", darknet.detector_cfg(width=width, height=height))
            for ddp, ranks in (((), 0), (("-ddp",), 2)):
                result = self.succeeds("detector", "train", "train.data", "tiny.cfg", *ddp, ranks=ranks)
                self.assertEqual((result.out + result.err).count(says), times, result)

    def test_what_may_have_been_meant(self):
        for old, new, sentence in (("momentum=", "momentun=", "momentun=0.9: no key of [net] (did you mean momentum?) (-allow_unknown_keys"),
                                   ("filters=4", "fliters=4", "fliters=4: no key of [convolutional] (did you mean filters?) (-allow_unknown_keys"),
                                   ("activation=leaky", "activation=lekay", "no activation of that name (did you mean leaky?); known are "),
                                   ("[maxpool]", "[maxpoool]", "of an unknown type, [maxpoool] (did you mean [maxpool]?); known are "),
                                   ("momentum=", "xyzzyplugh=", "=0.9: no key of [net], which has batch, subdivisions, time_steps, notruth, random and ")):
            with self.subTest(new=new):
                self.change_cfg(old, new)
                self.everywhere(sentence, ways=WAYS[:1])
                if "no key of" in sentence:
                    line = next(line for line in self.darknet(self.name, "train", "train.data", "tiny.cfg").err.splitlines() if sentence in line)
                    self.assertLess(len(line), 200)

    def test_sections(self):
        for old, new, sentence in (
                ("[maxpool]", "[maxpoo]", ": layer 1 is of an unknown type, [maxpoo]"),
                ("[yolo]", "[yolo4]", ": layer 4 is of an unknown type, [yolo4]"),
                ("[net]", "[nett]", "tiny.cfg: First section must be [net] or [network]"),
                ("height=32\n", "", "tiny.cfg: [net] lacks the size of its input"),
                ("filters=7", "filters=8", "[yolo] (layer 4) needs 448 inputs, has 512")):
            with self.subTest(new=new):
                self.change_cfg(old, new)
                self.everywhere(sentence, ways=WAYS if "yolo4" in new else WAYS[:1])

    def test_no_cfg_at_all(self):
        for text, sentence in (("", "tiny.cfg: Config file has no sections"),
                               ("hello\n", "tiny.cfg:1: option before the first section: hello")):
            self.write("tiny.cfg", text)
            self.everywhere(sentence)


class Arguments(BadInput):
    """Mistakes that are told before anything is started, made or written."""

    def refused_at_once(self, *words, says, code=2):
        for ddp in ((), ("-ddp", "-ddp_ranks", "2")):
            before = sorted(os.listdir(self.folder))
            result = self.refused(*words, *ddp, says=says, code=code)
            self.assertEqual(result.out, "", result)
            self.assertNotIn("-resume", result.err)
            self.assertEqual(sorted(os.listdir(self.folder)), before, result)

    def test_swapped(self):
        self.refused_at_once("detector", "train", "tiny.cfg", "train.data",
                             says="tiny.cfg is no .data file (it begins with [net]): the .data file comes before the cfg")
        self.refused_at_once("detector", "train", "train.data", "train.data", says="train.data is no cfg (it begins with ")

    def test_data_file(self):
        with open(self.path("train.data"), encoding="utf-8") as f:
            text = f.read()
        for wrong, says in (("", "train.data is empty: "),
                            ("# a comment\n", "train.data is empty: "),
                            (text.replace("train=", "trian="), "no key of a .data file; did you mean train?"),
                            (text + "vaild=x\n", "no key of a .data file; did you mean valid?"),
                            (text + "val=x\n", "no key of a .data file; did you mean valid?"),
                            (text.replace("classes=", "nc="), "no key of a .data file; did you mean classes?"),
                            ("classes=2\n", "train.data has no train=, the list of pictures"),
                            (text.replace("classes=2", "classes=0"), "classes=0: must be at least 1"),
                            (text + "top=0\n", "top=0: must be at least 1")):
            self.write("train.data", wrong)
            self.refused_at_once("detector", "train", "train.data", "tiny.cfg", says=says)
        self.write("train.data", text + "vaild=x\n")
        result = self.darknet("ddp", "check", "train.data", "tiny.cfg")
        self.assertIn("error: vaild=x: no key of a .data file; did you mean valid?", result.out + result.err)
        self.assertNotEqual(result.code, 0, result)
        self.write("tiny.cfg", self.cfg(max_batches=2))
        self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp", "-allow_unknown_keys")

    def test_a_value_behind_a_switch(self):
        for words in (("-resume", "true"), ("-clear", "0")):
            self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", *words, code=2, says=f"'{words[1]}' stands where weights would: ")

    def test_paths_that_cannot_be_read(self):
        """Nothing is made or printed as a start, and nothing is said of checkpoints that another run has left."""
        self.write("tiny.cfg", self.cfg(max_batches=1))
        self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp")
        for values, says in (({"train": "trian.list"}, "train.data:2: train=trian.list: cannot be read in "),
                             ({"map": "none.map"}, "train.data:6: map=none.map: cannot be read in "),
                             ({"backup": "/none/backup"}, "train.data:5: backup=/none/backup: there is no folder /none to make it in")):
            self.data.data("train.data", **values)
            self.refused_at_once("detector", "train", "train.data", "tiny.cfg", says=says, code=1)
        self.data.data("train.data", valid="vaild.list")
        result = self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", code=1,
                              says=f"train.data:6: valid=vaild.list: cannot be read in {self.folder}: No such file or directory")
        self.assertEqual(result.out, "", result)

    def test_a_map(self):
        self.write("tiny.cfg", self.cfg(max_batches=1).replace("[yolo]", "[yolo]\nmap=kinds.map"))
        for text, says in (("0\none\n", "kinds.map:2: 'one' is not a number"), ("0\n\n1.5\n", "kinds.map:3: '1.5' is not a whole number"),
                           ("\n", "No classes in map kinds.map")):
            with self.subTest(text=text):
                self.write("kinds.map", text)
                self.refused("detector", "train", "train.data", "tiny.cfg", says=says)
        self.write("kinds.map", "0\r\n1 \n\n")
        self.succeeds("detector", "train", "train.data", "tiny.cfg")

    def test_gpus_of_a_build_for_cpus(self):
        if darknet.GPU is None and "DARKNET_CUDA" not in os.environ:
            self.refused("detector", "train", "train.data", "tiny.cfg", "-gpus", "0,1", code=2,
                         says="-gpus names GPUs, and this build is for CPUs")


if __name__ == "__main__":
    darknet.main()
