#!/usr/bin/env python3
"""Weights files pass both ways between this Darknet and the unpatched one; old and short ones load as they did."""
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
from darknet import convolutional, section  # noqa: E402

PATCHED, UPSTREAM = os.environ["PATCHED"], os.environ["UPSTREAM"]
SIDES = (PATCHED, UPSTREAM)
SEEN = 5000000001  # of a file written with FILL 1 (weights_dump.c)

NET = section("net", batch=1, subdivisions=1, width=12, height=12, channels=3)
KINDS = (convolutional(8, batch_normalize=1, stride=2), convolutional(6),
         section("maxpool", size=2, stride=2), convolutional(9, batch_normalize=1, groups=3),
         section("local", filters=2, size=3, stride=1, pad=1, activation="leaky"),
         section("connected", batch_normalize=1, output=7, activation="leaky"),
         section("connected", output=5, activation="linear"), section("softmax"))
CFG = NET + "".join(KINDS)
SEQUENCE = section("net", batch=2, subdivisions=1, time_steps=2, inputs=6)
END = section("connected", output=5, activation="linear") + section("softmax")


def shipped(path, **values):
    """A cfg with other values in its [net]."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for key, value in values.items():
        text = re.sub(rf"(?m)^{key} *=.*$", f"{key}={value}", text)
    return text


def network_cfgs():
    upstream = os.path.join(os.environ["DARKNET_SRC"], "cfg")
    own = os.environ["PROJECT_CFG"]
    small = {"batch": 1, "subdivisions": 1, "width": 64, "height": 64}
    yield "kinds", CFG
    for name in ("plain", "rnn", "crnn"):
        yield name, shipped(f"{own}/{name}.cfg")
    for kind in ("gru", "lstm"):
        for normalize in (0, 1):
            yield kind + str(normalize), SEQUENCE + section(
                kind, output=4, batch_normalize=normalize) + END
    for name in ("yolov3-tiny", "resnet18"):
        yield name, shipped(f"{upstream}/{name}.cfg", **small)


def layers(lines, first, last):
    """Of a dump's lines, those of layers first to last - 1."""
    return [line for line in lines if line[0].isdigit() and first <= int(line.split(".")[0]) < last]


