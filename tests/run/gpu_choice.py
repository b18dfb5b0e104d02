#!/usr/bin/env python3
# ddp-test: usual cost=100
"""Which GPU each rank takes and how sums travel, as users ask for it, on two emulated devices
($DARKNET_EMULATED, darknet-ddp/emulated). Skipped where there is no such build."""
import ast
import itertools
import json
import os
import re
import sys
import tempfile

EMULATED = os.environ.get("DARKNET_EMULATED")
if not EMULATED:
    print("DARKNET_EMULATED, a build for emulated devices, is not set")
    sys.exit(77)
os.environ["DARKNET"] = EMULATED
os.environ["EMULATED_DEVICES"] = "2"

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp")
BENCH = ("ddp", "bench", "tiny.cfg", "-steps", "2", "-json", "figures")
SHARED = "DDP: ranks share a GPU, which is for tests: it makes nothing faster\n"


class GpuCase(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))

    def trains(self, *words, ranks=0, of, transport):
        result = self.succeeds(*TRAIN, *words, ranks=ranks)
        self.assertRegex(result.out, rf"(?m)^DDP: {of} ranks? on 1 host \(\S+: GPUs? [\d,]+\), "
                                     rf"GPU Emulated device, transport {transport}$", result)
        return result


class Plan(GpuCase):
    def test_buckets_are_those_of_the_transport(self):
        self.write("large.cfg", darknet.net() + darknet.convolutional(400) * 4 + darknet.section("avgpool")
                   + darknet.section("softmax")) # three of 6 MB
        for words, buckets, ranks in (((), 2, 2), (("-gpus", "0,1,1"), 2, 3), (("-ddp_bucket_mb", "10"), 3, 2),
                                      (("-ddp_backend", "mpi"), 4, 2), (("-nogpu", "-ddp_ranks", "4"), 4, 4)):
            with self.subTest(words=words):
                result = self.succeeds("ddp", "plan", "large.cfg", *words)
                self.assertIn(f"\n{buckets} buckets, ", result.out, result)
                self.assertIn(f"\n{ranks} ranks: ", result.out, result)


class Compress(GpuCase):
    def test_it_works_there(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, max_batches=3).replace("filters=4", "filters=16"))
        every = ((), ("-gpus", "1,1"), ("-ddp_backend", "mpi"), ("-ddp_channels", "2"))
        for how, words in itertools.product(darknet.compressions(on_gpus=True), every):
            with self.subTest(how=how, words=words):
                result = self.succeeds(*TRAIN, "-ddp_compress", how, *words, ranks=2)
                self.assertIn("\nDDP: gradients travel by ", result.out, result)
                self.assertIn("\n3: ", result.out, result)
                self.assertNotIn("nan", result.out)


class Gloo(GpuCase):
    def setUp(self):
        super().setUp()
        if not darknet.has_gloo():
            self.skipTest("this build has no Gloo")

    def test_sums_go_through_host_memory(self):
        words = ("-ddp_backend", "gloo")
        for more, ranks in ((("-gpus", "1,0"), 2), (("-ddp_ranks", "2"), 0)):
            result = self.trains(*words, *more, ranks=ranks, of=2, transport="gloo")
            self.assertNotIn(SHARED, result.out, result)
        result = self.trains(*words, "-ddp_nccl_ctas", "4", ranks=2, of=2, transport="gloo")
        self.assertIn("DDP: -ddp_nccl_ctas 4 does nothing: sums do not go through NCCL\n", result.out)
        self.succeeds(*BENCH, *words, ranks=2)
        with open(self.path("figures"), encoding="ascii") as f:
            self.assertEqual(json.load(f)["transport"], "gloo")

    def test_on_cpus(self):
        self.assertIn(", CPU, transport gloo\n", self.succeeds(*TRAIN, "-nogpu", "-ddp_backend", "gloo", ranks=2).out)


