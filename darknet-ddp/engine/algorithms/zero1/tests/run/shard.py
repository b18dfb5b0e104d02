#!/usr/bin/env python3
# ddp-test: usual cost=100
"""-ddp_shard_optimizer 1: the same weights and state files as without it, for every schedule, bucket, wire and number of ranks; a
run goes on from any of them with it and without, on other numbers of ranks; a rank that is killed is named; what does not go
with it is refused. (Sums in halves: unit.group_halves; the share itself: unit.shard.)"""
import os
import resource
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 6, "tests", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
SHARED = ("-ddp_shard_optimizer", "1")
SMALL = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
OTHERWISE = ((), ("-ddp_schedule", "direct"), ("-ddp_schedule", "hierarchical"), (*SMALL, "-ddp_schedule", "direct"), (*SMALL, "-ddp_overlap", "0"),
             ("-ddp_verify_every", "1"), ("-ddp_channels", "2", *SMALL))
WITH = (("-ddp_compress", "bf16"), ("-ddp_exact",), ("-ddp_exact", "-ddp_schedule", "direct"), ("-ddp_sync_every", "2"), ("-ddp_sync_bn", "1"), ("-ddp_batch", "rank"),
        ("-ddp_on_bad_data", "skip", "3"))


class Shard(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=11)
        self.data.boxes()
        self.cfg(12)

    def cfg(self, steps, **values):
        self.text = darknet.detector_cfg(**{"batch": 8, "subdivisions": 8, "max_batches": steps, **values})
        self.write("tiny.cfg", self.text)

    def made(self, name="tiny_final.weights"):
        """The weights, and of the state file all that is of the network: its cfg and the arrays."""
        state = self.weights(name + ".state")
        return self.weights(name), state[state.index(self.text.encode()):-8]

    def trained(self, *options, ranks=2):
        self.succeeds(*TRAIN, *options, ranks=ranks)
        made = self.made()
        self.empty()
        return made

    def compare(self, with_it, without, what=""):
        self.same_weights(with_it[0], without[0], what)
        self.assertTrue(with_it[1] == without[1], f"another state: {what}")

    def empty(self, but="-"):
        for name in os.listdir(self.path("backup")):
            if not name.startswith(but):
                os.remove(self.path("backup/" + name))


