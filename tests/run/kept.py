#!/usr/bin/env python3
# ddp-test: usual
"""What a run leaves alone: an earlier run's files, which are set aside and come back, what a finished run has learnt, and weights that no
run of its cfg has saved."""
import os
import re
import shutil
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
from resuming import FINAL, Resume  # noqa: E402


class Kept(Resume):
    def setUp(self):
        super().setUp()
        self.cfg("detector", max_batches=200)

    def test_a_run_that_begins_anew_sets_the_earlier_one_aside(self):
        says = r"(?m)^DDP: this run begins anew: the files of an earlier one, the last of them backup/tiny_final\.weights: 5 batches, " \
               r"\d+ (?:seconds?|minutes) ago, are set aside in backup/(tiny\.\d)$"
        self.cfg("detector", max_batches=5)
        before = {}
        for number, ranks in enumerate((0, 0, 2)):
            result = self.succeeds(*self.words("detector"), ranks=ranks)
            self.assertEqual(re.findall(says, result.out), [f"tiny.{number}"] if number else [], result)
            now = self.everything()
            for name, content in before.items():
                at = name if "/" in name else f"tiny.{number}/{name}"
                self.assertEqual(now[at], content, (at, result))
            before = now
            self.assertIn("tiny.csv", before)
        self.assertIn("tiny.2/tiny.log", before)
        os.rename(self.path(FINAL["detector"]), self.path("taken"))
        words = list(self.words("detector"))
        words.insert(4, FINAL["detector"])
        self.refused(*words, code=1, says=f"a later run has set such a file aside: backup/tiny.2/{FINAL['detector'][7:]}")
        os.rename(self.path("taken"), self.path(FINAL["detector"]))
        self.assertNotIn("begins anew", self.succeeds(*self.words("detector", "-resume")).out)

    def test_a_run_that_was_set_aside_goes_on_where_it_lies(self):
        self.cfg("detector", max_batches=1000000)
        first = self.interrupted("-ddp_seed", "7")
        self.assertIn("DDP: as long as this run has saved nothing, -resume brings them back\n", self.interrupted("-ddp_seed", "7").text)
        self.data.data("train.data", backup="backup/tiny.1")
        back = self.interrupted("-ddp_seed", "7", "-resume")
        steps = len(re.findall(" avg, ", first.text))
        self.assertIn(f"DDP: resuming from backup/tiny.1/tiny.backup: {steps} batch", back.text)

    def test_weights_that_a_run_begins_with_stay_in_their_place(self):
        self.cfg("detector", max_batches=5)
        self.succeeds(*self.words("detector"))
        weights = self.read(FINAL["detector"])
        words = list(self.words("detector", "-clear"))
        words.insert(4, FINAL["detector"])
        self.cfg("detector", max_batches=3)
        result = self.succeeds(*words, ranks=2)
        self.assertIn(" are set aside in backup/tiny.1\n", result.out)
        self.assertNotIn("brings them back", result.out) # since these weights are in their place
        self.same_weights(self.read("backup/tiny.1/tiny_final.weights"), weights, result)
        self.assertNotEqual(self.read(FINAL["detector"]), weights)
        self.assertIn(f"DDP: {FINAL['detector']}, which no whole state file describes, is kept as {FINAL['detector']}.old\n", result.out)
        self.assertEqual(self.read(FINAL["detector"] + ".old"), weights)

    def test_a_name_that_other_cfgs_have(self):
        self.cfg("detector", max_batches=2)
        words = list(self.words("detector"))
        self.assertNotIn("first dot", self.succeeds(*words).out)
        os.rename(self.path("tiny.cfg"), self.path("tiny.v2.cfg"))
        words[3] = "tiny.v2.cfg"
        self.assertIn("DDP: the files of this run are named tiny, the cfg's name up to its first dot, and so are those of tiny.*.cfg\n", self.succeeds(*words).out)

    def test_files_of_another_cfg_stay(self):
        """tiny_448 saves what looks like a numbered checkpoint of tiny."""
        self.cfg("detector", max_batches=3)
        self.succeeds(*self.words("detector"))
        os.rename(self.path("tiny.cfg"), self.path("tiny_448.cfg"))
        words = list(self.words("detector"))
        words[words.index("tiny.cfg")] = "tiny_448.cfg"
        self.succeeds(*words)
        os.rename(self.path("tiny_448.cfg"), self.path("tiny.cfg"))
        for ending in ("", ".state"):
            os.rename(self.path("backup/tiny_448_final.weights" + ending), self.path("backup/tiny_448.weights" + ending))
        before = self.everything()
        self.succeeds(*self.words("detector"))
        now = self.everything()
        others = [name for name in before if name.startswith("tiny_448")]
        self.assertIn("tiny_448.weights.state", others)
        self.assertEqual({name: now.get(name) for name in others}, {name: before[name] for name in others})

    def test_what_a_finished_run_has_learnt_is_kept(self):
        for command, ranks in (("detector", 0), ("classifier", 2)):
            with self.subTest(command=command):
                self.empty()
                self.cfg(command, max_batches=3)
                self.succeeds(*self.words(command), ranks=ranks)
                final = self.path(FINAL[command])
                with open(final, "rb") as f:
                    first = f.read()
                self.cfg(command, max_batches=5)
                for _ in range(2):
                    result = self.succeeds(*self.words(command, "-resume_force"), ranks=ranks)
                    with open(self.path("backup/tiny_final_3.weights"), "rb") as f:
                        self.assertEqual(f.read(), first)
                self.assertNotIn("kept as", result.out)
                with open(final, "rb") as f:
                    self.assertNotEqual(f.read(), first)
                for name in self.saved():
                    if "_final_3.weights" not in name:
                        os.unlink(self.path("backup/" + name))
                self.assertIn("DDP: resuming from backup/tiny_final_3.weights: 3 batches", self.succeeds(*self.words(command, "-resume_force")).out)

    def test_what_it_has_learnt_has_a_name_that_no_epoch_has(self):
        self.cfg("classifier", max_batches=3)
        self.succeeds(*self.words("classifier"))
        first = self.read(FINAL["classifier"])
        self.cfg("classifier", max_batches=60)
        self.succeeds(*self.words("classifier", "-resume_force", "-keep", "1"))
        self.assertIn("tiny_3.weights", {name.replace("_final", "") for name in self.saved()})
        self.assertEqual(self.read("backup/tiny_final_3.weights"), first)

    def test_what_cannot_be_written_or_read_leaves_the_earlier_run_in_its_place(self):
        self.succeeds(*self.words("detector"))
        before = self.files()
        for options, says in ((("-ddp_trace", "none/trace"), "-ddp_trace none/trace: there is no folder "),
                              (("-ddp_trace", "backup"), "-ddp_trace backup: this is a folder, and a file is wanted"),
                              (("-ddp_trace", "t", "-ddp_trace_steps", "5:3"), "-ddp_trace_steps wants A:B"), (("-ddp_trace_steps", "5:6"), "wants -ddp_trace FILE"),
                              (("-tensorboard", "tiny.cfg"), "-tensorboard tiny.cfg: this is a file, and a folder is wanted")):
            self.refused(*self.words("detector"), *options, says=says)
            self.assertEqual(self.files(), before)

    def test_what_a_finished_run_has_learnt_is_kept_though_its_name_is_taken(self):
        self.cfg("classifier", max_batches=3)
        self.succeeds(*self.words("classifier"))
        first = self.read(FINAL["classifier"])
        self.write("backup/tiny_final_3.weights", "mine")
        self.cfg("classifier", max_batches=6)
        result = self.succeeds(*self.words("classifier"), "-resume_force")
        self.assertIn("DDP: backup/tiny_final_3.weights, other weights that have this name, is kept as backup/tiny_final_3.weights.old\n", result.out)
        self.assertEqual((self.read("backup/tiny_final_3.weights"), self.read("backup/tiny_final_3.weights.old")), (first, b"mine"))

    def test_a_file_of_somebody_else_s_that_is_trained_already(self):
        """It does not become a result of this run."""
        self.succeeds(*self.words("detector"))
        os.rename(self.path(FINAL["detector"]), self.path("other.weights"))
        self.empty()
        words = list(self.words("detector"))
        words.insert(4, "other.weights")
        for options in ((), ("-resume",)):
            result = self.succeeds(*words, *options, ranks=2)
            self.assertIn("DDP: nothing left to train: ", result.out, result)
            self.assertEqual(self.files(), {}, result)

    def test_weights_that_were_put_in_place_of_the_last_are_kept(self):
        self.succeeds(*self.words("detector"))
        self.write(FINAL["detector"], "somebody else's")
        result = self.succeeds(*self.words("detector", "-resume"), ranks=2)
        self.assertIn("its state says 1296", result.out, result)
        self.assertEqual(self.read(FINAL["detector"]), b"somebody else's", result)

    def test_what_comes_back_leaves_another_cfgs_weights_in_their_place(self):
        self.cfg("classifier", max_batches=6)
        self.write("tiny_2.cfg", self.read("tiny.cfg").decode())
        words = list(self.words("classifier"))
        for _ in range(2):
            self.succeeds(*words)
        epoch = self.read("backup/tiny.1/tiny_2.weights")
        for name in self.saved():
            os.unlink(self.path("backup/" + name))
        self.succeeds(*(word.replace("tiny.cfg", "tiny_2.cfg") for word in words))
        other = self.read("backup/tiny_2.weights")
        result = self.succeeds(*words, "-resume_force")
        self.assertIn("DDP: the files of backup/tiny.1, an earlier run's, are in backup again, but for those in whose places others lie\n", result.out)
        self.assertIn("DDP: resuming from backup/tiny", result.out)
        self.assertEqual((self.read("backup/tiny_2.weights"), self.read("backup/tiny.1/tiny_2.weights")), (other, epoch))
        # killed before its state had its name
        os.rename(self.path("backup/tiny_2.weights.state"), self.path("backup/tiny_2.weights.state.part"))
        result = self.succeeds(*words)
        self.assertIn("DDP: backup/tiny_2.weights, which a run of another cfg has saved, is kept as backup/tiny_2.weights.old\n", result.out)
        self.assertEqual(self.read("backup/tiny_2.weights.old"), other)

    def test_a_command_without_a_data_file(self):
        self.write("text", "to be or not to be that is the question " * 20)
        self.write("tiny.cfg", darknet.rnn_cfg())
        words = ("rnn", "train", "tiny.cfg", "-file", "text", "-backup", "backup")
        self.succeeds(*words, "-ddp", ranks=2)
        before = self.read("backup/tiny_final.weights")
        self.assertIn(" are set aside in backup/tiny.1\n", self.succeeds(*words).out)
        self.assertEqual(self.read("backup/tiny.1/tiny_final.weights"), before)
        self.assertNotEqual(self.read("backup/tiny_final.weights"), before)

    def test_what_another_cfgs_run_saves_meanwhile_is_kept(self):
        """tiny saves as tiny_last at each validation, and tiny_last when it ends."""
        self.cfg("detector", max_batches=3)
        words = list(self.words("detector"))
        os.rename(self.path("tiny.cfg"), self.path("tiny_last.cfg"))
        self.succeeds(*(word.replace("tiny.cfg", "tiny_last.cfg") for word in words))
        other = {end: self.read(FINAL["detector"].replace("tiny", "tiny_last") + end) for end in ("", ".state")}
        self.data.list("valid.list", self.data.pictures[:2])
        self.data.data("train.data", valid="valid.list")
        self.cfg("detector", max_batches=1000000)
        job = self.begin(*words, "-ddp_validate", "1000", ranks=0, until=1050)  # unread output lets it come 700 steps further at most
        kept = self.path("backup/tiny_last.weights.old")
        self.until(lambda: not any(name.startswith("tiny_last") and "part" in name for name in os.listdir(self.path("backup"))), job=job)
        for end, content in other.items():
            with open(self.path("mine" + end), "wb") as f:
                f.write(content)
            os.replace(self.path("mine" + end), self.path("backup/tiny_last.weights" + end))
        for line in job.stdout:
            if os.path.exists(kept) or line.startswith("2999: "):
                break
        self.assertEqual(self.read("backup/tiny_last.weights.old"), other[""])
        job.send_signal(signal.SIGINT)
        self.end(job)

    def test_a_picture_that_is_not_there_leaves_the_earlier_run_in_its_place(self):
        self.cfg("detector", max_batches=5)
        self.succeeds(*self.words("detector"))
        before = self.everything()
        os.remove(self.path("images/dog1.png"))
        for ranks in (0, 2):
            for option in ((), ("-nocheck",)):
                self.refused(*self.words("detector", *option), ranks=ranks, says="train.list:2: cannot read images/dog1.png")
                self.assertEqual(self.everything(), before)

    def test_of_weights_without_states_the_newest_are_gone_on_from(self):
        self.succeeds(*self.words("detector"))
        for name in self.saved():
            if name.endswith(".state") or name == "tiny.backup":
                os.unlink(self.path("backup/" + name))
        shutil.copyfile(self.path("backup/tiny_100.weights"), self.path("backup/tiny_last.weights"))  # the newest file
        result = self.succeeds(*self.words("detector", "-resume_force"))
        self.assertIn("DDP: resuming from the weights of backup/tiny_final.weights alone: 200 batches", result.out)

    def test_newer_weights_without_a_state_are_told(self):
        self.cfg("detector", max_batches=100)
        self.succeeds(*self.words("detector"))
        old = {end: self.read("backup/tiny.backup" + end) for end in ("", ".state")}
        self.cfg("detector", max_batches=200)
        self.succeeds(*self.words("detector", "-resume_force"))
        for name in ("tiny_final.weights.state", "tiny_final_100.weights.state", "tiny_200.weights.state"):
            os.unlink(self.path("backup/" + name))
        for end, content in old.items():
            with open(self.path("backup/tiny.backup" + end), "wb") as f:
                f.write(content)
        rows = self.read("backup/tiny.csv")
        result = self.succeeds(*self.words("detector", "-resume_force"))
        self.assertIn("DDP: skipped backup/tiny_final.weights: it has no state file (backup/tiny_final.weights.state)\n", result.out)
        self.assertIn("DDP: skipped backup/tiny_200.weights: it has no state file (backup/tiny_200.weights.state)\n", result.out)
        self.assertIn("DDP: resuming from backup/tiny.backup: 100 batches", result.out)
        self.assertIn("DDP: backup/tiny.csv, which has rows up to a later checkpoint, is kept as backup/tiny.csv.old\n", result.out)
        self.assertEqual(self.read("backup/tiny.csv.old"), rows)
        self.assertIn(" is kept as backup/tiny_final.weights.old\n", result.out)

    def test_states_of_numbered_weights_take_no_room(self):
        """Only the newest pairs, the last and the best have a whole one. All files of a run are no more than it says at its start."""
        self.data.list("valid.list", self.data.pictures[:2])
        self.data.data("train.data", valid="valid.list")
        for words in ((), ("-resume_force", "-keep", "2")):
            result = self.succeeds(*self.words("detector", "-ddp_validate", "50", *words))
            most = float(re.search(r"(?m)^DDP: backup takes ([\d.]+) kB at most: pairs of", result.out)[1])
            sizes = {name: os.path.getsize(self.path("backup/" + name)) for name in self.saved()}
            whole = {name for name in sizes if name.endswith(".state") and b"arrays 0\n" not in self.read("backup/" + name)}
            newest = "400.weights" if words else "200.weights"
            self.assertEqual({name[5:-6] for name in whole if "final_" not in name}, {"backup", "last.weights", "best.weights", "final.weights", newest})
            self.assertIn("tiny_100.weights.state", sizes if not words else sizes | {"tiny_100.weights.state": 0})
            self.assertLess(sum(size for name, size in sizes.items() if "final_" not in name) / 1e3, 1.05 * most + 4 * len(sizes), result)
            self.cfg("detector", max_batches=400)
        for name in self.saved():
            if not name.startswith("tiny_300.weights"):
                os.remove(self.path("backup/" + name))
        self.refused(*self.words("detector", "-resume"), code=1,
                     says="nothing can be resumed from backup/tiny_300.weights: numbered weights have no state any more")
        self.cfg("detector", max_batches=500)
        self.assertIn("DDP: resuming from the weights of backup/tiny_300.weights alone: 300 batches",
                      self.succeeds(*self.words("detector", "-resume_force")).out)

    def test_so_it_is_with_each_command(self):
        """Of those that have a list: weights of each epoch, averages, and what algorithms keep. 11 pictures are an epoch."""
        for command, cfg, labels, words in (("classifier", darknet.classifier_cfg, None, ("-keep", "1")),
                                            ("classifier", darknet.classifier_cfg, None, ("-ddp_local_sgd", "2", "-ddp_slowmo", "0.5")),
                                            ("regressor", darknet.regressor_cfg, self.data.numbers, ("-ddp_compress", "fp16")),
                                            ("segmenter", darknet.segmenter_cfg, self.data.masks, ()),
                                            ("isegmenter", darknet.isegmenter_cfg, self.data.masks, ("-ddp_shard_optimizer", "1"))):
            with self.subTest(command=command, words=words):
                shutil.rmtree(self.path("backup"), ignore_errors=True)
                os.mkdir(self.path("backup"))
                if labels:
                    labels()
                text = cfg(batch=4, subdivisions=2, max_batches=14, ema_alpha=0 if "-ddp_local_sgd" in words else .9)
                self.write("tiny.cfg", text.replace("filters=4\n", "filters=48\n"))  # weights of more bytes than a state's header
                result = self.succeeds(command, "train", "train.data", "tiny.cfg", "-ddp", *words, ranks=2)
                value, unit = re.search(r"(?m)^DDP: backup takes ([\d.]+) (kB|MB) at most: pairs of", result.out).groups()
                sizes = {name: os.path.getsize(self.path("backup/" + name)) for name in self.saved()}
                most = float(value) * {"kB": 1, "MB": 1000}[unit]
                self.assertLess(sum(sizes.values()) / 1000, 1.05 * most + 4 * len(sizes), (sizes, result))
                self.assertGreater(sum(sizes.values()) / 1000, most / 2, (sizes, result))
                whole = [name for name in sizes if name.endswith(".state") and b"arrays 0\n" not in self.read("backup/" + name)]
                self.assertEqual([name for name in whole if re.fullmatch(r"tiny_\d+\.weights\.state", name)], ["tiny_5.weights.state"])

    def test_copies_of_ones_own_are_no_numbered_weights(self):
        self.succeeds(*self.words("detector"))
        for ending in ("", ".state"):
            shutil.copy(self.path("backup/tiny_100.weights" + ending), self.path("backup/tiny_20261126.weights" + ending))
        self.cfg("detector", max_batches=400)
        self.succeeds(*self.words("detector", "-resume_force", "-keep", "1"))
        self.assertEqual([name for name in self.saved() if name.endswith("0.weights") and "final" not in name], ["tiny_400.weights"])
        self.assertTrue(os.path.exists(self.path("backup/tiny_20261126.weights")))


if __name__ == "__main__":
    darknet.main()
