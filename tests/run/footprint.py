#!/usr/bin/env python3
# ddp-test: usual
"""A run writes into the backup folder, and what options name: nothing else, be it in the folder that it was started in, in the user's,
or in that of temporary files."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

# Open MPI's own, which goes when the job has ended.
SESSIONS = "ompi."


def files(folder):
    """Of all files and folders in it, with when they were changed."""
    return {os.path.join(root, name): os.lstat(os.path.join(root, name)).st_mtime_ns
            for root, folders, names in os.walk(folder) for name in (*folders, *names)}


class Outside(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        darknet.DataSet(self.folder).data("train.data", valid="train.list")
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=6))
        for name in ("home", "temporary", "backup", "named"):
            os.makedirs(self.path(name), exist_ok=True)

    def changed(self, *words, ranks, code=0):
        before = files(self.folder)
        environment = {"HOME": self.path("home"), "TMPDIR": self.path("temporary"), "OMPI_MCA_orte_tmpdir_base": self.path("temporary"),
                       "PRTE_MCA_prte_tmpdir_base": self.path("temporary")}
        result = self.darknet(*words, ranks=ranks, environment=environment)
        self.assertEqual(result.code, code, result)
        after = files(self.folder)
        found = {os.path.relpath(path, self.folder) for path in after if after[path] != before.get(path)}
        self.assertEqual([path for path in before if path not in after], [])
        return {path for path in found if not path.partition("/")[2].startswith(SESSIONS) and path not in ("backup", "temporary")}

    def test_training(self):
        for ranks in (0, 2):
            found = self.changed("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_validate", "3", ranks=ranks)
            self.assertIn("backup/tiny_final.weights", found)
            self.assertEqual({path for path in found if not path.startswith("backup/")}, set())

    def test_what_options_name(self):
        found = self.changed("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_validate", "0", "-tensorboard", "named/events",
                             "-ddp_trace", "named/trace", "-ddp_trace_steps", "1:2", ranks=2)
        self.assertIn("named/trace", found)
        self.assertEqual({path for path in found if not path.startswith(("backup/", "named"))}, set())

    def test_a_run_that_fails(self):
        """What broke off first is told beside the weights."""
        os.remove(self.path("images/cat0.png"))
        found = self.changed("detector", "train", "train.data", "tiny.cfg", "-ddp", "-nocheck", ranks=2, code=1)
        self.assertEqual({path for path in found if not path.startswith("backup/")}, set())

    def test_what_only_looks(self):
        for words in (("ddp", "check", "train.data", "tiny.cfg"), ("ddp", "plan", "tiny.cfg"), ("ddp", "bench", "tiny.cfg", "-steps", "2")):
            self.assertEqual(self.changed(*words, ranks=0), set(), words)


if __name__ == "__main__":
    darknet.main()
