#!/usr/bin/env python3
# ddp-test: usual
"""The command blocks of the guides in darknet-ddp/docs, as they stand, each guide in a folder with a small data set x.data, a cfg x.cfg
for it, and what a run of both has left in backup/. Which blocks are not run, and why, is written before them (tests/python/blocks.py)."""
import glob
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(PROJECT, "tests", "python"))
import blocks  # noqa: E402
import darknet  # noqa: E402

GUIDES = sorted(glob.glob(os.path.join(PROJECT, "darknet-ddp", "docs", "*.md")))


class Guides(darknet.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.symlink(darknet.PROGRAM, self.path("bin/darknet"))
        self.environment = {**darknet.ENVIRONMENT, "PATH": self.path("bin") + ":" + os.environ["PATH"]}

    def prepare(self):
        """The folder `made`, which each guide gets a copy of."""
        made = self.path("made")
        data = darknet.DataSet(made)
        data.boxes()
        data.list("valid.list", data.pictures)
        data.write("x.names", "cat\ndog\nbird\n")
        data.data("x.data", classes=3, valid="valid.list", names="x.names", labels=None)
        data.write("x.cfg", darknet.net(batch=8, subdivisions=4, max_batches=110) + darknet.BODY
                   + darknet.convolutional(8, size=1, activation="linear")
                   + darknet.section("yolo", mask=0, anchors="12,12", classes=3, num=1))
        shutil.copy(os.path.join(os.environ["DARKNET_SRC"], "data", "dog.jpg"), os.path.join(made, "images", "one.jpg"))
        done = darknet.run(darknet.command("detector", "train", "x.data", "x.cfg", "-ddp", "-ddp_seed", "7"), made)
        self.assertEqual(done.code, 0, done)
        return made

    def run_block(self, block, folder):
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", "\n".join(block.commands)], cwd=folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=darknet.LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, f"{block.commands}\n{done.stdout[-4000:]}")
        self.assertIsNone(block.missing(done.stdout), f"{block.commands}\n{done.stdout[-4000:]}")

    def test_blocks_run(self):
        made, ran = self.prepare(), 0
        for path in GUIDES:
            name = os.path.basename(path)
            todo = [block for block in blocks.of_page(path, name) if not block.why_not]
            if todo:
                shutil.copytree(made, self.path(name))
            for block in todo:
                with self.subTest(block=block.place):
                    self.run_block(block, self.path(name))
                ran += 1
        self.assertGreater(ran, 5)

    def page(self, text):
        self.write("page.md", text)
        return blocks.of_page(self.path("page.md"), "page.md")

    def test_a_page_is_cut_into_blocks(self):
        first, second, third = self.page("# Head\n\nText\n\n    one\n    two\n\n- list\n\n    of the list\n\n## More\n\n<!-- not run: wants a host -->\n\n"
                                         "    three\n\nText\n    of a paragraph\n\n    $ four\n    5 images\n    ...\n    last\n")
        self.assertEqual((first.place, first.heading, first.commands, first.why_not), ("page.md:5", "Head", ["one", "two"], None))
        self.assertEqual((second.heading, second.commands, second.why_not), ("More", ["three"], "wants a host"))
        self.assertEqual((third.commands, third.printed, third.why_not), (["four"], ["5 images", "last"], None))
        self.assertIsNone(third.missing("7 images\nother\nlast\n"))
        self.assertEqual(third.missing("last\n6 images\n"), "last")
        with self.assertRaises(ValueError):
            self.page("<!-- not run: nothing -->\n\nText\n")


if __name__ == "__main__":
    darknet.main()
