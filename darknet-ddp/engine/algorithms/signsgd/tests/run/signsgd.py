#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_compress signsgd: what is its own (the rest: tests/run/compressions.py): on how many ranks it pays."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 6, "tests", "python"))
import darknet  # noqa: E402


class SignSGD(darknet.Case):
    def test_more_ranks_than_it_pays_on(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=64, subdivisions=64))
        self.refused("ddp", "plan", "tiny.cfg", "-np", "64", "-ddp_compress", "signsgd", code=2,
                     says="-ddp_compress signsgd on 64 ranks sends more than gradients as they are: on at most 60 it does not")
        self.succeeds("ddp", "plan", "tiny.cfg", "-np", "32", "-ddp_compress", "signsgd")


if __name__ == "__main__":
    darknet.main()
