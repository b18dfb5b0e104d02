#!/usr/bin/env python3
# ddp-test: usual
"""The way of somebody new, with a dozen pictures: their own data as in README, a run that is killed, resumed and begun anew, and every
mistake on the way. No file of an earlier run is ever changed, every refusal names a file, a line, a key or an option, and what cannot
train ends within seconds."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "x.data", "x.cfg")
AT_MOST_S = 5
# As README has them, for fewer pictures and of another kind.
OWN_DATA = r"""
ls "$PWD"/images/*.png | sort -R --random-source=/bin/sh >all.list
tail -n +4 all.list >train.list
head -n 3 all.list >valid.list
printf '%s\n' cat dog >x.names
printf '%s\n' classes=2 train=train.list valid=valid.list names=x.names backup=backup >x.data
"""
FOREIGN_OPTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "darknet-ddp", "engine", "options", "foreign_options.def")


def md5(path):
    with open(path, "rb") as f:
        return hashlib.md5(f.read()).hexdigest()


class FirstHour(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=12).boxes()
        for name in ("backup/", "train.data", "train.list", "names.list"):
            (shutil.rmtree if name.endswith("/") else os.remove)(self.path(name))
        subprocess.run(["sh", "-euc", OWN_DATA], cwd=self.folder, check=True)
        self.cfg()

    def cfg(self, **values):
        self.write("x.cfg", darknet.detector_cfg(**{"max_batches": 30, "learning_rate": .005, "subdivisions": 2, **values}))

    def files(self, under="."):
        """{path: md5} of all that is there."""
        return {os.path.relpath(os.path.join(folder, name), self.path(under)): md5(os.path.join(folder, name))
                for folder, _, names in os.walk(self.path(under)) for name in names}

    def weights(self, under="backup"):
        return {name: sum for name, sum in self.files(under).items() if name.endswith((".weights", ".state", ".backup")) and "/" not in name}

    def kill_on_its_way(self, cfg="x.cfg"):
        """A run that is ended by kill -9 when it has saved."""
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*TRAIN[:3], cfg, "-ddp"), self.folder, stdout=said, stderr=said)
        self.addCleanup(darknet.end_group, job)
        self.until(lambda: " avg, " in self.said(), job=job)
        job.send_signal(signal.SIGUSR1)
        self.wait_for("x.state" if os.path.exists(self.path("backup/x.state")) else "x.backup", job)
        self.until(lambda: "Saving weights to backup/x.backup" in self.said(), job=job)
        job.kill()
        job.wait()

    def test_from_pictures_to_a_model(self):
        self.assertRegex(self.succeeds("--version").out, r"^darknet-ddp \d")
        self.succeeds("ddp", "cfg", "yolov4-tiny", "-classes", "2", "-o", "own.cfg")
        self.succeeds("ddp", "check", "x.data", "own.cfg")
        self.cfg(max_batches=100000)
        self.kill_on_its_way()
        killed = self.weights()
        self.assertTrue(killed)

        self.cfg(max_batches=max(map(int, re.findall(r"(?m)^(\d+): ", self.said()))) + 100)
        result = self.succeeds(*TRAIN, "-ddp", "-ddp_ranks", "2", "-resume_force")
        self.assertIn("DDP: resuming from backup/x", result.out)
        first = self.weights()
        for name in ("x_final.weights", "x_best.weights"):
            self.assertIn(name, first)
        self.assertTrue(os.path.exists(self.path("backup/x.html")))

        result = self.succeeds(*TRAIN, "-ddp", "-ddp_ranks", "2")  # -resume is forgotten
        self.assertIn("the files of an earlier", result.out)
        self.assertEqual({name: sum for name, sum in self.weights("backup/x.1").items() if name in first}, first)

        for options, recalls in (((), 101), (("-points", "11"), 11)):
            result = self.succeeds("detector", "map", "x.data", "x.cfg", "backup/x_best.weights", *options)
            self.assertRegex(result.out, r"(?m)^class +boxes +AP@0.5 +AP@0.75 +AP@0.5:0.95 ")
            self.assertRegex(result.out, rf"(?m)^mAP@0.5 [\d.]+, mAP@0.5:0.95 [\d.]+: means over the classes of the average precision at {recalls} recalls")
        self.assertIn("Predicted", self.succeeds("detector", "test", "x.data", "x.cfg", "backup/x_best.weights", "images/cat0.png", "-thresh", ".01").out)

    def ends_at_once(self, words, says):
        """Refused, by a sentence that has all of `says`, with everything left as it is."""
        before = self.files()
        for left in (2, 1, 0):  # a machine that is busy with other things may need longer
            result = self.darknet(*words, "-ddp")
            if result.seconds < AT_MOST_S or not left:
                break
        self.assertNotIn(result.code, (0, "hang"), result)
        self.assertLess(result.seconds, AT_MOST_S, result)
        for word in says:
            self.assertIn(word, result.err, result)
        self.assertNotIn(" avg, ", result.out, result)
        self.assertNotIn("-resume`", result.err, result)
        self.assertEqual(self.files(), before, result)

    def test_mistakes(self):
        self.cfg(max_batches=2)
        self.succeeds(*TRAIN, "-ddp")
        with open(self.path("x.data"), encoding="utf-8") as f:
            data = f.read()
        with open(self.path("x.cfg"), encoding="utf-8") as f:
            cfg = f.read()
        with self.subTest("words in other places, or missing"):
            for words, says in (((*TRAIN[:2], "x.cfg", "x.data"), ("x.cfg is no .data file",)),
                                ((*TRAIN[:2], "x.data", "x.data"), ("x.data is no cfg",)),
                                ((*TRAIN[:2], "x.data"), ("usage: darknet detector train DATA CFG",)),
                                (("train", "x.data", "x.cfg"), ("type darknet detector train",)),
                                ((*TRAIN, "y.weights"), ("y.weights: cannot be read in ",)),
                                ((*TRAIN, "x.names"), ("x.names is no weights file",)),
                                ((*TRAIN[:3], "y.cfg"), ("y.cfg: cannot be read in ",))):
                self.ends_at_once(words, says)
            for words in (("detector", "test"), ("detector", "valid"), ("detector", "map"), ("detector", "recall"), ("classifier", "valid"),
                          ("classifier", "predict"), ("classifier", "train")):
                weights = () if words[1] == "train" else ("backup/x_final.weights",)
                self.refused(*words, "x.cfg", "x.data", *weights, says="x.cfg is no .data file", code=2)
            for words in (("detector", "calc_anchors", "x.cfg", "-num_of_clusters", "3"), ("ddp", "cfg", "yolov4-tiny", "-data", "x.cfg")):
                self.refused(*words, says="x.cfg is no .data file", code=2)
            for words in (("detector", "test"), ("classifier", "predict"), ("detector", "recall"), ("detector", "map")):
                self.refused(*words, "x.data", "x.cfg", says=("usage: darknet ", " DATA CFG WEIGHTS"), code=2)
        with self.subTest("what the .data file says twice, or not"):
            for text, says in (("train=other.list\n" + data, "train=other.list); one of them is to go"), (re.sub("(?m)^classes=.*\n", "", data), "x.data has no classes="),
                               (re.sub("(?m)^train=(.*)$", r'train="\1"', data), "the quotes are part of the name")):
                self.write("x.data", text)
                self.ends_at_once(TRAIN, (says,))
            self.write("x.data", data)
        for value, says in (("max_batches=0", ("x.cfg:", "max_batches=0: nothing would be trained")), ("", ("x.cfg: [net] has no max_batches=",))):
            with self.subTest(max_batches=value):
                self.write("x.cfg", cfg.replace("max_batches=2", value))
                self.ends_at_once(TRAIN, says)
        self.write("x.cfg", cfg)
        with self.subTest("a size that cannot be halved five times"):
            self.succeeds("ddp", "cfg", "yolov4-tiny", "-classes", "2", "-o", "own.cfg")
            with open(self.path("own.cfg"), encoding="utf-8") as f:
                own = f.read()
            for key in ("width", "height"):
                self.write("own.cfg", re.sub(rf"(?m)^{key}=.*", f"{key}=100", own))
                line = own[:own.index(f"\n{key}=")].count("\n") + 2
                self.ends_at_once((*TRAIN[:3], "own.cfg"), (f"own.cfg:{line}: {key}=100: ", "must be alike", f"{key}=96"))
            os.remove(self.path("own.cfg"))
        with self.subTest("layers of two scales joined: no size helps"):
            self.succeeds("ddp", "cfg", "yolov3-tiny", "-classes", "2", "-o", "own.cfg")
            with open(self.path("own.cfg"), encoding="utf-8") as f:
                own = f.read()
            for side in (416, 400):
                self.write("own.cfg", re.sub(r"(?m)^(width|height)=.*", rf"\g<1>={side}", own.replace("layers=-1,8", "layers=-1,6")))
                self.ends_at_once((*TRAIN[:3], "own.cfg"), ("layer 20, a [route], joins layer 19 of 26x26 cells and layer 6 of" if side == 416 else "layer 20, a [route]",
                                                            "must be alike: layers=, or an [upsample] or a stride before it"))
            os.remove(self.path("own.cfg"))
        for line in data.splitlines():
            key, _, value = line.partition("=")
            self.write("x.data", data.replace(line, f"{key[1:]}={value}"))
            with self.subTest("wrong key", key=key):
                self.ends_at_once(TRAIN, ("x.data:", f"{key[1:]}={value}: no key of a .data file", f"did you mean {key}?"))
            if key != "classes":
                self.write("x.data", data.replace(line, f"{key}=none/{value}"))
                with self.subTest("wrong path", key=key):
                    self.ends_at_once(TRAIN, ("x.data:", f"{key}=none/{value}", self.folder))
        for text in ("", "classes=2\n"):
            self.write("x.data", text)
            self.ends_at_once(TRAIN, ("x.data",))
        self.write("x.data", data)
        for key in re.findall(r"(?m)^(\w+)=", cfg):
            with self.subTest("wrong key of the cfg", key=key):
                self.write("x.cfg", re.sub(rf"(?m)^{key}=", f"{key}x=", cfg, count=1))
                self.ends_at_once(TRAIN, ("x.cfg:", "classes=20" if key == "classes" else f"{key}x="))
        self.write("x.cfg", cfg)
        for label, says in (("5 .5 .5 .2 .2\n", "class 5"), ("0 16 16 8 8\n", "pixels"), ("0 .5 .5\n", "3 columns"), ("cat .5 .5 .2 .2\n", "'cat'")):
            with self.subTest("wrong label", label=label):
                with open(self.path("labels/cat0.txt"), encoding="utf-8") as f:
                    good = f.read()
                self.write("labels/cat0.txt", label)
                self.ends_at_once(TRAIN, ("labels/cat0.txt:1", says))
                self.write("labels/cat0.txt", good)

    def test_a_picture_at_another_size(self):
        """As training and map take it, in place of the cfg's."""
        self.cfg(max_batches=2)
        self.succeeds(*TRAIN, "-ddp")
        words = ("detector", "test", "x.data", "x.cfg", "backup/x_final.weights", "images/cat0.png")
        for options, size in (((), "32 x  32"), (("-width", "64", "-height", "48"), "64 x  48"), (("-width", "64"), "64 x  32")):
            result = self.succeeds(*words, *options)
            self.assertRegex(result.err, rf"(?m)^ +0 conv +4 +3 x 3 / 2 +{size} x +3 ")
            self.assertIn("Predicted", result.out)
        for option, value in (("-width", "large"), ("-width", "9x"), ("-thresh", "0,25"), ("-hier", "")):
            self.refused(*words, option, value, says=(f"darknet: {option} wants a ", f", not '{value}'\n"), code=2)
        self.refused(*words, "-width", "0", says="width")

    def test_no_letters(self):
        """Boxes are drawn without names, and what was found is printed as ever."""
        self.cfg(max_batches=2, learning_rate=1e-9)
        self.succeeds(*TRAIN, "-ddp", "-ddp_seed", "1")
        # In a process of its own: what another test starts meanwhile would hold the copy open for writing, so that it could not run.
        subprocess.run(["cp", darknet.PROGRAM, self.path("alone")], check=True)
        words = ("detector", "test", "x.data", "x.cfg", "backup/x_final.weights", "images/cat0.png", "-thresh", "1e-9")
        result = subprocess.run([self.path("alone"), *words], cwd=self.folder, capture_output=True, text=True, timeout=60, check=True)
        self.assertRegex(result.stdout, r"(?m)^(cat|dog): \d+%$")
        self.assertIn("data/labels/, the letters, is neither in this folder nor installed with the program: boxes are drawn without names\n", result.stderr)
        self.assertTrue(os.path.exists(self.path("predictions.jpg")))
        self.assertNotIn("letters", self.succeeds(*words).err)

    def test_words_from_elsewhere(self):
        """Each is taken and explained, or refused with what to type."""
        self.cfg(max_batches=2)
        self.succeeds(*TRAIN, "-ddp")
        with open(FOREIGN_OPTIONS, encoding="utf-8") as f:
            rows = re.findall(r'^(TAKEN|REFUSED)\("(\w+)", .*?"(.*)"\)$', f.read(), re.M)
        self.assertGreater(len(rows), 50)
        self.refused("detector", "valid", *TRAIN[2:], "backup/x_final.weights", "-map", says="-map'; here: a run validates by itself on valid= of the .data file; -ddp_validate K sets how often")
        for kind, name, sentence in rows:
            if kind == "REFUSED":
                with self.subTest(name=name):
                    self.ends_at_once((*TRAIN, f"--{name.replace('_', '-')}", "1"), (name.replace("_", "-"), sentence))
            self.assertNotEqual(darknet.options().get("-" + name, {}).get("scope", "command"), "ranks")


if __name__ == "__main__":
    darknet.main()
