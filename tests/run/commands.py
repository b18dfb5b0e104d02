#!/usr/bin/env python3
# ddp-test: usual
"""Every command that trains: on one rank, with -ddp and without, and on two; and what commands never write over."""
import math
import os
import re
import stat
import resource
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

LOSS = re.compile(rf"^\d+(?:, {darknet.FLOAT})?: ({darknet.FLOAT}), ", re.M)


class Training(darknet.Case):
    def check_lines(self, result, line, steps):
        """steps progress lines, Darknet's byte for byte, each once, with finite losses."""
        self.assertEqual(len(re.findall(f"^{line}{darknet.APPENDED}$", result.out, re.M)), steps, result)
        losses = [float(loss) for loss in LOSS.findall(result.out)]
        self.assertEqual(len(losses), steps, result)
        self.assertTrue(all(map(math.isfinite, losses)), result)

    def check_weights(self, expected):
        """Exactly these files lie in backup/, each with its state; none is empty, none is half written."""
        names = self.saved()
        states = [name for name in names if name.endswith(".state")]
        self.assertEqual(sorted(states), sorted(n + ".state" for n in expected))
        names = sorted(set(names) - set(states))
        self.assertEqual(names, sorted(expected))
        sizes = {os.path.getsize(self.path("backup/" + name)) for name in names}
        self.assertEqual(len(sizes), 1)
        self.assertGreater(sizes.pop(), 20)

    def train(self, *args, weights, line=darknet.PROGRESS, steps=3):
        """Without -ddp, which is a run of one rank, too; with it in one process; under mpirun with 1 and 2 ranks."""
        for ranks, ddp in ((0, []), (0, ["-ddp"]), (1, ["-ddp"]), (2, ["-ddp"])):
            with self.subTest(ranks=ranks, ddp=ddp):
                for name in os.listdir(self.path("backup")):
                    os.remove(self.path("backup/" + name))
                result = self.succeeds(*args, *ddp, ranks=ranks)
                self.check_lines(result, line, steps)
                self.check_weights(weights)
                self.check_banner(result, ranks)
        return result

    def check_banner(self, result, ranks):
        banner = re.findall(r"^DDP: (\d+) ranks? on 1 host \(.+\), CPU, transport (\w+)$",
                            result.out, re.M)
        self.assertEqual(banner, [(str(ranks or 1), "mpi" if ranks else "solo")], result)
        self.assertEqual(result.out.count("DDP: seed "), 1, result)


