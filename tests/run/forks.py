#!/usr/bin/env python3
# ddp-test: usual
"""Detectors whose cfg is of the forks that have YOLOv4: mosaics, random sizes and their losses give the same weights on any
number of ranks, and a resumed run the same as one that nothing stopped; what is said, and what is refused."""
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

FINAL = "backup/tiny_final.weights"


def cfg(yolo=None, **net):
    """Three anchors, the loss and the pictures of yolov4-tiny, in a network of three layers."""
    keys = {"mask": "0,1,2", "anchors": "8,8, 12,12, 16,10", "classes": 2, "num": 3, "jitter": .3, "scale_x_y": 1.05,
            "cls_normalizer": 1.0, "iou_normalizer": .07, "iou_loss": "ciou", "ignore_thresh": .7, "truth_thresh": 1,
            "iou_thresh": .3, "random": 0, "resize": 1.5, "max_delta": 5, **(yolo or {})}
    return (darknet.net(**{"batch": 8, "subdivisions": 8, "max_batches": 20, "learning_rate": .002, "mosaic": 1,
                           "hue": .1, "saturation": 1.5, "exposure": 1.5, **net})
            + darknet.convolutional(6, size=5, stride=4, batch_normalize=1)
            + darknet.convolutional(8, batch_normalize=1)
            + darknet.convolutional(21, size=1, activation="linear") + darknet.section("yolo", **keys))


def layers(stop=0, **net):
    """The loss of cfg() behind all layers that the forks brought; those before the last two convolutions learn from batch `stop` on."""
    frozen = {"stopbackward": stop} if stop else {}
    shared = {"dilation": 2, "batch_normalize": 1, "activation": "swish"}
    body = (darknet.convolutional(8, stride=4, batch_normalize=1, activation="mish")
            + darknet.section("route", layers=-1, groups=2, group_id=1)
            + darknet.convolutional(4, **shared) + darknet.convolutional(4, share_index=-1, **shared)
            + darknet.section("shortcut", **{"from": "-2,-3"}, weights_type="per_channel", weights_normalization="softmax", activation="mish")
            + darknet.section("avgpool") + darknet.convolutional(4, size=1, activation="logistic")
            + darknet.section("scale_channels", **{"from": -3}, activation="relu6")
            + darknet.convolutional(4, size=1, batch_normalize=1, activation="logistic", **frozen)
            + darknet.section("sam", **{"from": -2}, activation="linear")
            + darknet.convolutional(8, batch_normalize=1, activation="hard_mish"))
    head, tail = cfg(**net).split("[convolutional]", 1)[0], cfg(**net).rsplit("[convolutional]", 1)[1]
    return head + body + "[convolutional]" + tail


class Forks(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=11)
        self.data.boxes()

    def train(self, *options, ranks=0, weights=FINAL):
        result = self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-verbose", *options, ranks=ranks)
        with open(self.path(weights), "rb") as f:
            return f.read(), result


class Exact(Forks):
    def check(self, text, resize=0):
        self.write("tiny.cfg", text)
        one, result = self.train("-ddp_exact")
        self.assertEqual(resize, result.out.count("Resizing"), result)
        for ranks, options in ((2, ("-threads", "3")), (4, ("-ddp_bucket_mb", ".001"))):
            with self.subTest(ranks=ranks):
                self.same_weights(self.train("-ddp_exact", *options, ranks=ranks)[0], one)

    def test_mosaics(self):
        self.check(cfg(blur=3, gaussian_noise=5))

    def test_sizes_about_the_cfgs_own(self):
        self.check(cfg(yolo={"random": 1.5}, max_batches=220, resize_step=8, width=32, height=48), resize=22)

    def test_an_average_and_cycles_of_the_rate(self):
        self.check(cfg(ema_alpha=.8, policy="sgdr", sgdr_cycle=6))

    def test_layers(self):
        self.check(layers())

    def test_layers_that_learn_later(self):
        """With 8 mini-batches of one image: none of them has to wait for a rank that runs what others leave out."""
        self.check(layers(stop=7))
        self.assertFalse(self.train("-ddp_exact")[0] == self.later(3), "frozen for as long")
        self.train("-ddp_find_unused", "0", ranks=2)

    def later(self, stop):
        self.write("tiny.cfg", layers(stop=stop))
        return self.train("-ddp_exact")[0]

    def test_mixed_in_a_letter_box(self):
        self.check(cfg(yolo={"objectness_smooth": 1, "iou_loss": "giou"}, mosaic=0, mixup=1, letter_box=1))


