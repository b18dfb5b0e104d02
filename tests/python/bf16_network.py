"""What tests of -ddp_bf16 1 train, on emulated devices and on CPUs: a small detector or classifier, and whether it learns as in float32."""
import os
import re

import darknet

BF16 = ("-ddp_bf16", "1")

# All kinds of layers that run in bf16, with a head that does not.
BLOCK = (darknet.convolutional(4, size=1, batch_normalize=1) + darknet.convolutional(8, batch_normalize=1, activation="linear")
         + darknet.section("shortcut", **{"from": -3, "activation": "leaky"}))
BODY = (darknet.convolutional(8, stride=2, batch_normalize=1) + darknet.section("maxpool", size=2, stride=2) + BLOCK
        + darknet.convolutional(8, stride=2, batch_normalize=1) + darknet.section("upsample", stride=2)
        + darknet.section("route", layers="-1,-3") + darknet.convolutional(6, batch_normalize=1, activation="mish"))


def detector(**values):
    """11 layers, of which 10 run in bf16."""
    return (darknet.net(**{"batch": 8, "subdivisions": 2, **values}) + BODY + darknet.convolutional(7, size=1, activation="linear")
            + darknet.section("yolo", mask=0, anchors="12,12", classes=2, num=1, jitter=.1, ignore_thresh=.7, truth_thresh=1,
                              random=values.get("random", 0)))


class Case(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=16).boxes()
        self.write("tiny.cfg", detector())

    def weights(self):
        name = next(n for n in ("tiny_final.weights", "tiny.weights") if os.path.exists(self.path("backup/" + n)))
        return super().weights(name)

    def trained(self, command, *options, **how):
        """The weights, and what was said."""
        self.empty()
        result = self.succeeds(*command, *options, **{"ranks": 0, **how})
        return self.weights(), result

    def losses(self, command, *options):
        """Of each step."""
        result = self.trained(command, *options)[1]
        return [float(x) for x in re.findall(r"(?m)^\d+(?:, \d+\.\d+)?: (\d+\.\d+), \d+\.\d+ avg", result.out)], result

    def learns_as_in_float32(self, detector_command, float32, bf16, says):
        """Both a detector and a classifier. float32, bf16: options; says: what computes, a pattern."""
        for command, cfg, layers in (
                (detector_command, detector(max_batches=60, learning_rate=.005), "10 of 11"),
                (("classifier", *detector_command[1:]),
                 darknet.classifier_cfg(body=BODY, batch=8, max_batches=60, learning_rate=.02), "11 of 12")):
            with self.subTest(command=command):
                self.write("tiny.cfg", cfg)
                floats, _ = self.losses(command, *float32)
                halves, result = self.losses(command, *bf16)
                self.assertRegex(result.out, rf"\nDDP: {layers} layers compute in bf16 \({says}\); parameters, sums and losses are fp32\n",
                                 result)
                self.assertEqual(len(floats), len(halves))
                end, its_end = (sum(losses[-10:]) / 10 for losses in (floats, halves))
                self.assertLess(end, .7 * floats[0], floats)  # it has learned something
                self.assertLess(abs(end - its_end), .1 * end, f"{end} in fp32, {its_end} in bf16\n{result}")
