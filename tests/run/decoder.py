#!/usr/bin/env python3
# ddp-test: usual
"""Which libraries decode pictures is compared between ranks under -ddp_exact, kept in state files, and said, or refused, where a run
goes on with others. What the decoder warns of is said once a picture."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7")


class Decoder(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=2))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("decoder.so"), os.path.join(HERE, "..", "preload", "decoder.c")], check=True)

    def with_decoder(self, rank, *words, ranks=0):
        return self.darknet(*TRAIN, *words, ranks=ranks, environment={"LD_PRELOAD": self.path("decoder.so"), "DECODER_RANK": rank})

    def test_ranks_compare_it(self):
        result = self.with_decoder("1", "-ddp_exact", ranks=2)
        self.check_refused(result, "decodes pictures by", code=1)
        self.assertIn("libpng 1.0.0", result.err)
        self.assertEqual(self.with_decoder("1", ranks=2).code, 0)

    def test_a_run_that_goes_on_with_another_is_told(self):
        self.assertEqual(self.with_decoder("", "-ddp_exact").code, 0)
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=3))
        result = self.darknet(*TRAIN, "-ddp_exact", "-resume", "-resume_force")
        self.assertRegex(result.out, r"picture_decoder was libjpeg.*libpng 1\.0\.0, Exif, is now libjpeg.*libpng 1\.")
        self.assertEqual(result.code, 0, result)

    def test_exact_refuses_another(self):
        self.assertEqual(self.with_decoder("", "-ddp_exact").code, 0)
        self.check_refused(self.darknet(*TRAIN, "-ddp_exact", "-resume"), "picture_decoder was libjpeg", code=2)

    def test_a_warning_is_said_once(self):
        with open(os.path.join(HERE, "..", "corpus", "jpeg", "444.jpg"), "rb") as f:
            jpeg = f.read()
        os.remove(self.path("images/cat0.png"))
        with open(self.path("images/cat0.png"), "wb") as f:
            f.write(jpeg[:-2] + b"\7" * 9 + b"\xff\xd9")
        self.write("train.list", "images/cat0.png\n")  # plain Darknet draws its pictures
        for words in (TRAIN, TRAIN[:4]):
            result = self.darknet(*words)
            self.assertEqual(result.code, 0, result)
            self.assertEqual((result.out + result.err).count("warning: images/cat0.png: the decoder warns: Corrupt JPEG data"), 1, result)


if __name__ == "__main__":
    darknet.main()
