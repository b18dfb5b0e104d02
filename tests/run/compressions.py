#!/usr/bin/env python3
# ddp-test: usual cost=100
"""Compressions of -ddp_compress, whichever there are: one result whatever the schedule, the buckets and the overlap; what ranks keep of
gradients is in the state file, so that a run that was ended or killed goes on to the same weights, and on another number of ranks with
their sum; what does not go with them is refused. (What each result is: unit.reducer_NAME. What is one's own: algorithms/NAME/tests.)"""
import array
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
WORDS = darknet.compressions()
ALL = [("-ddp_compress", word) for word in WORDS]
ONE = ALL[0]
SMALL = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
OTHERWISE = (SMALL, ("-ddp_schedule", "direct"), ("-ddp_schedule", "hierarchical", "-ddp_overlap", "0"), (*SMALL, "-ddp_defer_mb", "0"),
             ("-ddp_verify_every", "1"), ("-ddp_on_nan", "skip", "2"))


def distance(a, b):
    """Of two weights files, whose headers take 20 bytes."""
    return sum((x - y) ** 2 for x, y in zip(array.array("f", a[20:]), array.array("f", b[20:]))) ** .5


def kept(state):
    """What ranks keep, of a state file: behind the network's own arrays, but for the checksum."""
    return state[state.index(b"error 0\0"):-8]


class Compressed(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=11)
        self.data.boxes()
        self.cfg(12)

    def cfg(self, steps, **values):
        text = darknet.detector_cfg(**{"batch": 8, "subdivisions": 8, "max_batches": steps, **values})
        self.write("tiny.cfg", text.replace("filters=4", "filters=12"))

    def state(self, name="tiny_final.weights"):
        return self.weights(name + ".state")

    def trained(self, *options, ranks=2):
        result = self.succeeds(*TRAIN, *options, ranks=ranks)
        return self.weights(), result

    def empty(self, but=None):
        for name in os.listdir(self.path("backup")):
            if not but or not name.startswith(but):
                os.remove(self.path("backup/" + name))


class Results(Compressed):
    def test_one_result_for_each_number_of_ranks(self):
        for ranks in (2, 4):
            plain, _ = self.trained(ranks=ranks)
            for how in ALL:
                compressed, result = self.trained(*how, ranks=ranks)
                self.assertRegex(result.out, "\nDDP: gradients travel by [^:\n]*: 0.00[0-9] MB of 0.00[2-9], and ranks keep what that leaves out for later\n")
                self.assertNotEqual(compressed, plain)
                for options in OTHERWISE[:6 if ranks == 2 else 1]:
                    with self.subTest(ranks=ranks, how=how, options=options):
                        self.same_weights(self.trained(*how, *options, ranks=ranks)[0], compressed)

    def test_the_first_steps_as_they_are(self):
        plain, _ = self.trained()
        self.same_weights(self.trained(*ONE, "-ddp_compress_after", "12")[0], plain)
        some, result = self.trained(*ONE, "-ddp_compress_after", "5")
        self.assertIn(" that leaves out for later, from step 6 on\n", result.out)
        self.assertNotEqual(some, plain)
        self.assertNotEqual(some, self.trained(*ONE)[0])
        for options in OTHERWISE:
            with self.subTest(options=options):
                self.same_weights(self.trained(*ONE, "-ddp_compress_after", "5", *options)[0], some)

    def test_one_rank_compresses_nothing(self):
        plain, _ = self.trained(ranks=0)
        for how in ALL:
            alone, result = self.trained(*how, ranks=0)
            self.same_weights(alone, plain)
            self.assertNotIn("DDP: gradients travel", result.out)

    def test_a_gpu_computes_what_a_cpu_does(self):
        plain, _ = self.trained()
        for how in ALL:
            on_gpu, _ = self.trained(*how)
            words = ["mpirun", "-np", "2", darknet.PROGRAM, *TRAIN, *how, "-nogpu"]
            self.assertEqual(darknet.run(words, self.folder).code, 0)
            on_cpu = self.weights()
            self.assertLess(distance(on_gpu, on_cpu), distance(on_gpu, plain) / 100)

    def test_updates_of_several_batches_and_joint_batch_norm(self):
        for options in (("-ddp_sync_every", "3"), ("-ddp_sync_bn", "1"), ("-ddp_batch", "rank"), ("-ddp_backend", "gloo")):
            with self.subTest(options=options):
                self.same_weights(self.trained(*ONE, *options)[0], self.trained(*ONE, *options, *SMALL)[0])

    def test_steps_that_are_dropped_leave_nothing_behind(self):
        self.write("tiny.cfg", darknet.regressor_cfg(max_batches=3).replace("filters=4", "filters=12"))
        for picture in self.data.pictures:
            self.write(self.data.label(picture), "1e38 -1e38\n")
        for how in ALL:
            result = self.succeeds("regressor", *TRAIN[1:], *how, "-ddp_on_nan", "skip", "9", ranks=2)
            self.assertEqual(len(re.findall("DDP: step [0-9]+ skipped", result.out)), 3, result)
            self.refused("regressor", *TRAIN[1:], *how, ranks=2, code=1, says="not finite")

    def test_bench_and_plan_know_what_is_sent(self):
        said = {}
        for format_ in ("none", *WORDS):
            result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", "-json", "figures", "-trace", "trace", "-ddp_compress", format_, ranks=2)
            with open(self.path("figures"), encoding="ascii") as f:
                figures = f.read()
            self.assertIn(f'"compress": "{format_}"', figures)
            said[format_] = float(re.search('"summed_mb": ([0-9.]+)', figures).group(1))
            result = self.succeeds("ddp", "plan", "tiny.cfg", "-np", "2", "-ddp_compress", format_)
            planned = float(re.search("sends and receives ([0-9.]+) MB a step", result.out).group(1))
            self.assertAlmostEqual(planned, said[format_], delta=0.0011)
            if format_ != "none":
                self.assertLess(said[format_], said["none"] / 2)


