#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_bf16 1 on CPUs: detectors and classifiers learn what they learn in float32; with -ddp_exact one result on any number of
ranks and threads; a run goes on to the same weights, and not in another precision; networks change their size; where a CPU lacks
the instructions 1 is refused, and auto takes float32 unless bf16 is faster. (What layers compute: glue.bf16_gradients, glue.bf16_host.) On a
CPU without them it is darknet-bf16 that runs, which multiplies values of bf16 as float32 (bf16_emulated.c)."""
import array
import os
import re
import sys
import unittest

with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
    cpu = f.read()
CPU_HAS_BF16 = re.search(r"\b(amx_bf16|avx512_bf16)\b", cpu)
if not CPU_HAS_BF16:
    if "DARKNET_BF16" not in os.environ:
        print("this CPU has neither amx_bf16 nor avx512_bf16, and the build no oneDNN")
        sys.exit(77)
    os.environ["DARKNET"] = os.environ["DARKNET_BF16"]

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
from bf16_network import BF16, Case as Bf16Case, detector  # noqa: E402

WITHOUT = {"DNNL_MAX_CPU_ISA": "AVX2"}
DETECTOR = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1", "-nogpu")


class Learning(Bf16Case):
    def test_detectors_and_classifiers(self):
        self.learns_as_in_float32(DETECTOR, (), BF16, r"(?:amx_bf16|avx512_bf16|float32 products of bf16 values)")


class Results(Bf16Case):
    def test_exact_on_any_number_of_ranks_and_threads(self):
        self.write("tiny.cfg", detector(subdivisions=4, max_batches=6))
        one, _ = self.trained(DETECTOR, *BF16, "-ddp_exact")
        for ranks, threads in ((0, 2), (0, 16), (2, 1), (4, 1)):
            with self.subTest(ranks=ranks, threads=threads):
                found, _ = self.trained(DETECTOR, *BF16, "-ddp_exact", ranks=ranks, environment={"OMP_NUM_THREADS": str(threads)})
                self.same_weights(found, one, f"{ranks} ranks, {threads} threads")
        floats, _ = self.trained(DETECTOR, "-ddp_exact")
        self.assertFalse(floats == one, "bf16 rounds nothing")

    def test_two_ranks_with_batchnorm_over_both(self):
        self.write("tiny.cfg", detector(max_batches=6, decay=0))
        floats, bf16 = (array.array("f", self.trained(DETECTOR, "-ddp_sync_bn", "1", *words, ranks=2)[0][20:]) for words in ((), BF16))
        difference = sum((a - b) ** 2 for a, b in zip(floats, bf16, strict=True)) ** .5
        self.assertGreater(difference, 0)
        self.assertLess(difference, .02 * sum(a * a for a in floats) ** .5)

    def test_without_blocks_and_with_compression(self):
        self.write("tiny.cfg", detector(max_batches=4))
        for words in (("-ddp_layer_drop", "0.8"), ("-ddp_compress", "bf16"), ("-ddp_sync_every", "2")):
            with self.subTest(words=words):
                self.assertIn("10 of 11 layers", self.trained(DETECTOR, *BF16, *words, ranks=2)[1].out)

    def test_sizes_that_change(self):
        self.write("tiny.cfg", detector(max_batches=24, random=1))
        one, result = self.trained(DETECTOR, *BF16, "-verbose")
        self.assertGreater(len(set(re.findall(r"(?m)^Resizing.*|^\d+ x \d+$", result.out))), 1, result)
        self.same_weights(self.trained(DETECTOR, *BF16)[0], one, "the second time")


class Validation(Bf16Case):
    def test_while_a_shortcut_of_two_sizes_trains(self):
        """Predictions in float32 have no such shortcut of their own: the network's bf16 layers predict."""
        data = darknet.DataSet(self.folder, count=16)
        data.boxes()
        data.list("valid.list", data.pictures[:7])
        data.data("train.data", valid="valid.list")
        sizes = (darknet.convolutional(16, batch_normalize=1) + darknet.convolutional(8, batch_normalize=1)
                 + darknet.section("shortcut", **{"from": -2, "activation": "leaky"}))
        self.write("tiny.cfg", detector(max_batches=4).replace("[maxpool]", sizes + "[maxpool]", 1))
        whole, result = self.trained(DETECTOR, *BF16, "-ddp_validate", "2")
        self.assertEqual(re.findall(r"(?m)^Validation after step (\d+): ", result.out), ["2", "4"], result)
        self.same_weights(self.trained(DETECTOR, *BF16, "-ddp_validate", "0")[0], whole, "validation changes no weights")


class Resuming(Bf16Case):
    def test_to_the_same_weights(self):
        self.write("tiny.cfg", detector(max_batches=6))
        whole, _ = self.trained(DETECTOR, *BF16)
        self.empty()
        self.write("tiny.cfg", detector(max_batches=3))
        self.succeeds(*DETECTOR, *BF16)
        self.write("tiny.cfg", detector(max_batches=6))
        self.assertIn("DDP: resuming from", self.succeeds(*DETECTOR, *BF16, "-resume_force").out)  # for max_batches
        self.same_weights(self.weights(), whole)

    def test_not_in_another_precision(self):
        self.trained(DETECTOR, *BF16)
        self.refused(*DETECTOR, "-resume", says="-ddp_bf16 was 1, is now 0", code=2)


@unittest.skipUnless(CPU_HAS_BF16, "this CPU has neither amx_bf16 nor avx512_bf16")
class Choice(Bf16Case):
    def test_auto_does_not_resume_without_it(self):
        self.trained(DETECTOR, *BF16)
        self.refused(*DETECTOR, "-ddp_bf16", "auto", "-resume", says="-ddp_bf16 was 1, is now 0", code=2, environment=WITHOUT)

    def test_a_cpu_without_it(self):
        self.write("tiny.cfg", detector(max_batches=2))
        self.refused(*DETECTOR, *BF16, says="-ddp_bf16 1 needs a CPU with avx512_bf16 or amx_bf16; leave it out", code=2,
                     environment=WITHOUT)
        floats = "\nDDP: float32, for bf16 would not be faster on every rank\n"
        self.assertIn(floats, self.succeeds(*DETECTOR, "-ddp_bf16", "auto", ranks=2, environment=WITHOUT).out)
        said = "10 of 11 layers compute in bf16" if re.search("amx_bf16|AuthenticAMD", cpu) else floats
        self.assertIn(said, self.succeeds(*DETECTOR, "-ddp_bf16", "auto", ranks=2).out)


class NotFinite(Bf16Case):
    def test_where_it_began_is_found(self):
        self.write("tiny.cfg", detector(max_batches=20, learning_rate=1e30))
        self.refused(*DETECTOR, *BF16, says="not finite; first the ")


if __name__ == "__main__":
    darknet.main()