class Commands(Training):
    def test_detector(self):
        darknet.DataSet(self.folder).boxes()
        os.mkdir(self.path("data"))
        os.symlink(os.path.join(os.environ["DARKNET_SRC"], "data/labels"), self.path("data/labels"))
        self.write("tiny.cfg", darknet.detector_cfg())
        self.train("detector", "train", "train.data", "tiny.cfg",
                   weights=["tiny_final.weights"], line=darknet.DETECTOR_PROGRESS)
        result = self.succeeds("detector", "test", "train.data", "tiny.cfg",
                               "backup/tiny_final.weights", "images/cat0.png", "-out", "seen")
        self.assertIn("images/cat0.png: Predicted in ", result.out, result)

    def test_detector_of_yolov1(self):
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.yolov1_cfg())
        result = self.train("detector", "train", "train.data", "tiny.cfg", "-verbose",
                            weights=["tiny_final.weights"], line=darknet.DETECTOR_PROGRESS)
        # A picture has one box, and a mini-batch two pictures: no box is lost or doubled.
        self.assertRegex(result.out, r"Detection Avg IOU: .*, count: 2\n")

    def test_classifier(self):
        darknet.DataSet(self.folder)
        self.write("tiny.cfg", darknet.classifier_cfg())
        self.train("classifier", "train", "train.data", "tiny.cfg", weights=WITH_EPOCH)
        result = self.succeeds("classifier", "predict", "train.data", "tiny.cfg",
                               "backup/tiny.weights", "images/dog1.png")
        self.assertRegex(result.out, r"\d+(\.\d+)?%: (cat|dog)")
        words = ("classifier", "predict", "train.data", "tiny.cfg", "backup/tiny.weights", "images/dog1.png")
        self.assertEqual(len(re.findall("%: ", self.succeeds(*words, "-t", "20").out)), 2)
        self.refused(*words, "-t", "-1", code=2, says="-t wants a whole number from 1 to 100000, not '-1'")
        os.makedirs(self.path("cfg"))
        self.write("1000.names", "".join(f"{i}\n" for i in range(1000)))
        for name, other in (("other.data", ("classifier", "predict", "other.data")), ("cfg/imagenet1k.data", ("classify",))):
            self.write(name, "classes=1000\nnames=1000.names\n")
            self.refused(*other, *words[3:], code=1, says=f"{name} has classes=1000, and tiny.cfg tells 2 apart: these would be wrong names. "
                         "`darknet classifier predict X.data CFG WEIGHTS` takes the names of X.data")
        self.write("names.list", "cat\n")
        self.refused(*words, code=1, says="names=names.list: a name for each of the cfg's 2 classes is wanted, and there are 1")

    def test_classifier_validcrop_and_validfull(self):
        """Of few pictures, and of the network's size."""
        darknet.DataSet(self.folder).data("train.data", valid="train.list", labels="names.list")
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=2))
        self.succeeds("classifier", "train", "train.data", "tiny.cfg", "-ddp")
        for verb, line in (("validcrop", r"(?m)^1: top 1: [01]\.\d+, top 1: [01]\.\d+, .* 8 images$"), ("validfull", r"(?m)^7: top 1: [01]\.\d+, ")):
            self.assertRegex(self.succeeds("classifier", verb, "train.data", "tiny.cfg", "backup/tiny.weights").out, line)

    def test_classifier_takes_the_file_s_name_before_its_folders(self):
        data = darknet.DataSet(self.folder)
        for folder in ("catalog", "dogs"):
            os.makedirs(self.path(f"{folder}/{folder}"))
            for picture in data.pictures:
                os.link(self.path(picture), self.path(picture.replace("images", f"{folder}/{folder}")))
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=20))
        weights = {}
        for folder in ("images", "catalog/catalog", "dogs/dogs"):
            data.list("train.list", [p.replace("images", folder) for p in data.pictures])
            result = self.succeeds("classifier", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7")
            self.assertNotIn("Too many or too few labels", result.out, result)
            said = result.out.count("A picture's folders name another label than its file, which counts: ")
            self.assertEqual(said, folder != "images", result)
            with open(self.path("backup/tiny.weights"), "rb") as f:
                weights[f.read()] = folder
        self.assertEqual(len(weights), 1, "the folder's name changes what is learnt")

    def test_classifier_without_labels_in_its_names(self):
        data = darknet.DataSet(self.folder)
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=20))
        os.mkdir(self.path("other"))
        for i, picture in enumerate(data.pictures):
            os.link(self.path(picture), self.path(f"other/{i}.png"))
        data.list("train.list", [f"other/{i}.png" for i in range(len(data.pictures))])
        result = self.succeeds("classifier", "train", "train.data", "tiny.cfg", "-ddp", ranks=2)
        self.assertEqual(len(re.findall(r"^Too many or too few labels: 0, other/\d\.png "
                                        r"\(said of the first one only\)$", result.out, re.M)), 1, result)

    def test_classifier_with_tags(self):
        data = darknet.DataSet(self.folder)
        data.tags()
        data.data("train.data", tag=1)
        self.write("tiny.cfg", darknet.regressor_cfg())
        self.train("classifier", "train", "train.data", "tiny.cfg", weights=WITH_EPOCH)

    def test_segmenter(self):
        darknet.DataSet(self.folder).masks()
        self.write("tiny.cfg", darknet.segmenter_cfg())
        self.train("segmenter", "train", "train.data", "tiny.cfg", weights=WITH_EPOCH)

    def test_isegmenter(self):
        darknet.DataSet(self.folder).masks()
        self.write("tiny.cfg", darknet.isegmenter_cfg())
        self.train("isegmenter", "train", "train.data", "tiny.cfg", weights=WITH_EPOCH)

    def test_regressor(self):
        darknet.DataSet(self.folder).numbers()
        self.write("tiny.cfg", darknet.regressor_cfg())
        self.train("regressor", "train", "train.data", "tiny.cfg", weights=WITH_EPOCH)

    def test_go(self):
        os.mkdir(self.path("backup"))
        with open(self.path("moves"), "wb") as f:
            for i in range(20):  # player, result, row, column, empty board
                f.write(b"10" + bytes((i % 19, 7)) + bytes(91) + b"\n")
        self.write("tiny.cfg", darknet.go_cfg())
        self.train("go", "train", "tiny.cfg", "", "moves", "-backup", "backup", weights=["tiny.weights"])

    def test_cifar(self):
        os.mkdir(self.path("backup"))
        folder = self.path("data/cifar/cifar-10-batches-bin")
        os.makedirs(folder)
        self.write("data/cifar/labels.txt", "".join(f"kind{i}\n" for i in range(10)))
        for i in range(1, 6):
            with open(f"{folder}/data_batch_{i}.bin", "wb") as f:
                for k in range(20):
                    f.write(bytes((k % 10,)) + bytes((k * 12,)) * 3072)
                f.truncate(10000 * 3073)
        self.write("tiny.cfg", darknet.classifier_cfg(outputs=10, subdivisions=1))
        self.train("cifar", "train", "tiny.cfg", "-backup", "backup", weights=["tiny.weights"])

    def test_rnn(self):
        os.mkdir(self.path("backup"))
        self.write("text", "to be or not to be that is the question " * 20)
        self.write("tiny.cfg", darknet.rnn_cfg())
        line = (rf"\d+: {darknet.FLOAT}, {darknet.FLOAT} avg, {darknet.FLOAT} rate, "
                rf"{darknet.FLOAT} seconds, {darknet.FLOAT} epochs")
        self.train("rnn", "train", "tiny.cfg", "-file", "text", "-backup", "backup",
                   weights=["tiny_final.weights"], line=line)


