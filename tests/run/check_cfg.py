#!/usr/bin/env python3
# ddp-test: usual
"""`darknet ddp check`, and what is said before a run: a cfg that cannot be trained, does not fit its data, or learns little."""
import json
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
from checked import Checked, cfg, read, replace_or_make  # noqa: E402


class Cfg(Checked):
    def test_more_classes_than_an_int_counts(self):
        self.make(2)
        self.write("net.cfg", cfg(classes=2147483647))
        result = self.darknet("ddp", "check", "net.data", "net.cfg")
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.out, r"2147483647 classes: filters=\d{10,} is wanted")

    def test_a_cfg_without_batch(self):
        self.make(2)
        self.write("net.cfg", re.sub(r"(?m)^(batch|subdivisions)=.*\n", "", cfg()))
        result, _, found = self.found(0)
        self.assertEqual(found, [("net.cfg", "cfg-batch", 0)])
        self.assertIn("no batch=, so the weights change after each picture", result.out)

    def test_cfg_and_data_do_not_fit(self):
        self.make(2)
        self.write("net.cfg", cfg(filters=255))
        result, _, found = self.found(0)
        self.assertEqual(found, [("net.cfg", "cfg-filters", 8)])
        self.assertIn("filters=24 is wanted", result.out)
        self.write("net.cfg", cfg(filters=255, classes=80))
        self.assertEqual(self.found(0)[2], [("net.cfg", "cfg-classes", 13)])
        self.write("net.names", "a\n")
        self.write("net.cfg", cfg())
        self.assertEqual(self.found(0)[2], [("net.names", "data-names", 0)])

    def test_what_is_twice_and_what_learns_nothing(self):
        self.make(2)
        text = "[net]\nlearning_rate=0\nbatch=4\nbatch=2\nburn_in=1000\nmax_batches=30\n" + cfg().split("[net]\n")[1]
        self.write("net.cfg", text)
        lines = text.split("\n")
        twice = [at + 1 for at, line in enumerate(lines) if re.match("(batch|max_batches)=", line)
                 and any(other.split("=")[0] == line.split("=")[0] for other in lines[:at])]
        result, _, found = self.found(0)
        self.assertEqual(found, [("net.cfg", "cfg-rate", 2), ("net.cfg", "cfg-rate", 5)] + [("net.cfg", "cfg-twice", number) for number in twice], result)
        self.assertIn("burn_in=1000: with max_batches=30 the rate never rises to learning_rate", result.out)
        self.assertIn("batch=2: line 3 has this key, too, and batch=4 counts", result.out)
        for policy, steps, says in (("step", "90,100", "steps=90,100: counts with policy=steps alone, and policy is step"),
                                    ("steps", "130,100", "steps=130,100: 100 comes after 130"),
                                    ("steps", "130,200", "steps=130,200: max_batches=200 ends the run at 200, so the rate changes for its last batch alone"),
                                    ("steps", "130,201", "steps=130,201: max_batches=200 ends the run before 201, at which the rate would change")):
            self.write("net.cfg", f"[net]\npolicy={policy}\nsteps={steps}\nscales=.1,.1\n" + cfg().split("[net]\n")[1].replace("max_batches=9", "max_batches=200"))
            result, _, found = self.found(0)
            self.assertEqual(found, [("net.cfg", "cfg-rate", 3)], result)
            self.assertIn(says, result.out)
        self.write("net.cfg", cfg())
        self.write("net.data", "train=train.list\nnames=net.names\nbackup=backup\ntrain=train.list\n")
        self.assertEqual([kind for _, kind, _ in self.found(0)[2]], ["data-classes", "data-key"])

    def test_a_classifier_that_is_no_square(self):
        darknet.DataSet(self.folder)
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=1).replace("height=32", "height=64"))
        says = "tiny.cfg: width=32 and height=64: a classifier is trained on squares"
        self.refused("classifier", "train", "train.data", "tiny.cfg", "-ddp", says=says, code=2)
        self.assertIn("width=32 and height=64: a classifier is trained on squares", self.darknet("ddp", "check", "train.data", "tiny.cfg").out)
        self.succeeds("classifier", "train", "train.data", "tiny.cfg", "-ddp", "-width", "64")

    def test_a_classifier_without_end(self):
        darknet.DataSet(self.folder)
        cfg = darknet.classifier_cfg(max_batches=0, policy="steps", steps="2,3", scales=".1,.1")
        for value, is_there in (("max_batches=0\n", "0"), ("", "not there")):
            self.write("tiny.cfg", cfg.replace("max_batches=0\n", value))
            out = self.darknet("ddp", "check", "train.data", "tiny.cfg").out
            self.assertIn(f"tiny.cfg: warning: max_batches= is {is_there}: the run has no end\n", out)
            self.assertNotIn("ends the run", out)

    def test_sizes_of_darknets_that_are_not_the_cfgs(self):
        darknet.DataSet(self.folder).boxes()
        says = "random=1 draws sizes from 320 to 608 for pictures to train on, whatever width=32 and height=32 say, at which the model is tested"
        cfg = darknet.detector_cfg(max_batches=1).replace("[yolo]", "[yolo]\nrandom=1")
        for text, is_said in ((cfg, 1), (cfg.replace("random=1", "random=0"), 0), (cfg.replace("=32", "=320"), 0), (cfg + "scale_x_y=1.05\n", 0)):
            self.write("tiny.cfg", text)
            self.assertEqual(f"tiny.cfg: warning: {says}\n" in self.darknet("ddp", "check", "train.data", "tiny.cfg").out, is_said, text)
        self.write("tiny.cfg", cfg)
        self.assertIn(f"DDP: {says}\n", self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp").out)

    def test_activations_in_front_of_a_loss(self):
        darknet.DataSet(self.folder).boxes()
        detector, classifier = darknet.detector_cfg(max_batches=1), darknet.classifier_cfg(max_batches=1)
        line = lambda text, key: len(text[:text.rindex(key)].splitlines()) + 1
        for whole, activation, says in (
                (detector, "linear", None), (classifier, "linear", None), (classifier, "leaky", None),
                (detector, "leaky", "activation=leaky: linear is wanted in front of [yolo]"),
                (classifier, "logistic", "activation=logistic: linear is wanted in front of [softmax]"),
                (detector, None, "this layer has no activation=, so it is logistic: linear is wanted in front of [yolo]"),
                (classifier, None, "this layer has no activation=, so it is logistic: linear is wanted in front of [softmax]"),
                (detector.replace("[yolo]", "[yolo]\nnew_coords=1"), "logistic", None)):
            with self.subTest(activation=activation, says=says):
                text = whole.replace("activation=linear\n", f"activation={activation}\n" if activation else "")
                self.write("tiny.cfg", text)
                out = self.darknet("ddp", "check", "train.data", "tiny.cfg").out
                at = line(text, "activation=" if activation else "[convolutional]")
                self.assertEqual(re.findall(r"tiny.cfg:(\d+): warning: (.*in front of.*)", out), [(str(at), says)] if says else [], text + out)
        self.write("tiny.cfg", detector.replace("activation=linear\n", ""))
        self.assertIn(": this layer has no activation=, so it is logistic: ", self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp").out)

    def test_a_format_of_results_that_is_none(self):
        darknet.DataSet(self.folder).data("train.data", eval="train.list")
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=1))
        says = "eval=train.list: it is the format of results, voc, coco or imagenet; valid= names the list to validate on\n"
        self.assertRegex(self.darknet("ddp", "check", "train.data", "tiny.cfg").out, rf"train.data:\d: warning: {says}")
        self.assertRegex(self.succeeds("classifier", "train", "train.data", "tiny.cfg", "-ddp").out, rf"DDP: train.data:\d: {says}")

    def test_what_training_refuses_of_a_cfg(self):
        """Whatever it is, with its line: training has the word."""
        darknet.DataSet(self.folder).boxes()
        good = darknet.detector_cfg(batch=8, subdivisions=2)
        words = ("ddp", "check", "train.data", "tiny.cfg")
        self.write("tiny.cfg", good)
        for ranks in (0, 2):
            self.assertIn("0 errors", self.succeeds(*words, ranks=ranks).out)
        for right, wrong, says in (("momentum=", "momentun=", "momentun"), ("activation=leaky", "activation=lekay", "lekay"),
                                   ("[maxpool]", "[maxpoool]", "maxpoool"), ("learning_rate=0.001", "learning_rate=fast", "fast"),
                                   ("learning_rate=0.001", "learning_rate=0,001", "learning_rate=0,001: not a single number"),
                                   ("batch=8", "batch=7", "batch=7"), ("filters=7", "filters=-64", "filters")):
            with self.subTest(wrong=wrong):
                self.assertIn(right, good)
                self.write("tiny.cfg", good.replace(right, wrong, 1))
                result = self.darknet(*words)
                self.assertEqual(result.code, 1, result)
                self.assertRegex(result.out, rf"(?m)^tiny\.cfg:\d+: .*{says}", result)
                self.assertNotIn("nothing would be learnt", result.out)
        self.write("tiny.cfg", good.replace("momentum=", "momentun=", 1))
        self.succeeds(*words, "-allow_unknown_keys")

    def test_outputs_behind_a_mean(self):
        """A [convolutional] behind [avgpool] has one cell: its filters are all that comes out."""
        darknet.DataSet(self.folder)
        for outputs, says in ((2, "0 errors"), (5, "error: filters=5: as many values as that come out, and train.data has classes=2")):
            self.write("tiny.cfg", darknet.net() + darknet.BODY + darknet.section("avgpool")
                       + darknet.convolutional(outputs, size=1, activation="linear") + darknet.section("softmax"))
            self.assertIn(says, self.darknet("ddp", "check", "train.data", "tiny.cfg").out)

    def test_a_layer_that_darknet_cannot_train(self):
        darknet.DataSet(self.folder)
        self.write("tiny.cfg", darknet.rnn_cfg().replace("[rnn]", "[gru]").replace("hidden=8\n", "").replace("activation=leaky\n", "", 1))
        for command in (("ddp", "check", "train.data", "tiny.cfg"), ("rnn", "train", "tiny.cfg", "-file", "tiny.cfg", "-ddp")):
            result = self.darknet(*command)
            self.assertNotEqual(result.code, 0, result)
            self.assertRegex(result.out + result.err, r"tiny\.cfg:\d+: \[gru\]: Darknet does not train such a layer|"
                                                      "is of type gru, which Darknet does not train correctly")
        self.assertEqual(self.darknet("ddp", "check", "train.data", "tiny.cfg").err.count("\n"), 1)

    def test_models_of_other_frameworks(self):
        """Whether they are there or not."""
        self.make(1)
        self.write("yolov8n.yaml", "nc: 80\n")
        for words, says in ((("ddp", "check", "net.data", "yolov8n.yaml"), "yolov8n.yaml is another framework's, by its name, and a Darknet cfg"),
                            (("detector", "train", "net.data", "yolo11n.yaml", "-ddp"), "yolo11n.yaml is another framework's"),
                            (("detector", "train", "data.yaml", "net.cfg", "-ddp"), "data.yaml is another framework's, by its name, and a .data file"),
                            (("detector", "train", "net.data", "net.cfg", "yolov8n.pt", "-ddp"), "yolov8n.pt is another framework's"),
                            (("ddp", "cfg", "yolov8"), "Ultralytics' models (yolov5, yolov8, yolo11, ...) have none")):
            self.refused(*words, says=says, code=2)

    def test_channels_that_no_picture_has(self):
        """Whatever reads a .data file makes three of grey ones, too."""
        self.make(4)
        self.write("net.cfg", cfg().replace("channels=3", "channels=1"))
        for ranks in (0, 2):
            result, _, found = self.found(ranks)
            self.assertEqual((result.code, found), (1, [("net.cfg", "cfg-channels", 4)]), result)
            self.assertIn("channels=3 is wanted", result.out)
        self.check_refused(self.before_a_run(), "net.cfg:4: channels=1: ", code=1)

    def test_a_word_for_a_number(self):
        self.make(4)
        self.write("net.data", "names=net.names\nclasses=x\ntrain=train.list\nbackup=backup\n")
        for ranks in (0, 2):
            result, _, found = self.found(ranks)
            self.assertEqual((result.code, found), (1, [("net.data", "data-number", 2)]), result)
        self.check_refused(self.before_a_run(), "net.data:2: classes=x: not a number", code=2)
        self.write("net.data", "names=net.names\nclasses=3\ntrain=train.list\nbackup=backup\n")
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=x"))
        result, _, found = self.found(0)
        self.assertEqual(found, [("net.cfg", "cfg-refused", 1 + darknet.detector_cfg().split("classes=")[0].count("\n"))], result)

    def test_a_size_that_is_no_whole_number_of_cells(self):
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(width=38))
        for ranks in (0, 2):
            result = self.succeeds("ddp", "check", "train.data", "tiny.cfg", ranks=ranks)
            self.assertIn("tiny.cfg: warning: 38x32 pixels are no whole number of the cells of [yolo] (layer 4), 4x4 each: "
                          "boxes will be off their places; width=40 and height=32 would fit\n", result.out)
        self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp", "-epochs", "1")
        self.data.data("train.data", valid="train.list")
        self.assertIn("tiny.cfg: 38x32 pixels are no", self.succeeds("detector", "map", "train.data", "tiny.cfg", "backup/tiny_final.weights").err)

    def test_a_classifiers_names(self):
        names = self.make(6)
        for i, name in enumerate(names):
            os.rename(self.path(f"images/{name}.png"), self.path(f"images/{['cat', 'dog', 'bird'][i % 3]}{i}.png"))
        self.write("train.list", "".join(f"images/{n}\n" for n in sorted(os.listdir(self.path("images")))))
        self.write("net.data", "classes=2\ntrain=train.list\nlabels=net.names\n")
        self.write("net.names", "cat\ndog\n")
        self.write("net.cfg", "[net]\nbatch=4\nmax_batches=2\nwidth=4\nheight=4\nchannels=3\n[connected]\noutput=2\nactivation=linear\n[softmax]\n")
        _, report, found = self.found(2)
        self.assertEqual(found, [("bird2.png", "class-none", 0), ("bird5.png", "class-none", 0)])
        self.assertEqual(report["classes"], [2, 2])

    def test_weights_that_do_not_fit(self):
        self.make(4)
        self.write("net.cfg", darknet.detector_cfg().replace("classes=2", "classes=3").replace("filters=7", "filters=8"))
        self.succeeds("detector", "train", "net.data", "net.cfg", "-ddp", "-nocheck", "-ddp_records", "0")
        with open(self.path("backup/net_final.weights"), "rb") as f:
            whole = f.read()
        sizes = [4 * (4 * (3 * 9) + 4 * 4), 4 * (4 * (4 * 9) + 4 * 4)]  # of the two convolutions behind BatchNorm
        for name, data, says, layers in (
                ("whole", whole, "whole has weights for all 5 layers", 5),
                ("first.conv.2", whole[:20 + sizes[0]], "first.conv.2 has weights for the first 2 layers; the others begin at random", 2),
                ("second.conv.3", whole[:20 + sum(sizes)], "second.conv.3 has weights for the first 3 layers", 3),
                ("old", struct.pack("<4i", 0, 1, 0, 8) + whole[20:], "old has weights for all 5 layers", 5),
                ("old.conv.3", struct.pack("<4i", 0, 1, 0, 8) + whole[20:20 + sum(sizes)], "old.conv.3 has weights for the first 3 layers", 3)):
            replace_or_make(self.path(name), data)
            result = self.succeeds("ddp", "check", "net.data", "net.cfg", name, "-json", "out.json", ranks=2)
            self.assertIn(says, result.out, result)
            with open(self.path("out.json"), encoding="utf-8") as f:
                self.assertEqual(json.load(f)["weights_layers"], layers)
        for name, data, says in (("long", whole + b"1234", "has 4 bytes more than this network takes"),
                                 ("first", whole[:20 + sizes[0]], "ends before layer 2 of the 5"),
                                 ("cut", whole[:-6], "ends inside of the weights of layer 3"),
                                 ("none", b"x", "is no weights file")):
            replace_or_make(self.path(name), data)
            for ranks in ((), ("-ddp_ranks", "2")):
                result = self.darknet("ddp", "check", "net.data", "net.cfg", name, *ranks)
                self.assertEqual((result.code, result.err), (1, ""), result)
            self.assertIn(f"{name}: error: {name} {says}", result.out)
        result = self.succeeds("ddp", "check", "net.data", "net.cfg", "long", "-weights_force")
        self.assertIn("long: warning: long has 4 bytes more than this network takes", result.out)
        self.refused("ddp", "check", "net.data", "net.cfg", "nowhere", says="cannot read nowhere", code=1)

    def test_a_detector_that_has_lost_its_head(self):
        """It is no classifier, whose pictures would have names of classes in their paths."""
        self.make(5)
        self.write("net.names", "zebra\nyak\nxerus\n")
        text = cfg()
        self.write("net.cfg", text[:text.index("[yolo]")])
        result, _, found = self.found(0)
        self.assertEqual(found, [("net.cfg", "cfg-loss", 7)], result)

    def test_anchors_of_pictures_that_keep_their_aspect(self):
        """Squares in pictures of 4:1: a network of YOLOv3's formulas or with letter_box=1 sees squares, and the forks' sees them four times as high."""
        for name in self.make(20):
            os.remove(self.path(f"images/{name}.png"))
            darknet.png(self.path(f"images/{name}.png"), 8, 2, lambda x, y: (x, y, 0))
            self.write(f"labels/{name}.txt", "0 0.5 0.5 0.25 1\n")
        text = cfg().replace("8,8", "5,9")
        words = ("detector", "calc_anchors", "net.data", "-width", "32", "-height", "32", "-num_of_clusters", "3")
        for key, size, options in (("", "8,8", ("-keep_aspect",)), ("yolo_math=v4\n", "8,32", ()), ("letter_box=1\n", "8,8", ("-keep_aspect",)), ("letter_box=0\n", "8,32", ())):
            with self.subTest(key=key):
                anchors = ", ".join([size] * 3)
                self.write("net.cfg", text.replace("[net]\n", "[net]\n" + key))
                for ranks in (0, 2):
                    self.assertIn(f"\nanchors that fit them, 100.0%: anchors = {anchors}\n", self.found(ranks)[0].out)
                self.assertIn(f": average IoU 100.00%\nnum=3\nanchors={anchors}\n", self.succeeds(*words, *options).out)
                self.write("fit.cfg", self.succeeds("ddp", "cfg", "net.cfg", "-data", "net.data").out)
                self.assertIn(f"\nanchors={anchors}\n", read(self.path("fit.cfg")).decode())
                self.assertIn("anchors of the cfg: average IoU with these boxes 100.0%\n", self.darknet("ddp", "check", "net.data", "fit.cfg").out)

    def test_anchors_are_those_of_calc_anchors(self):
        names = self.make(30)
        for i, name in enumerate(names):
            with open(self.path(f"labels/{name}.txt"), "w", encoding="ascii") as f:
                f.write(f"0 0.5 0.5 {.5 + i / 100} {.6 + i / 200}\n1 0.5 0.5 {.1 + i / 300} {.05 + i / 500}\n")
        found = self.succeeds("detector", "calc_anchors", "net.data", "-width", "32", "-height", "32", "-num_of_clusters", "3")
        anchors = re.search(r"anchors=(.*)", found.out)[1]
        results = [self.found(ranks)[0] for ranks in (0, 3)]
        for result in results:
            self.assertRegex(result.out, r"warning: its anchors fit these boxes with an average IoU of [\d.]+%; others, below, with")
            self.assertIn(f"anchors = {anchors}\n", result.out)
        self.assertEqual(results[0].out, results[1].out)
        fit = re.search(r"\nanchors that fit them, ([\d.]+)%: ", results[0].out)[1]
        self.assertAlmostEqual(float(fit), float(re.search(r": average IoU ([\d.]+)%", found.out)[1]), delta=.051)
        self.write("net.cfg", cfg().replace("4,4, 8,8, 16,16", anchors))
        self.assertIn(f"\nanchors of the cfg: average IoU with these boxes {fit}%\n", self.found(0)[0].out)

    def test_what_is_said_before_a_run_of_a_cfg_that_learns_nothing(self):
        names = self.make(8)
        cfg = darknet.detector_cfg(burn_in=40, policy="steps", steps="30,20", scales=".1,.1").replace("classes=2", "classes=3").replace("filters=7", "filters=8")
        self.write("net.cfg", cfg)
        line = {key: number for number, text in enumerate(cfg.splitlines(), 1) for key in ("burn_in", "steps") if text.startswith(key + "=")}
        for ranks in (0, 2):
            out = self.before_a_run(ranks=ranks).out
            self.assertEqual(re.findall(r"(?m)^DDP: net.cfg:(\d+): (.*)$", out), [
                (str(line["burn_in"]), "burn_in=40: with max_batches=3 the rate never rises to learning_rate"),
                (str(line["steps"]), "steps=30,20: max_batches=3 ends the run before 30, at which the rate would change"),
                (str(line["steps"]), "steps=30,20: 20 comes after 30")], out)
        self.write("net.cfg", cfg.replace("burn_in=40", "burn_in=3\nburn_in=2"))
        out = self.before_a_run().out
        self.assertIn(f"DDP: net.cfg:{line['burn_in']}: burn_in=3: with max_batches=3 the rate rises to learning_rate for the last batch alone\n", out)
        self.assertIn(f": burn_in=2: line {line['burn_in']} has this key, too, and burn_in=3 counts\n", out)
        self.write("net.cfg", cfg.replace("filters=8", "filters=8\nstopbackward=1"))
        self.assertIn("DDP: nothing is learnt: stopbackward=1 freezes all layers that have parameters\n", self.before_a_run(ranks=2).out)
        self.write("net.cfg", cfg)
        self.assertNotIn("nothing is learnt", self.before_a_run().out)
        self.write("net.cfg", cfg.replace("batch=4", "batch=0", 1))
        result = self.before_a_run("-epochs", "2")
        self.check_refused(result, "batch=0: must be positive")
        self.assertNotIn("inf", result.out)
        self.write("net.cfg", cfg)
        for name in names:
            self.write(f"labels/{name}.txt", "")
        self.assertIn("DDP: train.list: none of 8 pictures has a box: a network learns here to find nothing\n",
                      self.before_a_run(ranks=2).out)

    def test_colours_and_rates_of_which_little_is_left(self):
        self.make(2)
        for key, value, kind, says in (("hue", "10", "cfg-value", "hue=10: a share of the colour circle, and .1 is usual"),
                                       ("exposure", "100", "cfg-value", "exposure=100: pictures are as many times brighter or darker"),
                                       ("saturation", "11", "cfg-value", "saturation=11: "), ("decay", "5", "cfg-value", "decay=5: the weights shrink"),
                                       ("angle", "15", "cfg-value", "angle=15: counts for classifiers alone; jitter="), ("max_crop", "64", "cfg-value", "max_crop=64: counts"),
                                       ("scales", "10,10", "cfg-rate", "scales=10,10: the rate rises to 100 times learning_rate")):
            with self.subTest(key=key):
                text = f"[net]\n{key}={value}\npolicy=steps\nsteps=2,3\n" + ("" if key == "scales" else "scales=.1,.1\n")
                self.write("net.cfg", text + cfg().split("[net]\n")[1])
                result, _, found = self.found(0)
                self.assertEqual(found, [("net.cfg", kind, 2)], result)
                self.assertIn(says, result.out)
                self.assertIn(f"DDP: net.cfg:2: {says}", self.before_a_run().out)
        self.write("net.cfg", "[net]\nhue=1\nexposure=1.5\nsaturation=0\nangle=0\naspect=1\ndecay=.05\npolicy=steps\nsteps=2,3,4\nscales=2.5,2,2\n" + cfg().split("[net]\n")[1])
        self.assertEqual(self.found(0)[2], [])

    def test_what_options_make_of_the_cfg_is_looked_at(self):
        self.make(8)
        text = darknet.detector_cfg(burn_in=40, max_batches=20, learning_rate=0).replace("classes=2", "classes=3").replace("filters=7", "filters=8")
        self.write("net.cfg", text)
        said = lambda *options: re.findall(r"(?m)^DDP: net.cfg:\d+: ([^\n]*)$", self.before_a_run(*options).out)
        burn_in, rate = "burn_in=40: with max_batches=20 the rate never rises to learning_rate", "learning_rate=0: nothing would be learnt"
        self.assertEqual(said(), [rate, burn_in])
        self.assertEqual(said("-learning_rate", "0.001"), [burn_in])
        self.assertEqual(said("-epochs", "2"), [rate, "burn_in=8: with max_batches=4 the rate never rises to learning_rate"])
        number = {line.split("=")[0]: i for i, line in enumerate(text.splitlines(), 1)}
        self.assertEqual(self.found(0)[2], [("net.cfg", "cfg-rate", line) for line in sorted((number["burn_in"], number["learning_rate"]))])
        self.assertEqual(self.found(0, "-learning_rate", "0.001")[2], [("net.cfg", "cfg-rate", number["burn_in"])])
        result = self.found(2, "-epochs", "2")[0]
        self.assertIn("burn_in=8: with max_batches=4 ", result.out)
        self.assertEqual(result.out.count("in place of the cfg's: max_batches=4 (20), burn_in=8 (40)\n"), 1, result)

    def test_another_size_or_batch_of_the_line_is_looked_at(self):
        names = self.make(30)
        for i, name in enumerate(names):
            self.write(f"labels/{name}.txt", f"0 0.5 0.5 {.3 + i / 200} 0.375\n")
        text = darknet.detector_cfg(batch=4, subdivisions=2).replace("classes=2", "classes=3").replace("filters=7", "filters=8")
        self.write("net.cfg", text)
        before = self.found(0)
        self.assertEqual(before[2], [], before[0])
        result, _, found = self.found(0, "-width", "320", "-height", "320")
        self.assertEqual(found, [("net.cfg", "cfg-anchors", 0)], result)
        self.write("wide.cfg", text.replace("width=32", "width=320").replace("height=32", "height=320"))
        same = self.darknet("ddp", "check", "net.data", "wide.cfg")
        said, _, out = result.out.partition("\n")
        self.assertTrue(said.startswith("in place of the cfg's: width="), result)
        self.assertEqual(out.replace("net.cfg", "wide.cfg"), same.out)
        said = {re.search(r"DDP: net.cfg: its anchors fit .*", self.before_a_run("-width", "320", "-height", "320", ranks=ranks).out)[0] for ranks in (0, 2, 3)}
        self.assertEqual(len(said), 1, said)
        self.assertIn("`darknet ddp check net.data net.cfg -width 320 -height 320` shows them", said.pop())
        self.assertNotIn("its anchors fit", self.before_a_run().out)
        refusal = "batch=7 is not a multiple of subdivisions=2"
        self.assertIn(refusal, self.before_a_run("-batch", "7").err)
        result, _, found = self.found(0, "-batch", "7")
        self.assertEqual([kind for _, kind, _ in found], ["cfg-batch"], result)
        self.assertIn(refusal, result.out)
        result, _, found = self.found(0, "-subdivisions", "3")
        self.assertEqual([kind for _, kind, _ in found], ["cfg-batch"], result)
        result, _, found = self.found(0, "-subdivisions", "5")
        self.assertEqual([kind for _, kind, _ in found], ["cfg-refused"], result)
        self.assertIn("net.cfg: error: subdivisions=5: each has at least one picture of a batch, and batch=4: ", result.out)
        self.write("net.cfg", text.replace("subdivisions=2\n", ""))
        self.assertEqual([kind for _, kind, _ in self.found(0, "-subdivisions", "3")[2]], ["cfg-batch"])

    def test_what_is_said_before_a_run_of_names_and_of_a_batch_of_one(self):
        self.make(4)
        cfg = darknet.detector_cfg(batch=1, subdivisions=1).replace("classes=2", "classes=3").replace("filters=7", "filters=8")
        self.write("net.cfg", cfg)
        self.write("net.names", "a\nb\na\nd\n")
        batch = cfg.splitlines().index("batch=1") + 1
        said = [("net.cfg", str(batch), "batch=1: the weights change after each picture"),
                ("net.names", "3", "a stands in line 1, too"),
                ("net.names", "4", "4 names, and classes=3 in net.data: from this one on they name nothing")]
        out = self.before_a_run().out
        self.assertEqual(sorted(re.findall(r"(?m)^DDP: (net\.\w+):(\d+): (.*)$", out)), said, out)
        self.assertEqual(self.found(0)[2], [("net.cfg", "cfg-batch", batch), ("net.names", "data-names", 4), ("net.names", "list-twice", 3)])
        self.write("net.names", "a\nb\n")
        self.assertIn("DDP: net.names: 2 names, and classes=3 in net.data\n", self.before_a_run().out)
        self.write("net.names", "a\n\nb\n\n")
        self.assertIn("DDP: net.names:2: a blank line, which counts as the name of class 1\n", self.before_a_run().out)
        self.write("net.names", "a\nb \nc\n")
        self.assertIn("DDP: net.names:2: 'b ' ends with a blank, which is part of the name\n", self.before_a_run().out)
        self.assertNotIn("DDP: net.", self.before_a_run("-nocheck").out)
        self.write("net.cfg", cfg.replace("batch=1\n", ""))
        self.write("net.names", "a\nb\nc\n")
        self.assertIn("DDP: net.cfg: [net] has no batch=, so the weights change after each picture\n", self.before_a_run().out)
        self.assertNotIn("DDP: net.", self.before_a_run("-batch", "2").out)


if __name__ == "__main__":
    darknet.main()