class Resume(Forks):
    def check(self, text, stop, full):
        """A run of `full` batches against one that ends after `stop`, and goes on with the other cfg's max_batches."""
        self.write("tiny.cfg", text(full))
        straight, _ = self.train("-ddp_exact", ranks=2)
        self.empty()
        self.write("tiny.cfg", text(stop))
        self.train("-ddp_exact", ranks=1)
        os.rename(self.path(FINAL), self.path("backup/tiny.backup"))
        os.rename(self.path(FINAL + ".state"), self.path("backup/tiny.backup.state"))
        self.write("tiny.cfg", text(full))
        resumed, result = self.train("-ddp_exact", "-resume_force", ranks=4)
        self.assertIn(f"{stop} batches", result.out)
        self.same_weights(resumed, straight)

    def test_in_the_middle_of_mosaics(self):
        self.check(lambda n: cfg(max_batches=n), 9, 20)

    def test_in_the_middle_of_a_cycle_of_sgdr(self):
        self.check(lambda n: cfg(max_batches=n, policy="sgdr", sgdr_cycle=6, sgdr_mult=2), 9, 20)

    def test_before_layers_learn(self):
        self.check(lambda n: layers(stop=14, max_batches=n), 9, 20)

    def test_with_adam(self):
        self.check(lambda n: cfg(max_batches=n, adam=1, B1=.9, B2=.999), 9, 20)

    def test_in_the_middle_of_an_average(self):
        """Which begins at half of max_batches: the run that is ended has the same."""
        self.write("tiny.cfg", cfg(max_batches=120, ema_alpha=.9))
        straight, result = self.train("-ddp_exact", ranks=2)
        self.assertIn("tiny_ema.weights", result.out + result.err)
        with open(self.path("backup/tiny_ema.weights"), "rb") as f:
            average = f.read()
        self.assertEqual(len(average), len(straight))
        self.assertFalse(average == straight, "no average")
        for name in os.listdir(self.path("backup")):
            if name not in ("tiny_100.weights", "tiny_100.weights.state"):
                os.remove(self.path("backup/" + name))
        resumed, result = self.train("-ddp_exact", "-resume", ranks=4)
        self.assertIn("100 batches", result.out)
        self.assertRegex(result.out, r"DDP: in backup: .*tiny_ema\.weights, tiny\.csv")
        self.same_weights(resumed, straight)
        with open(self.path("backup/tiny_ema.weights"), "rb") as f:
            self.assertTrue(f.read() == average, "another average")
        self.write("tiny.cfg", cfg(max_batches=140, ema_alpha=.9))
        self.train("-resume_force")
        with open(self.path("backup/tiny_ema_120.weights"), "rb") as f:
            self.assertTrue(f.read() == average, "the finished run's average is gone")
        self.train()  # whoever forgets -resume
        with open(self.path("backup/tiny.1/tiny_ema_120.weights"), "rb") as f:
            self.assertTrue(f.read() == average, "the finished run's average is gone")
        self.assertTrue(os.path.exists(self.path("backup/tiny.1/tiny_ema.weights")))

    @darknet.again_if_too_late
    def test_an_average_is_saved_where_a_run_is_stopped(self):
        """It is of the step of tiny.backup."""
        half = 2000 * self.longer
        self.write("tiny.cfg", cfg(max_batches=2 * half, ema_alpha=.9))
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp", ranks=0), self.folder, stdout=said, stderr=said)
        self.addCleanup(darknet.end_group, job)
        self.until(lambda: any(int(step) > half for step in re.findall(r"(?m)^(\d+): ", self.said())), self.said, job)
        job.send_signal(signal.SIGUSR2)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        if "DDP: stopped after batch " not in self.said():
            raise darknet.TooLate
        images = lambda name: self.read(f"backup/tiny{name}")[12:20]
        self.assertEqual(images("_ema.weights"), images(".backup"))

    def test_what_another_has_saved_where_an_average_comes(self):
        """A run of a cfg with such a name, or somebody by hand; and a finished run writes nothing."""
        for name, text in (("tiny_ema.cfg", cfg(max_batches=8)), ("tiny.cfg", cfg(max_batches=120, ema_alpha=.9))):
            self.write(name, text)
        words = ("detector", "train", "train.data")
        self.succeeds(*words, "tiny_ema.cfg", "-ddp")
        os.rename(self.path("backup/tiny_ema_final.weights"), self.path("backup/tiny_ema.weights"))
        os.rename(self.path("backup/tiny_ema_final.weights.state"), self.path("backup/tiny_ema.weights.state"))
        before = self.read(self.path("backup/tiny_ema.weights")), self.read(self.path("backup/tiny_ema.weights.state"))
        result = self.succeeds(*words, "tiny.cfg", "-ddp")
        old = self.path("backup/tiny_ema.weights.old")
        self.assertIn("DDP: backup/tiny_ema.weights, which a run of another cfg has saved, is kept as backup/tiny_ema.weights.old\n", result.out)
        self.assertEqual((self.read(old), self.read(old + ".state")), before)
        self.write("backup/tiny_ema.weights", "notes")
        self.succeeds(*words, "tiny.cfg", "-ddp", "-resume")
        self.assertEqual(self.read(self.path("backup/tiny_ema.weights")), b"notes")
        self.write("tiny.cfg", cfg(max_batches=140, ema_alpha=.9))
        self.succeeds(*words, "tiny.cfg", "-ddp", "-resume_force")
        self.assertEqual(self.read(old + ".2"), b"notes")

    def test_an_average_that_cannot_be_saved(self):
        """A folder has taken its name before half of the batches were done."""
        self.write("tiny.cfg", cfg(max_batches=1200, ema_alpha=.9))
        why = "darknet: Cannot save weights to backup/tiny_ema.weights: Is a directory"
        for options, code, says in (((), 1, why + "\n"), (("-ddp_on_save_error", "continue"), 0, why + "; the run is not ended for it\n")):
            with open(self.path("said"), "w", encoding="utf-8") as said:
                job = darknet.start(darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp", *options, ranks=0), self.folder, stdout=said, stderr=said)
            self.addCleanup(darknet.end_group, job)
            self.until(lambda: " avg, " in self.said(), self.said, job)
            os.makedirs(self.path("backup/tiny_ema.weights/taken"))
            self.assertEqual(job.wait(darknet.LIMIT_S), code, self.said())
            self.assertIn(says, self.said())

    def read(self, path):
        with open(self.path(path), "rb") as f:
            return f.read()

    def said(self):
        with open(self.path("said"), encoding="utf-8", errors="replace") as f:
            return f.read()


class Keys(Forks):
    """What nobody knows is an error that says where it is and what is known; alone, with -ddp, and in what only looks at a cfg."""

    def refuses(self, text, *says):
        self.write("tiny.cfg", text)
        self.refused("ddp", "plan", "tiny.cfg", says=says)
        self.refused("detector", "train", "train.data", "tiny.cfg", says=says)
        self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", ranks=2, says=says)

    def test_of_net(self):
        self.refuses(cfg(mosaik=1), "tiny.cfg:", "mosaik=1: no key of [net]", "did you mean mosaic?", "-allow_unknown_keys")

    def test_of_a_layer(self):
        self.refuses(cfg(yolo={"iou_normaliser": 1}), "tiny.cfg:", "iou_normaliser=1: no key of [yolo]", "did you mean iou_normalizer?")

    def test_that_are_not_built(self):
        self.refuses(cfg() + darknet.convolutional(4, antialiasing=1), "antialiasing=1", "not built here")
        self.refuses(cfg() + darknet.convolutional(4, clip=1), "clip=1", "not built here")
        self.refuses(cfg(track=1), "track=1", "not built here")
        self.write("tiny.cfg", cfg(max_batches=1).replace("[yolo]", "[yolo]\nembedding_layer=0"))
        self.succeeds("ddp", "plan", "tiny.cfg")

    def test_sections_activations_and_policies(self):
        self.refuses(cfg().replace("[yolo]", "[yola]"), "tiny.cfg:", "[yola]", " [yolo], ")
        self.refuses(cfg().replace("=linear", "=lineal"), "tiny.cfg:", "activation=lineal", " linear, leaky, ")
        self.refuses(cfg(policy="cosine"), "tiny.cfg:", "policy=cosine", " sgdr")

    def test_allowed(self):
        self.write("tiny.cfg", cfg(mosaik=1, max_batches=1, yolo={"iou_normaliser": 1}))
        for way in ((), ("-ddp",)):
            result = self.succeeds("detector", "train", "train.data", "tiny.cfg", "-allow_unknown_keys", *way)
            self.assertEqual(result.err.count("ignored, for nobody knows them: mosaik (line "), 1, result)
            self.assertIn("iou_normaliser (line ", result.err)

    def test_comments_behind_values(self):
        text = cfg(max_batches="1 # , 2", policy="steps", steps="4,6 #,8", scales=".1,.1 # ,.1",
                   yolo={"mask": "0,1,2 # , 3", "anchors": "8,8, 12,12, 16,10 # , 20,20", "counters_per_class": "40, 30 ; , 20"})
        self.write("tiny.cfg", text)
        with_comments, _ = self.train()
        self.write("tiny.cfg", re.sub("[ \t]+[#;].*", "", text))
        self.same_weights(self.train()[0], with_comments)

    def test_ignored_on_purpose(self):
        self.write("tiny.cfg", cfg(max_batches=1, max_chart_loss=5, seq_scales=1,
                                   yolo={"nms_kind": "greedynms", "beta_nms": .6, "beta1": .6, "uc_normalizer": .07}))
        result = self.train()[1]
        self.assertNotIn("nobody knows", result.err)


class Said(Forks):
    def test_by_whose_formulas_and_what_pictures(self):
        self.write("tiny.cfg", cfg(max_batches=1))
        out = self.train()[1].out
        self.assertIn("DDP: mathematics of YOLOv4's Darknet (tiny.cfg:", out)
        self.assertIn("DDP: pictures are cut and stretched to the network's size (letter_box=1 in [net] keeps their aspect), "
                      "half of the samples are mosaics of four\n", out)
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))
        out = self.train()[1].out
        self.assertIn("DDP: mathematics of YOLOv3's Darknet", out)
        self.assertNotIn("DDP: pictures", out)

    def test_pictures_without_labels(self):
        self.write("tiny.cfg", cfg(max_batches=1))
        os.remove(self.path(self.data.label(self.data.pictures[3])))
        result = self.train(ranks=2)[1]
        self.assertEqual(result.out.count(f"1 of 11 pictures have no label file and so no objects, {self.data.pictures[3]}"), 1)
        self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", "-labels_required", ranks=2,
                     says=(self.data.pictures[3], "-labels_required"))
        self.refused("detector", "train", "train.data", "tiny.cfg", "-labels_required", says="-labels_required")

    def test_labels_beside_the_pictures(self):
        self.write("tiny.cfg", cfg(max_batches=2))
        below, _ = self.train()
        for picture in self.data.pictures:
            os.rename(self.path(self.data.label(picture)), self.path(picture.replace(".png", ".txt")))
        beside, result = self.train()
        self.assertNotIn("no label file", result.out)
        self.same_weights(below, beside)

    def test_what_a_detector_cannot_have(self):
        for values, says in (({"mosaic": 0, "cutmix": 1}, "cutmix=1"),
                             ({"gaussian_noise": 200}, "from 0 to 127"),
                             ({"dynamic_minibatch": 1}, "dynamic_minibatch"), ({"ema_alpha": 1}, "ema_alpha")):
            with self.subTest(values=values):
                self.write("tiny.cfg", cfg(**values))
                self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", says=says)