class Results(Shard):
    def on_ranks(self, *numbers, **values):
        for ranks in numbers:
            batch = 12 if ranks == 3 else 8
            self.cfg(12, batch=batch, subdivisions=batch, **values)
            without = self.trained(ranks=ranks)
            for options in OTHERWISE if ranks == 2 else OTHERWISE[2:4] if ranks > 2 else OTHERWISE[:1]:
                with self.subTest(ranks=ranks, options=options):
                    self.compare(self.trained(*SHARED, *options, ranks=ranks), without, options)

    def test_sgd_has_the_same_bits(self):
        self.on_ranks(1, 2, 3, 4)

    def test_adam_has_the_same_bits(self):
        self.on_ranks(2, 3, adam=1, learning_rate=0.001)

    def test_arrays_of_several_chunks(self):
        for adam in (0, 1):
            self.cfg(4, adam=adam, batch=12, subdivisions=12)
            self.text = self.text.replace("filters=4\n", "filters=128\n")
            self.write("tiny.cfg", self.text)
            without = self.trained(ranks=3 + adam)
            for options in (*OTHERWISE[1:5], *((("-ddp_backend", "gloo"),) if darknet.has_gloo() else ())):
                with self.subTest(adam=adam, options=options):
                    self.compare(self.trained(*SHARED, *options, ranks=3 + adam), without, options)

    @unittest.skipUnless(darknet.GPU, "on CPUs the tests above have it")
    def test_on_a_gpu(self):
        """Whatever way sums travel; of two ranks there is but one order. With -ddp_exact, and 16 bits, of any number."""
        ways = ((), SMALL, ("-ddp_overlap", "0"), ("-ddp_verify_every", "1", "-ddp_schedule", "hierarchical"), ("-ddp_channels", "2", *SMALL),
                ("-ddp_backend", "mpi"))
        for adam in (0, 1):
            self.cfg(6, adam=adam, **({"learning_rate": 0.001} if adam else {}))
            without = self.trained()
            for options in ways[:2] if adam else ways:
                with self.subTest(adam=adam, options=options):
                    self.compare(self.trained(*SHARED, *options), without, options)
            for options in (("-ddp_exact",), ("-ddp_exact", "-ddp_schedule", "direct"), ("-ddp_compress", "bf16")):
                with self.subTest(adam=adam, options=options):
                    self.compare(self.trained(*SHARED, *options, ranks=4), self.trained(*options, ranks=4), options)

    def test_what_it_goes_with(self):
        for options in WITH:
            with self.subTest(options=options):
                self.compare(self.trained(*SHARED, *options), self.trained(*options), options)

    def test_blocks_that_are_left_out(self):
        block = (darknet.convolutional(4, batch_normalize=1) + darknet.convolutional(4, batch_normalize=1)
                 + darknet.section("shortcut", **{"from": -3, "activation": "linear"}))
        self.cfg(20, adam=1)
        self.text = self.text.replace(darknet.BODY, darknet.BODY + block * 3)
        self.write("tiny.cfg", self.text)
        for options in ((), SMALL):
            drop = ("-ddp_layer_drop", "0.8", *options)
            self.compare(self.trained(*SHARED, *drop), self.trained(*drop), drop)

    def test_frozen_layers_averages_and_clipped_weights(self):
        for values in ({"ema_alpha": 0.9}, {"adam": 1, "ema_alpha": 0.9}, {"clip": 0.05}):
            self.cfg(6, **values)
            self.compare(self.trained(*SHARED), self.trained(), values)
        for line in ("stopbackward=1", "stopbackward=6"):
            self.cfg(6)
            self.text = self.text.replace("[convolutional]\n", f"[convolutional]\n{line}\n", 1)
            self.write("tiny.cfg", self.text)
            self.compare(self.trained(*SHARED), self.trained(), line)

    def test_every_command(self):
        self.data.tags()
        self.write("text", "to be or not to be, that is the question: " * 9)
        for text, words, name in ((darknet.classifier_cfg(max_batches=7), ("classifier", "train", "train.data", "tiny.cfg"), "tiny.weights"),
                                  (darknet.rnn_cfg(max_batches=7), ("rnn", "train", "tiny.cfg", "-file", "text", "-backup", "backup"),
                                   "tiny_final.weights")):
            made = []
            self.text = text
            self.write("tiny.cfg", text)
            for options in ((), SHARED):
                self.succeeds(*words, "-ddp", "-ddp_seed", "3", "-threads", "1", *options, ranks=2)
                made.append(self.made(name))
                self.empty()
            self.compare(made[1], made[0], words)

    def test_bench_times_it(self):
        for adam in (0, 1):
            self.cfg(12, adam=adam)
            result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", *SHARED, *darknet.gpu_options(2), ranks=2)
            self.assertRegex(result.out, r"\nstep +\d")

    def test_what_is_said_of_it(self):
        result = self.succeeds(*TRAIN, *SHARED, ranks=2)
        self.assertRegex(result.out, r"\nDDP: optimizer's state is shared out: [0-9.]+ MB of [0-9.]+ MB on rank 0\n")
        result = self.succeeds(*TRAIN, *SHARED)
        self.assertIn("\nDDP: one rank has no one to share the optimizer's state with\n", result.out)


    def test_numbers_that_are_not_finite_end_the_run(self):
        for adam in (0, 1):
            self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=4, max_batches=60, policy="steps", steps=4, scales=1e12, adam=adam))
            result = self.refused(*TRAIN, *SHARED, ranks=2, says=" not finite", code=1)
            self.assertRegex(result.err, r"step \d+: (the gradients of layers? [\d to]+|the loss) (?:are|is) not finite; first the ")
            self.assertIn("No weights were saved before", result.err)


