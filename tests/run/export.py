#!/usr/bin/env python3
# ddp-test: usual
"""`darknet ddp export`: what onnxruntime makes of each layer, each head and each cfg that is shipped, beside Darknet's forward pass; ten
mistakes put into the file, all of which -check finds. Wants python3 with onnx, onnxruntime and numpy, else exit status 77."""
import lzma
import os
import random
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

PYTHON = shutil.which("python3")
RIGHT = "f.onnx is right"
WRONG = "f.onnx does not compute what Darknet computes"
CFGS = os.path.join(os.environ.get("DARKNET_SRC", ""), "cfg")
GUIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "darknet-ddp", "docs", "export.md")
OWN_CFGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cfg")

section, convolutional = darknet.section, darknet.convolutional
HEAD = convolutional(14, size=1, pad=0, activation="linear")
YOLO = {"mask": "0,1", "anchors": "8,8, 20,12, 16,30", "classes": 2, "num": 3}
REGION = {"anchors": "1,1.5, 2,1", "classes": 2, "num": 2, "coords": 4, "softmax": 1}


def net(*layers, **values):
    return darknet.net(**{"batch": 1, "subdivisions": 1, **values}) + "".join(layers)


def activations():
    names = ("leaky", "relu", "logistic", "tanh", "mish", "swish", "hard_mish", "hardswish", "relu6", "elu", "selu", "loggy", "relie", "ramp",
             "hardtan", "lhtan", "plse")
    return net(*(convolutional(4, batch_normalize=1, activation=name) for name in names), section("activation", activation="tanh"))


BASE = convolutional(8, stride=2, batch_normalize=1, activation="leaky")
# Networks of a few layers, each of layers that others do not have.
LAYERS = {
    "activations": activations(),
    "windows": net(convolutional(6, size=5, stride=2, pad=0, activation="linear"), convolutional(6, groups=3, dilation=2, padding=2, pad=0),
                   section("convolutional", filters=6, size=3, stride_x=2, stride_y=1, pad=1, activation="leaky"),
                   convolutional(6, batch_normalize=1), convolutional(6, batch_normalize=1, share_index=-1)),
    "pools": net(BASE, section("maxpool", size=2, stride=2), section("maxpool", size=2, stride=1), section("maxpool", size=5, stride=1),
                 section("maxpool", size=3, stride=2, padding=1), section("maxpool", maxpool_depth=1, out_channels=3),
                 section("dropout", probability=.5), section("avgpool"), section("softmax")),
    "routes": net(BASE, BASE, section("route", layers="-1,-2"), section("connected", output=6, activation="leaky"),
                  section("route", layers="1", groups=4, group_id=3), section("upsample", stride=2), section("route", layers="-1,0"),
                  section("upsample", stride=-2, scale=.5), section("upsample", stride=3, scale=2)),
    "shortcuts": net(BASE, convolutional(8), section("shortcut", **{"from": -2}, activation="leaky", alpha=.5, beta=2),
                     convolutional(12), section("shortcut", **{"from": -2}, activation="linear"),
                     convolutional(4), section("shortcut", **{"from": -2}, activation="linear"),
                     convolutional(4, stride=2), section("shortcut", **{"from": -2}, activation="linear"),
                     convolutional(4), section("shortcut", **{"from": "-2,-3"}, weights_type="per_channel", weights_normalization="softmax")),
    "factors": net(BASE, section("avgpool"), convolutional(8, size=1), section("scale_channels", **{"from": -3}, activation="mish"),
                   convolutional(1, size=1, activation="logistic"), section("scale_channels", **{"from": -2}, scale_wh=1),
                   convolutional(8, size=1, activation="logistic"), section("sam", **{"from": -2}),
                   section("implicit", filters=8), section("scale_channels", **{"from": -2}), section("batchnorm"), section("l2norm")),
    "reorgs": net(BASE, section("reorg", stride=2), section("reorg", stride=2, reverse=1), section("reorg", stride=2),
                  section("reorg", stride=2, flatten=1, reverse=1), section("reorg", stride=2, flatten=1), section("reorg", stride=2, extra=3)),
    "older": net(section("crop", crop_width=28, crop_height=26, flip=0, angle=0, saturation=1, exposure=1),
                 section("deconvolutional", filters=6, size=4, stride=2, padding=1, batch_normalize=1, activation="leaky"),
                 section("normalization", size=5, alpha=.01, beta=.75, kappa=1), section("local", filters=4, size=3, stride=2, pad=1, activation="leaky"),
                 section("connected", output=12, batch_normalize=1, activation="relu"), section("softmax", groups=3, temperature=2)),
    "classes": net(BASE, section("softmax", spatial=1), section("logistic"), section("cost")),
    "tree": net(BASE, section("avgpool"), convolutional(5, size=1), section("softmax", tree="t.tree")),
}
HEADS = {
    "yolo": net(BASE, HEAD, section("yolo", **YOLO)),
    "scaled": net(BASE, HEAD, section("yolo", scale_x_y=1.2, **YOLO), section("route", layers=0), BASE, HEAD, section("yolo", scale_x_y=1.05, **{**YOLO, "mask": "1,2"}),
                  width=64),
    "new_coords": net(BASE, convolutional(14, size=1, activation="logistic"), section("yolo", new_coords=1, scale_x_y=2, **YOLO)),
    "region": net(BASE, HEAD, section("region", **REGION)),
    "sigmoids": net(BASE, HEAD, section("region", **{**REGION, "softmax": 0})),
    "background": net(BASE, HEAD, section("region", background=1, **REGION)),
    "masks": net(BASE, convolutional(18, size=1, activation="linear"), section("region", **{**REGION, "coords": 6})),
    "greedy": net(BASE, HEAD, section("yolo", scale_x_y=1.1, nms_kind="greedynms", **YOLO), width=64),
    "diou": net(BASE, HEAD, section("yolo", scale_x_y=1.1, nms_kind="diounms", beta_nms=.3, **YOLO), width=64),
    "detection": net(BASE, section("connected", output=3 * 3 * (2 + 2 * 5), activation="logistic"),
                     section("detection", side=3, num=2, classes=2, coords=4, sqrt=1, softmax=1)),
}
REFUSED = {
    "layer 1, [rnn]: is not written to ONNX": net(BASE, section("rnn", output=8, hidden=8)),
    "layer 0, [convolutional]: xnor=1 is not written to ONNX": net(convolutional(4, xnor=1)),
    "layer 0, [convolutional]: activation=stair is not written to ONNX": net(convolutional(4, activation="stair")),
    "layer 2, [region]: boxes of a tree= of classes are not written": net(BASE, convolutional(20, size=1),
                                                                        section("region", **{**REGION, "classes": 5, "tree": "t.tree"})),
}