class Handy(Forks):
    def test_cfgs_for_classes_of_ones_own(self):
        for name, convolutions, parameters in (("yolov3-tiny", 13, 8674496), ("yolov3", 75, 61534504), ("yolov4-tiny", 21, None),
                                               ("yolov4", 110, None)):
            with self.subTest(name=name):
                self.succeeds("ddp", "cfg", name, "-classes", 3, "-o", f"{name}.cfg")
                with open(self.path(f"{name}.cfg"), encoding="ascii") as f:
                    text = f.read()
                self.assertEqual(text.count("[convolutional]"), convolutions)
                self.assertEqual(text.count("filters=24\nactivation=linear\n\n[yolo]"), text.count("[yolo]"))
                self.assertEqual(text.count("classes=3\n"), text.count("[yolo]"))
                self.assertIn("max_batches=6000\npolicy=steps\nsteps=4800,5400\n", text)
                if parameters:
                    out = self.succeeds("ddp", "plan", f"{name}.cfg").out
                    self.assertIn(f" {parameters} parameters", out)
        self.refused("ddp", "cfg", "yolov3", "-o", "yolov3.cfg", says="-o yolov3.cfg would write over yolov3.cfg, a cfg: remove it first", code=2)
        self.refused("ddp", "cfg", "yolov99", says="yolov4-tiny", code=2)
        self.assertIn("filters=255", self.succeeds("ddp", "cfg", "yolov3-tiny").out)

    def test_anchors_of_a_training_list(self):
        words = ("detector", "calc_anchors", "train.data", "-num_of_clusters", 3, "-width", 64, "-height", 32)
        first = self.succeeds(*words).out
        self.assertRegex(first, r"11 boxes of 11 pictures, at 64 x 32: average IoU \d\d\.\d\d%\nnum=3\n"
                                r"anchors=\d+,10, \d+,10, \d+,10\n")
        self.assertEqual(first, self.succeeds(*words).out)
        self.refused(*words[:4], 12, says="11 boxes")

    def test_what_to_cut_off_for_another_training(self):
        result = self.refused("partial", "x.cfg", says="partial needs")
        self.assertIn("darknet partial yolov4-tiny.cfg yolov4-tiny.weights yolov4-tiny.conv.29 29\n", result.out)


if __name__ == "__main__":
    darknet.main()
