#!/usr/bin/env python3
# ddp-test: usual
"""What is printed while a network trains: a line a step in a pipe, one line that renews itself on a terminal, the last lines of a
run, and NAME.log."""
import itertools
import os
import re
import shutil
import signal
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
import small_screen  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg")
DDP = (*TRAIN, "-ddp", "-ddp_seed", "7", "-threads", "1")
COLUMNS = 50
WHOLE = re.compile(r"\d+/300  loss \S+ avg \S+(  mAP@0.5:0.95 [\d.]+)?(  [\d.]+ img/s)?(  \d+% comm)?(  \d+% loading)?(  [\d.]+ \w+ left)?(  rate \S+)?")
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Screen(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=10)
        self.data.boxes()
        self.data.list("valid.list", self.data.pictures[:3])
        self.data.data("train.data", valid="valid.list")
        self.cfg()

    def cfg(self, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**{"max_batches": 25, "learning_rate": 0.001, **values}))

    def log(self):
        with open(self.path("backup/tiny.log"), encoding="utf-8") as f:
            return f.read()

    def steps_in(self, text):
        return [int(step) for step in re.findall(rf"^(\d+): {darknet.FLOAT}, {darknet.FLOAT} avg, .*? images", text, re.M)]

    def on_terminal(self, args, environment=None, columns=COLUMNS):
        """What a run prints on a terminal."""
        with small_screen.OnTerminal(args, self.folder, columns, environment) as terminal:
            printed = terminal.read()
            self.assertEqual(terminal.job.wait(darknet.LIMIT_S), 0, printed)
        return printed

    def check_screen(self, terminal):
        """A step's line stands alone, and nowhere but below all else."""
        lines = terminal.screen.lines()
        while lines and not lines[-1]:
            lines.pop()
        for line in lines[:-1]:
            self.assertNotRegex(line, r"loss \S+ avg|img/s|% comm|% loading| left$|  rate \S", "\n".join(lines))
        return lines

    def test_a_line_a_step_in_a_pipe(self):
        for args, ranks in ((TRAIN, 0), (DDP, 0), (DDP, 2)):
            result = self.succeeds(*args, *("-ddp_validate", "10")[:2 * ("-ddp" in args)], ranks=ranks)
            lines = [line for line in result.out.splitlines() if re.match(r"\d+: ", line)]
            self.assertEqual(len(lines), 25, result)
            for line in lines:
                self.assertRegex(line, "^" + darknet.DETECTOR_PROGRESS)
            for text in ("Region", "Loaded", "Resizing", "\x1b", "\r"):
                self.assertNotIn(text, result.out + result.err, result)
            if "-ddp" in args:
                self.assertRegex(lines[-1], f"^{darknet.DETECTOR_PROGRESS}{darknet.APPENDED}, mAP@0.5:0.95 {darknet.FLOAT}$")

    def test_verbose(self):
        for args in (TRAIN, DDP):
            result = self.succeeds(*args, "-verbose")
            self.assertEqual(result.out.count("Region "), 50, result)
            self.assertEqual(result.out.count("Loaded: "), 25, result)

    def test_log_every(self):
        for args in (TRAIN, DDP):
            result = self.succeeds(*args, "-log_every", "10")
            self.assertEqual(self.steps_in(result.out), [1, 10, 20, 25], result)
        self.assertEqual(self.steps_in(self.log()), [1, 10, 20, 25])

    LAYERS = r"^5 layers, \d+ parameters, [\d.]+ thousand operations for a picture, [\d.]+ MB of memory \(-layers lists them\)$"
    TABLE = ("layer     filters    size              input                output",
             "    0 conv      4  3 x 3 / 2    32 x  32 x   3   ->    16 x  16 x   4  0.000 BFLOPs")

    def check_layers(self, lines, table):
        for line in self.TABLE:
            self.assertEqual(lines.count(line), int(table), "\n".join(lines))
        self.assertEqual(sum(1 for line in lines if re.match(self.LAYERS, line)), int(not table), "\n".join(lines))

    def test_the_table_of_layers_is_a_line(self):
        """The log has all of it, and -layers prints it; a script gets it as Darknet prints it."""
        for ranks in (0, 2):
            self.check_layers(self.succeeds(*DDP, ranks=ranks).err.splitlines(), table=False)
            for line in self.TABLE:
                self.assertEqual(self.log().splitlines().count(line), 1, self.log())
            self.check_layers(self.succeeds(*DDP, "-layers", ranks=ranks).err.splitlines(), table=True)
        test = ("detector", "test", "train.data", "tiny.cfg", "backup/tiny_final.weights", self.data.pictures[0])
        self.check_layers(self.succeeds(*test).err.splitlines(), table=True)
        self.check_layers(self.on_terminal(darknet.command(*test), columns=200).splitlines(), table=False)
        self.check_layers(self.on_terminal(darknet.command(*test, "-layers"), columns=200).splitlines(), table=True)

    def test_errors_of_a_cfg_are_said_though_the_table_is_not(self):
        for cfg, says in ((darknet.detector_cfg() + darknet.section("nolayer"), "layer 5 is of an unknown type"),
                          (darknet.detector_cfg(width=30, height=30), "would fit")):
            self.write("tiny.cfg", cfg)
            for args in (DDP, TRAIN):
                self.assertIn(says, self.darknet(*args).err)

    def test_fewer_names_than_classes_are_refused(self):
        self.succeeds(*TRAIN)
        with open(self.path("train.data"), encoding="ascii") as f:
            names = re.search(r"(?m)^names ?= ?(.*)$", f.read()).group(1)
        self.write(names, "one\n")
        self.refused("detector", "test", "train.data", "tiny.cfg", "backup/tiny_final.weights", self.data.pictures[0], code=1,
                     says=["a name for each of the cfg's", "there are 1"])

    def test_weights_that_are_not_there(self):
        """What is said of them has a line of its own."""
        result = self.refused("detector", "test", "train.data", "tiny.cfg", "no.weights", self.data.pictures[0], says="")
        self.assertEqual(result.err.splitlines()[-2:], ["Loading weights from no.weights", "darknet: Couldn't open file: no.weights (No such file or directory)"])

    def test_nothing_above_the_threshold(self):
        test = ("detector", "test", "train.data", "tiny.cfg", "backup/tiny_final.weights", self.data.pictures[0])
        self.succeeds(*TRAIN)
        result = self.succeeds(*test, "-thresh", "1")
        (best, lower) = re.search(r"\nnothing above 100%; best: (?:cat|dog) ([\d.e-]+)%; -thresh ([\d.e-]+) shows it\n", result.out).groups()
        self.assertGreater(float(best) / 100 + .01, float(lower))
        result = self.succeeds(*test, "-thresh", lower)
        self.assertRegex(result.out, r"\n(cat|dog): \d+%")
        self.assertNotIn("nothing above", result.out)

    def test_boxes_that_are_not_finite(self):
        """A size is a power of e: e to 1000 is no number, the place and the likelihood are."""
        self.succeeds(*TRAIN)
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            weights = f.read()
        # The last convolution's 7 biases, before its weights of 4 channels: x, y, w, h, whether there is one, two classes.
        biases = len(weights) - 4 * (7 + 7 * 4)
        for i, value in ((2, 1000), (4, 100), (5, 100)):
            weights = weights[:biases + 4 * i] + struct.pack("<f", value) + weights[biases + 4 * i + 4:]
        with open(self.path("large.weights"), "wb") as f:
            f.write(weights)
        result = self.succeeds("detector", "test", "train.data", "tiny.cfg", "large.weights", self.data.pictures[0])
        self.assertRegex(result.out, r"\n\d+ boxes are not finite: the weights give numbers that are too large\n")

    def test_a_threshold_in_percent(self):
        self.refused("detector", "test", "train.data", "tiny.cfg", "none.weights", self.data.pictures[0], "-thresh", "25", code=2,
                     says="-thresh wants a number from 0 to 1, not '25'; 0.25?")

    def test_a_classifier_of_another_size(self):
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=2))
        self.succeeds("classifier", "train", "train.data", "tiny.cfg", "-ddp", "-width", "48", "-height", "48")
        result = self.succeeds("classifier", "predict", "train.data", "tiny.cfg", "backup/tiny.weights", self.data.pictures[0], "-width", "48", "-height", "48")
        self.assertRegex(result.err, r"0 conv +4 +3 x 3 / 2 +48 x +48 x")

    def test_a_classifier(self):
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=6))
        for args, ranks in ((TRAIN, 0), (DDP, 2)):
            result = self.succeeds("classifier", *args[1:], ranks=ranks)
            self.assertEqual(len(re.findall(f"^{darknet.PROGRESS}", result.out, re.M)), 6, result)
            self.assertNotIn("Loaded", result.out)

    def test_a_terminal(self):
        """Lines are no wider than it, but for those that stay, and have no half words; each step is in the log."""
        self.cfg(max_batches=300)
        for args in (TRAIN, DDP, (*DDP, "-ddp_ranks", "2")):
            printed = self.on_terminal(darknet.command(*args))
            drawn = re.findall(r"[^\r\n]*\x1b\[K\r", printed)
            shown = [ESCAPE.sub("", line).strip("\r") for line in drawn]
            shown = [line for line in shown if line]
            self.assertGreater(len(shown), 0, printed)
            self.assertTrue(all(len(line) < COLUMNS and WHOLE.fullmatch(line) for line in shown), shown)
            self.assertIn("\x1b[1m", printed)
            self.assertNotRegex(printed, r"seconds, \d+ images, ")
            self.assertRegex(ESCAPE.sub("", printed), r"\r(DDP: t|T)rained to batch 300 of 300")
            if "-ddp" in args:
                self.assertEqual(self.steps_in(self.log()), list(range(1, 301)))
                self.assertNotIn("\x1b", self.log())

    def test_what_is_printed_meanwhile_stands_alone(self):
        """At every width, and where two processes print."""
        self.cfg(max_batches=60)
        os.rename(self.path("tiny.cfg"), self.path("模型.cfg"))
        args = ("detector", "train", "train.data", "模型.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1", "-ddp_validate", "10")
        alone = darknet.command("detector", "train", "train.data", "模型.cfg")
        for columns in (80, 110, 21):
            for command in (darknet.command(*args, ranks=2), darknet.command(*args, "-ddp_ranks", "2"), darknet.command(*args), alone):
                with small_screen.OnTerminal(command, self.folder, columns) as terminal:
                    terminal.read()
                    self.assertEqual(terminal.job.wait(darknet.LIMIT_S), 0, terminal.printed)
                    lines = self.check_screen(terminal)
                if "-ddp" in command:
                    self.assertEqual(lines.count("Saving weights to backup/模型_last.weights"), 6, "\n".join(lines))
                    self.assertIn("DDP: 240 images; 60 steps in", "\n".join(lines))

    def test_ctrl_c(self):
        """What the terminal answers to it, ^C, goes with the line."""
        self.cfg(max_batches=1000000)
        for more, launched in (((), 0), (("-ddp_ranks", "2"), 0)):
            with small_screen.OnTerminal(darknet.command(*DDP, *more), self.folder, 80) as terminal:
                terminal.read(until=r"\d+ +loss|\d\d+/1000000")
                terminal.type("\x03")
                terminal.read()
                self.assertEqual(terminal.job.wait(darknet.LIMIT_S), 0, terminal.printed)
                lines = self.check_screen(terminal)
            self.assertIn("darknet: saving, then ending; once more to end at once", lines)
            self.assertIn("Saving weights to backup/tiny.backup", lines)
            self.assertIn(".backup", lines[-1])

    def test_errors(self):
        """Of any rank, they stand alone, and last."""
        self.cfg(max_batches=1000000)
        for i in range(100, 108):
            shutil.copy(self.path(self.data.pictures[0]), self.path(f"images/{i}.png"))
            self.write(f"labels/{i}.txt", "0 .5 .5 .2 .2\n")
        self.data.list("train.list", self.data.pictures + [f"images/{i}.png" for i in range(100, 108)])
        for command in (darknet.command(*DDP, ranks=2), darknet.command(*DDP, "-ddp_ranks", "2"), darknet.command(*TRAIN)):
            with small_screen.OnTerminal(command, self.folder, 80) as terminal:
                terminal.read(until=r"\d+ +loss|\d\d+/1000000")
                for i in range(100, 108):
                    self.write(f"images/{i}.png", "no picture")
                terminal.read()
                self.assertEqual(terminal.job.wait(darknet.LIMIT_S), 1, terminal.printed)
                lines = self.check_screen(terminal)
            ours = list(itertools.takewhile(lambda line: not line.startswith("-" * 70), lines)) # then comes a page of mpirun's
            self.assertRegex(ours[-1], r"^darknet.* goes on from the last checkpoint in backup$", "\n".join(lines))
            for i in range(100, 108):
                shutil.copy(self.path(self.data.pictures[0]), self.path(f"images/{i}.png"))

    def test_no_colours(self):
        printed = self.on_terminal(darknet.command(*DDP), {"NO_COLOR": "1"})
        self.assertIn("\x1b[K\r", printed)
        self.assertNotIn("m", "".join(code[-1] for code in ESCAPE.findall(printed)))

    def test_a_terminal_that_can_do_nothing(self):
        self.assertNotIn("\x1b", self.on_terminal(darknet.command(*DDP), {"TERM": "dumb"}))

    def test_the_last_lines(self):
        result = self.succeeds(*DDP, "-ddp_validate", "10", ranks=2)
        self.assertRegex(result.out, r"\nDDP: trained to batch 25 of 25\nDDP: 100 images; 25 steps in \d+ seconds?, average loss [\d.]+\n")
        self.assertRegex(result.out, r"\nDDP: best mAP@0.5:0.95 [\d.]+, after step \d+\n")
        (files,) = re.findall(r"^DDP: in backup: (.*)$", result.out, re.M)
        files = files.split(", ")
        self.assertEqual(sorted(files), ["tiny.csv", "tiny.html", "tiny.log", "tiny_best.weights", "tiny_final.weights", "tiny_last.weights"])
        self.assertTrue(all(os.path.exists(self.path(f"backup/{name}")) for name in files), files)

    def test_the_command_that_goes_on(self):
        os.rename(self.path("train.data"), self.path("all of it.data"))
        self.cfg(max_batches=1000000)
        args = darknet.command("detector", "train", "all of it.data", *DDP[3:])
        job = darknet.start(args, self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if line.startswith("20:"):
                break
        job.send_signal(signal.SIGUSR2)
        text = job.stdout.read()
        job.stdout.close()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, text)
        (stopped,) = re.findall(r"^DDP: stopped after batch (\d+) of 1000000", text, re.M)
        (command,) = re.findall(r"^DDP: `(.* -resume)` goes on from backup/tiny.backup$", text, re.M)
        before = self.log()
        self.assertEqual(self.steps_in(before), list(range(1, int(stopped) + 1)))
        self.cfg(max_batches=int(stopped) + 5)
        result = darknet.run(["sh", "-c", command + "_force"], self.folder)
        self.assertEqual(result.code, 0, result)
        self.assertTrue(self.log().startswith(before))
        self.assertEqual(self.steps_in(self.log()), list(range(1, int(stopped) + 6)))

    def test_the_log_has_all_that_was_printed(self):
        result = self.succeeds(*DDP, "-ddp_validate", "10", ranks=2)
        log = self.log().splitlines()
        self.assertRegex(log[0], r"^# \d{4}-\d\d-\d\d .*, darknet-ddp \d")
        self.assertIn(" ".join(DDP), log[1])
        printed = result.out.splitlines() + [line for line in result.err.splitlines() if line.startswith("Saving")]
        self.assertEqual([line for line in printed if line not in log], [])
        self.succeeds(*DDP)
        with open(self.path("backup/tiny.1/tiny.log"), encoding="utf-8") as f:
            self.assertEqual(f.read().splitlines(), log)
        self.succeeds(*DDP, "-ddp_records", "0")
        self.assertFalse(os.path.exists(self.path("backup/tiny.log")))

    def test_a_backup_folder_is_made(self):
        os.rmdir(self.path("backup"))
        for args, ranks in ((TRAIN, 0), (DDP, 2)):
            self.data.data("train.data", backup=f"made{ranks}")
            result = self.succeeds(*args, ranks=ranks)
            self.assertIn(f"Made the backup directory made{ranks}\n", result.err)
            self.assertTrue(os.path.exists(self.path(f"made{ranks}/tiny_final.weights")))


if __name__ == "__main__":
    darknet.main()