# A mistake is a few lines of Python that change `model`; `nodes(op)`, `constants(name)` and `values(constant)` are there.
MISTAKES = {
    "another stretch of middles": ("scaled", "set_constant(constants('layer2_yolo/value')[0], 1.15)"),
    "exp left out": ("yolo", "nodes('Exp')[0].op_type = 'Identity'"),
    "exp of new_coords": ("new_coords", "node = [n for n in nodes('Mul') if len(set(n.input)) == 1][0]; node.op_type = 'Exp'; del node.input[1]"),
    "another head's anchors": ("scaled", "a, b = constants('anchors'); a.raw_data, b.raw_data = b.raw_data, a.raw_data"),
    "another group of a route": ("routes", "c = constants('layer4_route/numbers'); set_ints(c[0], [0]); set_ints(c[1], [2])"),
    "filters of another group": ("windows", "c = constants('layer1_convolutional/weights')[0]; c.raw_data = c.raw_data[108:] + c.raw_data[:108]"),
    "padding on the other side": ("pools", "p = [a for a in nodes('MaxPool')[1].attribute if a.name == 'pads'][0]; p.ints[:] = p.ints[2:] + p.ints[:2]"),
    "no dilation": ("windows", "for a in nodes('Conv')[1].attribute:\n    if a.name in ('dilations', 'pads'): a.ints[:] = [1] * len(a.ints)"),
    "BatchNorm's epsilon": ("epsilon", "nodes('BatchNormalization')[0].attribute[0].f = 1e-3"),
    "reorg as depth to space": ("reorgs", "[a for a in nodes('Transpose')[0].attribute][0].ints[:] = [0, 1, 3, 5, 2, 4]"),
    "columns for rows": ("yolo", "g = constants('grid')[0]; n = len(g.raw_data) // 2; g.raw_data = g.raw_data[n:] + g.raw_data[:n]"),
    "width for height": ("wide", "c = constants('cell')[0]; c.raw_data = c.raw_data[4:] + c.raw_data[:4]"),
    "another power of the distance": ("greedy", "for c in constants('value'):\n    if c.raw_data == struct.pack('<f', .6): set_constant(c, .06)"),
    "leaky's slope": ("yolo", "nodes('LeakyRelu')[0].attribute[0].f = .01"),
}
MISTAKEN = {**LAYERS, **HEADS, "epsilon": LAYERS["windows"], "wide": net(BASE, HEAD, section("yolo", **YOLO), width=64)}

