#!/usr/bin/env python3
"""ranks PARITY FAMILY: a family of the reference data, trained by the later forks' formulas, on several ranks.

Gradients and weights of 2 and 4 ranks against one process (../parity/parity.c); `train -ddp_exact` of 1, 2 and 4 ranks, from
its initial weights, with mosaics, an average of weights, cycles of the rate and layers that learn later; and the same run ended
in the middle of all these on 4 ranks and resumed on 2. Without that data (DDP_REFERENCE_DIR) exit status 77."""
import os
import re
import signal
import subprocess
import sys

import darknet
from compare import unpacked

# The average begins at half of the batches, a cycle of the rate at 7 and 21: a run is ended between the average's beginning and
# the batch from which the first layers learn, too.
BATCHES, ENDED_AFTER, LEARNS_FROM = 24, 13, 20
TRAINING = {"batch": 8, "subdivisions": 4, "width": 64, "height": 64, "learning_rate": .0002, "max_batches": BATCHES, "mosaic": 1,
            "ema_alpha": .8, "policy": "sgdr", "sgdr_cycle": 7, "yolo_math": "v4"}
PARITY = ("width=64", "height=64", "batch=8", "subdivisions=4", "learning_rate=0.0001")
CLASSES = ("cat", "dog", "cow", "hen")
TRIES = 10


def cfg_of(text):
    """The family's cfg with TRAINING in its [net]; the first third of its layers learns later."""
    head, *layers = re.split(r"(?m)^(?=\[)", text)[1:]
    for key, value in TRAINING.items():
        head = re.sub(rf"(?m)^{key} *=.*\n", "", head).rstrip("\n") + f"\n{key}={value}\n"
    stop = next(i for i in range(len(layers) // 3, len(layers)) if layers[i].startswith("[convolutional]"))
    layers[stop] = layers[stop].rstrip("\n") + f"\nstopbackward={LEARNS_FROM}\n\n"
    return head + "\n" + "".join(layers)


class Family(darknet.Case):
    def setUp(self):
        super().setUp()
        data = darknet.DataSet(self.folder, count=11)
        data.boxes()
        data.list("four.list", CLASSES)
        data.data("train.data", classes=len(CLASSES), labels="four.list", names="four.list")
        with open(f"{CASE}/net.cfg", encoding="ascii") as f:
            text = f.read()
        self.command = "detector" if "[yolo]" in text else "classifier"
        self.final = "backup/net_final.weights" if self.command == "detector" else "backup/net.weights"
        self.write("net.cfg", cfg_of(text))
        self.write("plain.cfg", text.replace("[net]\n", "[net]\nyolo_math=v4\n", 1))
        with open(self.path("w0.weights"), "wb") as f:
            f.write(unpacked(f"{CASE}/w0.weights"))

    def words(self, *options):
        return (self.command, "train", "train.data", "net.cfg", *options, "-ddp", "-ddp_exact", "-ddp_validate", "0")

    def take(self):
        """The weights that the run has left, and their average. Leaves an empty backup directory."""
        files = []
        for name in (self.final, "backup/net_ema.weights"):
            with open(self.path(name), "rb") as f:
                files.append(f.read())
        self.empty_backup()
        return files

    def empty_backup(self):
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))

    def compare(self, found, expected):
        for kind, ours, theirs in zip(("the run's weights", "their average"), found, expected):
            self.same_weights(ours, theirs, kind, cfg="net.cfg")

    def straight(self, ranks):
        self.succeeds(*self.words("w0.weights", "-clear", "-ddp_seed", "7"), ranks=ranks)
        return self.take()

    def end_in_the_middle(self):
        """Of a run on 4 ranks. Is it so? What reads its lines can be too late."""
        job = darknet.start(darknet.command(*self.words("w0.weights", "-clear", "-ddp_seed", "7"), ranks=4), self.folder,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        steps, said = 0, ""
        for line in job.stdout:
            said += line
            steps += " avg, " in line
            if steps == ENDED_AFTER:
                darknet.tell(darknet.ranks_under(job.pid), signal.SIGTERM)
                break
        said += job.stdout.read()
        job.stdout.close()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, said)
        return len(re.findall(" avg, ", said)) < LEARNS_FROM

    def test_exact_and_resumed(self):
        one = self.straight(0)
        self.assertFalse(one[0] == one[1], "no average")
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                self.compare(self.straight(ranks), one)
        for _ in range(TRIES):
            if self.end_in_the_middle():
                break
            self.empty_backup()
        else:
            self.fail(f"{TRIES} runs had learnt for {LEARNS_FROM} batches before they could be ended")
        result = self.succeeds(*self.words("-resume"), ranks=2)
        self.assertRegex(result.out, r"backup/net\.backup.* 1\d batches", result)
        self.compare(self.take(), one)

    def test_gradients_and_weights(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                result = darknet.run(["mpirun", "-np", str(ranks), PROGRAM, "plain.cfg", *PARITY], self.folder)
                self.assertEqual(result.code, 0, result)


if __name__ == "__main__":
    PROGRAM, CASE = sys.argv[1], darknet.reference(f"reference/{sys.argv[2]}")
    del sys.argv[1:]
    darknet.main()