class Choice(GpuCase):
    def test_one_rank(self):
        for ranks, transport in ((0, "solo"), (1, "mpi")):
            for words in ((), ("-i", "1"), ("-gpus", "1")):
                with self.subTest(ranks=ranks, words=words):
                    result = self.trains(*words, ranks=ranks, of=1, transport=transport)
                    self.assertNotIn(SHARED, result.out, result)

    def test_two_ranks(self):
        nccl = r"nccl \d+\.\d+\.\d+"
        for words, transport in (((), nccl), (("-gpus", "1,0"), nccl), (("-gpus", "0,1,0"), nccl),
                                 (("-ddp_backend", "nccl", "-ddp_nccl_ctas", "4"), nccl),
                                 (("-ddp_backend", "mpi"), "mpi")):
            with self.subTest(words=words):
                result = self.trains(*words, ranks=2, of=2, transport=transport)
                self.assertNotIn(SHARED, result.out, result)

    def test_the_banner_names_each_ranks_gpu(self):
        for words, ranks, gpus in (((), 0, "GPU 0"), (("-i", "1"), 0, "GPU 1"), ((), 2, "GPUs 0,1"),
                                   (("-gpus", "1,0"), 2, "GPUs 1,0"), (("-gpus", "1,1"), 2, "GPUs 1,1"),
                                   (("-gpus", "0,1,0,1,1"), 0, "GPUs 0,1,0,1,1")):
            with self.subTest(words=words, ranks=ranks):
                if len(gpus) > 10:
                    self.write("tiny.cfg", darknet.detector_cfg(batch=5, subdivisions=5, max_batches=1))
                result = self.succeeds(*TRAIN, *words, ranks=ranks)
                self.assertRegex(result.out, rf"(?m)^DDP: .* on 1 host \(\S+: {gpus}\), GPU", result)

    def test_idle_gpus_are_named(self):
        for words, ranks, says in (
                ((), 0, "-ddp_ranks 2 would use them all"),
                ((), 1, "2 ranks would use them all (mpirun -np 2)"),
                ((), 2, None), (("-ddp_ranks", "2"), 0, None),
                (("-ddp_ranks", "1"), 0, "-ddp_ranks 2 would use them all"),
                (("-i", "1"), 0, None), (("-gpus", "0"), 1, None), (("-nogpu",), 0, None)):
            with self.subTest(words=words, ranks=ranks):
                result = self.succeeds(*TRAIN, *words, ranks=ranks)
                self.assertEqual(result.out.count("idle"), int(says is not None), result)
                self.assertIn(f"DDP: 1 of 2 GPUs is idle: {says}\n" if says else "", result.out, result)

    def test_a_list_longer_than_the_ranks(self):
        for words, ranks, says in ((("-gpus", "1,0"), 1, 1), (("-gpus", "1,0"), 2, 0), (("-gpus", "1,0,1"), 2, 1), (("-gpus", "1"), 0, 0)):
            with self.subTest(words=words, ranks=ranks):
                result = self.succeeds(*TRAIN, *words, ranks=ranks)
                self.assertEqual(len(re.findall(r"(?m)^DDP: -gpus names \d GPUs, but host \S+ has \d ranks?: the others are idle$",
                                                result.out)), says, result)

    def test_a_list_starts_a_rank_for_each_gpu(self):
        self.trains("-gpus", "1,0", of=2, transport="nccl .*")
        self.trains("-gpus", "0,1", "-ddp_ranks", "2", of=2, transport="nccl .*")
        self.trains("-ddp_ranks", "2", of=2, transport="nccl .*")

    def test_ranks_may_share_a_gpu(self):
        for words, ranks in ((("-gpus", "0,0"), 0), (("-gpus", "1,1"), 2)):
            with self.subTest(words=words):
                result = self.trains(*words, ranks=ranks, of=2, transport="nccl .*")
                self.assertEqual(result.out.count(SHARED), 1, result)

    def test_precision_is_said(self):
        for words, line in ((("-ddp_fp32", "1"), "without TF32"),
                            (("-ddp_exact",), "by deterministic algorithms"),
                            (("-ddp_fp32", "1", "-ddp_deterministic", "1"),
                             "without TF32, by deterministic algorithms")):
            result = self.trains(*words, of=1, transport="solo")
            self.assertIn(f"DDP: convolutions {line}\n", result.out, result)
        self.assertNotIn("DDP: convolutions", self.trains(of=1, transport="solo").out)

    def test_ctas_of_nccl_where_it_is_not_used(self):
        for words, ranks, why in ((("-nogpu",), 2, "-nogpu trains on CPUs"),
                                  (("-ddp_backend", "mpi"), 2, "sums do not go through NCCL"),
                                  ((), 0, "sums do not go through NCCL"), ((), 2, None)):
            with self.subTest(words=words, ranks=ranks):
                result = self.succeeds(*TRAIN, "-ddp_nccl_ctas", "4", *words, ranks=ranks)
                self.assertEqual(result.out.count("does nothing"), int(why is not None), result)
                self.assertIn(f"DDP: -ddp_nccl_ctas 4 does nothing: {why}\n" if why else "", result.out)

    def test_nogpu(self):
        self.assertIn(", CPU, transport mpi\n", self.succeeds(*TRAIN, "-nogpu", ranks=2).out)


