#!/usr/bin/env python3
# ddp-test: usual
"""A build for GPUs, $DARKNET_CUDA, where it sees none: what it refuses, in which words, before
anything is started; and that -nogpu trains. Skipped where there is no such build."""
import os
import sys

CUDA = os.environ.get("DARKNET_CUDA")
if not CUDA:
    print("DARKNET_CUDA, a build for GPUs, is not set")
    sys.exit(77)
os.environ["DARKNET"] = CUDA
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["EMULATED_DEVICES"] = "0"  # where GPUs are emulated

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp")
BENCH = ("ddp", "bench", "tiny.cfg", "-steps", "2")
GLOO = (("-ddp_backend", "gloo"), ("-ddp_rendezvous", "meet", "-ddp_ranks", "2")) if darknet.has_gloo() else ()


class GpuRefusals(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))

    def everywhere(self, *words, says, ranks=(0,)):
        for command in (TRAIN, BENCH):
            for n in ranks:
                with self.subTest(command=command, words=words, ranks=n):
                    result = self.refused(*command, *words, code=2, ranks=n, says=says)
                    self.assertEqual(result.err.count(says), 1, result)
                    self.assertNotIn("DDP:", result.out, result)

    def test_no_gpu(self):
        # CUDA's words: that there is no device, or that the driver is too old, which none is, too
        says = " has none that CUDA can use; with -nogpu it trains on CPUs (CUDA: "
        self.everywhere(says=says, ranks=(0, 1, 2))
        for words in (("-ddp_ranks", "2"), ("-gpus", "0,1"), ("-gpus", "0,0"), ("-i", "1"),
                      ("-ddp_backend", "nccl"), ("-ddp_backend", "mpi"), *GLOO):
            self.everywhere(*words, says=says)

    def test_lists_that_are_none(self):
        for gpus in ("", ",", "0,", ",0", "0,,1", "a", "0 1", "-1", "0;1", "1024"):
            self.everywhere("-gpus", gpus,
                            says="-gpus wants numbers of GPUs from 0 to 1023 with commas between "
                                 f"them, such as 0,1,2, not '{gpus}'\n")
        self.everywhere("-i", "x", says="-i wants a whole number from 0 to 1023, not 'x'\n")

    def test_options_that_contradict_each_other(self):
        self.everywhere("-gpus", "0,1", "-nogpu", ranks=(0, 2),
                        says="-gpus names GPUs, and -nogpu wants none\n")
        self.everywhere("-gpus", "0,1", "-i", "1", ranks=(0, 2),
                        says="-gpus and -i 1 both name GPUs; give one of them\n")
        self.everywhere("-gpus", "0,1,2", "-ddp_ranks", "2",
                        says="-gpus starts a rank for each of 3 GPUs, and -ddp_ranks 2 another "
                             "number\n")
        self.everywhere("-gpus", "0", "-ddp_ranks", "2",
                        says="-gpus starts a rank for each of 1 GPU, and -ddp_ranks 2 another ")
        self.everywhere("-ddp_backend", "nccl", "-nogpu", ranks=(0, 2),
                        says="-ddp_backend nccl is for GPUs, and -nogpu trains on CPUs\n")

    def test_nogpu_trains(self):
        for ranks, words in ((0, ()), (2, ()), (0, ("-ddp_ranks", "2", "-i", "3"))):
            with self.subTest(ranks=ranks, words=words):
                result = self.succeeds(*TRAIN, "-nogpu", *words, ranks=ranks)
                transport = "mpi" if ranks or words else "solo"
                self.assertIn(f"), CPU, transport {transport}\n", result.out, result)
        result = self.succeeds(*BENCH, "-nogpu", ranks=2)
        self.assertIn(" (CPU, fp32, mpi), ", result.out, result)

    def test_plan_needs_no_gpu(self):
        self.assertIn("2 ranks: each sends", self.succeeds("ddp", "plan", "tiny.cfg").out)


if __name__ == "__main__":
    darknet.main()
