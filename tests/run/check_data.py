#!/usr/bin/env python3
# ddp-test: usual
"""`darknet ddp check`, and training: what is wrong with a .data file is said at once, and so is a cfg that does not fit its command."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

DETECTOR = darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8")


class CheckData(darknet.Case):
    def make(self, count):
        os.makedirs(self.path("images"))
        os.makedirs(self.path("labels"))
        names = [f"p{i:05d}" for i in range(count)]
        for i, name in enumerate(names):
            darknet.png(self.path(f"images/{name}.png"), 4, 4, lambda x, y, i=i: (x, y, i % 256))
            self.write(f"labels/{name}.txt", "0 0.5 0.5 0.25 0.25\n")
        self.write("train.list", "".join(f"images/{name}.png\n" for name in names))
        self.write("net.names", "a\nb\nc\n")
        self.write("net.data", "classes=3\ntrain=train.list\nnames=net.names\nbackup=backup\n")
        self.write("net.cfg", DETECTOR)

    def write_bytes(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def finds(self, *says, errors=1):
        result = self.darknet("ddp", "check", "net.data", "net.cfg")
        self.assertEqual(result.code, 1 if errors else 0, result)
        for text in says:
            self.assertIn(text, result.out, result)
        self.assertRegex(result.out, rf"(?m)^{errors} errors?, ", result)
        return result

    def test_all_faults_of_the_data_file_at_once(self):
        """With training's words."""
        self.make(2)
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        self.write("net.data", "classes=3\ntrain=train.list\nvalid=gone/v.list\nnames=y.names\nbackup=no/backup\nmpa=x\nnamse=x\nmap=y.map\n")
        nothing = f"cannot be read in {self.folder}: No such file or directory\n"
        self.finds(f"net.data:3: error: valid=gone/v.list: cannot be read in {self.folder}/gone: there is no such folder\n",
                   f"net.data:4: error: names=y.names: {nothing}", f"net.data:8: error: map=y.map: {nothing}",
                   f"net.data:5: error: backup=no/backup: there is no folder {self.folder}/no to make it in\n",
                   "net.data:6: error: mpa=x: no key of a .data file; did you mean map?",
                   "net.data:7: error: namse=x: no key of a .data file; did you mean names?", "2 pictures, 2 boxes", errors=6)
        self.write("net.data", "classes=3\ntain=train.list\nnames=net.names\n")
        self.finds("net.data:2: error: tain=train.list: no key of a .data file; did you mean train?", "net.data: error: net.data has no train=", errors=2)
        self.write("net.data", "classes=2\ntrain=train.list\nnames=net.names\n")
        self.write("net.cfg", darknet.detector_cfg())
        self.finds("net.names:3: warning: 3 names, and classes=2 in net.data", errors=0)

    def test_words_in_other_places(self):
        self.make(2)
        words = ("ddp", "check")
        self.refused(*words, "net.cfg", "net.data", code=2,
                     says="net.cfg is no .data file (it begins with [net]): the .data file comes before the cfg")
        self.refused(*words, "net.data", "net.data", code=2, says="net.data is no cfg (it begins with classes=3)")
        self.write_bytes("plain", b"\0\0\0\0\2\0\0\0\5\0\0\0" + bytes(40))
        self.write_bytes("net.weights", b"not whole")
        self.write_bytes("net.conv.4", b"x")
        for line in (words, ("detector", "train"), ("detector", "train", "-ddp", "-ddp_ranks", "2")):
            for name in ("plain", "net.weights", "net.conv.4"):
                self.refused(*line[:2], "net.data", name, *line[2:], code=2, says=f"{name} is a weights file, and a cfg is wanted in its place")
            self.refused(*line[:2], "plain", "net.cfg", *line[2:], code=2, says="plain is a weights file, and a .data file is wanted in its place")
        os.rename(self.path("net.cfg"), self.path("cfg.backup"))  # as an editor leaves it
        self.assertNotIn("is a weights file", self.darknet(*words, "net.data", "cfg.backup").err)

    def classifier(self, outputs=3, **values):
        self.make(3)
        self.write("net.data", "classes=3\ntrain=train.list\nlabels=net.names\n")
        self.write("net.names", "p00000\np00001\np00002\n")
        self.write("net.cfg", darknet.classifier_cfg(outputs, **values))

    def test_a_classifier_of_another_number_of_outputs(self):
        self.classifier(2)
        line = darknet.classifier_cfg(2).split("filters=2")[0].count("\n") + 1
        says = "filters=2: as many values as that come out, and net.data has classes=3: filters=3 is wanted"
        self.finds(f"net.cfg:{line}: error: {says}")
        self.refused_untouched("classifier", says=f"net.cfg:{line}: {says}")
        for names, line in (("p00000\np00002\np00001\n", 2), ("p00000\na bird\np00002\n", 0)):
            self.write("told.names", names)
            self.write("net.data", "classes=3\ntrain=train.list\nlabels=net.names\nnames=told.names\n")
            says = "told.names:2: warning: 'p00002' is line 3 of labels=net.names: `classifier predict` would tell this name for what is learnt as 'p00001'"
            self.assertEqual(says in self.darknet("ddp", "check", "net.data", "net.cfg").out, line > 0)
        self.write("net.data", "train=train.list\nlabels=net.names\n")
        self.refused_untouched("classifier", says="net.data has no classes=, the number of classes\n")
        self.write("net.cfg", "[net]\nwidth=4\nheight=4\nchannels=3\n[connected]\noutput=4\n[softmax]\n")
        self.write("net.data", "classes=3\ntrain=train.list\nlabels=net.names\n")
        self.finds("net.cfg:6: error: output=4: ")

    def test_what_training_would_want(self):
        self.make(2)
        self.write("empty.list", "")
        self.write("net.data", "classes=3\ntrain=train.list\nvalid=empty.list\nnames=net.names\n")
        self.finds("net.data:3: error: valid=empty.list: no picture is listed there, a path in each line")
        self.write("net.data", "classes=3\ntrain=train.list\nnames=net.names\n")
        self.write("net.cfg", DETECTOR.replace("max_batches=3", "max_batches=0"))
        self.assertRegex(self.finds("max_batches=0: nothing would be trained").out, r"(?m)^net.cfg:\d+: error: max_batches=0: ")
        self.write("net.cfg", DETECTOR.replace("max_batches=3", ""))
        self.finds("net.cfg: error: [net] has no max_batches=")
        self.write("net.cfg", darknet.classifier_cfg(3))
        result = self.darknet("ddp", "check", "net.data", "net.cfg")
        self.assertIn("net.data has no labels=, the file of names that a classifier looks for in paths", result.out)

    def refused_untouched(self, command, says):
        """Before anything is set aside or made."""
        for ddp in ((), ("-ddp", "-ddp_ranks", "2")):
            before = sorted(os.listdir(self.folder))
            self.refused(command, "train", "net.data", "net.cfg", *ddp, code=2, says=says)
            self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_a_cfg_of_another_kind_of_network(self):
        self.classifier()
        self.finds(errors=0)
        line = darknet.classifier_cfg(3).split("[softmax]")[0].count("\n") + 1
        self.refused_untouched("detector", f"net.cfg:{line}: [softmax] is the last section, and none is [yolo], [region] or [detection]: "
                               "this is no detector's cfg but a classifier's, for classifier train")
        self.write("net.cfg", DETECTOR)
        self.refused_untouched("classifier", f"net.cfg:{DETECTOR.split('[yolo]')[0].count(chr(10)) + 1}: [yolo]: this is a detector's cfg, for detector train, and classifier train was asked for")

    def test_a_section_that_nobody_knows_is_told_alone(self):
        self.make(9)
        self.write("net.data", "classes=3\ntrain=train.list\nnames=net.names\n")
        self.write("net.cfg", DETECTOR.replace("[yolo]", "[yollo]"))
        result = self.finds(": error: layer 4 is of an unknown type, [yollo] (did you mean [yolo]?)")
        self.assertNotIn("class", result.out.replace("classes=", "").split("known are")[1].split("\n", 1)[1])
        self.check_refused(self.darknet("detector", "train", "net.data", "net.cfg", "-ddp"), "layer 4 is of an unknown type, [yollo]", code=1)


if __name__ == "__main__":
    darknet.main()
