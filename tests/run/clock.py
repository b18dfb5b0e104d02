#!/usr/bin/env python3
# ddp-test: usual
"""The time of day is set back and forth under a run, and between runs (a library that is loaded first says what time it is): no
deadline, no figure and no "newest" goes by it."""
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1", "-ddp_timeout", "20")
DAY_S = 86400


class Clock(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("fault.so"), os.path.join(here, "..", "preload", "fault.c")], check=True)
        self.environment = {"LD_PRELOAD": self.path("fault.so"), "FAULT": "clock", "FAULT_WHEN": self.path("now")}

    def set_by(self, days):
        self.write("later", str(days * DAY_S))
        os.replace(self.path("later"), self.path("now"))

    def train(self, batches, *words):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=batches))
        return self.succeeds(*TRAIN, *words, environment=self.environment)

    def test_the_newest_is_the_last_whatever_the_clock_says(self):
        said = self.train(150).out
        for days, before in ((-2, 150), (300, 250), (-30, 350), (0, 450)):
            self.set_by(days)
            said = self.train(before + 100, "-resume_force").out
            self.assertIn(f": {before} batches, ", said)
        self.set_by(-3)
        said = self.train(10).out
        self.assertRegex(said, r"the last of them backup/tiny\S+: 550 batches, are set aside in backup/tiny\.1\n")
        self.assertIn("the files of backup/tiny.1", self.train(600, "-resume_force").out if self.removed() else "")

    def removed(self):
        """What the last run has saved; so the one before it is the newest again."""
        for name in os.listdir(self.path("backup")):
            if os.path.isfile(self.path("backup/" + name)):
                os.remove(self.path("backup/" + name))
        return True

    @darknet.again_if_too_late
    def test_figures_of_a_run_that_it_is_set_under(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=3000 * self.longer))
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start([darknet.PROGRAM, *TRAIN, "-ddp_ranks", "2"], self.folder, self.environment, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        for number, days in enumerate((1, -300, 300, -1)):
            self.wait_for(f"tiny_{100 * (number + 1)}.weights.state", job)
            if job.poll() is not None:
                raise darknet.TooLate
            self.set_by(days)
        self.wait_for("tiny_700.weights.state", job)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        lines = re.findall(r"(?m)^\d+: .* (\S+) seconds, \d+ images, (\S+) images/s, .*?(?:(\S+) (seconds?|minutes|hours|days) left)?$", self.said())
        self.assertGreater(len(lines), 600)
        for seconds, speed, _, unit in lines:
            self.assertGreaterEqual(float(seconds), 0)
            self.assertLess(float(seconds), 60)
            self.assertGreater(float(speed), 0)
            self.assertIn(unit, ("", "second", "seconds", "minutes"))
        self.assertNotIn("nothing has moved", self.said())
        with open(self.path("backup/tiny.csv"), encoding="ascii") as f:
            names = f.readline().strip().split(",")
            rows = [dict(zip(names, line.strip().split(","))) for line in f]
        for name in (n for n in names if n.endswith("_s") and n != "images_per_s"):
            for row in rows:
                self.assertTrue(row[name] == "" or 0 <= float(row[name]) < 60, (name, row))


if __name__ == "__main__":
    darknet.main()
