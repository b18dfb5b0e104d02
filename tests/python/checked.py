"""Helpers of the tests of `darknet ddp check`: a small data set, its cfg, and what the command and training say of them."""
import json
import os

import darknet

GOOD_LABEL = "0 0.5 0.5 0.25 0.25\n"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def replace(path, data):
    """Not through the link that other pictures share."""
    os.remove(path)
    with open(path, "wb") as f:
        f.write(data)


def replace_or_make(path, data):
    with open(path, "wb") as f:
        f.write(data)


def cfg(filters=24, classes=3):
    return "\n".join(["[net]", "width=32", "height=32", "channels=3", "batch=4", "max_batches=9", "[convolutional]", f"filters={filters}", "size=1", "activation=linear",
                      "stride=1", "[yolo]", f"classes={classes}", "num=3", "mask=0,1,2",
                      "anchors=4,4, 8,8, 16,16", "max=30", ""])


class Checked(darknet.Case):
    def make(self, count):
        os.makedirs(self.path("images"))
        os.makedirs(self.path("labels"))
        darknet.png(self.path("one.png"), 4, 4, lambda x, y: (x, y, 0))
        one = read(self.path("one.png"))
        names = [f"p{i:05d}" for i in range(count)]
        for name in names:
            replace_or_make(self.path(f"images/{name}.png"), one + name.encode())  # pictures of their own: what is behind the end counts
            with open(self.path(f"labels/{name}.txt"), "w", encoding="ascii") as f:
                f.write(GOOD_LABEL)
        self.write("train.list", "".join(self.path(f"images/{name}.png\n") for name in names))
        self.write("net.names", "a\nb\nc\n")
        self.write("net.data", "classes=3\ntrain=train.list\nnames=net.names\nbackup=backup\n")
        self.write("net.cfg", cfg())
        return names

    def found(self, ranks, *options):
        result = self.darknet("ddp", "check", "net.data", "net.cfg", "-json", "out.json", *options, ranks=ranks)
        with open(self.path("out.json"), encoding="utf-8") as f:
            report = json.load(f)
        return result, report, sorted((os.path.basename(f["file"]), f["kind"], f["line"]) for f in report["faults"])

    def before_a_run(self, *options, ranks=0):
        return self.darknet("detector", "train", "net.data", "net.cfg", "-ddp", "-ddp_seed", "1", *options, ranks=ranks)
