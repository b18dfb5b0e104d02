#!/usr/bin/env python3
# ddp-test: usual
"""Pictures and labels that cannot be read in mid-run: the last whole step is saved and all bad files are named, or, with
-ddp_on_bad_data skip N, others are trained with in their place, the same on any number of ranks and when resumed."""
import csv
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

PICTURES = 64
STEPS = 24  # of 8 samples: three epochs
RANKS = (0, 2, 4)
COMMANDS = {"detector": darknet.detector_cfg, "regressor": darknet.regressor_cfg}


class BadData(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=PICTURES)
        self.prepare("detector")

    def prepare(self, command, **values):
        self.command = command
        self.data.numbers() if command == "regressor" else self.data.boxes()
        self.cfg(**values)

    def cfg(self, **values):
        self.write("tiny.cfg", COMMANDS[self.command](**{"batch": 8, "subdivisions": 4, "max_batches": STEPS, **values}))

    def words(self, *more, exact=True):
        return (self.command, "train", "train.data", "tiny.cfg", "-ddp", "-nocheck", *(("-ddp_exact",) if exact else ()), "-ddp_seed", "7", *more)

    def final(self):
        name = "backup/tiny_final.weights" if self.command == "detector" else "backup/tiny.weights"
        with open(self.path(name), "rb") as f:
            return f.read()

    def empty(self):
        shutil.rmtree(self.path("backup"))
        os.mkdir(self.path("backup"))

    def said(self):
        with open(self.path("said"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def truncate(self, picture):
        with open(self.path(picture), "r+b") as f:
            f.truncate(70)
        return f'Cannot load image "{picture}": the file is cut off (train.list:{self.data.pictures.index(picture) + 1})'

    def spoil(self, picture):
        name = self.data.label(picture)
        self.write(name, "0 what\n")
        return f"{name}:1: 2 columns, and CLASS X Y WIDTH HEIGHT are five" if self.command == "detector" else f"{name}:1: 'what' is no number"

    def spoil_three(self):
        """Sentences of a truncated picture, a label and one that is gone."""
        gone = self.data.pictures[44]
        os.remove(self.path(gone))
        return [self.truncate(self.data.pictures[20]), self.spoil(self.data.pictures[31]), f'Cannot load image "{gone}"']


class Stop(BadData):
    def restore(self):
        self.data = darknet.DataSet(self.folder, count=PICTURES)
        self.prepare(self.command)

    def test_the_last_whole_step_is_saved(self):
        """Repaired and resumed, on another number of ranks, the weights are those of a run that nothing disturbed."""
        for command, first, then in (("detector", 0, 4), ("detector", 4, 2), ("regressor", 2, 0)):
            with self.subTest(command=command, ranks=first):
                self.prepare(command)
                self.succeeds(*self.words())
                expected = self.final()
                self.empty()
                says = [self.truncate(self.data.pictures[20]), self.spoil(self.data.pictures[31])]
                steps = []
                for _ in range(3): # each of the two may be met before the other
                    result = self.darknet(*self.words("-resume"), ranks=first)
                    if result.code == 0:
                        break
                    self.check_refused(result, "cannot be read (see above); the last weights are backup/tiny.backup; ", code=1)
                    self.assertTrue(any(text in result.err for text in says), result)
                    steps.append(int(re.search(r": step (\d+): [12] samples? cannot", result.err).group(1)))
                    shown = [int(n) for n in re.findall(r"(?m)^(\d+)[:,].* avg, ", result.out)]
                    self.assertEqual(max(shown, default=steps[-1] - 1), steps[-1] - 1, result)
                    for text in says:
                        if text in result.err:
                            kept = self.data.pictures[20 if "Cannot" in text else 31]
                            fresh = darknet.DataSet(self.path("fresh"), count=PICTURES)
                            fresh.numbers() if command == "regressor" else fresh.boxes()
                            shutil.copy(self.path("fresh/" + kept), self.path(kept))
                            shutil.copy(self.path("fresh/" + self.data.label(kept)), self.path(self.data.label(kept)))
                self.assertGreaterEqual(len(steps), 1)
                self.succeeds(*self.words("-resume"), ranks=then)
                self.assertTrue(self.final() == expected)
                self.empty()
                self.restore()

    def test_a_step_does_not_wait_for_the_samples_of_the_next(self):
        """Which never come: from a FIFO that nobody writes to. As many steps end as where nobody asks what is loaded ahead."""
        os.remove(self.path(self.data.pictures[31]))
        os.mkfifo(self.path(self.data.pictures[31]))
        last = []
        for words in ((), ("-ddp_on_bad_data", "skip", "1")):
            result = self.refused(*self.words("-threads", "1", "-ddp_timeout", "8", "-ddp_io_timeout", "8", *words), ranks=2, says="loader")
            last.append(max(int(n) for n in re.findall(r"(?m)^(\d+): .* avg, ", result.out)))
        self.assertEqual(last[0], last[1])

    def test_all_of_a_step_are_named(self):
        """A batch is the whole list."""
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                self.prepare("detector", batch=PICTURES, subdivisions=4, max_batches=3)
                says = self.spoil_three()
                self.write(self.data.pictures[44], "") # else it is missed before the first step
                result = self.refused(*self.words(), ranks=ranks, code=1, says=[*says, "3 samples cannot be read",
                                                                                "nothing has been trained yet"])
                for text in says:
                    self.assertEqual(result.err.count(text), 1, result)
                self.assertEqual(self.saved(), [])

    def test_while_gradients_are_summed_over_steps(self):
        self.truncate(self.data.pictures[20])
        result = self.refused(*self.words("-ddp_sync_every", "2", exact=False), ranks=2, says="1 sample cannot be read", code=1)
        step = int(re.search(r"step (\d+): 1 sample", result.err).group(1))
        with open(self.path("backup/tiny.backup.state"), "rb") as f:
            saved = int(re.search(rb"\nstep (\d+)\n", f.read(2000)).group(1))
        self.assertEqual(saved, (step - 1) // 2 * 2)

    def test_so_it_goes_on_to_the_same_weights(self):
        """Statistics of the steps that are trained again do not count twice: in the second step of an update, and in the first."""
        for steps in (2, 3, 4):
            with self.subTest(steps=steps):
                self.restore()
                self.cfg(max_batches=12)
                self.empty()
                words = self.words("-ddp_sync_every", str(steps), exact=False)
                self.succeeds(*words, ranks=2)
                expected = self.final()
                self.empty()
                self.truncate(self.data.pictures[20])
                result = self.refused(*words, ranks=2, says="1 sample cannot be read", code=1)
                self.restore()
                self.cfg(max_batches=12)
                if "nothing has been trained yet" not in result.err:
                    self.succeeds(*words, "-resume", ranks=2)
                    self.assertTrue(self.final() == expected)


    def test_labels_that_vanish(self):
        """Of pictures that had them when the run began: not of one that shows no objects."""
        empty = self.data.pictures[0]
        os.remove(self.path(self.data.label(empty)))
        self.cfg(max_batches=10000000)
        for ranks in (0, 2):
            with self.subTest(ranks=ranks), open(self.path("said"), "w", encoding="utf-8") as said:
                job = darknet.start(darknet.command(*self.words("-resume"), ranks=ranks), self.folder, stdout=said, stderr=said)
                self.addCleanup(darknet.end_group, job)
                self.until(lambda: " avg, " in self.said(), self.said, job)
                os.rename(self.path("labels"), self.path("elsewhere"))
                self.assertEqual(job.wait(darknet.LIMIT_S), 1, self.said())
                gone = re.findall(r"(\S+): this label file was there when the run began, and is gone \(train\.list:(\d+)\)\n", self.said())
                self.assertTrue({*gone} <= {(self.data.label(picture), str(line)) for line, picture in enumerate(self.data.pictures, 1) if picture != empty}, self.said())
                self.assertGreater(len(gone), 0)
                self.assertRegex(self.said(), r"samples? cannot be read \(see above\); the last weights are backup/tiny\.backup; ")
                os.rename(self.path("elsewhere"), self.path("labels"))
                self.assertIn("1 of 64 pictures have no label file and so no objects, " + empty, self.said())


    def test_all_that_vanish_at_once(self):
        """A folder that is moved: not one line can be read any more, and the step before is saved all the same."""
        for folder, ranks, words in (("labels", 2, ()), ("images", 0, ()), ("images", 2, ("-ddp_on_bad_data", "skip", "100000"))):
            with self.subTest(folder=folder, ranks=ranks, words=words), open(self.path("said"), "w", encoding="utf-8") as said:
                self.empty()
                self.cfg(max_batches=10000000)
                job = darknet.start(darknet.command(*self.words(*words), ranks=ranks), self.folder, stdout=said, stderr=said)
                self.addCleanup(darknet.end_group, job)
                self.until(lambda: " avg, " in self.said(), self.said, job)
                os.rename(self.path(folder), self.path("elsewhere"))
                self.assertEqual(job.wait(darknet.LIMIT_S), 1, self.said())
                os.rename(self.path("elsewhere"), self.path(folder))
                end = re.search(r"step (\d+): \d+ samples? cannot be read \(see above\)(.*); the last weights are backup/tiny\.backup; (.*)\n", self.said())
                self.assertTrue(end, self.said())
                self.assertEqual(end.group(2, 3), (", nor any in their place", "mend them and resume") if words else
                                 ("", "mend them and resume, or resume with -ddp_on_bad_data skip N, which trains with others in their place"))
                self.assertLess(len(self.said()), 200000)
                with open(self.path("backup/tiny.backup"), "rb") as f:
                    kept = f.read()
                self.empty()
                self.cfg(max_batches=int(end.group(1)) - 1)
                self.succeeds(*self.words())
                self.assertTrue(self.final() == kept, "other weights")


    def test_labels_that_had_vanished_when_the_run_is_resumed(self):
        """It goes by what it had when it began, and does not learn that there are no objects."""
        gone, other = (self.data.label(self.data.pictures[i]) for i in (3, 0))
        self.cfg(max_batches=120)
        self.succeeds(*self.words(), ranks=2)
        expected = self.final()
        self.to_step_100()
        os.rename(self.path(gone), self.path("gone"))
        for ranks in (0, 2):
            self.refused(*self.words("-resume"), ranks=ranks, code=1, says=f"{gone}: this label file was there when the run began, and is gone (train.list:4)\n")
        result = self.succeeds(*self.words("-resume", "-ddp_on_bad_data", "skip", "100"), ranks=2)
        self.assertIn("DDP: 1 of 64 pictures have no label file any more, and cannot be read; ", result.out)
        self.assertRegex(result.out, r"DDP: \d samples? had (an)?others? in (its|their) place")
        self.to_step_100()
        self.assertIn("1 of 64 pictures have no label file and so no objects", self.succeeds(*self.words("-resume_force")).out)
        self.to_step_100()
        os.rename(self.path("gone"), self.path(gone))
        self.succeeds(*self.words("-resume"), ranks=4)
        self.assertTrue(self.final() == expected, "other weights")
        self.empty()
        os.remove(self.path(other))
        self.succeeds(*self.words())
        self.to_step_100()
        os.remove(self.path(gone))
        self.refused(*self.words("-resume"), ranks=2, code=2, says="2 of 64 pictures have no label file, and 1 had none when the run began: mend that and resume, or ")

    def to_step_100(self):
        for name in os.listdir(self.path("backup")):
            if not name.startswith("tiny_100."):
                os.remove(self.path("backup/" + name))


class Skip(BadData):
    def test_the_same_on_any_ranks_and_resumed(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                self.prepare(command)
                says = self.spoil_three()
                found = set()
                for ranks in RANKS:
                    self.empty()
                    result = self.succeeds(*self.words("-ddp_on_bad_data", "skip", "20"), ranks=ranks)
                    self.assertIn("DDP: 9 samples had others in their place, since these cannot be read:\n", result.out, result)
                    for text in says:
                        self.assertEqual(result.out.count(text), 1, result)
                    found.add(self.final())
                self.empty()
                self.cfg(max_batches=STEPS // 2)
                self.succeeds(*self.words("-ddp_on_bad_data", "skip", "20"), ranks=2)
                self.cfg()
                self.succeeds(*self.words("-ddp_on_bad_data", "skip", "20", "-resume_force"), ranks=4)
                found.add(self.final())
                self.assertEqual(len(found), 1)
                self.restore()

    def restore(self):
        self.data = darknet.DataSet(self.folder, count=PICTURES)

    def test_nothing_bad_changes_nothing(self):
        found = set()
        for words in ((), ("-ddp_on_bad_data", "skip", "1")):
            result = self.succeeds(*self.words(*words), ranks=2)
            self.assertNotIn("in their place", result.out, result)
            found.add(self.final())
        self.assertEqual(len(found), 1)

    def test_mosaics(self):
        """Pictures that are drawn beside the sample's own, too."""
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=4, max_batches=STEPS, mosaic=1))
        self.spoil_three()
        found = set()
        for ranks in RANKS:
            self.empty()
            result = self.succeeds(*self.words("-ddp_on_bad_data", "skip", "100"), ranks=ranks)
            self.assertRegex(result.out, r"DDP: (?:[2-9]\d|1\d) samples had others in their place", result)
            found.add(self.final())
        self.assertEqual(len(found), 1)

    def test_no_more_than_that(self):
        self.spoil_three()
        for ranks in (0, 4):
            self.empty()
            result = self.refused(*self.words("-ddp_on_bad_data", "skip", "3"), ranks=ranks, code=1,
                                  says="4 samples cannot be read (see above), more than are to be skipped; the last weights are "
                                       "backup/tiny.backup; mend them and resume, or resume with a larger -ddp_on_bad_data skip N, ")
            step = int(re.search(r"step (\d+): 4 samples", result.err).group(1))
            with open(self.path("backup/tiny.backup.state"), "rb") as f:
                self.assertIn(b"\nstep %d\n" % step, f.read(2000))

    def test_a_list_of_which_nothing_can_be_read(self):
        for picture in self.data.pictures:
            self.truncate(picture)
        for ranks in (0, 2):
            self.refused(*self.words("-ddp_on_bad_data", "skip", "1000"), ranks=ranks, code=1, says="Cannot load image")


class Validating(BadData):
    """Pictures of valid=, which are none of train=."""
    def setUp(self):
        super().setUp()
        self.restore()
        self.data.data("train.data", valid="valid.list")

    def restore(self):
        valid = darknet.DataSet(self.path("valid"), count=6)
        valid.boxes()
        self.pictures = ["valid/" + picture for picture in valid.pictures]
        self.write("valid.list", "\n" + "".join(picture + "\n" for picture in self.pictures))

    def detector(self, *more):
        return self.words("-ddp_validate", "8", *more)

    def classifier(self, *more):
        return ("classifier", *self.detector(*more)[1:])

    def figures(self):
        """Of each row of the CSV file: the loss and the figures of a validation."""
        with open(self.path("backup/tiny.csv"), encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([int(row["step"]) for row in rows], list(range(1, len(rows) + 1)))
        return [{key: value for key, value in row.items() if key == "loss" or key.startswith("map")} for row in rows]

    def best(self, name="tiny_best.weights"):
        with open(self.path("backup/" + name), "rb") as f:
            return f.read()

    def spoil_two(self):
        with open(self.path(self.pictures[1]), "r+b") as f:
            f.truncate(70)
        label = self.data.label(self.pictures[4])
        self.write(label, "0 what\n")
        return [f'Cannot load image "{self.pictures[1]}": the file is cut off (valid.list:3)', f"{label}:1: 2 columns, and CLASS X Y WIDTH HEIGHT are five (valid.list:6)"]

    def test_the_step_is_saved(self):
        """Mended and resumed, on another number of ranks, the run comes to what it would have come to."""
        self.succeeds(*self.detector())
        expected, figures = (self.final(), self.best()), self.figures()
        self.assertTrue(figures[7]["map"])
        for ranks, then in ((0, 2), (2, 0), (4, 2)):
            with self.subTest(ranks=ranks):
                self.empty()
                says = self.spoil_two()
                result = self.refused(*self.detector(), ranks=ranks, code=1,
                                      says=[*says, "validation after step 8: 2 pictures of valid=valid.list cannot be read, or the labels (see above); "
                                            "the last weights are backup/tiny.backup; mend them and resume, or resume with -ddp_on_bad_data skip N, which "
                                            "leaves them out"])
                for text in says:
                    self.assertEqual(result.err.count(text), 1, result)
                with open(self.path("backup/tiny.csv"), encoding="utf-8") as f:
                    self.assertEqual(len(f.readlines()), 1 + 8)
                again = self.refused(*self.detector("-resume"), ranks=then, code=1, says="validation after step 8: 2 pictures")
                self.assertIn("resuming from backup/tiny.backup", again.out)
                self.restore()
                result = self.succeeds(*self.detector("-resume"), ranks=then)
                self.assertIn("no weights of a validation after step 8 are there: it comes now", result.out)
                self.assertTrue((self.final(), self.best()) == expected)
                self.assertEqual(self.figures(), figures)

    def test_left_out(self):
        for command in (self.detector, self.classifier):
            self.restore()
            if command == self.classifier:
                self.write("tiny.cfg", darknet.classifier_cfg(batch=8, subdivisions=4, max_batches=STEPS))
            with self.subTest(command=command()[0]):
                says = self.spoil_two()
                bad = [1] if command == self.classifier else [1, 4]
                found = []
                for ranks in RANKS:
                    self.empty()
                    result = self.succeeds(*command("-ddp_on_bad_data", "skip", "2"), ranks=ranks)
                    self.assertEqual(result.err.count(says[0]), 1, result)
                    self.assertEqual(result.out.count("1 picture cannot be read, or the labels, and is left out\n"), 3 if len(bad) == 1 else 0, result)
                    self.assertEqual(result.out.count("2 pictures cannot be read, or the labels, and are left out\n"), 3 if len(bad) == 2 else 0, result)
                    found.append(re.findall(r"(?m)^(Validation after .*?), [\d.]+ s; ", result.out))
                self.empty()
                self.write("valid.list", "".join(p + "\n" for i, p in enumerate(self.pictures) if i not in bad))
                found.append(re.findall(r"(?m)^(Validation after .*?), [\d.]+ s; ", self.succeeds(*command()).out))
                self.assertEqual(len(found[0]), 3)
                for other in found[1:]:
                    self.assertEqual(other, found[0])

    def test_labels_that_vanish(self):
        """Not a label file that was never there: that picture shows no objects."""
        self.write("tiny.cfg", darknet.detector_cfg(batch=256, subdivisions=64, max_batches=10000000))
        os.remove(self.path(self.data.label(self.pictures[0])))
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*self.words("-ddp_validate", "1"), ranks=2), self.folder, stdout=said, stderr=said)
        self.addCleanup(darknet.end_group, job)
        self.until(lambda: "Validation after step 1:" in self.said(), self.said, job)
        os.rename(self.path("valid/labels"), self.path("valid/elsewhere"))  # perhaps in the middle of a validation
        self.assertEqual(job.wait(darknet.LIMIT_S), 1, self.said())
        gone = re.findall(r"(\S+): this label file was there when the run began, and is gone \(valid\.list:(\d)\)\n", self.said())
        self.assertTrue({*gone} <= {(self.data.label(picture), str(line)) for line, picture in enumerate(self.pictures, 2) if line > 2}, self.said())
        self.assertRegex(self.said(), rf"validation after step \d+: {len(gone)} pictures? of valid=valid\.list cannot be read, or the labels "
                                      r"\(see above\); the last weights are ")
        self.assertGreater(len(gone), 0)
        self.assertNotIn("-1.0000", self.said())

    def test_no_more_than_that(self):
        self.spoil_two()
        self.refused(*self.detector("-ddp_on_bad_data", "skip", "1"), ranks=2, code=1,
                     says="2 pictures of valid=valid.list cannot be read, or the labels (see above), more than are to be skipped; the last")
        for picture in self.pictures:
            self.write(picture, "none")
        self.refused(*self.detector("-ddp_on_bad_data", "skip", "100"), ranks=2, code=1, says="6 pictures of valid=valid.list cannot be read")

    def test_map_names_all(self):
        self.succeeds(*self.detector())
        says = self.spoil_two()
        for ranks in (0, 2):
            self.refused("detector", "map", "train.data", "tiny.cfg", "backup/tiny_best.weights", ranks=ranks, code=1,
                         says=[*says, "2 pictures of valid=valid.list cannot be read, or the labels (see above)"])


if __name__ == "__main__":
    darknet.main()
