#!/usr/bin/env python3
# ddp-test: usual
"""Which checkpoint -resume takes, and what it refuses; a disk that is full. (What a run leaves alone: run.kept.)"""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
from resuming import FINAL, Resume  # noqa: E402


class Checkpoints(Resume):
    """Two checkpoints of a run: of 100 steps and of 200."""

    def setUp(self):
        super().setUp()
        self.cfg("detector", max_batches=200)
        self.expected = None

    def damage(self, name, position):
        with open(self.path(name), "r+b") as f:
            f.seek(position)
            byte = f.read(1)
            f.seek(position)
            f.write(bytes([byte[0] ^ 4]))

    def write_bytes(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content)

    def state_of_step_100(self):
        """Whole, as numbered weights have it while they are the newest ones."""
        self.cfg("detector", max_batches=100)
        self.trained()
        state = self.read("backup/tiny_100.weights.state")
        self.empty()
        self.cfg("detector", max_batches=200)
        return state

    def test_a_damaged_one_is_skipped(self):
        older = self.state_of_step_100()
        weights = self.trained()
        newest = ["backup/tiny_200.weights", "backup/tiny.backup"]
        names = self.saved()
        self.assertEqual(names, ["tiny.backup", "tiny.backup.state", "tiny_100.weights",
                                 "tiny_100.weights.state", "tiny_200.weights",
                                 "tiny_200.weights.state"])
        self.write_bytes("backup/tiny_100.weights.state", older)
        self.damage(newest[0], 100)
        self.damage(newest[1] + ".state", 900)
        rows = self.read("backup/tiny.csv")
        result = self.succeeds(*self.words("detector", "-resume_force"), ranks=2)
        self.assertIn("DDP: backup/tiny.csv, which has rows up to a later checkpoint, is kept as backup/tiny.csv.old\n", result.out)
        self.assertEqual(self.read("backup/tiny.csv.old"), rows)
        for name in newest:
            self.assertIn(name, result.out, result)
        self.assertRegex(result.out, r"(?m)^DDP: resum.*backup/tiny_100\.weights", result)

        one = self.succeeds(*self.words("detector", "-resume_force"))
        self.assertTrue(self.read(FINAL["detector"]) != b"", one)
        self.empty()
        self.trained()
        self.write_bytes("backup/tiny_100.weights.state", older)
        for name in newest:
            with open(self.path(name), "r+b") as f:
                f.truncate(99)
        result = self.succeeds(*self.words("detector", "-resume_force"))
        self.same_weights(self.read(FINAL["detector"]), weights, result)

    def test_rows_up_to_a_damaged_one_are_kept(self):
        """Of which the rows do not tell: it was saved last."""
        self.cfg("detector", max_batches=130)
        self.succeeds(*self.words("detector"))
        rows = self.read("backup/tiny.csv")
        self.damage(FINAL["detector"] + ".state", 900)
        self.assertIn(" is kept as backup/tiny.csv.old\n", self.succeeds(*self.words("detector", "-resume"), ranks=2).out)
        self.assertEqual(self.read("backup/tiny.csv.old"), rows)

    def test_the_only_one_is_damaged(self):
        """A byte of the state: the weights stay as they are, unless they are asked for alone."""
        self.cfg("detector", max_batches=6)
        self.succeeds(*self.words("detector", "-ddp_seed", "7"))
        weights = self.read(FINAL["detector"])
        self.damage(FINAL["detector"] + ".state", 900)
        self.cfg("detector", max_batches=9)
        for ranks in (0, 2):
            self.refused(*self.words("detector", "-resume"), ranks=ranks, code=1,
                         says=["no checkpoint is left to resume from: backup/tiny_final.weights.state: its header is damaged",
                               "-resume_force goes on from these weights alone"])
            self.same_weights(self.read(FINAL["detector"]), weights)
        result = self.succeeds(*self.words("detector", "-resume_force"), ranks=2)
        self.assertIn("DDP: resuming from the weights of backup/tiny_final.weights alone: 6 batches, 72 images; lost", result.out,
                      result)
        self.assertRegex(result.out, r"(?m)^7: ", result)
        self.assertNotRegex(result.out, r"(?m)^6: ", result)
        self.assertNotEqual(self.read(FINAL["detector"]), weights)
        self.succeeds(*self.words("detector", "-resume"))

    def test_what_is_cut_short_is_no_matter_of_force(self):
        self.cfg("detector", max_batches=6)
        self.succeeds(*self.words("detector"))
        os.truncate(self.path(FINAL["detector"]), 100)
        result = self.refused(*self.words("detector", "-resume"), code=1,
                              says=["no checkpoint is left to resume from: backup/tiny_final.weights has 100 bytes, ",
                                    "; they are cut short, and without -resume a run begins anew and sets them aside"])
        self.assertNotIn("-resume_force", result.err)

    def test_a_cfg_whose_name_ends_in_a_number(self):
        self.write("tiny_7.cfg", darknet.detector_cfg(max_batches=100))
        words = [word.replace("tiny.cfg", "tiny_7.cfg") for word in self.words("detector", "-resume", "-resume_force")]
        result = self.succeeds(*words)
        self.assertRegex(result.out, r"(?m)^DDP: in backup: tiny_7.backup, (tiny_7_(best|last).weights, )*tiny_7_final.weights, tiny_7_100.weights, tiny_7.csv, ")
        self.assertEqual(re.findall(r"-resume\w*", result.out), ["-resume_force"], result)

    def test_a_pair_that_a_restarted_job_finds_is_kept(self):
        """Saved just before the job failed, or by another run, where rank 0 is on another host now."""
        self.cfg("detector", max_batches=5)
        self.succeeds(*self.words("detector"))
        weights = self.read(FINAL["detector"])
        result = self.succeeds(*self.words("detector"), environment={"DARKNET_DDP_RESTARTED": "1"})
        self.same_weights(self.read("backup/tiny.1/tiny_final.weights"), weights, result)

    def test_a_damaged_one_is_not_left_for_an_earlier_run(self):
        for batches in (3, 5):  # the first has come to its end, or not
            self.cfg("detector", max_batches=3)
            self.succeeds(*self.words("detector", "-ddp_seed", "7"))
            self.succeeds(*self.words("detector", "-ddp_seed", "8"))
            self.cfg("detector", max_batches=batches)
            newer = self.read("backup/tiny_final.weights")
            for name in self.saved():
                if name.endswith(".state"):
                    os.truncate(self.path("backup/" + name), 300)
            result = self.refused(*self.words("detector", "-ddp_seed", "8", "-resume"), ranks=2, says="-resume_force goes on from these weights alone")
            self.assertNotIn("are in backup again", result.out)
            self.assertEqual(self.read("backup/tiny_final.weights"), newer)
            result = self.succeeds(*self.words("detector", "-ddp_seed", "8", "-resume_force"))
            self.assertIn("resuming from the weights of backup/tiny_final.weights alone", result.out)
            shutil.rmtree(self.path("backup"))
            os.mkdir(self.path("backup"))

    def test_weights_that_a_run_begins_with_are_no_checkpoint(self):
        """The same line, with -resume, can be used every time."""
        self.cfg("detector", max_batches=3)
        self.succeeds(*self.words("detector"))
        os.rename(self.path(FINAL["detector"]), self.path("backup/tiny.weights"))
        for name in self.saved():
            if name != "tiny.weights":
                os.unlink(self.path("backup/" + name))
        words = list(self.words("detector", "-clear", "-resume"))
        words.insert(4, "backup/tiny.weights")
        result = self.succeeds(*words, ranks=2)
        self.assertIn("DDP: nothing to resume of tiny in backup: ", result.out)
        self.assertIn("DDP: resuming from backup/tiny_final.weights: 3 batches", self.succeeds(*words).out)

    def test_a_run_without_checkpoints_hides_none(self):
        self.cfg("detector", max_batches=3)
        self.succeeds(*self.words("detector", "-ddp_seed", "7"))
        os.unlink(self.path("backup/tiny.finished"))
        for _ in range(2):
            self.succeeds(*self.words("detector", "-ddp_seed", "7"))
            for name in self.saved():
                os.unlink(self.path("backup/" + name))
        result = self.succeeds(*self.words("detector", "-resume"))
        self.assertIn("DDP: the files of backup/tiny.1, an earlier run's, are in backup again\n", result.out)
        self.assertIn("DDP: resuming from backup/tiny_final.weights: 3 batches", result.out)

    def test_weights_of_another_program_are_not_resumed(self):
        self.cfg("detector", max_batches=3)
        self.succeeds(*self.words("detector"))
        for name in self.saved():
            if name.endswith(".state"):
                os.unlink(self.path("backup/" + name))
        before = self.everything()
        result = self.refused(*self.words("detector", "-resume"), ranks=2, code=1,
                              says=["nothing can be resumed from backup/tiny", "it has no state file",
                                    "-resume_force goes on from these weights alone",
                                    "without -resume a run begins anew and sets them aside"])
        now = self.everything()
        self.assertEqual({name: now[name] for name in before if name.endswith("weights")},
                         {name: before[name] for name in before if name.endswith("weights")}, result)
        self.cfg("detector", max_batches=5)
        result = self.succeeds(*self.words("detector", "-resume_force"))
        self.assertIn(" alone: 3 batches, 36 images; lost", result.out)

    def test_what_clear_does_not_clear_is_said(self):
        says = "DDP: -clear is not used, since the run goes on from backup/tiny_final.weights\n"
        self.cfg("detector", max_batches=2)
        words = list(self.words("detector", "-clear"))
        for number, options in enumerate(((), (), ("-resume",), ("-resume_force",))):
            result = self.succeeds(*words, *options, ranks=2 if number % 2 else 0)
            self.assertEqual(result.out.count(says), number > 1, result)
        self.empty()
        self.assertNotIn(says, self.succeeds(*words, "-resume").out)

    def test_a_finished_run_of_sums_over_several_batches(self):
        """The last batch comes behind the last update."""
        self.cfg("detector", max_batches=10)
        words = self.words("detector", "-ddp_sync_every", "3", "-ddp_seed", "7")
        self.succeeds(*words, ranks=2)
        before = self.everything()
        result = self.succeeds(*words, "-resume", ranks=2)
        self.assertIn("DDP: nothing left to train: batch 10 of max_batches=10 is done", result.out)
        self.assertEqual({n: h for n, h in self.everything().items() if "weights" in n}, {n: h for n, h in before.items() if "weights" in n})

    def test_another_network_is_no_matter_of_force(self):
        self.cfg("detector", max_batches=3)
        self.succeeds(*self.words("detector"))
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=4).replace("filters=4", "filters=5"))
        for option in ("-resume", "-resume_force"):
            result = self.refused(*self.words("detector", option), ranks=2, code=2,
                                  says=["the network is another one: ", "a run that begins anew sets the earlier one's files aside"])
            self.assertNotIn("-resume_force goes on", result.err)

    def test_a_cfg_that_was_renamed(self):
        self.succeeds(*self.words("detector"))
        os.rename(self.path("tiny.cfg"), self.path("other.cfg"))
        words = list(self.words("detector", "-resume"))
        words[words.index("tiny.cfg")] = "other.cfg"
        self.assertIn("DDP: nothing to resume of other in backup: this run starts from the beginning\n", self.succeeds(*words).out)

    def test_nothing_to_resume(self):
        result = self.succeeds(*self.words("detector", "-resume", "-ddp_seed", "7"), ranks=2)
        self.assertRegex(result.out, r"(?m)^DDP: .*nothing to resume", result)
        for name in self.saved():
            if name.endswith(".weights") or name.endswith(".backup"):
                os.unlink(self.path("backup/" + name))
        result = self.succeeds(*self.words("detector", "-resume", "-ddp_seed", "7"))
        self.assertIn("DDP: nothing to resume of tiny in backup: this run starts from the beginning\n", result.out)
        self.assertNotIn("brings them back", result.out)

    def test_a_run_that_is_finished(self):
        says = "DDP: nothing left to train: batch 4 of max_batches=%d is done; "
        larger = "with a larger max_batches= in tiny.cfg `"
        for command in ("detector", "classifier"):
            for ranks in (0, 2):
                with self.subTest(command=command, ranks=ranks):
                    self.empty()
                    self.cfg(command, max_batches=4)
                    first = self.succeeds(*self.words(command), ranks=ranks)
                    weights, before, all_before = self.read(FINAL[command]), self.files(), self.everything()
                    again = self.succeeds(*self.words(command, "-resume"), ranks=ranks)
                    self.assertNotIn("nothing left", first.out, first)
                    self.assertEqual(again.out.count(says % 4 + larger), 1, again)
                    self.assertNotIn(" avg, ", again.out, again)
                    self.same_weights(self.read(FINAL[command]), weights, again)
                    self.assertEqual(self.files(), before, "written again")
                    self.assertIn(" -resume_force` trains further\n", again.out, again)
                    self.assertNotIn("DDP: seed", again.out, again)
                    self.assertEqual(self.everything(), all_before, "changed")
                    self.assertIn(f"DDP: nothing was trained, so {FINAL[command]} is not written\n", again.out, again)
                    self.assertNotIn("Saving weights", again.err, again)
                    words = list(self.words(command))
                    words.insert(4, FINAL[command])
                    again = self.succeeds(*words, ranks=ranks)
                    self.assertIn(says[:-2] % 4 + f", as {FINAL[command]} counts; -clear counts from 0\n", again.out, again)
                    self.assertEqual(self.files(), before, "written again")
                    self.assertEqual(self.everything(), all_before, "changed")
                    self.cfg(command, max_batches=3)
                    again = self.succeeds(*self.words(command, "-resume_force"), ranks=ranks)
                    self.assertIn(says % 3 + larger, again.out, again)
                    self.cfg(command, max_batches=5)
                    again = self.succeeds(*self.words(command, "-resume_force"), ranks=ranks)
                    self.assertNotIn("nothing left", again.out, again)
                    self.assertEqual(again.out.count(" avg, "), 1, again)

    def test_what_becomes_of_the_weights_on_the_line(self):
        self.cfg("detector", max_batches=4)
        self.succeeds(*self.words("detector"))
        os.rename(self.path(FINAL["detector"]), self.path("first.weights"))
        words = list(self.words("detector"))
        words.insert(4, "first.weights")
        self.cfg("detector", max_batches=6)
        begins = "DDP: begins at batch 4, image 48, as first.weights counts; -clear counts from 0\n"
        for ranks, options in ((0, ()), (2, ()), (0, ("-clear",))):
            result = self.succeeds(*words, *options, ranks=ranks)
            self.assertEqual(result.out.count(begins), not options, result)
            self.assertNotIn("is not used", result.out, result)
        self.cfg("detector", max_batches=8)
        for ranks in (0, 2):
            result = self.succeeds(*words, "-resume_force", ranks=ranks)
            self.assertEqual(result.out.count("DDP: first.weights is not used, since the run goes on from backup/tiny_final.weights\n"), 1, result)
            self.assertNotIn("begins at batch", result.out, result)

    def test_a_run_that_ended_before_its_last_save(self):
        """All of it is trained, but its last file is missing."""
        self.succeeds(*self.words("detector"))
        weights = self.read(FINAL["detector"])
        for end in ("", ".state"):
            os.remove(self.path(FINAL["detector"] + end))
        result = self.succeeds(*self.words("detector", "-resume"), ranks=2)
        self.assertNotIn(" avg, ", result.out, result)
        self.same_weights(self.read(FINAL["detector"]), weights, result)

    def test_no_advice_to_type_what_was_refused(self):
        self.cfg("detector", max_batches=5)
        self.succeeds(*self.words("detector"), ranks=2)
        self.cfg("detector", max_batches=10)
        with open(self.path("train.list"), encoding="ascii") as f:
            lines = f.readlines()
        self.write("train.list", "".join(lines[:-1]))
        result = self.refused(*self.words("detector", "-resume"), ranks=2, says="-resume_force goes on all the same")
        self.assertNotIn("goes on from", result.err + result.out)
        result = self.refused(*self.words("detector", "-resume", "-ddp_ranks", "2"), says="-resume_force goes on all the same")
        self.assertNotIn("goes on from", result.err + result.out)

    def test_links_are_not_followed(self):
        """Neither where a file is saved nor where the next one might be written."""
        self.cfg("detector", max_batches=2)
        self.write("precious", "keep")
        for ddp in ((), ("-ddp",)):
            self.empty()
            for name in ("tiny_final.weights", "tiny_final.weights.part", "tiny_final.weights.state.part"):
                os.symlink("../precious", self.path("backup/" + name))
            self.succeeds("detector", "train", "train.data", "tiny.cfg", *ddp)
            self.assertEqual(self.read("precious"), b"keep", ddp)
            self.assertFalse(os.path.islink(self.path(FINAL["detector"])))

    def test_another_cfg(self):
        self.trained()
        self.cfg("detector", max_batches=210, momentum=.8)
        result = self.refused(*self.words("detector", "-resume"), ranks=2, code=2,
                              says=["momentum", "0.8", "0.9", "-resume_force"])
        self.assertEqual(result.err.count("momentum"), 1, result)
        self.succeeds(*self.words("detector", "-resume_force"), ranks=2)

    def test_all_that_changed_is_said_where_a_run_goes_on_all_the_same(self):
        self.trained()
        self.cfg("detector", max_batches=203, momentum=.8, decay=.001)
        self.data.list("train.list", self.data.pictures[:-1])
        result = self.succeeds(*self.words("detector", "-resume_force", "-ddp_replace", "-ddp_seed", "8"), ranks=2)
        for says in ("[net]: max_batches was 200 ", "[net]: momentum was 0.9 ", "[net]: decay was 0.0005 ", "-ddp_replace was ", "the seed was 7, is now 8",
                     "the training list had 11 lines, has now 10"):
            self.assertRegex(result.out, "(?m)^DDP: .*resumed all the same: .*" + re.escape(says), result)
        self.assertEqual(result.out.count("resumed all the same"), 6, result)

    def test_another_seed_list_or_option(self):
        self.trained()
        self.cfg("detector", max_batches=200)
        self.refused(*self.words("detector", "-resume", "-ddp_seed", "8"), code=2,
                     says=["seed", "7", "8"])
        self.refused(*self.words("detector", "-resume", "-ddp_replace"), code=2,
                     says=["-ddp_replace", "-resume_force"])
        self.data.list("train.list", self.data.pictures[:-1])
        self.refused(*self.words("detector", "-resume"), ranks=2, code=2,
                     says=["list", "11", "10", "-resume_force"])

    def test_a_list_of_the_same_pictures_in_other_folders(self):
        """A project that was moved."""
        self.cfg("detector", max_batches=8)
        weights = self.straight("detector", ranks=2)
        self.cfg("detector", max_batches=4)
        self.succeeds(*self.words("detector", "-ddp_seed", "7"), ranks=2)
        self.cfg("detector", max_batches=8)
        self.data.list("train.list", [self.path(p) for p in self.data.pictures])
        self.refused(*self.words("detector", "-resume"), ranks=2, code=2, says="-resume_force")
        result = self.succeeds(*self.words("detector", "-resume_force"), ranks=2)
        self.assertIn("the training list has other lines than before, or another order", result.out)
        self.same_weights(self.read(FINAL["detector"]), weights, result)

    def test_comments_may_change(self):
        self.trained()
        with open(self.path("tiny.cfg"), encoding="ascii") as f:
            text = f.read()
        self.write("tiny.cfg", "# a comment\n\n" + text.replace("=", " = "))
        self.succeeds(*self.words("detector", "-resume"))

    def test_keep(self):
        self.cfg("classifier", max_batches=12)
        self.write("backup/tiny_1000.weights", "somebody else's")
        self.succeeds(*self.words("classifier", "-keep", "2"), ranks=2)
        names = [n for n in os.listdir(self.path("backup")) if n.endswith(".weights")]
        self.assertEqual(sorted(names), ["tiny.weights", "tiny_12.weights", "tiny_13.weights"])
        self.assertEqual(self.read("backup/tiny.1/tiny_1000.weights"), b"somebody else's")
        self.write("backup/tiny_12.weights", "better ones, beside the state of those that were there")
        self.cfg("classifier", max_batches=16)
        self.succeeds(*self.words("classifier", "-keep", "1", "-resume_force"))
        self.assertIn(b"better ones", self.read("backup/tiny_12.weights"))
        self.assertFalse(os.path.exists(self.path("backup/tiny_13.weights")))