class Overwriting(darknet.Case):
    """A file that a command is told to write never takes the place of one that it reads, by whatever name, nor of one that is
    something else; its own of before is written anew."""
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.data.list("valid.list", self.data.pictures[:4])
        self.data.data("train.data", valid="valid.list")
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=2))
        self.succeeds("detector", "train", "train.data", "tiny.cfg")
        os.rename(self.path("backup/tiny_final.weights"), self.path("tiny.weights"))
        shutil.rmtree(self.path("backup"))
        os.mkdir(self.path("backup"))

    def kept(self, name, *words, over=None, says="which this command reads"):
        """Refused, with both files named, and the file is as it was."""
        before = self.read(name)
        self.refused(*words, says=[f" {name}", f"would write over {over or name}", says, "name another file"], code=2)
        self.assertEqual(self.read(name), before)

    def test_figures_over_what_is_read(self):
        three = ("train.data", "tiny.cfg", "tiny.weights")
        for name in (*three, "valid.list", "names.list", "train.list"):
            self.kept(name, "detector", "map", *three, "-json", name)
            self.kept(name, "ddp", "check", *three, "-json", name)
        for option in ("-json", "-profile", "-trace"):
            self.kept("tiny.cfg", "ddp", "bench", "tiny.cfg", option, "tiny.cfg")
        for name in three:
            self.kept(name, "detector", "train", *three, "-ddp", "-ddp_trace", name)
        self.assertEqual(os.listdir(self.path("backup")), [])

    def test_by_another_name(self):
        os.symlink("valid.list", self.path("by-link"))
        os.link(self.path("tiny.weights"), self.path("by-hard-link"))
        words = ("detector", "map", "train.data", "tiny.cfg", "tiny.weights", "-json")
        self.kept("by-link", *words, "by-link", over="valid.list")
        self.kept("by-hard-link", *words, "by-hard-link", over="tiny.weights")

    def test_over_another_kind(self):
        for name in ("tiny.cfg", "tiny.weights", "train.data", "train.list", self.data.pictures[0]):
            self.kept(name, "ddp", "options", "-json", name, says="is no earlier table of `ddp options`")
        self.write("annotations.json", '{"images": []}')
        self.kept("annotations.json", "detector", "map", "train.data", "tiny.cfg", "tiny.weights", "-json", "annotations.json", says="is no earlier report of `detector map`")
        three = ("train.data", "tiny.cfg", "tiny.weights")
        for _ in range(2):  # over its own
            self.succeeds("detector", "map", *three, "-json", "map.json")
        self.kept("map.json", "ddp", "check", *three, "-json", "map.json", says="is no earlier report of `ddp check`")
        self.kept("map.json", "ddp", "bench", "tiny.cfg", "-json", "map.json", says="is no earlier report of `ddp bench`")
        self.kept("map.json", "detector", "train", *three, "-ddp", "-ddp_trace", "map.json", says="is no earlier trace")
        self.write("old.json", "{}")
        self.kept("old.json", "ddp", "bench", "tiny.cfg", "-profile", "old.json", says="is no profile")
        self.kept("old.json", "partial", "tiny.cfg", "tiny.weights", "old.json", "3", says="is no weights file")

    def test_weights(self):
        for words in (("partial", "tiny.cfg", "tiny.weights", "tiny.weights", "3"), ("rescale", "tiny.cfg", "tiny.weights", "tiny.weights"),
                      ("average", "tiny.cfg", "tiny.weights", "tiny.weights")):
            self.kept("tiny.weights", *words)
        self.kept("tiny.cfg", "partial", "tiny.cfg", "tiny.weights", "tiny.cfg", "3")
        result = self.succeeds("partial", "tiny.cfg", "tiny.weights", "first.weights", "3")
        self.kept("first.weights", "partial", "tiny.cfg", "tiny.weights", "first.weights", "2", over="first.weights, a weights file", says="remove it first")
        self.assertIn("first.weights: for a training to begin with it, name it like darknet53.conv.74, or train with -weights_force\n", result.err)
        result = self.refused("partial", "tiny.cfg", "tiny.weights", "all.weights", "100", says=" layers, and 100 are to be saved", code=1)
        layers = re.search(r"tiny\.cfg has (\d+) layers", result.err)[1]
        for words in (("first.conv.3", "3"), ("all.weights", layers)):
            self.assertNotIn("-weights_force", self.succeeds("partial", "tiny.cfg", "tiny.weights", *words).err)

    def test_weights_in_place_of_what_is_no_file(self):
        """A rename would put them there: in place of /dev/null, say."""
        os.mkfifo(self.path("a.pipe"))
        os.mkdir(self.path("folder"))
        for name in ("a.pipe", "folder"):
            for words in (("partial", "tiny.cfg", "tiny.weights", name, "3"), ("average", "tiny.cfg", name, "tiny.weights"),
                          ("rescale", "tiny.cfg", "tiny.weights", name)):
                self.refused(*words, says=f"{words[0]} {name} would replace {name}, which is there and is no regular file: name another file", code=2)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("a.pipe")).st_mode))

    def test_checkpoints_of_a_run(self):
        """The order of `average` is easily mistaken: its result comes first."""
        self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp")
        for words in (("average", "tiny.cfg", "backup/tiny_final.weights", "tiny.weights", "tiny.weights"),
                      ("partial", "tiny.cfg", "tiny.weights", "backup/tiny_final.weights", "3"),
                      ("rescale", "tiny.cfg", "tiny.weights", "backup/tiny_final.weights")):
            self.kept("backup/tiny_final.weights", *words, says="a checkpoint of a run (backup/tiny_final.weights.state)")

    def test_words_too_many(self):
        for words, row in ((("detector", "train", "train.data", "tiny.cfg", "tiny.weights"), "DATA CFG [WEIGHTS]"),
                           (("detector", "train", "train.data", "tiny.cfg", "tiny.weights", "-ddp"), "DATA CFG [WEIGHTS]"),
                           (("detector", "recall", "train.data", "tiny.cfg", "tiny.weights"), "DATA CFG WEIGHTS"),
                           (("detector", "calc_anchors", "train.data"), "DATA")):
            options = [word for word in words if word.startswith("-")]
            self.refused(*words[:len(words) - len(options)], "extra", *options, code=2,
                         says=f"{words[0]} {words[1]}: nothing is to follow {row}, and 'extra' does")

    def test_pictures(self):
        words = ("detector", "test", "train.data", "tiny.cfg", "tiny.weights")
        self.succeeds(*words, self.data.pictures[0])
        self.succeeds(*words, self.data.pictures[0])
        with open(self.path("holiday.jpg"), "wb") as f:
            f.write(b"\xff\xd8\xff\xe1\0\x18Exif\0\0" + bytes(100))
        self.kept("holiday.jpg", *words, self.data.pictures[0], "-out", "holiday", over="holiday.jpg", says="is no JPEG picture that darknet wrote")
        self.kept("predictions.jpg", *words, "predictions.jpg")
        self.kept("predictions.jpg", "yolo", "test", "tiny.cfg", "tiny.weights", "predictions.jpg")
        os.rename(self.path("predictions.jpg"), self.path("images/one.jpg"))
        with open(self.path("train.list"), "a", encoding="ascii") as f:
            f.write("\nimages/one.jpg\n")
        before = self.read("images/one.jpg")
        self.refused(*words, self.data.pictures[0], "-out", "images/one", code=2,
                     says=["-out images/one would write over images/one.jpg (train.list:10), a picture of this data set"])
        self.refused(*words, "images/one.jpg", "-out", "images/one", says="-out images/one would write over images/one.jpg, which", code=2)
        self.assertEqual(self.read("images/one.jpg"), before)
        for make in (os.symlink, os.link):
            make(self.path("images/one.jpg"), self.path("two.jpg"))
            self.refused(*words, self.data.pictures[0], "-out", "two", code=2, says="-out two would write over images/one.jpg (train.list:10), a picture")
            os.remove(self.path("two.jpg"))
        self.assertEqual(self.read("images/one.jpg"), before)

    def test_what_wants_a_camera(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        demo = ("detector", "demo", "train.data", "tiny.cfg", "none.weights")
        self.refused(*demo, says="`detector demo` without a film shows what a camera sees, by OpenCV, which this program is built without", code=2)
        self.refused(*demo, "-c", "0", says="unknown option '-c'; here: a camera wants OpenCV, which this program is built without; detector demo takes a film", code=2)
        self.refused("yolo", "demo", "tiny.cfg", says="`yolo demo` shows what a camera sees", code=2)
        self.refused("classifier", "gun", "train.data", "tiny.cfg", says="built without", code=2)

    def test_a_count_that_is_none(self):
        for count in ("-3", "abc", "out.weights", "0"):
            self.refused("partial", "tiny.cfg", "tiny.weights", "first.conv.3", count, says="LAYERS is a number from 1", code=2)
        self.assertFalse(os.path.exists(self.path("first.conv.3")))

    def test_a_full_disk(self):
        three = ("train.data", "tiny.cfg", "tiny.weights")
        for words in (("detector", "map", *three, "-json", "/dev/full"), ("ddp", "check", *three, "-json", "/dev/full"),
                      ("ddp", "options", "-json", "/dev/full"), ("ddp", "bench", "tiny.cfg", "-steps", "1", "-json", "/dev/full")):
            self.refused(*words, says="cannot write /dev/full: No space left on device", code=1)
        with open("/dev/full", "w", encoding="ascii") as full:
            for words in (("ddp", "cfg", "yolov4-tiny"), ("ddp", "options", "-json"), ("ddp", "bench", "tiny.cfg", "-steps", "1")):
                done = subprocess.run(darknet.command(*words), cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stderr), (1, "darknet: standard output cannot be written: No space left on device\n"))
        self.assertTrue(os.path.exists("/dev/full"))
        done = subprocess.run(darknet.command("ddp", "cfg", "yolov4-tiny", "-o", "cut.cfg"), cwd=self.folder, stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False, restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assertEqual((done.returncode, done.stderr), (1, "darknet: cannot write cut.cfg: File too large\n"))
        self.assertFalse(os.path.exists(self.path("cut.cfg")))

    def test_a_picture_that_cannot_be_written(self):
        words = ("detector", "test", "train.data", "tiny.cfg", "tiny.weights", self.data.pictures[0])
        self.refused(*words, "-out", "none/one", says="cannot write the image none/one.jpg: No such file or directory", code=1)
        os.symlink("/dev/full", self.path("full.jpg"))
        self.refused(*words, "-out", "full", says="cannot write the image full.jpg: No space left on device", code=1)
        self.refused(*words, "-out", "x" * 300, says=f"{'x' * 300}.jpg: File name too long", code=1)

    def test_pictures_that_are_shown_are_written_over_none(self):
        self.write("C1.jpg", "mine")
        for name in ("Original.jpg", "Original-2.jpg"):
            self.assertFalse(os.path.exists(self.path(name)))
            result = self.succeeds("test", self.data.pictures[0])
            self.assertIn(f"saving to {name} instead\n", result.err)
            self.assertTrue(os.path.exists(self.path(name)))
        self.assertEqual(self.read("C1.jpg"), b"mine")

    def test_names_that_are_missing(self):
        self.data.data("bare.data", names=None)
        self.refused("detector", "test", "bare.data", "tiny.cfg", "tiny.weights", self.data.pictures[0], says="bare.data has no names=, the file ", code=1)

    def test_names_of_another_network(self):
        says = "wrong names. `darknet detector test X.data CFG WEIGHTS` takes the names of X.data"
        os.makedirs(self.path("cfg"))
        self.write("coco.names", "".join(f"{i}\n" for i in range(80)))
        for name in ("other.data", "cfg/coco.data"):
            self.write(name, "classes=80\nnames=coco.names\n")
        self.refused("detector", "test", "other.data", "tiny.cfg", "tiny.weights", self.data.pictures[0], code=1,
                     says="other.data has classes=80, and tiny.cfg tells 2 apart: these would be " + says)
        self.refused("detect", "tiny.cfg", "tiny.weights", self.data.pictures[0], code=1, says="coco.data has classes=80, and the cfg 2: these would be " + says)

    def test_valid2_of_yolo(self):
        self.refused("detector", "valid2", "train.data", "tiny.cfg", "tiny.weights", code=1, says="which it does for [region] alone: `detector valid` and ")

    def test_recall_reads_the_data_file(self):
        result = self.succeeds("detector", "recall", "train.data", "tiny.cfg", "tiny.weights")
        self.assertEqual(result.err.count("RPs/Img"), 4, result)

    def test_results(self):
        self.write("results.txt", self.read("valid.list").decode("ascii"))
        self.data.data("train.data", valid="results.txt", eval="imagenet", results=".")
        self.kept("results.txt", "detector", "valid", "train.data", "tiny.cfg", "tiny.weights", "-out", "results", over="results.txt")

    def test_two_in_one(self):
        self.refused("ddp", "bench", "tiny.cfg", "-json", "x", "-trace", "x", says="-json x and -trace x name one file", code=2)
        self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "1", "-json", "/dev/null", "-trace", "/dev/null")

    def test_the_last_of_many_files(self):
        for i in range(100):
            self.write(f"{i}.txt", "some text\n")
        with open(self.path("train.data"), "a", encoding="ascii") as f:
            f.writelines(f"key{i}={i}.txt\n" for i in range(100))
        self.kept("99.txt", "detector", "map", "train.data", "tiny.cfg", "tiny.weights", "-json", "99.txt", over="99.txt (key99= of train.data)")

    def test_its_own_of_before(self):
        for _ in range(2):
            self.succeeds("ddp", "options", "-json", "o.json")
            self.succeeds("detector", "map", "train.data", "tiny.cfg", "tiny.weights", "-json", "m.json")
            self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "1", "-json", "b.json", "-profile", "p", "-trace", "t.json")


WITH_EPOCH = ["tiny.weights", "tiny_1.weights"]

if __name__ == "__main__":
    darknet.main()
