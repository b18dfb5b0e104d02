#!/usr/bin/env python3
# ddp-test: usual
"""A cfg for one's own pictures and time: anchors and classes of a .data file, a run that ends in so many hours, and what is said of one
that takes longer than a day."""
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402


class Fitting(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=10)
        self.data.boxes()

    def cfg(self, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**values))

    def text(self, name):
        with open(self.path(name), encoding="ascii") as f:
            return f.read()

    def value(self, text, key):
        return re.search(rf"^{key}=(.*)$", text, re.M)[1]

    def test_anchors_and_classes_of_ones_own_boxes(self):
        own = self.succeeds("detector", "calc_anchors", "train.data", "-num_of_clusters", "6", "-width", "416", "-height", "416").out
        text = self.succeeds("ddp", "cfg", "yolov3-tiny", "-data", "train.data").out
        for option, says in (("-width", "100"), "-width 100 is no multiple of 32, the size of the largest cells of yolov3-tiny: 128?"), (
                ("-subdivisions", "7"), "batch=64 is not cut into subdivisions=7 mini-batches of one size"):
            self.refused("ddp", "cfg", "yolov3-tiny", *option, says=says, code=2)
        small = self.succeeds("ddp", "cfg", "yolov3-tiny", "-data", "train.data", "-width", "160", "-height", "128", "-batch", "8").out
        self.assertEqual([self.value(small, key) for key in ("width", "height", "batch", "subdivisions")],
                         ["160", "128", "8", "2"])
        for words, subdivisions in (("-batch 24", "6"), ("-batch 6", "2"), ("-batch 128", "32"), ("-batch 8 -subdivisions 4", "4")):
            self.assertEqual(self.value(self.succeeds("ddp", "cfg", "yolov3-tiny", *words.split()).out, "subdivisions"), subdivisions)
        self.assertNotEqual(self.value(small, "anchors"), self.value(text, "anchors"))
        self.assertEqual(re.findall("^classes=(.*)$", text, re.M), ["2", "2"])
        self.assertEqual(re.findall("^anchors=(.*)$", text, re.M), [self.value(own, "anchors")] * 2)
        self.refused("ddp", "cfg", "yolov3-tiny", "-data", "train.data", "-classes", "7", says="-classes 7, but train.data:1: classes=2", code=2)
        self.write("some.data", self.text("train.data").replace("classes=2\n", ""))
        self.refused("ddp", "cfg", "yolov3-tiny", "-data", "some.data", says="some.data has no classes=, the number of classes; -classes N says it, too", code=2)
        self.assertIn("classes=7\n", self.succeeds("ddp", "cfg", "yolov3-tiny", "-data", "some.data", "-classes", "7").out)
        self.cfg()
        own = self.succeeds("detector", "calc_anchors", "train.data", "-num_of_clusters", "1", "-width", "32", "-height", "32").out
        text = self.succeeds("ddp", "cfg", "tiny.cfg", "-data", "train.data").out
        self.assertEqual(text, self.text("tiny.cfg").replace("anchors=12,12", "anchors=" + self.value(own, "anchors")))
        self.assertEqual(self.succeeds("ddp", "cfg", "tiny.cfg", "-classes", "5").out,
                         self.text("tiny.cfg").replace("classes=2", "classes=5").replace("filters=7", "filters=10"))
        self.write("own.cfg", self.succeeds("ddp", "cfg", "yolov4-tiny").out)
        text = self.succeeds("ddp", "cfg", "own.cfg", "-data", "train.data").out
        self.assertEqual(text,
                         self.succeeds("ddp", "cfg", "yolov4-tiny", "-data", "train.data").out.replace(self.lengths(2), self.lengths(80)))
        self.write("tiny.cfg", darknet.classifier_cfg())
        self.refused("ddp", "cfg", "tiny.cfg", "-classes", "5", says="tiny.cfg has no [yolo] and no [region]", code=2)

    def lengths(self, classes):
        """As `ddp cfg` writes them for so many classes."""
        return re.search(r"max_batches=.*\npolicy=.*\nsteps=.*\n", self.succeeds("ddp", "cfg", "yolov4-tiny", "-classes", str(classes)).out)[0]

    def test_ctrl_c_while_measuring_leaves_nothing(self):
        os.mkdir(self.path("tmp"))
        self.cfg(max_batches=100000000, width=640, height=640)
        before = sorted(os.listdir(self.folder))
        job = darknet.start(darknet.command("ddp", "cfg", "tiny.cfg", "-data", "train.data", "-hours", "9", "-o", "fits.cfg"), self.folder,
                            {"TMPDIR": self.path("tmp")}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(darknet.end_group, job)
        while not os.listdir(self.path("tmp")) and job.poll() is None:
            pass
        time.sleep(.1)
        os.killpg(job.pid, signal.SIGINT)
        _, err = job.communicate(timeout=darknet.LIMIT_S)
        self.assertEqual(job.returncode, -signal.SIGINT, err)
        self.assertIn("interrupted: nothing was measured or written", err)
        self.assertEqual((sorted(os.listdir(self.folder)), os.listdir(self.path("tmp"))), (before, []))

    def test_a_run_of_so_many_hours(self):
        """Nothing but the cfg is left of what was measured."""
        os.mkdir(self.path("tmp"))
        self.cfg(max_batches=100000000, burn_in=10000000, policy="steps", steps="80000000,90000000", scales=".1,.1")
        before = sorted(os.listdir(self.folder))
        result = darknet.run(darknet.command("ddp", "cfg", "tiny.cfg", "-data", "train.data", "-hours", "0.001", "-o", "fits.cfg", "-ddp_ranks", "2"),
                             self.folder, environment={"TMPDIR": self.path("tmp")})
        self.assertEqual(result.code, 0, result)
        self.assertRegex(result.err, r"\na picture takes \S+ s to train on here \(measured on \d+ with 2 ranks\), so the 100000000 steps of 4 pictures of max_batches= and "
                                     r"batch= would take .* (hours|days)\n"
                                     r"what fits into 0.001 hours, with a tenth for validation and saves: max_batches=\d+, batch=4, subdivisions=2, burn_in=\d+; "
                                     r"each of the 10 pictures is trained on about \S+ times\n")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*before, "fits.cfg"]))
        self.assertEqual((os.listdir(self.path("tmp")), os.listdir(self.path("backup"))), ([], []))
        text = self.text("fits.cfg")
        batches = int(self.value(text, "max_batches"))
        self.assertTrue(2 <= batches < 100000, text)
        self.assertAlmostEqual(int(self.value(text, "burn_in")), max(batches / 10, min(100, batches // 3)), delta=1)
        for step, share in zip(self.value(text, "steps").split(","), (.8, .9)):
            self.assertAlmostEqual(int(step), share * batches, delta=1)
        began = self.succeeds("detector", "train", "train.data", "fits.cfg", "-ddp", "-ddp_ranks", "2")
        self.assertIn(f"DDP: trained to batch {batches} of {batches}\n", began.out)

    def test_a_run_that_is_shorter_than_its_time(self):
        self.cfg(max_batches=5)
        result = self.succeeds("ddp", "cfg", "tiny.cfg", "-data", "train.data", "-hours", "1", "-o", "fits.cfg")
        self.assertRegex(result.err, r"max_batches=5, batch=4, .*; \d+ steps would fit, so max_batches= may be larger\n")
        self.assertEqual(self.value(self.text("fits.cfg"), "max_batches"), "5")

    def test_what_cannot_be_measured(self):
        self.cfg()
        self.refused("ddp", "cfg", "tiny.cfg", "-hours", "1", says="-hours wants -data X.data", code=2)
        self.refused("ddp", "cfg", "tiny.cfg", "-w", "64", says="darknet ddp cfg and training have -width", code=2)
        self.refused("ddp", "cfg", "tiny.cfg", "-epochs", "3", says="-epochs is for training", code=2)
        self.refused("ddp", "cfg", "tiny.cfg", "-data", "no.data", "-hours", "1", says="no.data", code=1)
        self.refused("ddp", "cfg", "tiny.cfg", "-data", "train.data", "-hours", "1", "-ddp_ranks", "3", says="batch=4 cannot be cut evenly over 3 ranks", code=2)
        self.write("tiny.cfg", self.text("tiny.cfg").replace("[yolo]", "[nolo]"))
        result = self.refused("ddp", "cfg", "tiny.cfg", "-data", "train.data", "-hours", "1", says="a run to measure a step has failed (exit status 1): ", code=1)
        self.assertIn("nolo", result.err.splitlines()[-1])

    def test_a_run_of_more_than_a_day(self):
        """After the second step there is a sentence; of a shorter one there is none."""
        self.cfg(max_batches=2000000000)
        job = darknet.start(darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_ranks", "2", "-width", "64"), self.folder,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        lines = []
        for line in job.stdout:
            lines.append(line)
            if line.startswith("3: "):
                break
        job.send_signal(signal.SIGTERM)
        job.stdout.read()
        job.stdout.close()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0)
        said = [line for line in lines if "a step this run takes" in line]
        self.assertEqual(len(said), 1, lines)
        self.assertRegex(said[0], r"^DDP: at \S+ s a step this run takes [\d.]+ (hours|days) more; in a day fit \d+ of max_batches=2000000000: "
                                  r"`darknet ddp cfg tiny.cfg -data train.data -hours 24 -ddp_ranks 2 -width 64 -o NEW.cfg` measures a step and writes a cfg that ends in a day\n$")
        self.assertGreater(lines.index(said[0]), [line.startswith("1: ") for line in lines].index(True))
        self.cfg(max_batches=5)
        self.assertNotIn("a step this run takes", self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp").out)


if __name__ == "__main__":
    darknet.main()
