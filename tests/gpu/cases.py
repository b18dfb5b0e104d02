"""The cases of gpu_compare: small networks, one for each kind of layer that trains, and networks that Darknet ships.
All as tables: a row is a case."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "python"))
from darknet import section  # noqa: E402

with open(os.path.join(HERE, "../../darknet-ddp/framework/layers/activations_forks.h"), encoding="utf-8") as table:
    FORKS_ACTIVATIONS = re.findall(r"^ +ROW\([A-Z0-9_]+, (\w+),", table.read(), re.M)
with open(os.path.join(HERE, "../../darknet-ddp/framework/layers/forks_layers.def"), encoding="utf-8") as table:
    FORKS_LAYERS = re.findall(r"^FORKS_LAYER\([A-Z0-9_]+, (\w+),", table.read(), re.M)

# With an eps that the smallest gradients do not undercut: without it Adam makes a whole step of a rounding error.
ADAM = {"adam": 1, "B1": .8, "B2": .95, "eps": .001}


def net(batch=8, size=12, **values):
    shape = {"width": size, "height": size, "channels": 3} if size else {}
    return section("net", **{"batch": batch, "subdivisions": 2, **shape, "momentum": .9, "decay": .0005,
                             "learning_rate": .01, "max_batches": 100, **values})


def conv(filters=8, size=3, stride=1, activation="leaky", **values):
    return section("convolutional", filters=filters, size=size, stride=stride, pad=1, activation=activation, **values)


def deconv(**values):
    return section("deconvolutional", filters=4, size=4, stride=2, padding=1, activation="leaky", **values)


def shortcut(source, activation, **values):
    return section("shortcut", **{"from": source}, activation=activation, **values)


def connected(output, activation="leaky", **values):
    return section("connected", output=output, activation=activation, **values)


def recurrent(kind, learning_rate=.01, **values):
    sizes = {"size": 8} if kind == "crnn" else {"size": 0, "inputs": 10}
    return (net(time_steps=3, learning_rate=learning_rate, **sizes) + section(kind, **values) + connected(10, "linear")
            + section("softmax"))


BN = {"batch_normalize": 1}
SOFTMAX = connected(10, "linear") + section("softmax")
SHRINK = conv(8, 3, 2) + conv(8, 3, 2)
BOXES = SHRINK + conv(27, 1, activation="linear")
YOLO = section("yolo", mask="0,1,2", anchors="10,14, 23,27, 37,58", classes=4, num=3, ignore_thresh=.7, truth_thresh=1,
               random=0)
FORKS = net(size=64, learning_rate=.001, yolo_math="v4") + SHRINK


def forks_yolo(activation="linear", **values):
    """[yolo] by the formulas of the forks that have YOLOv4."""
    return FORKS + conv(27, 1, activation=activation) + YOLO.rstrip() + "\n" + "".join(f"{k}={v}\n" for k, v in values.items())


REGION = {"anchors": "1,1.2, 2,2.5, 4,4", "bias_match": 1, "classes": 4, "coords": 4, "num": 3, "softmax": 1,
          "rescore": 1, "object_scale": 5, "noobject_scale": 1, "class_scale": 1, "coord_scale": 1, "absolute": 1,
          "thresh": .6, "random": 0}
TREE = "thing -1\nliving -1\ncar 0\nbike 0\ndog 1\ncat 1\nhorse 1\n" # what a cfg finds as `tree`: class, parent


def region(**values):
    values = {**REGION, **values}
    return (net(size=64, learning_rate=.001) + SHRINK
            + conv(3 * (values["classes"] + values["coords"] + 1), 1, activation="linear") + section("region", **values))


DETECTION = {"classes": 3, "coords": 4, "rescore": 1, "side": 4, "num": 2, "softmax": 0, "sqrt": 1, "object_scale": 1,
             "noobject_scale": .5, "class_scale": 1, "coord_scale": 5}
CELLS = net(size=32) + conv(8, 3, 2) + connected(4 * 4 * (2 * 5 + 3), "linear")

LAYERS = {
    "conv": net() + conv() + conv(6, 5, 2) + conv(5, 1) + SOFTMAX,
    "conv-stride-1x1": net() + conv() + conv(6, 1, 2) + SOFTMAX,
    "conv-groups": net() + conv(8) + conv(8, groups=4) + conv(8, groups=8, **BN) + SOFTMAX,
    "conv-batchnorm": net() + conv(**BN) + conv(6, 3, 2, **BN) + conv(5, 1, **BN) + SOFTMAX,
    "conv-batchnorm-relu": net() + conv(**BN, activation="relu") + conv(6, activation="linear", **BN) + SOFTMAX,
    "conv-batchnorm-elu": net() + conv(**BN, activation="elu") + conv(6, activation="logistic", **BN) + SOFTMAX,
    "conv-batchnorm-wide": net(size=70, batch=4) + conv(3, 3, **BN) + conv(4, 5, 2, **BN) + SOFTMAX,
    "conv-few-values": net(batch=4, size=4) + conv(8, 3, 2, **BN) + conv(6, 3, 2, **BN) + SOFTMAX,
    **{f"conv-{kind}": net() + conv(activation=kind) + conv(6, activation=kind, **BN) + SOFTMAX
       for kind in FORKS_ACTIVATIONS},
    "conv-forks-batchnorm": net(yolo_math="v4") + conv(**BN) + conv(6, 3, 2, **BN) + conv(5, activation="elu", **BN) + SOFTMAX,
    "conv-stopbackward": net(batch=8) + conv(**BN) + conv(6, stopbackward=2) + conv(5, **BN) + SOFTMAX,
    "batchnorm-forks": net(yolo_math="v4") + conv() + section("batchnorm") + conv() + SOFTMAX,
    "connected-forks-batchnorm": net(batch=32, yolo_math="v4") + connected(40, **BN) + connected(20, "mish", **BN) + SOFTMAX,
    "conv-dilation": net() + conv(dilation=2) + conv(6, 3, 2, dilation=3) + SOFTMAX,
    "conv-two-strides": net() + conv(stride_x=2) + conv(6, stride_y=2) + SOFTMAX,
    "conv-shared": net() + conv(3, **BN) + conv(3, share_index=-1, **BN) + conv(3, share_index=0, activation="mish", **BN) + SOFTMAX,
    "conv-clip": net(clip=.05) + conv() + conv(6) + SOFTMAX,
    "conv-binary": net() + conv() + conv(6, **BN, binary=1) + SOFTMAX,
    "conv-xnor": net() + conv() + conv(6, **BN, xnor=1) + SOFTMAX,
    "deconv": net() + conv() + deconv() + SOFTMAX,
    "deconv-batchnorm": net() + conv() + deconv(**BN) + SOFTMAX,
    "connected": net() + connected(40) + connected(20, "tanh") + SOFTMAX,
    "connected-mish": net() + connected(40, "mish") + connected(20, "swish", **BN) + SOFTMAX,
    "connected-batchnorm": net(batch=32) + connected(40, **BN) + connected(20, "tanh", **BN) + SOFTMAX,
    "local": net() + conv() + section("local", filters=4, size=3, stride=1, pad=1, activation="leaky") + SOFTMAX,
    "batchnorm": net() + conv() + section("batchnorm") + conv() + SOFTMAX,
    **{f"batchnorm-narrow{name}": net(**math) + conv() + shortcut(-1, "linear", alpha=.001, beta=.001) + section("batchnorm") + conv(**BN)
       + SOFTMAX for name, math in (("", {}), ("-forks", {"yolo_math": "v4"}))}, # variances below BatchNorm's epsilon
    "maxpool": net() + conv() + section("maxpool", size=2, stride=2) + section("maxpool", size=2, stride=1) + SOFTMAX,
    "avgpool": net() + conv() + section("avgpool") + SOFTMAX,
    "shortcut": net() + conv(8) + conv(8) + shortcut(-2, "leaky") + conv(4, 1) + shortcut(-3, "linear") + SOFTMAX,
    "shortcut-stride": net() + conv(8) + conv(12, 3, 2) + shortcut(-2, "linear") + SOFTMAX,
    "shortcut-wider": net() + conv(6) + conv(12) + shortcut(-2, "relu") + conv(5) + shortcut(-2, "logistic") + SOFTMAX,
    "shortcut-twice": net() + conv(6) + shortcut(-1, "leaky", alpha=.5, beta=.25) + conv(6) + SOFTMAX,
    # Not square, so that [connected] stays in float32: the chain alone comes near to the limits.
    "shortcut-chain": net(width=14) + conv(6) + (conv(4, 1, **BN) + conv(6, **BN, activation="linear") + shortcut(-3, "relu")) * 3
                      + SOFTMAX,
    "shortcut-fused": net() + conv(8, **BN) + conv(8, 3, **BN) + shortcut(-2, "linear") + conv(5, 1, **BN) + conv(8, **BN)
                      + shortcut(-3, "linear") + SOFTMAX,
    "shortcut-mish": net() + conv(8) + conv(8) + shortcut(-2, "mish") + conv(4, 1) + shortcut(-3, "swish") + SOFTMAX,
    "shortcut-two": net() + conv(8) + conv(4) + conv(8) + shortcut("-2,-3", "mish") + conv(6) + SOFTMAX,
    **{f"shortcut-weighted-{kind}": net(batch=4) + conv(8) + conv(4) + conv(8)
       + shortcut("-2,-3", "leaky", weights_type=kind, weights_normalization=norm) + conv(6) + SOFTMAX
       for kind, norm in (("per_feature", "none"), ("per_layer", "relu"), ("per_channel", "softmax"))},
    "scale-channels": net() + conv(8) + section("avgpool") + conv(8, 1, activation="logistic")
                      + section("scale_channels", **{"from": -3}) + conv(6) + SOFTMAX,
    "scale-channels-cells": net() + conv(8) + conv(1, 1, activation="logistic")
                            + section("scale_channels", **{"from": -2}, scale_wh=1, activation="leaky") + conv(6) + SOFTMAX,
    "scale-channels-mish": net() + conv(8) + section("avgpool") + conv(8, 1, activation="swish")
                           + section("scale_channels", **{"from": -3}, activation="mish") + conv(6) + SOFTMAX,
    "sam-relu6": net() + conv(8) + conv(8, 1, activation="mish", **BN) + section("sam", **{"from": -2}, activation="relu6") + conv(6) + SOFTMAX,
    "sam": net() + conv(8) + conv(8, 1, activation="logistic") + section("sam", **{"from": -2}, activation="mish")
           + section("route", layers="-1,-3") + conv(6) + SOFTMAX,
    "implicit": net() + conv(8) + section("avgpool") + section("implicit", filters=8, mean=1, std=.2)
                + section("sam", **{"from": -2}) + SOFTMAX,
    "shortcut-dropout": net() + conv(6) + section("dropout", probability=.5) + conv(6) + shortcut(-3, "leaky") + conv(6)
                        + shortcut(-4, "leaky") + SOFTMAX,
    "dead-end": net() + conv(6) + conv(7) + section("route", layers=-2) + conv(4) + SOFTMAX,
    "maxpool-channels": net() + conv(7) + section("maxpool", maxpool_depth=1, out_channels=3) + conv(6) + SOFTMAX,
    "maxpool-two-strides": net() + conv(8) + section("maxpool", size=3, stride_x=2, stride_y=1) + conv(6) + SOFTMAX,
    "maxpool-shared": net() + conv(6) + section("maxpool", size=3, stride=1) + conv(6) + shortcut(-3, "leaky")
                      + section("maxpool", size=3, stride=1) + section("route", layers="-1,-2") + conv(4) + SOFTMAX,
    "route": net() + conv(8) + conv(4) + section("route", layers="-1,-2") + conv(6, 1) + SOFTMAX,
    "route-twice": net() + conv(8) + section("dropout", probability=.5) + conv(4) + section("route", layers="-1,-2,-1,-3")
                   + conv(6, 1) + SOFTMAX, # [dropout] works on its input's delta
    "route-groups": net() + conv(8) + conv(4) + section("route", layers="-1,-2,-1", groups=2, group_id=1) + conv(6, 1) + SOFTMAX,
    "reorg": net() + conv(8) + section("reorg", stride=2) + conv(6) + SOFTMAX,
    "upsample": net() + conv(8, 3, 2) + section("upsample", stride=2) + conv(6) + SOFTMAX,
    "normalization": net() + conv(8) + section("normalization", alpha=.0001, beta=.75, kappa=1, size=5) + SOFTMAX,
    "l2norm": net() + conv(8) + section("l2norm") + conv(4) + SOFTMAX,
    "crop": net() + section("crop", crop_width=12, crop_height=12, flip=0) + conv() + SOFTMAX, # changes the input
    "dropout": net() + connected(40) + section("dropout", probability=.5) + SOFTMAX, # which drops nothing here
    "activation": net() + conv(activation="linear") + section("activation", activation="elu") + section("activation", activation="mish")
                  + SOFTMAX,
    "softmax-groups": net() + connected(100, "linear") + section("softmax", groups=2),
    "softmax-pixels": net() + conv(5, activation="linear") + section("avgpool") + section("softmax"),
    "softmax-spatial": net() + conv(5, activation="linear") + section("softmax", spatial=1),
    "logistic": net() + conv() + connected(10, "linear") + section("logistic"),
    **{f"cost-{kind}": net() + conv() + connected(10, "linear") + section("cost", type=kind)
       for kind in ("sse", "smooth", "L1", "seg", "masked")},
    "yolo": net(size=64, learning_rate=.001) + BOXES + YOLO,
    "yolo-yolo": net(size=64, learning_rate=.001) + BOXES + YOLO + conv(27, 1, activation="linear") + YOLO,
    "yolo-forks": forks_yolo(),
    "yolo-ciou": forks_yolo(iou_loss="ciou", iou_normalizer=.07, scale_x_y=1.05, iou_thresh=.2, max_delta=5, delta_normalizer=.5),
    "yolo-diou": forks_yolo(iou_loss="diou", obj_normalizer=.4, cls_normalizer=.5, counters_per_class="9,3,1,5", label_smooth_eps=.1),
    "yolo-giou": forks_yolo(iou_loss="giou", iou_thresh=.1, iou_thresh_kind="giou", focal_loss=1),
    "yolo-new-coords": forks_yolo("logistic", new_coords=1, scale_x_y=2, iou_loss="ciou", objectness_smooth=1, iou_thresh=.2, max_delta=2),
    "yolo-new-coords-mse": forks_yolo("logistic", new_coords=1, scale_x_y=2, objectness_smooth=1),
    "region": region(),
    "region-forks": region().replace("[net]\n", "[net]\nyolo_math=v4\n"),
    "region-logistic": region(softmax=0),
    "region-background": region(background=1),
    "region-background-logistic": region(background=1, softmax=0),
    "region-mask": region(coords=9),
    "region-mask-logistic": region(coords=9, softmax=0),
    "region-tree": region(classes=TREE.count("\n"), tree="tree"),
    "detection": CELLS + section("detection", **DETECTION),
    "detection-softmax": CELLS + section("detection", **{**DETECTION, "softmax": 1}),
    "iseg": net(size=32, learning_rate=.001) + conv(8, 3, 2) + conv(3 + 4, 1, activation="linear")
            + section("iseg", classes=3, ids=4),
    "rnn": recurrent("rnn", output=12, hidden=12, activation="leaky"),
    "rnn-batchnorm": recurrent("rnn", learning_rate=.001, output=12, hidden=12, activation="leaky", batch_normalize=1),
    "rnn-shortcut": recurrent("rnn", output=12, hidden=12, activation="leaky", shortcut=1),
    "crnn": recurrent("crnn", output_filters=4, hidden_filters=4, activation="leaky"),
    "crnn-batchnorm": recurrent("crnn", learning_rate=.001, output_filters=4, hidden_filters=4, activation="leaky",
                                batch_normalize=1),
    "lstm": recurrent("lstm", output=12),
    **{f"activation-{name}": net() + conv(activation=name) + SOFTMAX
       for name in ("logistic relu relie linear ramp tanh plse elu loggy stair hardtan lhtan selu").split()},
}

# Optimizer: the same with Adam, for each kind of layer that has parameters.
for name in ("conv", "conv-batchnorm", "deconv-batchnorm", "connected-batchnorm", "local", "batchnorm", "rnn", "crnn",
             "lstm"):
    LAYERS[name + "-adam"] = LAYERS[name].replace("[net]\n", section("net", **ADAM).rstrip() + "\n", 1)

# Those without a place where a small difference makes a large one (two inputs of a [maxpool] that are nearly equal, a threshold,
# the variance of a few values), for a comparison that rounds coarsely.
JUMPS = ("[maxpool]", "[yolo]", "[region]", "[detection]", "[iseg]", "xnor", "binary", "hard", "ramp", "stair", "plse")
SMOOTH = [name for name, cfg in LAYERS.items() if not any(word in cfg for word in JUMPS) and name != "conv-few-values"]

# For gpu_bf16: nets of integers, of channels that come in packs of 8 and of others.
COST = section("cost", type="sse")


def relu(filters=8, size=3, stride=1, **values):
    return conv(filters, size, stride, "relu", **values)


def pool(size=2, stride=2, **values):
    return section("maxpool", size=size, stride=stride, **values)


BF16 = {f"bf16-{name}": cfg + COST for name, cfg in {
    "conv": net() + relu() + relu(6, 5, 2) + conv(5, 1, activation="linear"),
    "conv-packs": net() + relu(16) + conv(40, 1, activation="linear") + relu(8, 3, 2),
    "conv-one-channel": net(size=9) + relu(1) + relu(8) + conv(1, 1, activation="linear"),
    "conv-many-channels": net(size=6, batch=4) + relu(264, 1) + relu(7, 1),
    "conv-groups": net() + relu(8) + relu(8, groups=4) + relu(16, groups=8),
    "conv-dilation": net() + relu(dilation=2) + relu(6, 3, 2, dilation=3),
    "conv-two-strides": net() + relu(stride_x=2) + relu(6, stride_y=2),
    "conv-shared": net() + relu(3) + relu(3, share_index=-1),
    "conv-relu6": net() + conv(activation="relu6") + conv(5, activation="relu6"),
    "conv-wide": net(size=70, batch=2) + relu(9) + pool() + relu(5, 3, 2),
    "maxpool": net() + relu(8) + pool() + relu(5) + pool(2, 1) + relu(4),
    "maxpool-windows": net() + relu(8) + pool(3, 1) + relu(7) + section("maxpool", size=3, stride_x=2, stride_y=1) + relu(4),
    "maxpool-shared": net() + relu(8) + pool(3, 1) + relu(8) + shortcut(-3, "relu") + pool(5, 1)
                      + section("route", layers="-1,-2") + relu(4),
    "upsample": net() + relu(8, 3, 2) + section("upsample", stride=2) + relu(5, 3, 2) + section("upsample", stride=3, scale=2) + relu(4),
    "avgpool": net(size=8, batch=4) + relu(8, 3, 2) + section("avgpool") + relu(40, 1),
    "route": net() + relu(8) + relu(16) + section("route", layers="-1,-2") + relu(5) + relu(6) + section("route", layers="-1,-2") + relu(4),
    "route-groups": net() + relu(16) + relu(8) + section("route", layers="-1,-2", groups=2, group_id=1) + relu(6)
                    + section("route", layers="-1", groups=2, group_id=0) + relu(4),
    "route-twice": net() + relu(8) + relu(8) + section("route", layers="-1,-2,-1") + relu(4),
    "shortcut": net() + relu(8) + relu(8) + shortcut(-2, "relu") + relu(5) + relu(5) + shortcut(-2, "linear") + relu(4),
    "shortcut-stride": net() + relu(8) + relu(16, 3, 2) + shortcut(-2, "linear") + relu(5),
    "shortcut-narrower": net() + relu(16) + relu(8) + shortcut(-2, "relu") + relu(5) + shortcut(-3, "linear"),
    "shortcut-larger": net() + relu(8, 3, 2) + section("upsample", stride=2) + relu(8) + shortcut(-3, "linear") + relu(5),
    "shortcut-twice": net() + relu(6) + shortcut(-1, "linear", alpha=2, beta=-1) + relu(6),
    "dead-end": net() + relu(6) + relu(7) + section("route", layers=-2) + relu(4),
    "reorg": net() + relu(8) + section("reorg", stride=2) + relu(8) + section("route", layers="-1,-2") + relu(5),
    "scale-channels": net(size=4) + relu(8) + pool(4, 4) + conv(8, 1, activation="linear") + section("scale_channels", **{"from": -3}) + relu(4),
    "scale-channels-odd": net(size=4) + relu(7) + pool(4, 4) + conv(7, 1, activation="linear") + section("scale_channels", **{"from": -3})
                          + relu(4),
    "scale-channels-cells": net() + relu(8) + conv(1, 1, activation="linear") + section("scale_channels", **{"from": -2}, scale_wh=1) + relu(5),
    "scale-channels-cells-odd": net() + relu(7) + relu(1, 1) + section("scale_channels", **{"from": -2}, scale_wh=1) + relu(4),
    "sam": net() + relu(8) + conv(8, 1, activation="linear") + section("sam", **{"from": -2}) + relu(5),
    "sam-odd": net() + relu(5) + conv(5, 1, activation="linear") + section("sam", **{"from": -2}, activation="relu")
               + section("route", layers="-1,-3") + relu(4),
    "dropout": net() + relu(6) + section("dropout", probability=.5) + relu(6) + shortcut(-3, "linear") + relu(6) + shortcut(-4, "linear"),
    "crop": net() + section("crop", crop_width=12, crop_height=12, flip=0) + relu(8) + relu(5),
    "depth": net() + relu(8) + section("maxpool", maxpool_depth=1, out_channels=4) + relu(5),
    "connected": net(size=4) + relu(8) + pool() + connected(10, "linear") + connected(10, "linear"),
}.items()}

# For gpu_bf16 fused=N: nets of which N convolutions make the output of the [shortcut] behind them as well.


def block(inner, outer, activation, inside="linear", **values):
    """A residual block as ResNet's, by default."""
    return conv(inner, 1, **BN) + conv(outer, 3, activation=inside, **BN) + shortcut(-3, activation, **values)