class Resuming(GpuCase):
    """Options that change how results round are said, and under -ddp_exact refused."""

    def check(self, first, then, *says, exact):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        self.succeeds(*TRAIN, *first, *exact)
        words = (*TRAIN, *then, *exact, "-resume")
        if exact and says:
            result = self.refused(*words, code=2, says=says[0] + "; -resume_force goes on all the same\n")
            self.assertNotIn("resuming from", result.out, result)
            result = self.succeeds(*words, "-resume_force")
            self.assertIn(f"DDP: backup/tiny_final.weights: resumed all the same: {says[0]}\n", result.out, result)
            return
        result = self.succeeds(*words)
        self.assertEqual(result.out.count("round differently"), len(says), result)
        for sentence in says:
            self.assertIn(f"DDP: backup/tiny_final.weights: {sentence}: from here on results round differently\n", result.out, result)
        self.assertIn("DDP: resuming from", result.out, result)

    def test_with_another_rounding(self):
        fp32, deterministic = ("-ddp_fp32", "1"), ("-ddp_deterministic", "1")
        to_fp32 = "-ddp_fp32 was 0, is now 1"
        for exact in ((), ("-ddp_exact",)):
            for first, then, says in (
                    ((), (), ()), (fp32, fp32, ()), ((), fp32, (to_fp32,)),
                    (fp32, (), ("-ddp_fp32 was 1, is now 0",)),
                    (("-nogpu",), fp32, ("device was CPU, is now GPU",)),
                    (fp32, ("-nogpu",), ("device was GPU, is now CPU",)),
                    ((), deterministic, () if exact else ("-ddp_deterministic was 0, is now 1",)),
                    ((), (*fp32, *deterministic),
                     (to_fp32,) if exact else (to_fp32, "-ddp_deterministic was 0, is now 1"))):
                with self.subTest(first=first, then=then, exact=exact):
                    self.check(first, then, *says, exact=exact)


class Refusals(GpuCase):
    def everywhere(self, *words, says, ranks=0):
        for command in (TRAIN, BENCH):
            with self.subTest(command=command, words=words, ranks=ranks):
                result = self.refused(*command, *words, code=2, ranks=ranks, says=says)
                self.assertEqual(result.err.count(says), 1, result)
                self.assertNotIn("DDP:", result.out, result)

    def test_before_the_start(self):
        self.everywhere("-ddp_ranks", "3",
                        says=", which has 2 GPUs: start 2 ranks there, or let ranks share them, "
                             "to test, with -gpus 0,1,0\n")
        self.everywhere("-i", "2", says="darknet: -i names GPU 2, but host ")
        self.everywhere("-gpus", "0,2", says="darknet: -gpus names GPU 2, but host ")
        self.everywhere("-i", "0", "-ddp_ranks", "2",
                        says="darknet: -i 0 names one GPU for 2 ranks; -gpus with a number ")

    def test_under_a_launcher(self):
        self.everywhere(ranks=3, says=", which has 2 GPUs: start 2 ranks there, or let ranks "
                                      "share them, to test, with -gpus 0,1,0\n")
        self.everywhere("-gpus", "0", ranks=2, says=", and -gpus names 1 GPU: it wants a number ")
        self.everywhere("-i", "0", ranks=2, says="would both compute on one GPU, 0 for one and 0 ")
        self.everywhere("-gpus", "0,2", ranks=2, says=": -gpus names GPU 2, but host ")

    def test_ranks_that_differ(self):
        for words, line in ((["-nogpu"], "'computing on CPUs', not 'computing on GPUs'"),
                            (["-ddp_fp32", "1"], "'-ddp_fp32 1', not '-ddp_fp32 0'"),
                            (["-ddp_backend", "mpi"],
                             "'-ddp_backend mpi', not '-ddp_backend auto'")):
            with self.subTest(words=words):
                one = ["-np", "1", EMULATED, *TRAIN]
                result = darknet.run(["mpirun", *one, ":", *one, *words], self.folder)
                self.assertIn(f": it has {line}\n", result.err, result)
                self.assertNotEqual(result.code, 0, result)


