#!/usr/bin/env python3
# ddp-test: usual
"""Files that decide what is learnt, beside the cfg and the list: labels, trees, maps and first
weights. That they differ, between ranks or from the run that is resumed, is said."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TREE = "root -1\ncat 0\ndog 0\n"


class Inputs(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()

    def on_two_hosts(self, *words, **files):
        """Rank 1 works in a folder of its own, in which these files are others."""
        other = self.path("other")
        shutil.rmtree(other, ignore_errors=True)
        os.mkdir(other)
        for name in os.listdir(self.folder):
            if name != "other":
                os.symlink("../" + name, os.path.join(other, name))
        for name, text in files.items():
            name = name.replace("__", ".")
            part = os.path.dirname(name)
            if part and os.path.islink(os.path.join(other, part)):
                os.remove(os.path.join(other, part))
                shutil.copytree(self.path(part), os.path.join(other, part))
            os.remove(os.path.join(other, name))
            if isinstance(text, bytes):
                with open(os.path.join(other, name), "wb") as f:
                    f.write(text)
            else:
                darknet.write(os.path.join(other, name), text)
        one = darknet.command(*words)
        return darknet.run(["mpirun", "-np", "1", "--wdir", self.folder, *one, ":",
                            "-np", "1", "--wdir", other, *one], self.folder)

    def differ(self, says, *words, **files):
        result = self.on_two_hosts(*words, "-ddp", **files)
        self.check_refused(result, says)
        self.assertEqual(result.err.count(says), 2, result)  # both ranks
        for rank in (0, 1):
            self.assertIn(f"darknet[rank {rank} @ ", result.err, result)
        self.assertNotIn(" avg, ", result.out, result)

    def test_labels(self):
        self.write("tiny.cfg", darknet.classifier_cfg())
        words = ("classifier", "train", "train.data", "tiny.cfg")
        self.differ(": it has 'labels of names.list: contents ", *words,
                    names__list="dog\ncat\n")
        self.assertEqual(self.on_two_hosts(*words, "-ddp").code, 0)

    def test_a_tree_of_the_data(self):
        self.write("tiny.cfg", darknet.regressor_cfg(outputs=3))
        self.write("kinds.tree", TREE)
        self.write("names.list", "none\ncat\ndog\n")
        self.data.data("train.data", classes=3, tree="kinds.tree")
        self.differ("it has 'tree of kinds.tree: contents ", "classifier", "train", "train.data",
                    "tiny.cfg", kinds__tree="root -1\ndog 0\ncat 0\n")

    def test_a_tree_that_is_none(self):
        self.write("tiny.cfg", darknet.regressor_cfg(outputs=3))
        self.write("names.list", "none\ncat\ndog\n")
        self.data.data("train.data", classes=3, tree="kinds.tree")
        words = ("classifier", "train", "train.data", "tiny.cfg")
        for text, says in (("root -1\ncat 60\ndog 0\n", "kinds.tree:2: a line of a tree is a name and the number of its parent"),
                           ("root -1\ncat\ndog 0\n", "kinds.tree:2: a line of a tree"), ("root -2\n", "kinds.tree:1: a line of a tree"),
                           ("\n", "kinds.tree: a tree without lines")):
            with self.subTest(text=text):
                self.write("kinds.tree", text)
                for ddp in ((), ("-ddp",)):
                    self.refused(*words, *ddp, says=says, code=1)

    def test_a_map_of_the_cfg(self):
        self.write("tiny.cfg", darknet.detector_cfg().replace("[yolo]", "[yolo]\nmap=kinds.map"))
        self.write("kinds.map", "0\n1\n")
        self.differ("it has 'map of kinds.map: contents ", "detector", "train", "train.data",
                    "tiny.cfg", kinds__map="1\n0\n")

    def test_a_resumed_run(self):
        self.write("tiny.cfg", darknet.classifier_cfg())
        words = ("classifier", "train", "train.data", "tiny.cfg", "-ddp")
        self.succeeds(*words)
        self.write("names.list", "dog\ncat\n")
        self.refused(*words, "-resume", ranks=2, code=2, says=[
            "labels was contents ", ", is now contents ", "-resume_force goes on all the same"])
        result = self.succeeds(*words, "-resume_force", ranks=2)
        self.assertIn("resumed all the same: labels was contents ", result.out, result)
        self.write("other.list", "cat\ndog\n")
        self.data.data("train.data", labels="other.list")
        self.succeeds(*words, "-resume")

    def test_weights(self):
        self.write("tiny.cfg", darknet.classifier_cfg())
        words = ("classifier", "train", "train.data", "tiny.cfg")
        weights = []
        for seed in (1, 2):
            self.succeeds(*words, "-ddp", "-ddp_seed", seed)
            with open(self.path("backup/tiny.weights"), "rb") as f:
                weights.append(f.read())
        with open(self.path("first.weights"), "wb") as f:
            f.write(weights[0])
        self.differ(": it has 'first weights: contents ", *words, "first.weights", "-clear", first__weights=weights[1])
        for options in ((), ("first.weights", "-clear"), ("-resume",)):
            result = self.on_two_hosts(*words, *options, "-ddp")
            self.assertEqual(result.code, 0, result)

    def test_a_label_a_mask_and_a_picture(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        words = ("detector", "train", "train.data", "tiny.cfg")
        label = self.data.label(self.data.pictures[5])
        self.differ(f": it has '{label}: contents ", *words, **{label: "1 .5 .5 .25 .25\n"})
        self.assertEqual(self.on_two_hosts(*words, "-ddp").code, 0)
        with open(self.path(self.data.pictures[2]), "rb") as f:
            picture = f.read()
        self.differ(f": it has '{self.data.pictures[2]}: {len(picture) - 9} bytes', not "
                    f"'{self.data.pictures[2]}: {len(picture)} bytes'", *words, **{self.data.pictures[2]: picture[:-9]})
        self.data.masks()
        self.write("tiny.cfg", darknet.segmenter_cfg())
        mask = self.data.pictures[3].replace("images", "mask").replace(".png", ".txt")
        self.differ(f": it has '{mask}: contents ", "segmenter", *words[1:], **{mask: "1 0,20\n"})

    def test_the_pictures_that_a_run_validates_on(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        self.data.list("valid.list", self.data.pictures[:4])
        self.data.data("train.data", valid="valid.list")
        self.differ(": it has 'to validate on: 3 pictures, hash ", "detector", "train", "train.data", "tiny.cfg",
                    valid__list="".join(p + "\n" for p in self.data.pictures[1:4]))

    def test_the_data_file(self):
        self.write("tiny.cfg", darknet.classifier_cfg())
        with open(self.path("train.data"), encoding="ascii") as f:
            text = f.read()
        words = ("classifier", "train", "train.data", "tiny.cfg")
        self.write("train.data", "top=1\n" + text)
        self.differ(": it has 'top=3 in the .data file', not 'top=1 in the .data file'", *words, train__data="top=3\n" + text)
        self.write("train.data", text + "valid=train.list\n")
        self.differ("'valid=... in the .data file'", *words, train__data=text)
        self.write("train.data", "top=1\n" + text)
        result = self.on_two_hosts(*words, "-ddp", train__data="top=1\n" + text.replace("backup=backup", "backup=backup2"))
        self.assertEqual(result.code, 0, result)


if __name__ == "__main__":
    darknet.main()