# Stands in the way of python3: changes the file that is to be checked, and goes on as python3.
CHANGE = """#!{python}
import os, struct, sys
import onnx
path = sys.argv[3]
model = onnx.load(path)
def nodes(op): return [n for n in model.graph.node if n.op_type == op]
def constants(name): return [c for c in model.graph.initializer if name in c.name]
def set_constant(c, value): c.raw_data = struct.pack("<f", value)
def set_ints(c, values): c.raw_data = struct.pack(f"<{{len(values)}}q", *values)
before = model.SerializeToString()
exec({change!r})
assert model.SerializeToString() != before
onnx.save(model, path)
os.execv({python!r}, [{python!r}] + sys.argv[1:])
"""


# For each picture of `pixels`: each box of found.json has one of its own among those that the file finds, and none is left over.
DETECTIONS = """
import json, numpy as np, onnxruntime
session = onnxruntime.InferenceSession("f.onnx")
high, wide = session.get_inputs()[0].shape[2:]
pictures = np.fromfile("pixels", np.uint8).reshape(-1, high, wide, 3).transpose(0, 3, 1, 2).astype(np.float32) / 255
count = 0
for picture, found in zip(pictures, json.load(open("found.json"))["pictures"], strict=True):
    rows = session.run(None, {"images": picture[None]})[0].astype(np.float64)
    theirs = np.column_stack([rows[:, 6], rows[:, 5], rows[:, 1:5] * (wide, high, wide, high)])
    assert len(theirs) == len(found["boxes"]), (found["path"], len(theirs), len(found["boxes"]))
    for box in found["boxes"]:
        left, top = box["left"], box["top"]
        ours = np.array([box["class"], box["score"], left, top, left + box["width"], top + box["height"]])
        apart = (np.abs(theirs - ours) / np.maximum(1, np.abs(ours))).max(axis=1)
        assert apart.min() < 1e-4, (found["path"], box, apart.min())
        theirs = np.delete(theirs, apart.argmin(), axis=0)
        count += 1
print(count)
"""
PICTURES = 50


