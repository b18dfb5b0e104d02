#!/usr/bin/env python3
# ddp-test: usual
"""NAME.finished: there when a run has come to its end, and only then. A signal ends one with the same exit status."""
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402


class Finished(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.cfg(6)

    def cfg(self, steps):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=steps))

    def is_finished(self):
        return os.path.exists(self.path("backup/tiny.finished"))

    def train(self, *options, ranks=2):
        return self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp", *options, ranks=ranks)

    def test_a_run_that_has_ended(self):
        for command, cfg in (("detector", darknet.detector_cfg), ("classifier", darknet.classifier_cfg)):
            for ranks, options in ((0, ()), (2, ("-ddp_records", "0"))):
                with self.subTest(command=command, ranks=ranks):
                    self.write("tiny.cfg", cfg(max_batches=3))
                    self.assertFalse(self.is_finished())
                    self.succeeds(command, "train", "train.data", "tiny.cfg", "-ddp", *options, ranks=ranks)
                    self.assertTrue(self.is_finished())
                    self.assert_written_last()
                    os.remove(self.path("backup/tiny.finished"))

    def assert_written_last(self):
        """A script that waits for the file may then read or remove all others."""
        written = {f.name: f.stat().st_mtime_ns for f in os.scandir(self.path("backup"))}
        self.assertEqual(max(written.values()), written["tiny.finished"], written)

    def test_one_with_nothing_left_to_train(self):
        self.train()
        os.remove(self.path("backup/tiny.finished"))
        self.train("-resume")
        self.assertTrue(self.is_finished())

    def test_not_one_that_a_signal_ended(self):
        """Though the one before it had come to its end."""
        self.train()
        self.cfg(1000000)
        words = darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp", ranks=2)
        job = darknet.start(words, self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        self.wait_for("tiny_100.weights.state", job)
        self.assertFalse(self.is_finished())
        darknet.tell(darknet.ranks_under(job.pid), signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0)
        self.assertFalse(self.is_finished())

    def test_a_run_that_is_refused_leaves_it(self):
        self.train()
        self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_timeout", "-1", ranks=2, says="-ddp_timeout")
        self.assertTrue(self.is_finished())
        darknet.DataSet(self.folder, count=7).boxes()
        result = self.refused("detector", "train", "train.data", "tiny.cfg", "-ddp", "-resume", ranks=2, says="list")
        self.assertTrue(self.is_finished())
        self.assertNotIn("nothing left to train", result.out, result)

    def test_one_that_patience_ended(self):
        darknet.DataSet(self.folder).data("train.data", valid="train.list")
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=100, learning_rate=0))
        result = self.train("-ddp_validate", "2", "-patience", "2")
        self.assertIn("(-patience)", result.out)
        self.assertTrue(self.is_finished())


if __name__ == "__main__":
    darknet.main()