class Saved(Shard):
    def test_a_run_goes_on_with_it_and_without_on_other_ranks(self):
        for values in {}, {"adam": 1, "learning_rate": 0.001}:
            self.cfg(20, **values)
            expected = self.trained("-ddp_exact", ranks=2)
            for before, now in (((4, SHARED), (2, SHARED)), ((2, SHARED), (1, ())), ((1, ()), (4, SHARED)), ((2, SHARED), (2, ()))):
                self.empty()
                self.cfg(12, **values)
                self.succeeds(*TRAIN, "-ddp_exact", *before[1], ranks=before[0])
                self.cfg(20, **values)
                result = self.succeeds(*TRAIN, "-ddp_exact", "-resume_force", *now[1], ranks=now[0])
                self.assertIn("resuming from backup/tiny_final.weights: 12 batches", result.out, result)
                self.assertTrue(self.made() == expected, f"{values}: {before}, then {now}")
            self.empty()

    def test_of_two_files_of_a_step_one_is_a_copy_of_the_other(self):
        """With its time."""
        self.cfg(100, adam=1, learning_rate=0.001)
        self.succeeds(*TRAIN, *SHARED, ranks=2)
        self.assertTrue(self.weights("tiny.backup.state") == self.weights("tiny_100.weights.state"), "another state")

    def start(self, *options):
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*TRAIN, *SHARED, *options, ranks=3), self.folder, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def test_a_rank_that_is_killed_is_named_and_the_rest_is_made_up_for(self):
        self.cfg(100000, batch=12, subdivisions=12, adam=1)
        job = self.start()
        self.wait_for("tiny_100.weights.state", job)
        os.kill(darknet.ranks_under(job.pid)[1], signal.SIGKILL)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        named = r"\]: rank 1 on \S+ has ended, or its connection has, in the middle of the run\n"
        self.assertRegex(self.said(), named + (r"|\]: NCCL: a sum failed on GPU 0" if darknet.GPU else ""))
        self.cfg(self.keep_newest_numbered() + 9, batch=12, subdivisions=12, adam=1)
        self.succeeds(*TRAIN, *SHARED, "-resume_force", ranks=3)
        resumed = self.made()
        self.empty()
        self.compare(self.trained(ranks=3), resumed)


# Most memory of a rank, in bytes, to a file of its number.
PEAK = """
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
with open("peak" + os.environ["OMPI_COMM_WORLD_RANK"], "w") as f:
    f.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(code)
"""


# Who writes a state file says so, and waits until a file is gone.
BUSY = """
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
ssize_t write(int fd, const void *data, size_t bytes)
{
    char link[64], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access("busy", F_OK) == 0 && readlink(link, path, sizeof path - 1) > 0 && strstr(path, ".state.part")) {
        FILE *said = fopen("writes", "w");
        if (said) fclose(said);
        while (access("busy", F_OK) == 0) usleep(1000);
    }
    return syscall(SYS_write, fd, data, bytes);
}
"""