class SmallDisk(Resume):
    """A disk that no checkpoint fits on."""

    def test_that_is_seen_before_the_first_step(self):
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", self.path("backup")], capture_output=True, check=False).returncode:
            self.skipTest("no tmpfs can be mounted")
        self.addCleanup(subprocess.run, ["umount", self.path("backup")], check=True)
        body = darknet.BODY + darknet.convolutional(60) + darknet.convolutional(60)
        self.write("tiny.cfg", darknet.classifier_cfg(body=body, max_batches=2))
        says = r"backup has room for \d+\.\d kB, and a checkpoint of this network takes at least 280\.6 kB: nothing could be saved"
        for ranks in (0, 2):
            result = self.refused(*self.words("classifier"), ranks=ranks, says="nothing could be saved", code=1)
            self.assertRegex(result.err, says)
            self.assertNotIn(" avg, ", result.out)
        self.assertRegex(self.darknet(*self.words("classifier", "-ddp_on_save_error", "continue")).out, says)


class FullDisk(Resume):
    """No file may grow beyond a limit that the weights do not fit in."""

    def run_limited(self, *words, size):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        job = darknet.start(darknet.command(*words, ranks=0), self.folder, preexec_fn=limit,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(darknet.end_group, job)
        out, err = job.communicate(timeout=darknet.LIMIT_S)
        return darknet.Result(words, job.returncode, out, err, 0)

    def setUp(self):
        super().setUp()
        self.cfg("classifier", max_batches=6)
        self.succeeds(*self.words("classifier", "-ddp_seed", "7"))
        self.before = {n: self.read("backup/" + n) for n in self.saved()}
        self.cfg("classifier", max_batches=12)

    def after(self):
        """But for the second name of what the run had come to."""
        return {n: self.read("backup/" + n) for n in self.saved() if "_final_6" not in n}

    def test_stop(self):
        result = self.run_limited(*self.words("classifier", "-resume_force"), size=200)
        self.check_refused(result, ["backup/tiny_", "File too large"])
        self.assertEqual(self.after(), self.before)

    def test_nothing_left_to_save(self):
        """A run that is done needs no room."""
        self.cfg("classifier", max_batches=6)
        result = self.run_limited(*self.words("classifier", "-resume"), size=200)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.after(), self.before)

    def test_go_on(self):
        result = self.run_limited(*self.words("classifier", "-resume_force", "-ddp_on_save_error",
                                              "continue"), size=200)
        self.assertEqual(result.code, 1, result)  # nothing of it is saved
        self.assertIn("File too large", result.err, result)
        self.assertEqual(len(re.findall(" avg, ", result.out)), 6, result)
        self.assertEqual(self.after(), self.before)


if __name__ == "__main__":
    darknet.main()
