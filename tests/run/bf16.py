#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_bf16 1 on emulated devices ($DARKNET_EMULATED, darknet-ddp/emulated): classifiers and detectors learn what they learn in
float32; with -ddp_exact one result on any number of ranks; a run goes on to the same weights, and not in another precision;
networks change their size; what is not finite is found; where it does not work it is refused. (What layers compute: emulated.bf16
and emulated.layers_bf16.) Skipped where there is no such build."""
import array
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
from bf16_network import BF16, Case as Bf16Case, detector  # noqa: E402

DETECTOR = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")


class Learning(Bf16Case):
    def test_detectors_and_classifiers(self):
        self.learns_as_in_float32(DETECTOR, ("-ddp_deterministic", "1", "-ddp_fp32", "1"), ("-ddp_deterministic", "1", *BF16), "cuDNN")


class Results(Bf16Case):
    def test_exact_on_any_number_of_ranks(self):
        self.write("tiny.cfg", detector(subdivisions=4, max_batches=6))
        one, result = self.trained(DETECTOR, *BF16, "-ddp_exact")
        self.assertIn("DDP: 10 of 11 layers compute in bf16", result.out, result)
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                found, _ = self.trained(DETECTOR, *BF16, "-ddp_exact", "-gpus", "0,1,0,1", ranks=ranks)
                self.same_weights(found, one)
        floats, _ = self.trained(DETECTOR, "-ddp_exact")
        self.assertFalse(floats == one, "bf16 rounds nothing")

    def test_two_ranks_with_batchnorm_over_both(self):
        self.write("tiny.cfg", detector(max_batches=6, decay=0))
        floats, bf16 = (array.array("f", self.trained(DETECTOR, "-ddp_sync_bn", "1", "-ddp_deterministic", "1", *words, ranks=2)[0][20:])
                        for words in ((), BF16))
        self.assertEqual(len(floats), len(bf16))
        difference = sum((a - b) ** 2 for a, b in zip(floats, bf16)) ** .5
        self.assertGreater(difference, 0)
        self.assertLess(difference, .02 * sum(a * a for a in floats) ** .5)

    def test_without_blocks_and_with_compression(self):
        self.write("tiny.cfg", detector(max_batches=4))
        for words in (("-ddp_layer_drop", "0.8"), ("-ddp_compress", "bf16"), ("-ddp_sync_every", "2")):
            with self.subTest(words=words):
                self.assertIn("10 of 11 layers", self.trained(DETECTOR, *BF16, *words, ranks=2)[1].out)

    def test_sizes_that_change(self):
        self.write("tiny.cfg", detector(max_batches=24, random=1))
        one, result = self.trained(DETECTOR, *BF16, "-ddp_deterministic", "1", "-verbose")
        self.assertGreater(len(set(re.findall(r"(?m)^Resizing.*|^\d+ x \d+$", result.out))), 1, result)
        self.same_weights(self.trained(DETECTOR, *BF16, "-ddp_deterministic", "1")[0], one, "the second time")


class Algorithms(Bf16Case):
    def passes(self, steps):
        """How many convolutions went forward."""
        calls = self.path("calls")
        self.empty()
        self.write("tiny.cfg", detector(max_batches=steps, subdivisions=1))
        self.succeeds(*DETECTOR, *BF16, environment={"EMULATED_CALLS": calls})
        with open(calls, encoding="ascii") as f:
            return dict(line.split() for line in f)["cudnnConvolutionForward"]

    def test_each_is_timed_once_in_its_own_type(self):
        """Two of bf16, three times each: not in floats as well, since the layer was made with them."""
        convolutions = detector().count("[convolutional]")
        few, more = int(self.passes(2)), int(self.passes(3))
        self.assertEqual(more - few, convolutions)
        self.assertEqual(few - 2 * convolutions, 2 * 3 * convolutions)


class Resuming(Bf16Case):
    def test_to_the_same_weights(self):
        fixed = (*BF16, "-ddp_deterministic", "1")
        self.write("tiny.cfg", detector(max_batches=6))
        whole, _ = self.trained(DETECTOR, *fixed)
        self.empty()
        self.write("tiny.cfg", detector(max_batches=3))
        self.succeeds(*DETECTOR, *fixed)
        self.write("tiny.cfg", detector(max_batches=6))
        result = self.succeeds(*DETECTOR, *fixed, "-resume_force")  # for max_batches
        self.assertIn("DDP: resuming from", result.out, result)
        self.same_weights(self.weights(), whole)

    def test_not_in_another_precision(self):
        for first, then, says in ((BF16, (), "-ddp_bf16 was 1, is now 0"), ((), BF16, "-ddp_bf16 was 0, is now 1"),
                                  (BF16, ("-nogpu",), "-ddp_bf16 was 1, is now 0")):
            with self.subTest(first=first, then=then):
                self.trained(DETECTOR, *first)
                self.refused(*DETECTOR, *then, "-resume", says=says, code=2)
                self.assertIn(says, self.succeeds(*DETECTOR, *then, "-resume_force").out)


class NotFinite(Bf16Case):
    def test_where_it_began_is_found(self):
        self.write("tiny.cfg", detector(max_batches=20, learning_rate=1e30))
        result = self.refused(*DETECTOR, *BF16, says="not finite; first the ")
        self.assertRegex(result.err, r"first the (output|delta) of layer \d+ \((convolutional|shortcut|upsample|route|maxpool)\)", result)


class Refusals(Bf16Case):
    def test_what_it_does_not_go_with(self):
        for ranks in (0, 2):
            self.refused(*DETECTOR, *BF16, "-nogpu", ranks=ranks, code=2, environment={"DNNL_MAX_CPU_ISA": "AVX2"},
                         says="-ddp_bf16 1 needs a CPU with avx512_bf16 or amx_bf16; leave it out to compute in float32\n")
        self.refused(*DETECTOR, *BF16, "-ddp_fp32", "1", code=2,
                     says="-ddp_fp32 1 does not go with -ddp_bf16 1, which computes in less than float32; leave one of them out\n")

    def test_ranks_that_differ(self):
        one = ["-np", "1", EMULATED, *DETECTOR]
        result = darknet.run(["mpirun", *one, ":", *one, *BF16], self.folder)
        self.check_refused(result, ": it has '-ddp_bf16 1', not '-ddp_bf16 0'\n")


class Bench(Bf16Case):
    def test_its_precision_is_said(self):
        result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", *BF16)
        self.assertIn(", bf16, ", result.out, result)


if __name__ == "__main__":
    darknet.main()
