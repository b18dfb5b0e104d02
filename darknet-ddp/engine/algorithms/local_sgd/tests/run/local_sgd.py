#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_local_sgd and -ddp_slowmo: one result whatever the schedule and the buckets; what is saved waits for all ranks to be alike,
so that a run that is ended or killed goes on to the same weights; what does not go with it is refused. (What the result is:
glue.local_sgd, unit.local_sgd.)"""
import os
import re
import signal
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 6, "tests", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
LOCAL = ("-ddp_local_sgd", "8", "-ddp_local_warmup", "5", "-ddp_slowmo", "0.5", "-ddp_slowmo_rate", "0.9")
SMALL = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
OTHERWISE = (SMALL, ("-ddp_schedule", "direct"), ("-ddp_schedule", "hierarchical", "-ddp_overlap", "0"), (*SMALL, "-ddp_defer_mb", "0"),
             ("-ddp_verify_every", "1"), ("-ddp_records", "0"))


def distance(a, b):
    """Between two files of weights, behind their headers."""
    a, b = (struct.unpack(f"<{(len(x) - 20) // 4}f", x[20:]) for x in (a, b))
    return sum((x - y) ** 2 for x, y in zip(a, b))


class LocalSgd(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=11)
        self.data.boxes()
        self.cfg(30)

    def cfg(self, steps, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**{"batch": 8, "subdivisions": 8, "max_batches": steps, **values}))

    def trained(self, *options, ranks=2):
        result = self.succeeds(*TRAIN, *options, ranks=ranks)
        return self.weights(), result


class Results(LocalSgd):
    def test_one_result_for_each_number_of_ranks(self):
        for ranks in (2, 3, 4):
            self.cfg(30, batch=12 if ranks == 3 else 8, subdivisions=12 if ranks == 3 else 8)
            summed, result = self.trained(ranks=ranks)
            self.assertNotIn("local SGD", result.out)
            averaged, result = self.trained(*LOCAL, ranks=ranks)
            self.assertRegex(result.out, "\nDDP: local SGD: after 5 steps ranks learn on their own and average [0-9.]+ MB every 8 steps, "
                             "with slow momentum 0.5 and slow rate 0.9\n")
            self.assertNotEqual(averaged, summed)
            for options in OTHERWISE[:6 if ranks == 2 else 2]:
                with self.subTest(ranks=ranks, options=options):
                    self.same_weights(self.trained(*LOCAL, *options, ranks=ranks)[0], averaged)

    def test_what_is_said_of_one_rank_and_of_a_period_of_one_step(self):
        self.cfg(3)
        every = r"\nDDP: local SGD: ranks learn on their own and average [0-9.]+ MB every step\n"
        for ranks in (0, 1):
            out = self.trained("-ddp_local_sgd", "1", ranks=ranks)[1].out
            self.assertIn("\nDDP: local SGD: there is one rank, so nothing is averaged\n", out)
            self.assertIn("\nDDP: local SGD: there is one rank, so nothing is averaged; slow momentum 0.5 and slow rate 0.9 work every 8 steps\n",
                          self.trained(*LOCAL, ranks=ranks)[1].out)
        self.assertRegex(self.trained("-ddp_local_sgd", "1")[1].out, every)

    def test_a_run_within_its_warm_up_is_one_without(self):
        summed, _ = self.trained()
        for options in (("-ddp_local_warmup", "30"), ()):
            self.cfg(30, burn_in=30 if not options else 0)
            if not options:
                summed, _ = self.trained()
            self.same_weights(self.trained("-ddp_local_sgd", "4", *options)[0], summed)

    def test_it_goes_with_sixteen_bits_and_with_skipped_steps(self):
        plain, _ = self.trained(*LOCAL)
        self.assertNotEqual(self.trained(*LOCAL, "-ddp_compress", "bf16")[0], plain)
        self.same_weights(self.trained(*LOCAL, "-ddp_on_nan", "skip", "2")[0], plain)

    def test_every_command(self):
        self.data.tags()
        self.write("text", "to be or not to be, that is the question: " * 9)
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=7))
        self.succeeds("classifier", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_local_sgd", "3", ranks=2)
        self.assertEqual(self.step_of("tiny.weights"), 7)
        self.write("tiny.cfg", darknet.rnn_cfg(max_batches=7))
        self.succeeds("rnn", "train", "tiny.cfg", "-file", "text", "-backup", "backup", "-ddp", "-ddp_local_sgd", "3", ranks=2)
        self.assertEqual(self.step_of("tiny_final.weights"), 7)

    def test_what_it_sends(self):
        if darknet.GPU: # NCCL has ways of its own
            self.assertNotIn("rank 0 sent", self.trained(*LOCAL)[1].out)
            return
        sent = []
        for period in (1, 10):
            _, result = self.trained("-ddp_local_sgd", str(period), "-ddp_schedule", "direct")
            sent.append(float(re.search(r"rank 0 sent [0-9.]+ MB in 30 steps, ([0-9.]+) MB a step\n", result.out).group(1)))
        self.assertLess(sent[1], sent[0] / 4)

    def test_validation_waits_for_all_ranks_to_be_alike(self):
        self.data.data("train.data", valid="train.list", classes=2, names="names")
        self.write("names", "a\nb\n")
        result = self.succeeds(*TRAIN, *LOCAL, "-ddp_validate", "6", ranks=2)
        steps = [int(step) for step in re.findall(r"after step ([0-9]+)", result.out)]
        self.assertTrue(steps and set(steps) <= {13, 21, 29, 30}, result)


    def test_a_gpu_computes_what_a_cpu_does(self):
        """As close to it as to one that sums gradients it is far."""
        summed, _ = self.trained()
        on_gpu, _ = self.trained(*LOCAL)
        self.same_weights(self.trained(*LOCAL, "-ddp_backend", "mpi")[0], on_gpu, "by MPI")
        result = darknet.run([*darknet.command(ranks=2), *TRAIN, *LOCAL, "-nogpu"], self.folder)
        self.assertEqual(result.code, 0, result)
        on_cpu = self.weights()
        self.assertLess(distance(on_gpu, on_cpu), distance(on_gpu, summed) / 100)


class Saved(LocalSgd):
    def start(self, *options):
        words = darknet.command(*TRAIN, *LOCAL, *options, ranks=2)
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(words, self.folder, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def test_a_numbered_save_waits_for_the_averaging_and_is_resumed_from(self):
        self.cfg(130)
        expected, _ = self.trained(*LOCAL)
        self.assertEqual(self.step_of("tiny_100.weights"), 101)
        for name in os.listdir(self.path("backup")):
            if not name.startswith("tiny_100"):
                os.remove(self.path("backup/" + name))
        result = self.succeeds(*TRAIN, *LOCAL, "-resume", ranks=2)
        self.assertIn("resuming from backup/tiny_100.weights: 101 batches", result.out, result)
        self.same_weights(self.weights(), expected)

    def test_a_run_that_was_ended_goes_on_to_the_same_weights(self):
        self.cfg(100000)
        job = self.start()
        self.wait_for("tiny_100.weights.state", job)
        darknet.tell(darknet.ranks_under(job.pid), signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertEqual((self.step_of("tiny.backup") - 5) % 8, 0)
        self.cfg(self.step_of("tiny.backup") + 11)
        self.succeeds(*TRAIN, *LOCAL, "-resume_force", ranks=2)
        resumed = self.weights()
        self.empty()
        self.same_weights(self.trained(*LOCAL)[0], resumed)

    def test_a_rank_killed_in_mid_period_ends_the_job_and_the_rest_is_made_up_for(self):
        self.cfg(100000)
        job = self.start()
        self.wait_for("tiny_100.weights.state", job)
        os.kill(darknet.ranks_under(job.pid)[1], signal.SIGKILL)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        saved = [name[:-6] for name in os.listdir(self.path("backup")) if name.endswith(".state")]
        self.cfg(max(map(self.step_of, saved)) + 30)
        self.succeeds(*TRAIN, *LOCAL, "-resume_force", ranks=2)
        resumed = self.weights()
        self.empty()
        self.same_weights(self.trained(*LOCAL)[0], resumed)

    def test_slow_momentum_can_be_taken_up_and_left(self):
        for before, now, says in ((LOCAL[:4], LOCAL, "-ddp_slowmo was not given, is now 0.5"),
                                  (LOCAL, LOCAL[:4], "-ddp_slowmo was 0.5, is now not given")):
            self.empty()
            self.cfg(29)
            self.trained(*before)
            self.cfg(37)
            self.refused(*TRAIN, *now, "-resume", ranks=2, says="cannot resume from")
            result = self.succeeds(*TRAIN, *now, "-resume_force", ranks=2)
            self.assertIn(f"resumed all the same: {says}\n", result.out, result)
            self.assertIn("\n37: ", result.out, result)

    def test_slow_momentum_is_in_the_state_file(self):
        self.cfg(29)
        self.trained(*LOCAL)
        with open(self.path("backup/tiny_final.weights.state"), "rb") as f:
            self.assertIn(b"slow momentum\0", f.read())
        self.trained(*LOCAL[:4])
        with open(self.path("backup/tiny_final.weights.state"), "rb") as f:
            self.assertNotIn(b"slow momentum", f.read())

    def test_a_picture_that_cannot_be_read_ends_the_run_with_an_averaging(self):
        """As max_batches does: the two come to the same weights."""
        self.cfg(100000)
        job = self.start()
        self.wait_for("tiny_100.weights.state", job)
        picture = self.path(self.data.pictures[3])
        os.rename(picture, picture + ".kept")
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertIn("cannot be read (see above); the last weights are backup/tiny.backup", self.said())
        os.rename(picture + ".kept", picture)
        ended, step = self.weights("tiny.backup"), self.step_of("tiny.backup")
        self.empty()
        self.cfg(step)
        self.same_weights(self.trained(*LOCAL)[0], ended)

    def test_another_period_or_number_of_ranks_is_another_run(self):
        self.trained(*LOCAL)
        for options, says in ((LOCAL[2:], "-ddp_local_sgd"), (("-ddp_local_sgd", "4", *LOCAL[2:]), "-ddp_local_sgd was 8 (2 ranks), is now 4"),
                              (LOCAL[:6], "-ddp_slowmo_rate was 0.9, is now 1")):
            self.refused(*TRAIN, *options, "-resume", ranks=2, says=says)
        self.refused(*TRAIN, *LOCAL, "-resume", ranks=4, says="-ddp_local_sgd was 8 (2 ranks), is now 8 (4 ranks)")


class Refused(LocalSgd):
    def test_what_it_does_not_go_with(self):
        for options, says in ((("-ddp_exact",), "-ddp_exact does not go with -ddp_local_sgd 8, whose result depends on the number of ranks"),
                              (("-ddp_sync_bn", "1"), "-ddp_sync_bn 1 does not go with -ddp_local_sgd 8, whose ranks update with their own gradients"),
                              (("-ddp_sync_every", "2"), "-ddp_local_sgd 8 does not go with -ddp_sync_every 2: both decide which steps sum gradients"),
                              (("-ddp_batch", "rank"), "-ddp_batch rank does not go with -ddp_local_sgd 8, whose ranks"),
                              (("-ddp_broadcast_buffers", "save"), "-ddp_local_sgd 8 does not go with -ddp_broadcast_buffers save: both decide how ranks get the same statistics of BatchNorm")):
            for ranks in (0, 2):
                self.refused(*TRAIN, *LOCAL, *options, ranks=ranks, code=2, says=says)

    def test_what_is_nothing_without_it(self):
        self.refused(*TRAIN, *LOCAL[2:4], code=2, says="-ddp_local_warmup is of -ddp_local_sgd H, and needs it")
        self.refused(*TRAIN, *LOCAL[4:6], code=2, says="-ddp_slowmo is of -ddp_local_sgd H, and needs it")
        self.refused(*TRAIN, *LOCAL[:4], *LOCAL[6:], code=2, says="-ddp_slowmo_rate is of -ddp_slowmo, and needs it")

    def test_what_does_not_train(self):
        self.refused("ddp", "bench", "tiny.cfg", "-ddp_local_sgd", "2", code=2, says="-ddp_local_sgd is for training")

    def test_averages_of_weights(self):
        self.cfg(30, ema_alpha=.5)
        self.refused(*TRAIN, *LOCAL, ranks=2, says="ema_alpha=0.5 averages the weights of all ranks")

    def test_rates_next_to_nothing(self):
        self.cfg(30, burn_in=6)
        self.refused(*TRAIN, *LOCAL, ranks=2, code=2, says="a warm-up of 5 steps is too short, 6 are enough")

    def test_ranks_must_agree(self):
        words = ["mpirun", "-np", "1", darknet.PROGRAM, *TRAIN, ":", "-np", "1", darknet.PROGRAM, *TRAIN, "-ddp_local_sgd", "4"]
        self.check_refused(darknet.run(words, self.folder), "-ddp_local_sgd 4")


if __name__ == "__main__":
    darknet.main()
