#!/usr/bin/env python3
# ddp-test: usual
"""NAME.html as a browser shows it: what is drawn and written is what the CSV file has. Exit status 77 without a browser."""
import csv
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1", "-ddp_validate", "20")
# What page.html draws in: its width and height, and the margins of a chart.
W, H, LEFT, RIGHT, TOP, BOTTOM = 640, 240, 56, 26, 8, 24


class Page(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=10)
        self.data.boxes()
        self.data.list("valid.list", self.data.pictures[:7])
        self.data.data("train.data", valid="valid.list")

    def train(self, **values):
        self.write("tiny.cfg", darknet.detector_cfg(**{"learning_rate": 0.01, **values}))
        self.succeeds(*TRAIN, ranks=2)
        with open(self.path("backup/tiny.csv"), encoding="utf-8", newline="") as f:
            self.rows = list(csv.DictReader(f, strict=True))

    def shown(self):
        """The page's elements, after its script has run."""
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.path('chrome')}",
                               "--virtual-time-budget=5000", "--dump-dom", "file://" + self.path("backup/tiny.html")],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=darknet.LIMIT_S, check=True)
        return done.stdout

    def points(self, page, title, series):
        """The figures that a line of a chart stands for, by step, and half a pixel's worth of a figure."""
        (svg,) = re.findall(rf'<svg [^>]*aria-label="{re.escape(title)}".*?</svg>', page, re.S)
        first, last, low, high, log = map(float, re.search(r'data-range="([^"]*)"', svg)[1].split())
        self.assertEqual(log, 0)
        (path,) = re.findall(rf'<path data-series="{re.escape(series)}" d="([^"]*)"', svg)
        unit = (high - low) / (H - TOP - BOTTOM)
        found = {}
        for x, y in re.findall(r"[ML]([\d.]+),([\d.]+)", path):
            step = first + (float(x) - LEFT) / (W - LEFT - RIGHT) * (last - first)
            found[round(step)] = low + (H - BOTTOM - float(y)) * unit
        return found, .06 * unit

    def test_lines_are_the_csv(self):
        self.train(max_batches=60)
        page = self.shown()
        for title, series, column in (("Learning rate", "rate", "rate"), ("Images a second", "images/s", "images_per_s"),
                                      ("Validation", "map50", "map50"), ("Validation", "recall", "recall")):
            drawn, near = self.points(page, title, series)
            wanted = {int(row["step"]): float(row[column]) for row in self.rows if row[column]}
            self.assertEqual(sorted(drawn), sorted(wanted), column)
            for step, figure in wanted.items():
                self.assertAlmostEqual(drawn[step], figure, delta=near + 1e-9, msg=f"{column} of step {step}")
        for part in ("box", "objectness", "class"):
            self.assertEqual(page.count(f'data-series="{part}"'), 1)

    def test_the_last_validation(self):
        self.train(max_batches=60)
        page = self.shown()
        last = [row for row in self.rows if row["map"]][-1]
        for kind in darknet.KINDS:
            self.assertIn(f"<th>{kind}</th><td>{float(last['ap_' + kind]):.3f}</td>", page)
        (matrix,) = re.findall(r'<table class="matrix">(.*?)</table>', page, re.S)
        self.assertEqual(re.findall(r"<th>(.*?)</th>", matrix), ["is \\ found", "cat", "dog", "nothing", "cat", "dog", "nothing"])
        counts = [int(text) for text in re.findall(r"<td[^>]*>(\d+)</td>", matrix)]
        self.assertEqual(len(counts), 9)
        # 7 pictures with a box each: 4 cats, 3 dogs.
        self.assertEqual([sum(counts[:3]), sum(counts[3:6])], [4, 3])
        self.assertEqual(page.count('<img src="data:image/jpeg;base64,'), 7)
        truths = re.findall(r'<i class="box true" style="[^"]*color: ?(hsl[^"]*|rgb[^"]*)" title="(\w+)"><span>(\w+)</span>', page)
        self.assertEqual([name for _, name, _ in truths], [name for _, _, name in truths])
        self.assertEqual(sorted(name for _, name, _ in truths), 4 * ["cat"] + 3 * ["dog"])
        self.assertEqual(len({(color, name) for color, name, _ in truths}), 2)
        self.assertEqual(page.count('<i class="box"'), sum(counts) - counts[2] - counts[5] - counts[8])
        self.assertRegex(page, rf'<b data-tile="average loss">{float(self.rows[-1]["average_loss"]):.4f}</b>')
        for text in ("2 ranks on 1 host", "detector train train.data tiny.cfg -ddp", "darknet-ddp 0."):
            self.assertIn(text, page)


if __name__ == "__main__":
    if not BROWSER:
        print("no chromium and no google-chrome")
        sys.exit(77)
    darknet.main()
