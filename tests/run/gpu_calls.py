#!/usr/bin/env python3
# ddp-test: usual cost=100
"""Which calls a training step makes, by count, on emulated devices ($DARKNET_EMULATED, darknet-ddp/emulated): one rank makes
the same with MPI as without, on several nothing is added in which the host waits; and which bytes cross between host and device.
Skipped where there is no such build."""
import functools
import os
import re
import sys

EMULATED = os.environ.get("DARKNET_EMULATED")
if not EMULATED:
    print("DARKNET_EMULATED, a build for emulated devices, is not set")
    sys.exit(77)
os.environ["DARKNET"] = EMULATED
os.environ["EMULATED_DEVICES"] = "2"

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

STEPS = 4
# In these the host waits for the GPU; the sums it polls.
WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cudaMemset",
         "cudaMalloc", "cudaFree")


FLOAT_BYTES = 4
SIDE = 32
WEIGHTS_HEADER = 20
HEAD_FIGURES = 16 # what a head tells of a mini-batch (darknet.h)
HEADS = {"yolov3": ("yolo", 90), "yolov2": ("region", 30)} # of Darknet's cfgs: the head, and how many truths a picture has


def with_values(cfg, **values):
    """The text of one of Darknet's cfgs with other values in [net], one size all the time, and narrow: a step copies as much."""
    with open(os.path.join(os.environ["DARKNET_SRC"], "cfg", cfg + ".cfg"), encoding="ascii") as f:
        text = f.read()
    for key, value in values.items():
        text = re.sub(rf"(?m)^{key} *=.*$", f"{key}={value}", text, count=1)
    text = re.sub(r"(?m)^filters *= *(\d*[02468])$", lambda filters: f"filters={int(filters[1]) // 16}", text) # an odd one is a head's
    return re.sub(r"(?m)^random *=.*$", "random=0", text)


def wide_detector(**values):
    """With matrices that are large enough to be compressed."""
    return darknet.detector_cfg(**values).replace("filters=4", "filters=16")