FUSED = {f"fused-{name}": (cfg + conv(5, activation="linear") + COST, fused) for name, (cfg, fused) in {
    "relu": (net() + conv(8, **BN) + block(4, 8, "relu") * 2, 2),
    "leaky": (net() + conv(6, **BN) + block(4, 6, "leaky") * 2, 2),
    **{f"linear-{kind}": (net() + conv(8, **BN) + block(8, 8, "linear", kind) * 2, 2) for kind in ("mish", "leaky", "swish", "relu6")},
    "narrow": (net() + conv(5, **BN) + block(5, 5, "linear", "mish") + block(3, 5, "relu"), 2),
    "weights": (net() + conv(8, **BN) + block(4, 8, "relu", alpha=.5, beta=.75) + block(4, 8, "leaky", alpha=3, beta=3), 2),
    "wide": (net(size=70, batch=2) + conv(16, **BN) + block(8, 16, "relu"), 1),
    "next-to": (net() + conv(8, **BN) + conv(8, **BN) + shortcut(-2, "relu"), 1), # what the block reads is what it adds
    "read-twice": (net() + conv(8, **BN) + (conv(8, **BN) + shortcut(-2, "relu")) + conv(8, **BN) + shortcut(-4, "leaky"), 2),
    "read-later": (net() + conv(8, **BN) + block(4, 8, "relu") + section("route", layers="-3,-1"), 1),
    "shared": (net() + conv(8, **BN) + conv(8, **BN) + conv(8, activation="linear", share_index=-1, **BN) + shortcut(-3, "relu"), 1),
    "other-order": (net() + conv(8, **BN) + block(4, 8, "relu") + conv(8, **BN) + section("maxpool", size=1, stride=1)
                    + shortcut(-2, "linear"), 1), # of no convolution
    "floats-before": (net() + conv(8, activation="elu") + conv(8, **BN) + shortcut(-2, "relu") + conv(8, activation="elu"), 1),
    "not-read": (net() + conv(8, **BN) + conv(8, **BN) + shortcut(-2, "relu") + section("route", layers="-1,-2"), 0),
    "not-read-as-floats": (net() + conv(8, **BN) + conv(8, **BN) + shortcut(-2, "relu") + section("route", layers=-2)
                           + section("reorg", stride=2) + section("route", layers=-3), 0),
    "not-twice": (net() + conv(8, **BN) + shortcut(-1, "relu"), 0),
    "not-mish": (net() + conv(8, **BN) + block(4, 8, "mish"), 0),
    "not-of-two-sizes": (net() + conv(8, **BN) + conv(16, 3, 2, **BN) + shortcut(-2, "linear"), 0),
    "not-without-batchnorm": (net() + conv(8, **BN) + conv(8) + shortcut(-2, "relu"), 0),
}.items()}

