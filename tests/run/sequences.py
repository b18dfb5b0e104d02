#!/usr/bin/env python3
# ddp-test: usual
"""Whatever users do in whatever order, no weights are lost: random sequences of runs that begin, go on, are killed, and of what happens to
files meanwhile. After each run every file of weights that was there must still be there, under some name, but for what the run may replace:
NAME.backup, NAME_last and NAME_best of its own, and with -keep numbered ones. SEQUENCES=A:B tries others than the first."""
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

FIRST, END = map(int, os.environ.get("SEQUENCES", "0:24").split(":"))
OPERATIONS = 10
CFGS = ("a", "a", "a", "a", "a_2", "b")  # a_2 has names that a's second epoch has
TAKEN = ("a_100.weights", "a_final.weights", "a_best.weights", "a_1.weights", "a.weights", "a_last.weights", "a_2.weights", "a.backup",
         "a_final_3.weights", "a_best_1.weights", "a_3.weights", "b.weights")


class Sequence:
    def __init__(self, case, seed):
        self.case, self.folder, self.random = case, case.path(f"s{seed}"), random.Random(seed)
        os.makedirs(self.folder)
        self.data = darknet.DataSet(self.folder, count=9)
        self.data.boxes()
        self.data.list("valid.list", self.data.pictures[:4])
        self.data.data("train.data", valid="valid.list")
        self.command = self.random.choice(("detector", "classifier"))
        self.log = [f"seed {seed}"]
        self.users = set()  # hashes of files that were put there by hand
        self.by = {}  # hash of a file: the cfg whose run made it
        for cfg in sorted(set(CFGS)):
            self.write_cfg(cfg, 4)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_cfg(self, cfg, batch):
        make = darknet.detector_cfg if self.command == "detector" else darknet.classifier_cfg
        batches = self.random.choice((3, 6, 12, 20))
        darknet.write(self.path(f"{cfg}.cfg"), make(batch=batch, subdivisions=1, max_batches=batches))
        self.log.append(f"# {cfg}.cfg: batch={batch} max_batches={batches}")

    def weights(self):
        """Hashes of all weights below backup/, by path."""
        found = {}
        for folder, _, files in os.walk(self.path("backup")):
            for name in files:
                if re.search(r"\.(weights|backup)(\.old[.\d]*)?$", name):
                    path = os.path.join(folder, name)
                    with open(path, "rb") as f:
                        found[os.path.relpath(path, self.folder)] = hashlib.md5(f.read()).hexdigest()
        return found

    # ---- what a user does to files ----

    def put(self):
        """Bytes, or a copy of other weights, in a place that a run may want."""
        path = self.path("backup/" + self.random.choice(TAKEN))
        source = self.random.choice(sorted(self.weights()) + [None])
        if source and self.path(source) != path:
            shutil.copyfile(self.path(source), path + ".new")
        else:
            with open(path + ".new", "wb") as f:
                f.write(self.random.randbytes(300))
            with open(path + ".new", "rb") as f:
                self.users.add(hashlib.md5(f.read()).hexdigest())
        os.replace(path + ".new", path)
        self.log.append(f"# {source or 'bytes'} in place of {os.path.basename(path)}")

    def damage(self):
        states = sorted(os.path.join(folder, name) for folder, _, files in os.walk(self.path("backup")) for name in files if name.endswith(".state"))
        if not states:
            return
        state = self.random.choice(states)
        if self.random.random() < .5:
            os.unlink(state)
        else:
            os.truncate(state, self.random.choice((0, 40, os.path.getsize(state) // 2)))
        self.log.append(f"# {os.path.relpath(state, self.folder)} is gone or cut")

    def validate_on_others(self):
        self.data.list("valid.list", self.data.pictures[:self.random.choice((3, 4, 5))])
        self.log.append("# another valid.list")

    # ---- a run ----

    def options(self):
        chance = self.random.random
        found = [self.random.choice(("-resume", "-resume", "-resume_force", "", ""))]
        found += ["-keep", "1"] * (chance() < .2) + ["-clear"] * (chance() < .15) + ["-points", "11"] * (chance() < .1)
        found += ["-ddp_validate", self.random.choice("0123")] * (chance() < .4)
        return [word for word in found if word]

    def run(self):
        cfg = self.random.choice(CFGS)
        first = [self.random.choice(sorted(self.weights()) or ["none"])] * (self.random.random() < .25)
        words = [self.command, "train", "train.data", f"{cfg}.cfg", *(name for name in first if name.endswith(".weights"))]
        words += self.options()
        before = self.weights()
        job = darknet.start(darknet.command(*words), self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.case.addCleanup(darknet.end_group, job)
        if self.random.random() < .25:
            time.sleep(self.random.choice((.02, .05, .08, .12, .2)))
            number = self.random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            job.send_signal(number)
            self.log.append(f"# {number.name} to the next one")
        said = job.communicate(timeout=120)[0]
        self.log.append(f"$ darknet {' '.join(words)} -> {job.returncode}")
        after = self.weights()
        for path, contents in before.items():
            if contents not in after.values() and not self.may_replace(path, contents, cfg, words, said):
                self.case.fail(f"{path} is lost\n" + "\n".join(self.log) + "\n" + said)
        for contents in set(after.values()) - set(before.values()):
            self.by[contents] = cfg

    def may_replace(self, path, contents, cfg, words, said):
        if contents in self.users or self.by.get(contents) != cfg or not any(word.startswith("-resume") for word in words):
            return False
        numbered = r"|_\d+\.weights" if "-keep" in words else ""
        folder = os.path.dirname(path)
        if folder.endswith(".moving") or f"DDP: the files of {folder}, " in said:  # which came back
            path = "backup/" + os.path.basename(path)
        return re.fullmatch(rf"backup/{cfg}(\.backup|_last\.weights|_best\.weights{numbered})", path) is not None

    def go(self):
        for _ in range(OPERATIONS):
            what = self.random.random()
            if what < .6:
                self.run()
            elif what < .7:
                self.put()
            elif what < .8:
                self.damage()
            elif what < .96:
                self.write_cfg(self.random.choice(CFGS), self.random.choice((2, 4, 8)))
            else:
                self.validate_on_others()


class Sequences(darknet.Case):
    """A test for each of two halves, which run side by side."""

    def check(self, first):
        for seed in range(first, END, 2):
            Sequence(self, seed).go()

    def test_nothing_is_lost(self):
        self.check(FIRST)

    def test_nor_here(self):
        self.check(FIRST + 1)


if __name__ == "__main__":
    darknet.main()