class Bench(GpuCase):
    def test_on_gpus(self):
        for words, ranks, transport, precision in (
                ((), 0, "solo", "TF32"), (("-gpus", "0,1"), 0, "nccl", "TF32"),
                (("-ddp_fp32", "1", "-ddp_backend", "mpi"), 2, "mpi", "fp32")):
            with self.subTest(words=words):
                self.succeeds(*BENCH, *words, ranks=ranks)
                with open(self.path("figures"), encoding="ascii") as f:
                    figures = json.load(f)
                self.assertEqual(figures["device"], "GPU Emulated device")
                self.assertEqual(figures["transport"].split()[0], transport)
                self.assertEqual(figures["precision"], precision)
                self.assertFalse(figures["deterministic"])
                parts = [figures[name]["low"] for name in ("forward", "backward", "update", "exposed")]
                self.assertGreaterEqual(min(parts), 0)
                self.assertGreater(min(parts[:3]), 0)
                self.assertLessEqual(sum(parts), figures["step"]["high"])

    def test_algorithms_are_said(self):
        for words, says in ((("-ddp_deterministic", "1"), ", deterministic"), (("-ddp_exact",), ", exact, deterministic")):
            result = self.succeeds(*BENCH, *words)
            self.assertRegex(result.out, rf"\A.* MB in 1 bucket{says}\n", result)