class Export(darknet.Case):
    def setUp(self):
        super().setUp()
        self.write("t.tree", "a -1\nb -1\nc 0\nd 0\ne 0\n")

    def network(self, text):
        self.write("f.cfg", text)
        self.random_weights("f.cfg")

    def random_weights(self, cfg, *size, folder=None):
        result = darknet.run([os.environ["RANDOM_WEIGHTS"], cfg, self.path("f.weights"), *size], folder or self.folder)
        self.assertEqual(result.code, 0, result)

    def export(self, *options):
        return self.darknet("ddp", "export", "f.cfg", "f.weights", "-o", "f.onnx", *options)

    def is_right(self, *options):
        result = self.export("-check", *options)
        self.assertEqual(result.code, 0, result)
        self.assertIn(RIGHT, result.out)
        self.assertNotIn("onnxruntime:", result.err)
        return result

    def python(self, text):
        result = darknet.run([PYTHON, "-c", text], self.folder)
        self.assertEqual(result.code, 0, result)
        return result.out

    def test_each_layer(self):
        for name, text in LAYERS.items():
            self.network(text)
            for options in ((), ("-keep_bn", "-opset", "18", "-dynamic_batch")):
                with self.subTest(layers=name, options=options):
                    self.is_right(*options)

    def test_each_head(self):
        for name, text in HEADS.items():
            self.network(text)
            for heads in ("raw", "boxes", "nms"):
                with self.subTest(head=name, heads=heads):
                    self.is_right("-heads", heads, "-thresh", ".2")
            self.is_right("-heads", "nms", "-thresh", ".99999", "-dynamic_batch", "-opset", "18")  # nothing is found

    def test_detections_are_those_of_detector_test(self):
        """The same set of boxes after NMS, in each of 50 pictures. nms_kind= leaves more of them."""
        counts = {}
        for name in ("yolo", "scaled", "new_coords", "region", "detection", "plain", "greedy", "diou"):
            with self.subTest(head=name):
                self.network(HEADS["greedy"].replace("nms_kind=greedynms", "") if name == "plain" else HEADS[name])
                self.noisy_pictures(64 if b"width=64" in self.read("f.cfg") else 32)
                self.succeeds("detector", "test", "f.data", "f.cfg", "f.weights", "noise.list", "-thresh", ".2", "-json", "found.json")
                self.succeeds("ddp", "export", "f.cfg", "f.weights", "-o", "f.onnx", "-heads", "nms", "-thresh", ".2")
                counts[name] = int(self.python(DETECTIONS))
                self.assertGreater(counts[name], 2 * PICTURES)
        self.assertLess(counts["plain"], counts["greedy"])
        self.assertLess(counts["greedy"], counts["diou"])

    def noisy_pictures(self, width):
        data, noise = darknet.DataSet(self.folder, count=PICTURES), random.Random(1)
        with open(self.path("pixels"), "wb") as f:
            for picture in data.pictures:
                pixels = noise.randbytes(32 * width * 3)
                darknet.png(self.path(picture), width, 32, lambda x, y, p=pixels: p[3 * (y * width + x):][:3])
                f.write(pixels)
        data.list("noise.list", data.pictures)
        data.data("f.data", valid="noise.list")

    def test_float16(self):
        self.network(HEADS["scaled"])
        self.is_right()
        whole = os.path.getsize(self.path("f.onnx"))
        self.is_right("-fp16")
        self.assertLess(os.path.getsize(self.path("f.onnx")), whole)
        self.python("import onnx; m = onnx.load('f.onnx'); assert 10 in {c.data_type for c in m.graph.initializer}")

    def test_a_dynamic_batch_is_each_picture(self):
        self.network(HEADS["scaled"])
        self.is_right("-dynamic_batch")
        self.python("import numpy as np, onnxruntime as ort\ns = ort.InferenceSession('f.onnx')\n"
                    "x = np.random.RandomState(1).rand(3, 3, 32, 64).astype(np.float32)\nall = s.run(None, {'images': x})\n"
                    "for i in range(3):\n  for a, b in zip(all, s.run(None, {'images': x[i:i+1]})): assert np.abs(a[i] - b[0]).max() < 1e-5")

    def test_files_are_valid_and_say_what_a_caller_must_know(self):
        data, noise = darknet.DataSet(self.folder), random.Random(1)
        for picture in data.pictures:  # nothing flat, where boxes of equal scores would be cut in any order
            darknet.png(self.path(picture), 48, 32, lambda x, y: tuple(noise.randrange(256) for _ in range(3)))
        data.data("f.data", valid="train.list")
        for heads in ("raw", "boxes", "nms"):
            self.network(HEADS["scaled"])
            result = self.is_right("-heads", heads, "-data", "f.data", "-thresh", ".2")
            self.assertIn("arrays, onnxruntime", result.out)
            notes = self.python("import onnx; m = onnx.load('f.onnx'); onnx.checker.check_model(m, full_check=True)\n"
                                "print({p.key: p.value for p in m.metadata_props})")
            for part in ("'names': 'cat\\ndog'", "64 wide, 32 high", "stretched", "YOLOv4", "xxh3 ", '"scale_x_y": 1.2', f"'heads': '{heads}'"):
                self.assertIn(part, notes)
        self.network(HEADS["yolo"])
        self.is_right()
        self.assertIn("letter box", self.python("import onnx; print(onnx.load('f.onnx').metadata_props)"))

    def test_what_is_not_written_is_refused_by_name(self):
        for says, text in REFUSED.items():
            with self.subTest(says):
                self.network(text)
                self.check_refused(self.export(), says)
                self.assertFalse(os.path.exists(self.path("f.onnx")))
        self.check_refused(self.darknet("ddp", "export", "f.cfg", "f.weights"), "-o FILE.onnx")
        self.network(HEADS["greedy"].replace("[net]\n", "[net]\nletter_box=1\n"))
        self.is_right("-heads", "boxes")
        self.check_refused(self.export("-heads", "nms"), "layer 2, [yolo]: nms_kind= measures distances in the picture")

    def test_an_own_file_alone_is_written_over(self):
        self.network(HEADS["yolo"])
        self.write("f.onnx", "somebody's notes\n")
        self.check_refused(self.export(), "f.onnx, which is there and is no ONNX file that darknet wrote")
        os.remove(self.path("f.onnx"))
        for _ in range(2):
            self.assertIn("f.onnx is written, and not checked", self.export().out)

    def test_mistakes_are_found(self):
        os.mkdir(self.path("bin"))
        for name, (network, change) in MISTAKES.items():
            with self.subTest(name):
                self.network(MISTAKEN[network])
                options = {"epsilon": ("-keep_bn",), "greedy": ("-heads", "nms", "-thresh", ".2")}.get(network, ())
                self.is_right(*options)
                self.write("bin/python3", CHANGE.format(python=PYTHON, change=change))
                os.chmod(self.path("bin/python3"), 0o755)
                result = self.darknet("ddp", "export", "f.cfg", "f.weights", "-o", "f.onnx", "-check", *options,
                                      environment={"PATH": self.path("bin") + ":" + os.environ["PATH"]})
                self.assertEqual(result.code, 1, (name, result))
                self.assertIn(WRONG, result.out)
                self.assertIn(" differs by ", result.out, (name, result.err))

    def test_without_onnxruntime_it_says_so(self):
        self.network(HEADS["yolo"])
        os.mkdir(self.path("bin"))
        self.write("bin/python3", f'#!/bin/sh\nexec {PYTHON} -S "$@"\n')
        os.chmod(self.path("bin/python3"), 0o755)
        result = self.darknet("ddp", "export", "f.cfg", "f.weights", "-o", "f.onnx", "-check",
                              environment={"PATH": self.path("bin") + ":" + os.environ["PATH"], "PYTHONPATH": ""})
        self.assertEqual(result.code, 1, result)
        self.assertIn("f.onnx was written, and not checked: python3 has no onnxruntime", result.err)

    def test_programs_of_the_guide(self):
        if subprocess.run([PYTHON, "-c", "import cv2"], capture_output=True, check=False).returncode:
            self.skipTest("python3 has no OpenCV")
        with open(GUIDE, encoding="utf-8") as f:
            programs = [block.split("```")[0] for block in f.read().split("```python\n")[1:]]
        self.assertEqual(len(programs), 4)
        self.network(HEADS["yolo"])
        darknet.DataSet(self.folder).data("f.data", valid="train.list")
        os.makedirs(self.path("backup"), exist_ok=True)
        self.is_right("-data", "f.data")
        for name, own in (("x.cfg", "f.cfg"), ("backup/x_final.weights", "f.weights"), ("x.onnx", "f.onnx"), ("images/one.jpg", "images/dog1.png")):
            shutil.copy(self.path(own), self.path(name))
        said = self.python(f"{programs[0]}\nours = boxes, scores\n{programs[1]}\n"
                           "assert all(np.abs(a - b).max() < 1e-4 for a, b in zip(ours, (boxes, scores)))\nprint('alike')\n"
                           f"if cv2.__version__ < '5': exec({programs[2]!r})")
        self.assertIn("alike", said)
        self.assertGreater(said.count("\n"), 2)
        if subprocess.run([PYTHON, "-c", "import ncnn"], capture_output=True, check=False).returncode or not shutil.which("pnnx"):
            self.skipTest("python3 has no ncnn, or there is no pnnx")
        self.assertEqual(darknet.run(["pnnx", "x.onnx", "inputshape=[1,3,32,32]", "fp16=0"], self.folder).code, 0)
        self.python(f"{programs[0]}\nours = boxes, scores\n{programs[3]}\nassert all(np.abs(a[0] - b).max() < 1e-4 for a, b in zip(ours, (boxes, scores)))")

    def test_shipped_cfgs(self):
        for folder, name, size in ((CFGS, "yolov3-tiny", 96), (CFGS, "yolov3", 64), (CFGS, "yolov2-tiny-voc", 96), (CFGS, "yolov2", 96), (CFGS, "darknet19", 64),
                                   (CFGS, "resnet18", 64), (OWN_CFGS, "forks", 0), (OWN_CFGS, "demo", 0)):
            size = (str(size), str(size)) if size else ()
            with self.subTest(cfg=name):
                path = os.path.join(folder, name + ".cfg")
                shutil.copy(path, self.path("f.cfg"))
                self.random_weights("f.cfg", *size)
                self.is_right(*(("-w", size[0], "-h", size[1]) if size else ()))

    def test_families(self):
        folder = os.path.join(os.environ.get("DDP_REFERENCE_DIR", ""), "reference")
        if not os.path.isdir(folder):
            self.skipTest("no reference data beside the project")
        for case in sorted(os.listdir(folder)):
            if os.path.exists(os.path.join(folder, case, "w0.weights.xz")) and not case.startswith("y-"):
                with self.subTest(case):
                    shutil.copy(os.path.join(folder, case, "net.cfg"), self.path("f.cfg"))
                    with lzma.open(os.path.join(folder, case, "w0.weights.xz")) as f, open(self.path("f.weights"), "wb") as out:
                        shutil.copyfileobj(f, out)
                    self.is_right()


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import onnx, onnxruntime, numpy"], capture_output=True, check=False).returncode:
        print("python3 has no onnx, onnxruntime and numpy")
        sys.exit(77)
    darknet.main()