class Resumed(Compressed):
    def start(self, *how):
        words = darknet.command(*TRAIN, *how, ranks=2)
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(words, self.folder, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def test_from_a_checkpoint_to_the_same_weights(self):
        for how in (*ALL, (*ONE, "-ddp_compress_after", "15")):
            with self.subTest(how=how):
                self.empty()
                self.cfg(20)
                expected, _ = self.trained(*how)
                state = self.state()
                self.empty()
                self.cfg(12)
                self.trained(*how)
                self.cfg(20)
                self.succeeds(*TRAIN, *how, "-resume_force", ranks=2)
                self.same_weights(self.weights(), expected)
                self.assertTrue(kept(self.state()) == kept(state), "other errors")

    def test_a_run_that_has_nothing_left_to_train_saves_what_it_has_read(self):
        self.trained(*ONE)
        expected = self.state()
        for ending in ("", ".state"):
            os.rename(self.path("backup/tiny_final.weights" + ending), self.path("backup/tiny_12.weights" + ending))
        self.empty(but="tiny_12")
        self.succeeds(*TRAIN, *ONE, "-resume", ranks=2)
        self.assertTrue(kept(self.state()) == kept(expected), "other errors")
        result = self.succeeds(*TRAIN, *ONE, "-resume", ranks=2)
        self.assertIn("DDP: nothing was trained, so ", result.out, result)

    def test_errors_that_are_lost_are_missed(self):
        """So the test above does not pass without them."""
        self.cfg(20)
        expected, _ = self.trained(*ONE)
        self.empty()
        self.cfg(12)
        self.trained(*ONE)
        self.cfg(13)
        self.succeeds(*TRAIN, "-resume_force", ranks=2)
        self.assertNotIn(b"error 0\0", self.state())
        self.cfg(20)
        result = self.succeeds(*TRAIN, *ONE, "-resume_force", ranks=2)
        self.assertIn(f"resumed all the same: -ddp_compress was none, is now {ONE[1]}\n", result.out, result)
        self.assertNotEqual(self.weights(), expected)

    def test_a_run_that_was_ended_goes_on_to_the_same_weights(self):
        self.cfg(100000)
        job = self.start(*ONE)
        self.wait_for("tiny_100.weights.state", job)
        darknet.tell(darknet.ranks_under(job.pid), signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        steps = len(re.findall(" avg, ", self.said())) + 10
        self.cfg(steps)
        self.succeeds(*TRAIN, *ONE, "-resume_force", ranks=2)
        resumed = self.weights()
        self.empty()
        self.same_weights(self.trained(*ONE)[0], resumed)

    def test_a_killed_rank_is_named_and_the_rest_is_made_up_for(self):
        for how in ALL:
            self.empty()
            self.cfg(100000)
            job = self.start(*how)
            self.wait_for("tiny_100.weights.state", job)
            os.kill(darknet.ranks_under(job.pid)[1], signal.SIGKILL)
            self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
            self.assertRegex(self.said(), "rank [01] ")
            self.cfg(self.keep_newest_numbered() + 10)
            self.succeeds(*TRAIN, *how, "-resume_force", ranks=2)
            resumed = self.weights()
            self.empty()
            self.same_weights(self.trained(*how)[0], resumed)

    def test_on_another_number_of_ranks_errors_are_added_up(self):
        for before, now, says in ((4, 2, "what 4 ranks have kept of compressed gradients is added up on 2"),
                                  (2, 4, "what 2 ranks have kept of compressed gradients is added up on 4"),
                                  (2, 0, "what 2 ranks have kept of compressed gradients is lost: a rank that is alone"),
                                  (0, 2, "resuming from")):
            with self.subTest(before=before, now=now):
                self.empty()
                self.cfg(12)
                self.trained(*ONE, ranks=before)
                self.assertEqual(self.state().count(b"error 1\0"), 3 if before else 0)
                self.assertEqual(self.state().count(b"error 3\0"), 3 if before == 4 else 0)
                self.cfg(20)
                result = self.succeeds(*TRAIN, *ONE, "-resume_force", ranks=now)
                self.assertIn(says, result.out, result)
                self.assertIn("\n20: ", result.out, result)

    def test_a_checkpoint_without_compression_has_kept_nothing(self):
        self.cfg(12)
        self.trained()
        self.cfg(20)
        result = self.succeeds(*TRAIN, *ONE, "-resume_force", ranks=4)
        self.assertIn(f"resumed all the same: -ddp_compress was none, is now {ONE[1]}\n", result.out, result)
        self.assertNotIn("have kept", result.out, result)

    def test_another_compression_is_another_run(self):
        self.trained(*ONE)
        self.refused(*TRAIN, "-resume", ranks=2, says=f"-ddp_compress was {ONE[1]}, is now none")
        for now in ("none", *WORDS[1:]):
            self.cfg(20)
            result = self.succeeds(*TRAIN, "-ddp_compress", now, "-resume_force", ranks=2)
            self.assertIn(f"resumed all the same: -ddp_compress was {ONE[1]}, is now {now}\n", result.out, result)
            self.empty()
            self.cfg(12)
            self.trained(*ONE)


class Refused(Compressed):
    def test_a_beginning_of_nothing(self):
        for how in ((), ("-ddp_compress", "bf16")):
            self.refused(*TRAIN, *how, "-ddp_compress_after", "5", ranks=2, says="-ddp_compress_after is for training with a -ddp_compress that keeps what it leaves out")
        self.refused("ddp", "bench", "tiny.cfg", *ONE, "-ddp_compress_after", "5", ranks=2, says="-ddp_compress_after is for training")

    def test_what_it_does_not_go_with(self):
        """One of them on ranks; all: run.pairs."""
        for ranks in (0, 2):
            self.refused(*TRAIN, *ONE, "-ddp_exact", ranks=ranks, code=2,
                         says=f"-ddp_exact does not go with -ddp_compress {ONE[1]}, whose result depends on the number of ranks; leave one of them out\n")

    def test_numbers_that_a_word_does_not_take(self):
        row = darknet.options()["-ddp_compress"]
        for value in ("int8", "", WORDS[0].upper()):
            self.refused(*TRAIN, "-ddp_compress", value, code=2, says=f"-ddp_compress wants {row['argument']}, ")
        for word in (word for word in row["words"] if word["compresses"]):
            name, bad = word["word"], ["x"]
            if word["argument"]:
                bad = ["", ":", ":0", f":{word['high'] + 1:g}", f":{word['low']:g}x", ":nan", ":-1", ": 2", ":1.2.3", ":."]
            for value in (name + text for text in bad):
                result = self.refused(*TRAIN, "-ddp_compress", value, code=2, says=f"-ddp_compress wants {row['argument']}, ")
                self.assertIn(f", not '{value}'\n", result.err, result)

    def test_a_prediction(self):
        self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "1", "-profile", "profile")
        self.refused("ddp", "plan", "tiny.cfg", "-profile", "profile", *ONE, code=2, says="-profile predicts sums of whole gradients")

    def test_ranks_must_agree(self):
        words = ["mpirun", "-np", "1", darknet.PROGRAM, *TRAIN, *ONE, ":", "-np", "1", darknet.PROGRAM, *TRAIN]
        self.check_refused(darknet.run(words, self.folder), f"-ddp_compress {ONE[1]}")


if __name__ == "__main__":
    darknet.main()