# Of those without jumps, what bf16 has a part in, and mish may stand in for leaky.
for kind in FORKS_LAYERS:
    if not any(f"[{kind}]" in cfg for cfg in LAYERS.values()):
        raise LookupError(f"LAYERS has no case with [{kind}]")
MIXED = [name for name in SMOOTH if "[convolutional]" in LAYERS[name]
         and not any(word in LAYERS[name] for word in ("[deconv", "[local]"))]

# Darknet's own, at sizes on which they still make sense: gpu_compare's options. Deep ones need smooth=1.
DEEP = {"smooth": 1, "way": .02}
SMALL = {**DEEP, "width": 64, "height": 64, "batch": 4, "subdivisions": 2, "learning_rate": .001}
NETS = {
    "cifar": {**DEEP, "width": 16, "height": 16, "batch": 8, "subdivisions": 2, "learning_rate": .001},
    "yolov3-tiny": {**SMALL, "width": 96, "height": 96, "learning_rate": .0001},
    "resnet18": SMALL,
    "resnet50": SMALL,
    "darknet": {**SMALL, "width": 128, "height": 128},
    "tiny": {**SMALL, "width": 128, "height": 128},
    "darknet19": {**SMALL, "width": 32, "height": 32, "batch": 16},
    "darknet53": SMALL,
    "resnext50": SMALL,
    "densenet201": {**SMALL, "learning_rate": .0001},
    "yolov2-tiny-voc": {**SMALL, "learning_rate": .0001},
    "yolov1-tiny": {**SMALL, "width": 128, "height": 128, "learning_rate": .0001},
    "yolov3": SMALL,
    "alexnet": {**DEEP, "width": 67, "height": 67, "batch": 4, "subdivisions": 2, "learning_rate": .0002},
    "vgg-16": {**DEEP, "width": 32, "height": 32, "crop": 32, "batch": 4, "subdivisions": 2, "learning_rate": .0002},
}

# For a slow device.
SLOW = {"again": 0, "learning_rate": .001, **DEEP}
SLOW_NETS = {
    "yolov3-tiny": {"width": 64, "height": 64, "batch": 4, "subdivisions": 2, **SLOW},
    "resnet18": {"width": 32, "height": 32, "batch": 8, "subdivisions": 2, **SLOW},
}
