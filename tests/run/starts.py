#!/usr/bin/env python3
# ddp-test: usual
"""The table of engine/checkpoint/starts.def, row by row: what a start makes of what lies in its folder, what a save makes of what lies at
its name, and what a kill leaves. docs/resume.md has each row, too. No weights are lost in any of it."""
import ctypes
import hashlib
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

PRODUCT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "darknet-ddp")
SAYS = {"ANEW": "begins anew", "GOES_ON": "goes on", "WEIGHTS_ALONE": "goes on from the weights alone", "COMES_BACK": "brings it back and goes on",
        "REFUSED": "is refused"}
TRAIN = ("classifier", "train", "train.data", "tiny.cfg")
FINAL = "backup/tiny.weights"


def rows(kind):
    """The rows of a kind: their words."""
    with open(os.path.join(PRODUCT, "engine/checkpoint/starts.def"), encoding="utf-8") as f:
        lines = re.findall(rf'^{kind}\((.*)\)$', f.read(), re.M)
    return [[word.strip('"') for word in re.findall(r'"[^"]*"|\w+', line)] for line in lines]


def hash_of(data):
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    return library.XXH3_64bits(data, len(data))


class Table(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.cfg()
        self.succeeds(*TRAIN, "-ddp_seed", "7")
        os.rename(self.path("backup"), self.path("whole"))  # a run that has come to its end

    def cfg(self, max_batches=4, name="tiny"):
        self.write(f"{name}.cfg", darknet.classifier_cfg(batch=4, subdivisions=1, max_batches=max_batches))

    def put(self, to="backup"):
        if os.path.exists(self.path("backup")):
            shutil.rmtree(self.path("backup"))
        os.makedirs(self.path("backup"))
        shutil.copytree(self.path("whole"), self.path(to), dirs_exist_ok=True)

    def states(self):
        return [self.path("backup/" + name) for name in os.listdir(self.path("backup")) if name.endswith(".state")]

    def weights(self):
        """Hashes of all weights below backup/."""
        return {hashlib.md5(self.read(os.path.join(folder, name))).hexdigest() for folder, _, files in os.walk(self.path("backup"))
                for name in files if re.search(r"\.(weights|backup)(\.old[.\d]*)?$", name)}

    def start(self, *words):
        """The Result of a start, after which all weights of before are there."""
        before = self.weights()
        result = self.darknet(*TRAIN, *words, "-ddp_seed", "7")
        self.assertEqual(before - self.weights(), set(), result)
        return result

    def check_rows(self, kind):
        """Each has a test here, and a line in the guide."""
        with open(os.path.join(PRODUCT, "docs/resume.md"), encoding="utf-8") as f:
            guide = f.read()
        for row in rows(kind):
            cells = {"START": lambda: [row[1], *(SAYS[word] for word in row[2:])], "SAVE": lambda: row[1:], "KILL": lambda: row}[kind]()
            self.assertIn(f"| {' | '.join(cells)} |", guide)


class Starts(Table):
    # ---- what is there ----

    def nothing(self):
        shutil.rmtree(self.path("backup"))

    def whole(self):
        pass

    def not_finite(self):
        """The newest pair has an infinite weight, and is whole otherwise."""
        for name in os.listdir(self.path("backup")):
            if not name.startswith("tiny.weights"):
                os.remove(self.path("backup/" + name))
        weights, state = bytearray(self.read(FINAL)), self.read(FINAL + ".state")
        weights[-4:] = b"\0\0\x80\x7f"
        head, body = re.match(rb"(?s)(.*?\n)header_hash \w+\n(.*)", state[:-8]).groups()
        head = re.sub(rb"weights_hash \w+", b"weights_hash %016x" % hash_of(bytes(weights)), head)
        state = head + b"header_hash %016x\n" % hash_of(head) + body
        for name, content in ((FINAL, weights), (FINAL + ".state", state + hash_of(state).to_bytes(8, "little"))):
            with open(self.path(name), "wb") as f:
                f.write(content)

    def damaged(self):
        for state in self.states():
            os.truncate(state, 40)

    def bare(self):
        for state in self.states():
            os.remove(state)

    def first(self):
        self.bare()
        return [FINAL]

    def renamed(self):
        self.cfg(name="other")
        shutil.rmtree(self.path("backup"))
        self.succeeds(*TRAIN[:3], "other.cfg")
        for name in os.listdir(self.path("backup")):
            os.rename(self.path("backup/" + name), self.path("backup/" + name.replace("other", "tiny")))

    def ended(self):
        self.put("backup/tiny.1")

    def aside(self):
        self.put("backup/tiny.1")
        os.remove(self.path("backup/tiny.1/tiny.finished"))

    def outcome(self, result):
        for word, says in (("COMES_BACK", " are in backup again\n"), ("WEIGHTS_ALONE", "DDP: resuming from the weights of "),
                           ("GOES_ON", "DDP: resuming from ")):
            if says in result.out:
                return word if result.code == 0 else f"{word}, exit status {result.code}"
        return "REFUSED" if result.code else "ANEW"

    def test_each_row(self):
        self.check_rows("START")
        for number, (there, _, *wanted) in enumerate(rows("START")):
            for words, outcome in zip(((), ("-resume",), ("-resume_force",)), wanted, strict=True):
                with self.subTest(there=there, words=words):
                    self.put()
                    first = getattr(self, there.lower())() or []
                    result = self.start(*first, *words, *(("-clear",) if first or number % 2 else ()))
                    self.assertEqual(self.outcome(result), outcome, result)
                    if outcome == "ANEW" and there in ("WHOLE", "NOT_FINITE", "DAMAGED", "BARE"):
                        self.assertIn(" are set aside in backup/tiny.1\n", result.out)
                    if outcome == "REFUSED":
                        self.assertFalse(os.path.exists(self.path("backup/tiny.1")))


class Saves(Table):
    """Of a run that goes on."""

    AT = "backup/tiny_last.weights"  # the name of each of its validations, and of the last weights of tiny_last.cfg
    ELSEWHERE = {"FINAL": FINAL, "BEST": "backup/tiny_best.weights"}

    def setUp(self):
        super().setUp()
        self.data.data("train.data", valid="train.list")
        self.put()
        self.cfg(6)

    def own(self):
        pass

    def earlier(self):
        self.start("-resume_force", "-ddp_validate", "1")
        self.cfg(8)

    def final(self):
        pass

    def best(self):
        """The run's figures are gone."""
        self.earlier()
        os.remove(self.path("backup/tiny.csv"))

    def foreign(self):
        self.write(self.AT, "somebody else's")

    def of_another(self):
        self.cfg(2, "tiny_last")
        self.succeeds(*TRAIN[:3], "tiny_last.cfg")

    def test_each_row(self):
        self.check_rows("SAVE")
        for row, there, becomes in rows("SAVE"):
            if row == "AHEAD":
                continue  # the numbers of steps: the test below
            with self.subTest(row=row):
                self.setUp()
                getattr(self, row.lower())()
                at = self.ELSEWHERE.get(row, self.AT)
                kept = becomes.replace("X", at).replace("NAME", "backup/tiny").replace("<batches>", "4").replace("<number>", "1")
                before = self.read(at) if os.path.exists(self.path(at)) else None
                result = self.darknet(*TRAIN, "-ddp_seed", "7", "-resume_force", "-ddp_validate", "1")
                self.assertEqual(result.code, 0, result)
                self.assertEqual(result.out.count(f"DDP: {at}, {there}, is kept as {at}.old\n"), int(becomes == "X.old"), result)
                self.assertEqual(os.path.exists(self.path(at + ".old")), becomes == "X.old", result)
                if becomes != "written over":
                    self.assertEqual(self.read(kept), before)

    def test_ahead(self):
        """Step 300 of 2 images is step 100 of 6: later saves come to names that have weights, and the CSV file to rows that it has."""
        shutil.rmtree(self.path("backup"))
        self.data.boxes()
        words = ("detector", *TRAIN[1:], "-ddp_validate", "0", "-ddp_seed", "7")
        self.write("tiny.cfg", darknet.detector_cfg(batch=2, subdivisions=1, max_batches=300))
        self.succeeds(*words)
        first, lines = self.read("backup/tiny_200.weights"), self.read("backup/tiny.csv")
        self.write("tiny.cfg", darknet.detector_cfg(batch=6, subdivisions=1, max_batches=201))
        result = self.succeeds(*words, "-resume_force")
        there = next(row[1] for row in rows("SAVE") if row[0] == "AHEAD")
        self.assertIn(f"DDP: backup/tiny_200.weights, {there}, is kept as backup/tiny_200.weights.old\n", result.out)
        self.assertIn("DDP: backup/tiny.csv, which counts batches of another size, is kept as backup/tiny.csv.old\n", result.out)
        self.assertEqual(sum("is kept as" in line and "come to its end" not in line for line in result.out.splitlines()), 2)
        self.assertEqual((self.read("backup/tiny_200.weights.old"), self.read("backup/tiny.csv.old")), (first, lines))


class Kills(Table):
    def written(self):
        """Both parts are cut."""
        for name in ("tiny.weights.state.part", "tiny.weights.part"):
            self.write("backup/" + name, "cut")

    def named(self):
        os.rename(self.path(FINAL + ".state"), self.path(FINAL + ".state.part"))

    def displaced(self):
        os.link(self.path(FINAL), self.path(FINAL + ".old"))

    def moved(self):
        """Weights are in one folder, states and figures in the other."""
        os.mkdir(self.path("backup/tiny.1.moving"))
        for name in os.listdir(self.path("backup")):
            if not name.endswith((".weights", ".moving")):
                os.rename(self.path("backup/" + name), self.path("backup/tiny.1.moving/" + name))

    def test_each_row(self):
        """The next start goes on from the newest pair, as if nothing had happened, or sets all of it aside."""
        self.check_rows("KILL")
        for leave, row in zip((self.written, self.named, self.displaced, self.moved), rows("KILL"), strict=True):
            for words in (("-resume",), ()):
                with self.subTest(when=row[0], words=words):
                    self.put()
                    whole = {name: self.read("backup/" + name) for name in os.listdir(self.path("backup"))}
                    leave()
                    result = self.start(*words)
                    self.assertEqual(result.code, 0, result)
                    self.assertEqual(f"DDP: resuming from {FINAL}: 4 batches" in result.out, bool(words), result)
                    at = "backup/" if words else "backup/tiny.1/"
                    self.assertTrue(self.read(at + "tiny.csv").startswith(whole["tiny.csv"]), result)
                    for name in ("tiny.weights", "tiny_1.weights", "tiny_1.weights.state"):
                        self.assertEqual(self.read(at + name), whole[name], (name, result))
                    self.assertEqual([name for name in os.listdir(self.path("backup")) if name.endswith(".moving")], [])


if __name__ == "__main__":
    darknet.main()