class Script(darknet.Case):
    """scripts/test-gpu and bench-gpu, as far as they go before the first check."""

    def script(self, *words, name="test-gpu", nvidia_smi=None):
        """nvidia_smi: what a program of that name prints; None: as on this machine."""
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", name)
        if nvidia_smi is None:
            return darknet.run([path, *words], self.folder)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "nvidia-smi")
            darknet.write(program, f"#!/bin/sh\necho '{nvidia_smi}'\n")
            os.chmod(program, 0o755)
            return darknet.run(["env", f"PATH={folder}:{os.environ['PATH']}", path, *words], self.folder)

    def test_without_a_gpu_nothing_is_made(self):
        for name in ("test-gpu", "bench-gpu.py"):
            with self.subTest(name=name):
                result = self.script("--build", "none", name=name, nvidia_smi="No devices found.")
                self.assertEqual(result.code, 77, result)
                self.assertEqual(result.out, "skipped: no GPU (nvidia-smi lists none)\n", result)
                self.assertEqual((result.err, os.listdir(self.folder)), ("", []), result)

    def test_help(self):
        for name in ("test-gpu", "bench-gpu.py"):
            result = self.script("--help", name=name)
            self.assertEqual((result.code, result.err), (0, ""), result)
            self.assertIn(f"Usage: scripts/{name} ", result.out)

    def test_the_time_is_enough_for_all_parts(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "test-gpu")
        with open(path, encoding="ascii") as f:
            text = f.read()
        limits = [int(limit) for limit in re.findall(r"check [\w-]+ (\d+) ", text)]
        self.assertGreater(len(limits), 11)
        self.assertGreater(int(re.search(r"^build=.* seconds=(\d+)$", text, re.M)[1]), sum(limits) + 10)

    def test_a_build_for_cpus_is_refused(self):
        os.mkdir(self.path("build"))
        self.write("build/CMakeCache.txt", "DDP_CUDA:BOOL=OFF\n")
        result = self.script("--build", "build", nvidia_smi="GPU 0: one")
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.err, r"\Atest-gpu: build is a build for CPUs: .*\n\Z", result)
        self.assertEqual(os.listdir(self.path("build")), ["CMakeCache.txt"], result)

    def test_what_a_bench_lacks_is_said_before_the_table(self):
        for words, says, code in (
                (("nonsense",), "no network 'nonsense': there are resnet50-64 ", 2),
                (("small", "--build", "none"), "no none/darknet: build for GPUs first ", 1)):
            with self.subTest(words=words):
                result = self.script(*words, name="bench-gpu.py", nvidia_smi="GPU 0: one")
                self.assertEqual(result.code, code, result)
                self.assertRegex(result.err, rf"\Abench-gpu: {says}.*\n\Z", result)
                self.assertEqual(result.out, "", result)

    def test_names_of_parts_come_first(self):
        parts = "machine bf16 layers sums bench profile parity nets heads compress tf32 run failures trace sanitize"
        for words in (("nonsense",), ("sums", "nonsense"), ("nonsense", "--seconds", "0"), ("nonsense", "trace"), ("nonsense", "--help")):
            result = self.script("--build", "none", *words)
            self.assertEqual(result.code, 2, result)
            self.assertEqual(result.err, f"test-gpu: no part 'nonsense': there are {parts}\n", result)
            self.assertEqual((result.out, os.listdir(self.folder)), ("", []), result)

    def test_a_profile_sums_kernels_by_step(self):
        step = (("_Z14moments_kernel13channel_shapePKfPfS2_", 3000000, 1), ("void cudnn::ops::nchwToNhwcKernel<float>(int)", 500000, 2),
                ("sm80_xmma_dgrad_implicit_gemm", 4000000, 2), ("_Z16sgd_layer_kernel9sgd_arrayS_S_ff", 250000, 3))
        now, lines = 0, []
        for _ in range(5):
            for name, duration, launches in step:
                for _ in range(launches):
                    lines.append(f"7 {now} {now + duration} {name}\n")
                    now += duration + 50000
        self.write("record", "".join(lines))
        profile = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu", "kernel_profile.py")
        result = darknet.run([profile, "none", "-darknet", "record", "-rows", "2"], self.folder)
        self.assertEqual(result.code, 0, result)
        self.assertRegex(result.out, r"darknet: kernels run for 12\.75 of 13\.\d\d ms a step, over 3 steps\n")
        for time, share, launches, name in (("8.000", "62.7", "2.0", "convolution, product"), ("3.000", "23.5", "1.0", "normalisation"),
                                            ("1.000", "7.8", "2.0", "layout"), ("0.750", "5.9", "3.0", "update"),
                                            ("8.000", "62.7", "2.0", "sm80_xmma_dgrad_implicit_gemm"), ("3.000", "23.5", "1.0", "moments_kernel")):
            self.assertRegex(result.out, rf"(?m)^ +{time} +{share}% +{launches}  {name}$")

    def test_a_profile_asks_pytorch_for_what_it_takes(self):
        top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        with open(os.path.join(top, "scripts", "bench_torch.py"), encoding="utf-8") as f:
            trainer = next(node for node in ast.parse(f.read()).body if getattr(node, "name", "") == "Trainer")
        takes = {argument.arg for argument in next(node for node in trainer.body if getattr(node, "name", "") == "__init__").args.args} - {"self"}
        for name in ("tests/gpu/kernel_profile.py", "scripts/bench-gpu.py"):
            with open(os.path.join(top, name), encoding="utf-8") as f:
                code = ast.parse(f.read())
            asked = [{key.value for key in node.keys} for node in ast.walk(code) if isinstance(node, ast.Dict) and len(node.keys) > 3]
            asked += [{word.arg for word in node.keywords} for node in ast.walk(code) if isinstance(node, ast.Call)]
            self.assertIn(takes, asked, name)

    def test_a_profile_of_bf16(self):
        profile = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu", "kernel_profile.py")
        self.write("tiny.cfg", darknet.classifier_cfg())
        words = [profile, os.path.dirname(EMULATED), "-cfg", self.path("tiny"), "-pixels", "32", "-batch", "2", "-steps", "3"]
        found = {}
        for option in ((), ("-bf16",)):
            result = darknet.run([*words, *option], self.folder)
            self.assertEqual(result.code, 0, result)
            found[option] = set(re.findall(r"(?m)^ +[\d.]+ +[\d.]+% +[\d.]+  (\w*moments\w*)$", result.out))
        self.assertEqual(found, {(): {"moments_kernel"}, ("-bf16",): {"moments_bf16_kernel"}})

    def test_a_pack_has_all_that_its_programs_need(self):
        if not darknet.has_gloo():
            self.skipTest("this build has no Gloo")
        result = self.script("--check", os.path.dirname(EMULATED), name="pack-gpu.py")
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.err, r"\Apack-gpu: \S+ needs libgloo\S+, which is neither packed nor of CUDA, cuDNN, NCCL or glibc; "
                                     r"build without Gloo: -DDDP_WITH_GLOO=OFF\n\Z", result)

    def test_it_says_that_the_device_is_emulated(self):
        result = self.script("--build", os.path.dirname(EMULATED), "--out", "logs", "--seconds", "0",
                             "bf16", "sanitize", "sums", "trace")
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.out, r"\A +\d+ s  on the emulated device, which is no GPU: a try of this script\n"
                                     r" +\d+ s  not begun: bf16\n"
                                     r" +\d+ s  not begun: layers-bf16\n"
                                     r" +\d+ s  left out: sanitize, which wants a GPU\n"
                                     r" +\d+ s  not begun: sums\n"
                                     r" +\d+ s  left out: trace, which wants a GPU\n"
                                     r" +\d+ s  0 good, 0 bad, 0 skipped, 3 not begun; logs in \S+\n\Z", result)


if __name__ == "__main__":
    darknet.main()
