"""Faults of numbers in a rank's memory."""
import os
import re

from trial import Failed, Trial


class Memory(Trial):
    """The weights of rank 1's layer 2, in its memory."""

    still = True

    def pattern(self):
        for name in sorted(os.listdir(self.path("backup"))):
            if name.endswith((".weights", ".backup")):
                with open(self.path("backup/" + name), "rb") as f:
                    return f.read()[20 + 4 * (4 * 4 + 4 * 3 * 9) + 4 * 16:][:64]
        raise Failed("no weights file at step " + str(self.reached()))

    def write_over(self, word):
        pid, pattern = self.ranks()[1], self.pattern()
        found = 0
        with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as f:
            spans = [line.split() for line in f]
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            for span, rights, *rest in spans:
                start, end = (int(at, 16) for at in span.split("-"))
                if not rights.startswith("rw") or rest[-1].startswith("/dev"):
                    continue
                try:
                    memory.seek(start)
                    content = memory.read(end - start) or b""
                except OSError:
                    continue
                for copy in re.finditer(re.escape(pattern), content):  # one of them is what it computes with
                    memory.seek(start + copy.start())
                    memory.write(word(pattern[:4]))
                    found += 1
        if not found:
            raise Failed("the weights were not found in memory")


class FlippedBit(Memory):
    says = r"layer 2 \(convolutional\) weights of rank 0 .* and of rank 1 .* no longer have the same bits: .* it is undecided on which"

    def inject(self):
        self.write_over(lambda word: bytes([word[0] ^ 1]) + word[1:])


class FlippedBitOfFour(FlippedBit):
    """The others are more."""

    starts = ("-ddp_ranks", "4")
    rank_count = 4
    says = r"layer 2 \(convolutional\) weights of rank 1 on \S+ no longer have the bits of ranks 0, 2, 3 on \S+, which are more"


class NotANumber(Memory):
    says = r"not finite; first the \w+ of layer \d \(\w+\) of rank 1|layer 2 \(convolutional\) weights"

    def inject(self):
        self.write_over(lambda word: b"\x00\x00\xc0\x7f")
