#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_compress topk:P: what is its own (the rest: tests/run/compressions.py): its words, and on how many ranks it pays."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 6, "tests", "python"))
import darknet  # noqa: E402


class TopK(darknet.Case):
    def test_its_line(self):
        darknet.DataSet(self.folder, count=11).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=2).replace("filters=4", "filters=12"))
        result = self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_compress", "topk:3.5", ranks=2)
        self.assertRegex(result.out, "\nDDP: gradients travel by the largest 3.5% of each matrix: 0.00[1-9] MB of 0.00[2-9], and ranks keep what that")

    def test_more_ranks_than_it_pays_on(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        self.refused("ddp", "plan", "tiny.cfg", "-np", "8", "-ddp_compress", "topk:20", code=2,
                     says="-ddp_compress topk:20 on 8 ranks sends more than gradients as they are: at most topk:12.5 does not")


if __name__ == "__main__":
    darknet.main()
