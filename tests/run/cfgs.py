#!/usr/bin/env python3
# ddp-test: usual
"""Every cfg of tests/corpus/cfg, parsed and trained for a step on random data: it trains, or it is refused with
the words that its first line has, and never ends by a signal or waits. They are what once crashed, and their kin."""
import glob
import os
import resource
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import darknet  # noqa: E402

CORPUS = sorted(glob.glob(os.path.join(HERE, "..", "corpus", "cfg", "*.cfg")))
MEMORY = 8 << 30  # of connected-beyond-memory.cfg, on any machine


def expectation(path):
    """The first line, "# trains" or "# refused: WORDS"; None if it says neither."""
    with open(path, encoding="utf-8", errors="replace") as f:
        words = f.readline().strip()
    if words == "# trains":
        return ""
    kind, _, words = words.partition(": ")
    return words if kind == "# refused" and words else None


class Corpus(darknet.Case):
    def replay(self, path):
        words = expectation(path)
        self.assertIsNotNone(words, f"{path} does not say what becomes of it")
        if not words:
            self.succeeds("ddp", "bench", path, "-steps", "1")
            return
        result = self.refused("ddp", "bench", path, "-steps", "1", says=words)
        self.assertEqual(result.err.count("darknet: "), 1, result)

    def test_is_there(self):
        self.assertGreater(len(CORPUS), 80)


def add(path):
    name = os.path.basename(path)[:-len(".cfg")].replace("-", "_")
    setattr(Corpus, f"test_{name}", lambda self: self.replay(path))


for each in CORPUS:
    add(each)

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    darknet.main()
