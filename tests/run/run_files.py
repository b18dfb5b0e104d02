#!/usr/bin/env python3
# ddp-test: usual
"""What a run leaves beside its weights: a CSV file, a page, event files for TensorBoard; through resuming, kills and full
disks."""
import csv
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

DETECTOR = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
PARTS = ("loader_s", "forward_s", "backward_s", "communication_s", "update_s")


class Records(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=10)
        self.data.boxes()
        self.data.list("valid.list", self.data.pictures[:7])
        self.data.data("train.data", valid="valid.list")
        self.cfg()

    def cfg(self, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**{"max_batches": 30, "learning_rate": 0.01, **values}))

    def rows(self):
        with open(self.path("backup/tiny.csv"), encoding="utf-8", newline="") as f:
            reader = csv.DictReader(f, strict=True)
            rows = list(reader)
        for row in rows:
            self.assertEqual(set(row), set(reader.fieldnames))
            self.assertNotIn(None, row.values())
        return rows

    def steps(self):
        return [int(row["step"]) for row in self.rows()]

    def page(self):
        with open(self.path("backup/tiny.html"), encoding="utf-8") as f:
            text = f.read()
        self.assertIsNone(re.search(r"""(src|href)\s*=\s*["'](?!data:)|url\(|@import|https?://(?!www\.w3\.org/)""", text))
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])

    def test_a_row_a_step(self):
        for ranks in (0, 2):
            result = self.succeeds(*DETECTOR, "-ddp_validate", "10", ranks=ranks)
            rows = self.rows()
            self.assertEqual(self.steps(), list(range(1, 31)))
            printed = re.findall(rf"^(\d+): ({darknet.FLOAT}), ({darknet.FLOAT}) avg, ({darknet.FLOAT}) rate", result.out, re.M)
            self.assertEqual(len(printed), 30, result)
            for row, (step, *figures) in zip(rows, printed):
                self.assertEqual(row["step"], step)
                self.assertEqual(float(row["images"]), 4 * int(step))
                self.assertAlmostEqual(float(row["epoch"]), 4 * int(step) / 10, 6)
                for name, figure in zip(("loss", "average_loss", "rate"), figures):
                    self.assertAlmostEqual(float(row[name]), float(figure), 5)
                self.assertTrue(all(float(row[part]) >= 0 for part in PARTS), row)
                step_s = 4 / float(row["images_per_s"])
                self.assertLess(sum(float(row[part]) for part in PARTS), 1.01 * step_s + 1e-4, row)
                self.assertEqual([row[name] != "" for name in ("map", "recall", "validation_s")], 3 * [int(step) % 10 == 0])
            said = re.findall(r"^Validation after step \d+: mAP@0.5 (.*?), mAP@0.5:0.95 (.*?), ", result.out, re.M)
            self.assertEqual([(f"{float(r['map50']):.4f}", f"{float(r['map']):.4f}") for r in rows if r["map"]], said)
            self.assertIn("ap_dog", rows[0])
            if ranks == 0:  # the one head's parts are the loss
                for row in rows:
                    parts = sum(float(row[f"yolo_4_{part}"]) for part in ("box", "objectness", "class"))
                    self.assertAlmostEqual(parts, float(row["loss"]), delta=1e-5 * parts)
                    self.assertTrue(0 <= float(row["yolo_4_iou"]) <= 1)

    def test_no_part_of_a_step_is_counted_twice(self):
        """Together they are the step; one that is counted in another makes that one less than nothing."""
        self.cfg(max_batches=200)
        for options in ((), ("-ddp_shard_optimizer", "1"), ("-ddp_sync_bn", "1"), ("-ddp_local_sgd", "4")):
            with self.subTest(options=options):
                self.succeeds(*DETECTOR, *options, "-ddp_validate", "0", ranks=2)
                for row in self.rows():
                    self.assertGreaterEqual(min(float(row[part]) for part in PARTS), 0, row)

    def test_the_page_has_the_figures_of_the_csv(self):
        self.succeeds(*DETECTOR, "-ddp_validate", "10", ranks=2)
        rows, page = self.rows(), self.page()
        self.assertEqual(page["x"], self.steps())
        self.assertEqual(page["status"], "step 30 of 30, ended")
        charts = {chart["title"].split(",")[0]: chart["series"] for chart in page["charts"]}
        wanted = {"Loss": ["loss", "average_loss"], "Learning rate": ["rate"], "Images a second": ["images_per_s"],
                  "Validation": ["map", "map50", "precision", "recall", "iou"],
                  "Where a step's time goes on rank 0": ["loader_s", "forward_s", "backward_s", "communication_s", "update_s",
                                                        "save_s"]}
        for title, names in wanted.items():
            self.assertEqual(len(charts[title]), len(names))
            for (column, _), name in zip(charts[title], names):
                shown = page["columns"][column]["mean"]
                self.assertEqual([r[name] != "" for r in rows], [v is not None for v in shown], name)
                for row, value in zip(rows, shown):
                    if row[name]:
                        self.assertAlmostEqual(float(row[name]), value, delta=1e-6 * abs(value))
        self.assertEqual([name for name, _, _ in page["classes"]], list(darknet.KINDS))
        self.assertTrue(any("2 ranks on 1 host" in value for _, value in page["facts"]))

    def test_killed_and_resumed_no_row_is_there_twice(self):
        self.cfg(max_batches=100000)
        job = darknet.start(darknet.command(*DETECTOR, "-ddp_validate", "7"), self.folder, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if line.startswith("350:"):
                break
        job.send_signal(signal.SIGKILL)
        last = int(re.findall(r"(?m)^(\d+): ", "350: " + job.stdout.read())[-1]) + 70  # what it had trained when the signal came
        job.wait(darknet.LIMIT_S)
        job.stdout.close()
        self.cfg(max_batches=last)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "7", "-resume_force", ranks=2)
        resumed = int(re.search(r"resuming from \S+: (\d+) batches", result.out)[1])
        steps = self.steps()
        self.assertEqual(steps, sorted(set(steps)))
        self.assertEqual([s for s in steps if s > resumed], list(range(resumed + 1, last + 1)))
        self.assertEqual(len(steps), last)
        self.assertEqual(self.page()["x"][-1], last)

    def test_the_row_of_the_checkpoint_is_there(self):
        """Killed less than a second after a save that no validation came with."""
        self.cfg(max_batches=100000)
        job = darknet.start(darknet.command(*DETECTOR, "-ddp_validate", "0"), self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if line.startswith("201:"):
                break
        self.wait_for("tiny_200.weights", job)
        job.send_signal(signal.SIGKILL)
        last = int(re.findall(r"(?m)^(\d+): ", "201: " + job.stdout.read())[-1]) + 70
        job.wait(darknet.LIMIT_S)
        job.stdout.close()
        self.cfg(max_batches=last)
        self.assertRegex(self.succeeds(*DETECTOR, "-ddp_validate", "0", "-resume_force").out, r"resuming from \S+: \d+00 batches")
        self.assertEqual(self.steps(), list(range(1, last + 1)))

    def test_stopped_by_a_signal(self):
        self.cfg(max_batches=100000)
        job = darknet.start(darknet.command(*DETECTOR), self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if line.startswith("20:"):
                break
        job.terminate()
        text = job.stdout.read()
        job.stdout.close()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, text)
        steps = self.steps()
        self.assertEqual(steps, list(range(1, len(steps) + 1)))
        self.assertEqual(self.page()["status"], f"step {len(steps)} of 100000, stopped")
        self.cfg(max_batches=len(steps) + 5)
        self.succeeds(*DETECTOR, "-resume_force")
        self.assertEqual(self.steps(), list(range(1, len(steps) + 6)))

    def started(self, *words):
        job = darknet.start(darknet.command(*DETECTOR, *words), self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if line.startswith("20:"):
                break
        return job

    def test_output_that_nobody_takes(self):
        self.cfg(max_batches=300)
        job = self.started()
        job.stdout.close()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0)
        self.assertEqual(self.steps()[-1], 300)
        self.assertTrue(os.path.getsize(self.path("backup/tiny_final.weights")) > 0)

    def test_a_terminal_that_is_closed(self):
        self.cfg(max_batches=1000000)
        for words in ((), ("-ddp_ranks", "2")):
            job = self.started(*words)
            job.send_signal(signal.SIGHUP)
            job.stdout.read()
            job.stdout.close()
            self.assertEqual(job.wait(darknet.LIMIT_S), 0, words)
            self.assertTrue(os.path.getsize(self.path("backup/tiny.backup")) > 0)
            os.remove(self.path("backup/tiny.backup"))
            self.assertRegex(self.page()["status"], "stopped$")

    def test_a_new_run_sets_the_old_files_aside(self):
        self.succeeds(*DETECTOR)
        self.cfg(max_batches=5)
        self.succeeds(*DETECTOR)
        self.assertEqual(self.steps(), [1, 2, 3, 4, 5])
        with open(self.path("backup/tiny.1/tiny.csv"), encoding="utf-8") as f:
            self.assertEqual(len(f.readlines()), 31)
        self.assertTrue(os.path.getsize(self.path("backup/tiny.1/tiny.html")) > 0)

    def test_the_best_so_far_is_known_after_resuming(self):
        """With a rate of 0 no validation is better than the first one, which the resumed run knows from the file."""
        self.cfg(learning_rate=0, max_batches=20)
        self.succeeds(*DETECTOR, "-ddp_validate", "5", ranks=2)
        self.cfg(learning_rate=0, max_batches=40)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-patience", "5", "-resume_force", ranks=2)
        self.assertNotIn("the best so far", result.out)
        self.assertIn("after step 5: the run ends (-patience)", result.out)
        self.assertEqual(self.steps()[-1], 30)

    def test_the_best_of_before_is_kept_where_its_figure_is_gone(self):
        for words, gone in (((), "tiny.csv"), (("-ddp_records", "0"), "tiny_best.weights.state")):
            with self.subTest(words=words, gone=gone):
                self.cfg(max_batches=20)
                self.succeeds(*DETECTOR, "-ddp_validate", "5", *words, ranks=2)
                kept = {name: self.weights(name) for name in ("tiny_best.weights", "tiny_best.weights.state") if name != gone}
                os.remove(self.path(f"backup/{gone}"))
                self.cfg(max_batches=40)
                result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force", *words, ranks=2)
                self.assertEqual(result.out.count(" is kept as backup/tiny_best_1.weights\n"), 1, result)
                for name, was in kept.items():
                    self.assertEqual(self.weights(name.replace("best", "best_1")), was)
                    self.assertNotEqual(self.weights(name), was)
                self.assertEqual(sum("_best_" in name for name in os.listdir(self.path("backup"))), len(kept))
                self.succeeds(*DETECTOR, *words)
                self.assertFalse([name for name in os.listdir(self.path("backup")) if "_best_" in name])
                for name, was in kept.items():
                    self.assertEqual(self.weights(f"tiny.1/{name.replace('best', 'best_1')}"), was)
                shutil.rmtree(self.path("backup"))
                os.mkdir(self.path("backup"))

    def test_a_better_best_than_the_run_knows_is_kept(self):
        """The best figure's row is gone from NAME.csv, as where the run goes on from a checkpoint of before it."""
        self.cfg(max_batches=20)
        self.succeeds(*DETECTOR, "-ddp_validate", "5", ranks=2)
        best = next(int(row["step"]) for row in sorted(self.rows(), key=lambda row: -float(row["map"] or -1)))
        kept = self.weights("tiny_best.weights")
        self.write("backup/tiny.csv", "".join(line for line in self.weights("tiny.csv").decode().splitlines(keepends=True)
                                              if line.split(",")[0] != str(best)))
        self.cfg(max_batches=60)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force", ranks=2)
        if "the best so far" in result.out:
            self.assertEqual(result.out.count(" is kept as backup/tiny_best_1.weights\n"), 1, result)
            self.assertEqual(self.weights("tiny_best_1.weights"), kept)
        else:
            self.assertEqual(self.weights("tiny_best.weights"), kept)

    def test_the_best_that_is_there_is_what_counts(self):
        """Weights of an earlier best in the place of the last one, as where that could not be saved: their figure is in NAME.csv."""
        def change(figures):
            rows = [line.split(",") for line in self.weights("tiny.csv").decode().splitlines()]
            for row in rows[1:]:
                if int(row[0]) in figures:
                    row[rows[0].index("map")] = figures[int(row[0])]
            self.write("backup/tiny.csv", "".join(",".join(row) + "\n" for row in rows))

        self.cfg(max_batches=5, learning_rate=0)
        self.succeeds(*DETECTOR, "-ddp_validate", "5")
        kept = {name: self.weights(name) for name in ("tiny_best.weights", "tiny_best.weights.state")}
        self.cfg(max_batches=10, learning_rate=0)
        self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force")
        change({5: "0.25", 10: "0.5"})
        self.cfg(max_batches=15, learning_rate=0)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force", ranks=2)
        self.assertIn("DDP: backup/tiny_best.weights has the weights of step 5: those of step 10, with mAP@0.5:0.95 0.5000, were not saved, "
                      "and the best is 0.2500 again\n", result.out, result)
        self.assertIn("; the best was 0.2500 after step 5\n", result.out, result)
        for name, was in kept.items():
            self.assertEqual(self.weights(name), was)

    def test_a_validation_is_known_once_its_weights_are_there(self):
        """Killed as it saves them: their figure is in the CSV file."""
        self.cfg(max_batches=20)
        job = darknet.start(darknet.command(*DETECTOR, "-ddp_validate", "5"), self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if "tiny_last.weights" in line:
                break
        os.killpg(job.pid, signal.SIGKILL)
        row = self.weights("tiny.csv").decode().splitlines()
        self.assertTrue(row[5].startswith("5,"), row)
        self.assertTrue(row[5].split(",")[row[0].split(",").index("map")], row)

    def test_other_pictures_to_validate_on(self):
        self.cfg(max_batches=20)
        self.succeeds(*DETECTOR, "-ddp_validate", "5", ranks=2)
        kept = self.weights("tiny_best.weights")
        self.data.list("valid.list", self.data.pictures[3:9])
        self.cfg(max_batches=30)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force", ranks=2)
        self.assertRegex(result.out, r"DDP: valid= lists other pictures than before, they have other labels, or -points or -best is another: the figures of the first 20 batches count no more\n")
        self.assertEqual(self.weights("tiny_best_1.weights"), kept)
        self.assertNotIn("lists other pictures", self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume", ranks=2).out)

    def test_the_same_pictures_elsewhere_and_other_labels(self):
        self.cfg(max_batches=10)
        self.succeeds(*DETECTOR, "-ddp_validate", "5")
        with open(self.path("valid.list"), encoding="ascii") as f:
            names = f.read().split()
        self.write("valid.list", "\n".join(os.path.join(self.folder, name) for name in reversed(names)) + "\n")
        self.cfg(max_batches=20)
        self.assertNotIn("lists other pictures", self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force").out)
        kept = self.weights("tiny_best.weights")
        self.write(self.data.label(names[0]), "1 0.5 0.5 0.1 0.1\n")
        self.cfg(max_batches=30)
        self.assertIn("they have other labels, or -points or -best is another: the figures of the first 20 batches", self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force").out)
        self.assertEqual(self.weights("tiny_best_1.weights"), kept)
        self.cfg(max_batches=40)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force", "-points", "11")
        self.assertIn("or -points or -best is another: the figures of the first 30 batches", result.out, result)
        kept = self.weights("tiny_best.weights")
        self.cfg(max_batches=50)
        result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force", "-points", "11", "-best", "map50")
        self.assertIn("or -points or -best is another: the figures of the first 40 batches", result.out, result)
        self.assertEqual(self.weights("tiny_best_3.weights"), kept)

    def test_figures_of_other_pictures_never_count_again(self):
        self.cfg(max_batches=20)
        self.succeeds(*DETECTOR, "-ddp_validate", "5")
        rows = self.weights("tiny.csv").decode().splitlines()
        column = rows[0].split(",").index("map")
        good = [",".join(value if place != column or not value else "0.99" for place, value in enumerate(row.split(","))) for row in rows[1:]]
        self.write("backup/tiny.csv", "\n".join([rows[0], *good]) + "\n")
        self.data.list("valid.list", self.data.pictures[3:9])
        for batches, others in (30, 1), (40, 0), (50, 0):
            self.cfg(max_batches=batches)
            result = self.succeeds(*DETECTOR, "-ddp_validate", "0" if batches == 40 else "5", "-resume_force")
            self.assertEqual(result.out.count("lists other pictures"), others, result)
            self.assertNotIn("0.9900", result.out)

    def test_columns_that_change_twice_lose_no_row(self):
        self.cfg(max_batches=10)
        self.succeeds(*DETECTOR, "-ddp_validate", "5")
        for batches, names, old in ((20, ("cat", "hound"), "tiny.csv.old"), (30, ("cat", "dog"), "tiny.csv.old.2")):
            rows = self.weights("tiny.csv")
            self.write("names.list", "\n".join(names) + "\n")
            self.cfg(max_batches=batches)
            result = self.succeeds(*DETECTOR, "-ddp_validate", "5", "-resume_force")
            self.assertIn(f"DDP: backup/tiny.csv, whose columns are others now, is kept as backup/{old}\n", result.out)
            self.assertEqual(self.weights(old), rows)
        self.succeeds(*DETECTOR)
        self.assertEqual(sorted(name for name in os.listdir(self.path("backup/tiny.1")) if ".csv" in name), ["tiny.csv", "tiny.csv.old", "tiny.csv.old.2"])

    def test_patience_wants_validations(self):
        self.refused(*DETECTOR, "-patience", "2", "-ddp_validate", "0", says="-patience 2 counts validations, and with -ddp_validate 0", code=2)
        self.data.data("train.data")
        self.refused(*DETECTOR, "-patience", "2", says="-patience 2 counts validations: train.data has no valid=", code=2)

    def test_full_disk(self):
        limit = 12 << 10
        args = darknet.command(*DETECTOR, "-tensorboard", "events")
        self.cfg(max_batches=400)
        job = darknet.start(args, self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        out, err = job.communicate(timeout=darknet.LIMIT_S)
        result = darknet.Result(args, job.returncode, out, err, 0)
        self.assertEqual(job.returncode, 0, result)
        self.assertIn("\n400: ", out)
        for name in ("tiny.csv", "tiny.html"):
            self.assertEqual(err.count(f"cannot write backup/{name}: "), 1, result)
        self.assertEqual(err.count("cannot write events: File too large; the run is not ended for it"), 1, result)
        self.assertGreater(len(self.events("events")), 0)
        self.assertIn("the run is not ended for it", err)
        self.assertEqual([n for n in os.listdir(self.path("backup")) if "part" in n or n == "tiny.html"], [])
        self.assertTrue(os.path.getsize(self.path("backup/tiny_final.weights")) > 0)
        steps = self.steps()
        self.assertEqual(steps, list(range(1, len(steps) + 1)))

    def test_a_disk_that_is_full_for_a_while(self):
        """A file system of its own, on which nothing is left for the CSV file, the page and the log until room is made."""
        disk = self.path("backup")
        os.makedirs(disk, exist_ok=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", disk], capture_output=True, check=False)
        if mounted.returncode:
            self.skipTest("no file system can be mounted")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        with open(os.path.join(disk, "filler"), "wb") as f:
            f.write(bytes((8 << 20) - (8 << 10)))
        self.cfg(max_batches=1000000)
        job = darknet.start(darknet.command(*DETECTOR, "-ddp_on_save_error", "continue", "-tensorboard", "backup/events"), self.folder,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(darknet.end_group, job)
        said = ""
        wanted = ["cannot write backup/tiny.csv: No space left on device", "cannot write backup/events: No space left on device"]
        for line in job.stderr:
            said += line
            if all(words in said for words in wanted):
                break
        self.assertIn("the run is not ended for it", said)
        os.remove(os.path.join(disk, "filler"))
        before = os.path.getsize(os.path.join(disk, "tiny.csv"))
        until = time.monotonic() + darknet.LIMIT_S
        while os.path.getsize(os.path.join(disk, "tiny.csv")) == before and time.monotonic() < until:
            time.sleep(.05)
        job.send_signal(signal.SIGTERM)
        job.stderr.read()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0)
        self.assertTrue(os.path.getsize(os.path.join(disk, "tiny.backup")) > 0)
        steps = self.steps()
        self.assertEqual(steps, list(range(1, len(steps) + 1)))
        self.assertEqual(sum(b"average_loss" in record for record in self.events("backup/events")), len(steps))

    def test_switched_off(self):
        self.succeeds(*DETECTOR, "-ddp_records", "0", ranks=2)
        self.assertEqual([n for n in os.listdir(self.path("backup")) if n.endswith((".csv", ".html"))], [])

    def test_a_classifier(self):
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=6))
        self.succeeds("classifier", *DETECTOR[1:], "-ddp_validate", "3", ranks=2)
        self.assertEqual([row["top1"] != "" for row in self.rows()], [False, False, True] * 2)

    def test_each_ranks_wait(self):
        """It is gathered every two seconds, and the page is renewed every ten."""
        self.cfg(max_batches=1000000)
        job = darknet.start(darknet.command(*DETECTOR, "-ddp_validate", "0", ranks=2), self.folder, stdout=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        self.until(self.waits, job=job)
        job.send_signal(signal.SIGUSR2)
        job.wait(darknet.LIMIT_S)
        (waits,) = self.waits()
        self.assertRegex(waits, r"rank [01] on \S+ waits least, [\d.]+% of its time; rank [01] [\d.]+%")
        page = self.page()
        (chart,) = [chart for chart in page["charts"] if "rank's wait" in chart["title"]]
        self.assertEqual([name for _, name in chart["series"]], ["rank 0", "rank 1"])
        for column, _ in chart["series"]:
            shares = [share for share in page["columns"][column]["mean"] if share is not None]
            self.assertTrue(shares and all(0 <= share <= 1 for share in shares), shares)

    def waits(self):
        try:
            return [value for name, value in self.page()["facts"] if name == "Waits"]
        except FileNotFoundError:
            return []

    def events(self, folder):
        (name,) = os.listdir(self.path(folder))
        with open(self.path(f"{folder}/{name}"), "rb") as f:
            data = f.read()
        records = []
        while data:
            size, _ = struct.unpack("<QI", data[:12])
            records.append(data[12:12 + size])
            self.assertGreaterEqual(len(data), 16 + size)  # it is whole
            data = data[16 + size:]
        return records

    def test_tensorboard(self):
        self.succeeds(*DETECTOR, "-tensorboard", "events", "-ddp_validate", "10", ranks=2)
        records = self.events("events")
        for tag, count in (("average_loss", 30), ("map50", 3), ("ap_dog", 3)):
            self.assertEqual(sum(tag.encode() in record for record in records), count, tag)


if __name__ == "__main__":
    darknet.main()