class Large(Shard):
    """A network whose optimizer's state is large beside all else."""
    FILTERS = 384
    PARAMETERS = 3 * FILTERS * FILTERS * 9
    ADAM = 2 * 4 * PARAMETERS

    def setUp(self):
        super().setUp()
        self.cfg(3, adam=1, learning_rate=0.001)
        self.text = self.text.replace(darknet.BODY, darknet.BODY + darknet.convolutional(self.FILTERS, batch_normalize=1, stride=2)
                                      + darknet.convolutional(self.FILTERS, batch_normalize=1) * 3)
        self.write("tiny.cfg", self.text)

    def test_the_state_file_is_the_same(self):
        without = self.trained()
        self.assertGreater(len(without[1]), self.ADAM)
        for options in ((), SMALL, ("-ddp_schedule", "direct")):
            self.assertTrue(self.trained(*SHARED, *options) == without, options)

    def expect_no_more_memory_of_rank_0(self, *options):
        words = darknet.command(*TRAIN, *SHARED, *options, ranks=2)
        at = words.index(darknet.PROGRAM)
        result = darknet.run([*words[:at], sys.executable, "-c", PEAK, *words[at:]], self.folder)
        self.assertEqual(result.code, 0, result)
        self.assertGreater(len(self.made()[1]), self.ADAM)
        peak = []
        for rank in range(2):
            with open(self.path(f"peak{rank}"), encoding="ascii") as f:
                peak.append(int(f.read()))
        self.assertLess(peak[0] - peak[1], self.ADAM / 4, f"peaks of {peak} bytes, and {self.ADAM} of moments in all")

    def test_saving_takes_rank_0_no_memory(self):
        self.expect_no_more_memory_of_rank_0()

    def test_nor_does_resuming(self):
        """Also where no step follows, which takes more than that."""
        self.succeeds(*TRAIN, *SHARED, ranks=2)
        made = self.made()
        self.expect_no_more_memory_of_rank_0("-resume")
        self.assertTrue(self.made() == made, "another state")
        self.text = self.text.replace("max_batches=3", "max_batches=5")
        self.write("tiny.cfg", self.text)
        self.expect_no_more_memory_of_rank_0("-resume_force")
        resumed = self.made()
        self.empty()
        self.compare(self.trained(), resumed)

    def test_a_rank_that_is_killed_in_a_save_is_named_and_nothing_is_saved(self):
        self.write("busy.c", BUSY)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("busy.so"), self.path("busy.c")], check=True)
        self.write("busy", "")
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*TRAIN, *SHARED, ranks=2), self.folder, {"LD_PRELOAD": self.path("busy.so")},
                                stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        self.until(lambda: os.path.exists(self.path("writes")), self.said, job)
        os.kill(darknet.ranks_under(job.pid)[1], signal.SIGKILL)
        os.remove(self.path("busy"))
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertRegex(self.said(), r"\]: rank 1 on \S+ has ended, or its connection has")
        self.assertFalse(os.path.exists(self.path("backup/tiny_final.weights")))
        result = self.succeeds(*TRAIN, *SHARED, "-resume", ranks=2)
        self.assertIn("nothing to resume of tiny in backup", result.out)
        self.assertEqual([name for name in os.listdir(self.path("backup")) if ".part" in name], [])

    def test_a_disk_that_is_full_is_named_and_holds_nobody_up(self):
        """It takes some of the state file's blocks, and no more."""
        size = self.ADAM * 3 // 4

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        words = darknet.command(*TRAIN, *SHARED, ranks=2)
        for options, said in (((), "File too large\n"), (("-ddp_on_save_error", "continue"), "; the run is not ended for it\n")):
            process = darknet.start([*words, *options], self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    preexec_fn=limit)
            self.addCleanup(darknet.end_group, process)
            result = darknet.ended(process)
            self.check_refused(result, ("cannot write backup/tiny_final.weights.state.part: File too large", said), code=1)
            self.assertNotIn(" goes on from ", result.err) # nothing was saved before
            self.assertEqual([name for name in os.listdir(self.path("backup")) if "weights" in name], [])


class Refused(Shard):
    def test_what_it_does_not_go_with(self):
        """One of them on ranks; all: run.pairs."""
        for ranks in (0, 2):
            self.refused(*TRAIN, *SHARED, "-ddp_on_nan", "skip", "2", ranks=ranks, code=2,
                         says="-ddp_on_nan skip 2 does not go with -ddp_shard_optimizer 1, which cannot take back a step whose updates have begun")


if __name__ == "__main__":
    darknet.main()