class Calls(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=64)
        self.data.boxes() # no epoch ends: that would save weights

    def calls(self, kind, batches, words, ranks, values, cfg=None):
        """cfg: one of Darknet's by its name, or what makes a text of values."""
        if isinstance(cfg, str):
            words = (*words, "-nocheck") # it has more classes than these data
        if not callable(cfg):
            cfg = functools.partial(with_values, cfg) if cfg else darknet.classifier_cfg if kind == "classifier" else darknet.detector_cfg
        self.write("tiny.cfg", cfg(max_batches=batches, **values))
        self.succeeds(kind, "train", "train.data", "tiny.cfg", *words, ranks=ranks,
                      environment={"EMULATED_CALLS": self.path("calls")})
        with open(self.path("calls"), encoding="ascii") as f:
            return {call: int(count) for call, count in map(str.split, f)}

    def calls_a_step(self, kind, *words, ranks=0, cfg=None, **values):
        """By rank 0, start and end of a run left out."""
        few, many = (self.calls(kind, batches, words, ranks, values, cfg) for batches in (3, 3 + STEPS))
        steps = {call: (count - few.get(call, 0)) / STEPS for call, count in many.items()}
        return {call: count for call, count in steps.items() if count}

    def test_one_rank_makes_the_same_calls_with_mpi(self):
        for kind in ("classifier", "detector"):
            for values in ({}, {"batch": 8, "subdivisions": 4}):
                with self.subTest(kind=kind, **values):
                    self.assertEqual(self.calls_a_step(kind, "-ddp", ranks=1, **values), self.calls_a_step(kind, "-ddp", **values))

    def test_the_host_waits_for_the_losses(self):
        for kind in ("classifier", "detector"):
            for ranks, mini_batches in ((0, 2), (2, 1)):
                with self.subTest(kind=kind, ranks=ranks):
                    calls = self.calls_a_step(kind, "-ddp", ranks=ranks, batch=4, subdivisions=2)
                    waits = {call: count / mini_batches for call, count in calls.items() if call in WAITS}
                    self.assertEqual(waits, {"cudaEventSynchronize": 1})
                    self.assertEqual(calls.get("ncclAllReduce", 0), 2 if ranks else 0) # gradients; loss

    def test_the_host_waits_for_no_compression(self):
        for how in darknet.compressions(on_gpus=True):
            with self.subTest(how=how):
                calls = self.calls_a_step("detector", "-ddp", "-ddp_compress", how, ranks=2, cfg=wide_detector, batch=4, subdivisions=2)
                waits = {call: count for call, count in calls.items() if call in WAITS}
                self.assertEqual(waits, {"cudaEventSynchronize": 1})
                self.assertLessEqual(calls["ncclAllReduce"], 3) # of gradients two or one, and the loss

    def test_what_compression_keeps_is_copied_where_a_save_is_due(self):
        """And once more when training ends."""
        copied, one = {}, darknet.compressions(on_gpus=True)[0]
        for how in ("none", one):
            words = ("-ddp", "-ddp_compress", how)
            for name in os.listdir(self.path("backup")):
                os.remove(self.path("backup/" + name))
            for run in ("trained", "resumed"):
                more = ("-resume",) if run == "resumed" else ()
                calls = self.calls("detector", 3, (*words, *more), 2, {"batch": 4, "subdivisions": 2}, wide_detector)
                copied[how, run] = calls["BytesToHost"]
        kept, once = (copied[one, run] - copied["none", run] for run in ("trained", "resumed"))
        self.assertGreater(once, 0)
        self.assertEqual(kept, 2 * once) # of its end's save: nothing was trained where it was resumed

    def test_a_step_copies_input_truth_losses_and_what_heads_tell(self):
        for cfg, (head, truths) in HEADS.items():
            values = {"batch": 2, "subdivisions": 1, "width": SIDE, "height": SIDE}
            layers = re.findall(r"(?m)^\[(\w+)\]", with_values(cfg))[1:]
            with self.subTest(cfg=cfg):
                calls = self.calls_a_step("detector", cfg=cfg, **values)
                self.assertEqual(calls["BytesToDevice"], FLOAT_BYTES * 2 * (3 * SIDE * SIDE + 5 * truths))
                self.assertEqual(calls["BytesToHost"], FLOAT_BYTES * (len(layers) + HEAD_FIGURES * layers.count(head)))

    def test_other_heads_copy_neither_outputs_nor_deltas(self):
        """Of each: the command, its head's layers, how many truths a picture has, and how many figures the head tells."""
        self.write("kinds.tree", "animal -1\nthing -1\ncat 0\ndog 0\n")
        self.write("kinds.list", "animal\nthing\ncat\ndog\n")
        self.data.masks()
        cells, conv = (SIDE // 4) ** 2, functools.partial(darknet.convolutional, size=1, activation="linear")
        section, tree = darknet.section, {"tree": "kinds.tree"}
        heads = {
            "region": ("detector", conv(9) + section("region", anchors="1,1", classes=4, coords=4, num=1, softmax=1, **tree), 5 * 30, HEAD_FIGURES),
            "softmax": ("classifier", conv(4) + section("avgpool") + section("softmax", **tree), 4, 0),
            "iseg": ("isegmenter", conv(82) + section("iseg", classes=80, ids=2), 90 * (1 + cells), HEAD_FIGURES),
            "detection": ("detector", section("connected", output=3 * 3 * 12, activation="linear")
                          + section("detection", classes=2, coords=4, rescore=1, side=3, num=2, sqrt=1), 3 * 3 * (1 + 2 + 4), HEAD_FIGURES),
            "logistic": ("segmenter", conv(80) + section("logistic"), 80 * cells, 0),
            "cost": ("regressor", section("connected", output=2, activation="linear") + section("cost", type="sse"), 2, 0),
        }
        for name, (command, layers, truths, figures) in heads.items():
            if command == "classifier":
                self.data.data("train.data", classes=4, labels="kinds.list", **tree)
            else:
                self.data.data("train.data")
            if command == "regressor":
                self.data.numbers()
            with self.subTest(head=name):
                count = len(re.findall(r"(?m)^\[", darknet.BODY + layers))
                calls = self.calls_a_step(command, cfg=lambda layers=layers, **values: darknet.net(**values) + darknet.BODY + layers,
                                          batch=2, subdivisions=1)
                self.assertEqual(calls["BytesToDevice"], FLOAT_BYTES * 2 * (3 * SIDE * SIDE + truths))
                self.assertEqual(calls["BytesToHost"], FLOAT_BYTES * (count + figures))

    def test_a_start_copies_what_a_weights_file_holds_and_anchors(self):
        side, batches = 32, 3
        step = FLOAT_BYTES * 2 * (3 * side * side + 5 * 90)
        calls = self.calls("detector", batches, (), 0, {"batch": 2, "subdivisions": 1, "width": side, "height": side}, "yolov3")
        weights = os.path.getsize(self.path("backup/tiny_final.weights")) - WEIGHTS_HEADER
        anchors = FLOAT_BYTES * 3 * (2 * 9 + 3) # and of each head which are its own
        self.assertEqual(calls["BytesToDevice"] - batches * step, weights + anchors)

    def test_a_resize_copies_nothing(self):
        copies = []
        for random in (0, 1):
            self.write("tiny.cfg", darknet.detector_cfg(batch=2, max_batches=22).replace("random=0", f"random={random}"))
            self.succeeds("detector", "train", "train.data", "tiny.cfg", "-learning_rate", "0.000001", # at 608x608 the loss is large
                          environment={"EMULATED_CALLS": self.path("calls")})
            with open(self.path("calls"), encoding="ascii") as f:
                copies.append(dict(map(str.split, f))["cudaMemcpy"])
        self.assertEqual(*copies)


if __name__ == "__main__":
    darknet.main()
