#!/usr/bin/env python3
# ddp-test: usual
"""Pictures that their Exif data turn, in all eight ways, train, validate and are checked as the same pictures stored upright."""
import hashlib
import os
import shutil
import struct
import sys
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp_seed", "7")
WIDE, HIGH = 32, 20
# Orientation: the pixel of what is seen that is stored at x, y.
STORED = (
    lambda x, y: (x, y),
    lambda x, y: (WIDE - 1 - x, y),
    lambda x, y: (WIDE - 1 - x, HIGH - 1 - y),
    lambda x, y: (x, HIGH - 1 - y),
    lambda x, y: (y, x),
    lambda x, y: (WIDE - 1 - y, x),
    lambda x, y: (WIDE - 1 - y, HIGH - 1 - x),
    lambda x, y: (y, HIGH - 1 - x),
)


def add_exif(path, orientation):
    data = b"MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 0x0112, 3, 1, orientation, 0, 0)
    body = b"eXIf" + data
    with open(path, "rb") as f:
        file = f.read()
    with open(path, "wb") as f:
        f.write(file[:33] + struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body)) + file[33:])


class Turned(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.data.data("train.data", valid="train.list")
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=4))

    def store(self, orientation):
        """Store picture i as orientation i + 1 would have it, and with that orientation if it is to be turned."""
        for i, name in enumerate(self.data.pictures):
            at = STORED[i if orientation else 0]
            turned = orientation and i >= 4

            def pixel(x, y, at=at, i=i):
                px, py = at(x, y)
                return (px * 8, py * 12, i * 30)
            darknet.png(self.path(name), *((HIGH, WIDE) if turned else (WIDE, HIGH)), pixel)
            if orientation:
                add_exif(self.path(name), i + 1)

    def learn(self):
        self.succeeds(*TRAIN, "-ddp_ranks", "2")
        found = self.succeeds("detector", "map", "train.data", "tiny.cfg", "backup/tiny_final.weights").out
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            md5 = hashlib.md5(f.read()).hexdigest()
        return md5, [line for line in found.splitlines() if "%" in line or "mAP" in line]

    def test_they_train_as_upright_ones(self):
        self.store(0)
        upright = self.learn()
        self.store(1)
        self.assertEqual(self.learn(), upright)
        self.assertTrue(upright[1])

    def told(self, turned):
        """What is found in the pictures, drawn into them, and measured of them."""
        self.store(turned)
        self.succeeds("detector", "test", *TRAIN[2:4], "first.weights", "train.list", "-thresh", "0.01", "-json", "found.json", "-out", "seen")
        anchors = self.succeeds("detector", "calc_anchors", "train.data", "-width", "32", "-height", "32", "-num_of_clusters", "2", "-keep_aspect")
        drawn = {name: self.read("seen/" + name) for name in os.listdir(self.path("seen"))}
        shutil.rmtree(self.path("seen"))
        return self.read("found.json"), drawn, anchors.out

    def test_they_are_found_drawn_and_measured_as_upright_ones(self):
        self.store(0)
        self.succeeds(*TRAIN)
        os.rename(self.path("backup/tiny_final.weights"), self.path("first.weights"))
        upright = self.told(0)
        self.assertEqual(len(upright[1]), 8)
        self.assertEqual(self.told(1), upright)

    def test_check_counts_them(self):
        self.store(0)
        self.assertNotIn("turned", self.succeeds("ddp", "check", "train.data", "tiny.cfg").out)
        self.store(1)
        self.assertIn("; 7 turned, as their Exif data say\n", self.succeeds("ddp", "check", "train.data", "tiny.cfg").out)


if __name__ == "__main__":
    darknet.main()