class Weights(darknet.Case):
    def setUp(self):
        super().setUp()
        self.write("cfg", CFG)

    def dump(self, program, *args, cfg="cfg"):
        result = darknet.run([program, cfg, *map(str, args)], self.folder)
        self.assertEqual(result.code, 0, result)
        return result.out.splitlines()

    def bytes_of(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def put(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def written(self, *upto, cfg="cfg", fill=1):
        """A weights file, the same from both sides."""
        for name, side in (("patched", PATCHED), ("upstream", UPSTREAM)):
            self.dump(side, fill, "write", name, *upto, cfg=cfg)
        data = self.bytes_of("patched")
        self.assertGreater(len(data), 19)
        self.assertTrue(data == self.bytes_of("upstream"), f"{cfg}: the files differ")
        return data

    def read(self, data, cfg="cfg", name="file"):
        """What the file gives a network filled with 2: the same on both sides."""
        self.put(name, data)
        ours, theirs = (self.dump(side, 2, "read", name, cfg=cfg) for side in SIDES)
        self.assertEqual(ours, theirs)
        return ours

    def refused_by_us_alone(self, data, says):
        self.put("file", data)
        self.dump(UPSTREAM, 2, "read", "file")
        self.check_refused(darknet.run([PATCHED, "cfg", "2", "read", "file"], self.folder), says)


class BothWays(Weights):
    def test_both_write_the_same_file_and_read_it_whole(self):
        for name, text in network_cfgs():
            with self.subTest(name):
                self.write("other", text)
                lines = self.read(self.written(cfg="other"), cfg="other")
                self.assertEqual(lines, self.dump(PATCHED, 1, cfg="other"))
                self.assertNotEqual(lines[0], self.dump(PATCHED, 2, cfg="other")[0])
                self.assertEqual(lines[-1], f"seen {SEEN}")

    def test_what_two_ranks_have_trained_is_read_by_both(self):
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg())
        self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp", ranks=2)
        lines = self.read(self.bytes_of("backup/tiny_final.weights"), cfg="tiny.cfg")
        self.assertEqual(lines[-1], "seen 12")
        kept = self.dump(PATCHED, 2, cfg="tiny.cfg")
        self.assertEqual([line for line in lines if line in kept], [])

    def test_deconvolutional_layers(self):
        """Unpatched Darknet divides by 0 when it reads them, also from its own files."""
        self.write("other", NET + section("deconvolutional", filters=4, size=4, stride=2,
                                          batch_normalize=1, activation="leaky") + END)
        self.put("file", self.written(cfg="other"))
        self.assertEqual(self.dump(PATCHED, 2, "read", "file", cfg="other"),
                         self.dump(PATCHED, 1, cfg="other"))

    def test_options_that_change_what_is_read(self):
        """numload, dontload, dontloadscales, dontsave and flipped of a layer; also where they shift what follows."""
        def body(**values):
            return NET + KINDS[0] + convolutional(**{"filters": 6, "batch_normalize": 1, **values}) + END

        self.write("writer", body())
        data = self.written(cfg="writer")
        for values in ({"flipped": 1}, {"dontload": 1}, {"dontloadscales": 1},
                       {"dontload": 1, "dontsave": 1}, {"filters": 4, "numload": 3}):
            with self.subTest(**values):
                self.write("other", body(**values))
                self.read(self.written(cfg="other"), cfg="other")
                if "filters" not in values:
                    self.read(data, cfg="other")
        self.write("writer", NET + KINDS[0] + convolutional(3, batch_normalize=1))
        self.write("other", NET + KINDS[0] + convolutional(6, batch_normalize=1, numload=3) + END)
        self.read(self.written(cfg="writer"), cfg="other", name="first.conv")


class Batchnorm(Weights):
    """A [batchnorm] layer's biases, which unpatched Darknet neither trains nor saves."""

    def setUp(self):
        super().setUp()
        self.write("cfg", NET + KINDS[0] + section("batchnorm") + KINDS[1] + END)

    def test_files_of_upstream_leave_the_biases_alone(self):
        self.dump(UPSTREAM, 1, "write", "upstream")
        lines = self.read(self.bytes_of("upstream"))
        expected = self.dump(PATCHED, 1)
        kept = [line for line in self.dump(PATCHED, 2) if line.startswith("1.biases")]
        self.assertEqual(lines, [kept[0] if line.startswith("1.biases") else line for line in expected])

    def test_our_files_have_them(self):
        self.dump(PATCHED, 1, "write", "patched")
        self.assertEqual(self.dump(PATCHED, 2, "read", "patched"), self.dump(PATCHED, 1))

    def test_upstream_reads_the_rest_of_our_files(self):
        expected = self.dump(PATCHED, 1, "write", "patched")
        kept = [line for line in self.dump(UPSTREAM, 2) if line.startswith("1.biases")]
        self.assertEqual(self.dump(UPSTREAM, 2, "read", "patched"),
                         [kept[0] if line.startswith("1.biases") else line for line in expected])

    def test_a_file_of_a_smaller_network(self):
        self.write("small", NET + KINDS[0] + section("batchnorm"))
        filled = self.dump(PATCHED, 1, "write", "small.conv.2", cfg="small")[:-1]
        lines = self.dump(PATCHED, 2, "read", "small.conv.2")
        self.assertEqual(lines[:len(filled)], filled)
        self.assertEqual(lines[len(filled):-1], self.dump(PATCHED, 2)[len(filled):-1])

    def test_a_cut_inside_of_the_biases_is_refused(self):
        self.dump(PATCHED, 1, "write", "patched")
        self.refused_by_us_alone(self.bytes_of("patched")[:-4],
                                 "file ends inside of the biases of [batchnorm] layers")


class ForksBatchnorm(Weights):
    """Trained by the later forks' formulas, the network's files are as theirs, which keep a [batchnorm] layer's biases before its scales."""

    def setUp(self):
        super().setUp()
        cfg = NET + KINDS[0] + section("batchnorm") + KINDS[1] + END
        self.write("cfg", cfg)
        self.write("forks", cfg.replace("[net]\n", "[net]\nyolo_math=v4\n"))

    def test_where_the_biases_are(self):
        self.dump(PATCHED, 1, "write", "own")
        self.dump(PATCHED, 1, "write", "theirs", cfg="forks")
        own, theirs, biases = self.bytes_of("own"), self.bytes_of("theirs"), 8 * 4
        before = 20 + 4 * (4 * 8 + 8 * 3 * 9) # header and the convolution
        self.assertEqual(struct.unpack("<3i", own[:12]), (0, 2, 1))
        self.assertEqual(struct.unpack("<3i", theirs[:12]), (0, 2, 5))
        self.assertTrue(theirs[12:] == own[12:before] + own[-biases:] + own[before:-biases])

    def test_either_is_read_whichever_formulas_train(self):
        expected = self.dump(PATCHED, 1)
        for writer in ("cfg", "forks"):
            for reader in ("cfg", "forks"):
                with self.subTest(writer=writer, reader=reader):
                    self.dump(PATCHED, 1, "write", "file", cfg=writer)
                    self.assertEqual(self.dump(PATCHED, 2, "read", "file", cfg=reader), expected)

    def test_the_first_layers(self):
        self.dump(PATCHED, 1, "write", "file.conv.2", 2, cfg="forks")
        filled, kept = self.dump(PATCHED, 1), self.dump(PATCHED, 2)
        lines = self.dump(PATCHED, 2, "read", "file.conv.2", cfg="forks")
        self.assertEqual(layers(lines, 0, 2), layers(filled, 0, 2))
        self.assertEqual(layers(lines, 2, 5), layers(kept, 2, 5))


class OldHeaders(Weights):
    def test_seen_in_four_bytes(self):
        data = self.written()
        for version in ((0, 1, 0), (0, 0, 0)):
            lines = self.read(struct.pack("<4i", *version, 123456) + data[20:])
            self.assertEqual(lines, [*self.dump(PATCHED, 1)[:-1], "seen 123456"])

    def test_transposed_connected_layers(self):
        body = self.written()[20:]
        straight = self.dump(PATCHED, 1)
        for version in ((1001, 0, 0), (0, 1001, 0)):
            lines = self.read(struct.pack("<4i", *version, 7) + body)
            changed = [a.split()[0] for a, b in zip(lines, straight) if a != b]
            self.assertEqual(changed, ["5.weights", "6.weights", "seen"])


class ShortAndLong(Weights):
    def boundaries(self):
        """The file's length after each number of layers."""
        return [len(self.written(n)) for n in range(len(KINDS) + 1)]

    def test_a_file_of_the_first_layers(self):
        whole = self.written()
        filled = [self.dump(PATCHED, fill) for fill in (1, 2)]
        for n, length in enumerate(self.boundaries()):
            data = self.written(n)
            self.assertEqual(data, whole[:length])
            self.assertEqual(self.read(data, name="file.conv"), layers(filled[0], 0, n)
                             + layers(filled[1], n, len(KINDS)) + [f"seen {SEEN}"])

    def test_a_cut_between_layers_is_refused(self):
        """Unless the file's name is that of a file of the first layers."""
        whole = self.written()
        for n, length in enumerate(self.boundaries()):
            if length < len(whole):
                with self.subTest(layers=n):
                    self.refused_by_us_alone(whole[:length], "file ends before layer ")

    def test_partial_cuts_where_upstream_does(self):
        self.put("whole", self.written())
        self.succeeds("partial", "cfg", "whole", "part", "4")
        part = self.bytes_of("part")
        self.assertEqual(part[20:], self.written(4)[20:])
        self.assertEqual(part[:20], struct.pack("<3iq", 0, 2, 0, 0))

    def test_training_starts_from_a_file_of_the_first_layers(self):
        darknet.DataSet(self.folder).boxes()
        self.write("cfg", darknet.detector_cfg())
        self.put("tiny.conv.2", self.written(2))
        for ddp in ([], ["-ddp"]):
            self.succeeds("detector", "train", "train.data", "cfg", "tiny.conv.2", "-clear", *ddp,
                          ranks=2 if ddp else 0)
            lines = self.read(self.bytes_of("backup/cfg_final.weights"))
            self.assertEqual(lines[-1], "seen 12")

    def test_a_file_of_a_bigger_network(self):
        """Upstream takes what fits."""
        self.write("cfg", NET + "".join(KINDS[:4]))
        rest = len(self.written(cfg="cfg"))
        self.write("bigger", CFG)
        data = self.written(cfg="bigger")
        for more in (b"", b"more"):
            self.refused_by_us_alone(data + more, f"file has {len(data + more) - rest} bytes more than this network "
                                                  "takes: it is of another cfg.")

    def test_a_cut_inside_of_a_layer_is_refused(self):
        whole = self.written()
        ends = self.boundaries()
        for n, (begin, end) in enumerate(zip(ends, ends[1:])):
            for cut in {begin + 1, begin + 4, (begin + end) // 2, end - 4, end - 1} if end > begin else ():
                with self.subTest(layer=n, cut=cut):
                    self.refused_by_us_alone(whole[:cut], f"file ends inside of the weights of "
                                             f"layer {n}: cut short, or of another cfg: `darknet partial` with that other cfg writes the layers that both have\n")

    def test_a_cut_inside_of_the_header_is_refused(self):
        whole = self.written()
        for cut in (0, 7, 12, 16, 19):
            self.refused_by_us_alone(whole[:cut], "file is no weights file: shorter than its header\n")

    def test_more_classes_or_fewer_than_the_file_has_are_refused(self):
        """As with a yolov3.weights whose last layers were changed: what is read after the first such layer is wrong."""
        body = CFG.rsplit("[connected]", 1)[0]
        data = self.written()
        self.write("cfg", body + section("connected", output=9, activation="linear"))
        self.refused_by_us_alone(data, "file ends inside of the weights of layer 6")
        self.write("cfg", body + section("connected", output=3, activation="linear"))
        self.refused_by_us_alone(data, "bytes more than this network takes: it is of another cfg.")


if __name__ == "__main__":
    darknet.main()
