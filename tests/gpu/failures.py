#!/usr/bin/env python3
"""The first call of CUDA, cuBLAS, cuDNN or NCCL that fails, on any rank, ends the whole job with a status that is not 0,
and rank 1 of 2 says its name. Where no launcher ends the job, a rank that waits inside NCCL for one that is gone names it.
On an emulated device by EMULATED_FAIL; on a real one $GPU_FAIL, preloaded, does the same (fail.c). Without a GPU: exit
status 77."""
import os
import sys

if "DARKNET" not in os.environ:
    sys.exit("failures: set DARKNET to BUILD/darknet of a build for GPUs and GPU_FAIL to BUILD/tests/libgpu_fail.so, or "
             "DARKNET to BUILD/darknet-emulated")
os.environ.setdefault("DARKNET_GPU", "0")

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp")
REAL = os.environ.get("GPU_FAIL")

# Which of the calls of that name fails: while the network is made, and while it trains.
CALLS = [("cudaMalloc", 1), ("cudaMalloc", 40), ("cudaMemcpyAsync", 30), ("cudaEventRecord", 40),
         ("cudaStreamWaitEvent", 30), ("cudnnConvolutionBackwardFilter", 7), ("ncclAllReduce", 1), ("ncclAllReduce", 9)]
if not REAL:
    CALLS += [("ncclAllReduce/async", 5), ("launch", 200)]
# What is said, where it is not the call's name. Of a sum that fails on its way any rank may tell.
NAMES = {"ncclAllReduce/async": "]: NCCL: ", "launch": "]: CUDA: "}


class Failures(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10))

    def ends(self, call, number, *options):
        """The job must end, and not stand still."""
        env = {"EMULATED_FAIL": f"{call}:{number}:1", **({"LD_PRELOAD": REAL} if REAL else {})}
        result = darknet.run(darknet.command(*TRAIN, *options, ranks=2), self.folder, environment=env)
        self.check_refused(result, NAMES.get(call, f"{call} failed"))
        if "/" not in call:
            self.assertIn("darknet[rank 1 @ ", result.err, result)

    def test_a_rank_that_does_not_come_to_nccl_is_named(self):
        """It is gone before NCCL knows of it: the connections by which ranks have met tell the others, and no timeout."""
        if not darknet.has_gloo():
            self.skipTest("this build has no Gloo")
        preload = [f"LD_PRELOAD={REAL}"] if REAL else []
        launch = [(), ("env", "EMULATED_FAIL=ncclCommInitRankConfig:1", *preload)]
        ranks = darknet.by_hand(TRAIN, self.folder, 2, launch)
        for process in ranks:
            self.addCleanup(lambda one=process: one.poll() is None and darknet.end_group(one))
        results = [darknet.ended(process) for process in ranks]
        self.check_refused(results[1], "ncclCommInitRankConfig failed")
        self.check_refused(results[0], ["NCCL: ncclCommInitRankConfig on GPU ", "connection with rank 1 (host "])


def case(call, number):
    return lambda self: self.ends(call, number)


for name, count in CALLS:
    setattr(Failures, f"test_{name.replace('/', '_')}_{count}", case(name, count))


if __name__ == "__main__":
    darknet.main()
