#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_trace: what all ranks did in some steps, in one file on one clock; and that tracing changes no weights."""
import collections
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "2", "-ddp_validate", "0",
         "-ddp_deterministic", "1")
LAYERS = ["0 convolutional", "1 maxpool", "2 convolutional", "3 convolutional", "4 yolo"]
LEARNING = [LAYERS[0], *LAYERS[2:4]]


class Trace(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=12).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=102, batch=12, subdivisions=6))

    def weights(self):
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            return f.read()

    def trace(self):
        with open(self.path("trace.json"), encoding="utf-8") as f:
            return json.load(f)

    def check_rank(self, events, lanes, steps, mini_batches, ranks):
        by_lane = collections.defaultdict(list)
        for event in sorted(events, key=lambda e: e["ts"]):
            self.assertGreaterEqual(event["dur"], 0)
            by_lane[lanes[event["tid"]]].append(event)
        self.assertEqual([e["name"] for e in by_lane["steps"]], [f"step {s}" for s in steps])
        names = collections.Counter(re.sub(", mini-batch.*", "", e["name"]) for e in by_lane["layers"])
        for layer in LAYERS:
            self.assertEqual(names[f"forward {layer}"], len(steps) * mini_batches, names)
            self.assertGreaterEqual(names[f"backward {layer}"], len(steps) * mini_batches, names)
        for layer in LEARNING:
            self.assertGreaterEqual(names[f"update {layer}"], len(steps) - 1, names)  # of the last one it may be deferred
        for before, after in zip(by_lane["layers"], by_lane["layers"][1:]):
            self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + .01, (before, after))
        self.assertTrue(any(e["name"].startswith("load ") for e in by_lane["loaders"]), by_lane.keys())
        buckets = [e["name"] for e in by_lane["buckets"]]
        if ranks == 1:
            self.assertEqual(buckets, [])
            return
        parameters = 4 * 3 * 9 + 3 * 4 + 4 * 4 * 9 + 3 * 4 + 7 * 4 + 7
        for step in range(len(steps)):
            each = len(buckets) // len(steps)
            sizes = [int(re.search(r"(\d+) bytes", name)[1]) for name in buckets[step * each:(step + 1) * each]]
            self.assertGreaterEqual(sum(sizes), 4 * (parameters - 2 * 8))  # BatchNorm's statistics travel apart
        self.assertGreaterEqual(len(buckets), 2 * len(steps))

    def test_all_ranks_in_one_file(self):
        for ranks in (2,) if darknet.GPU else (1, 2, 3):
            with self.subTest(ranks=ranks):
                self.succeeds(*TRAIN, "-ddp_bucket_mb", ".001", "-ddp_first_bucket_mb", ".001", ranks=ranks)
                plain = self.weights()
                result = self.succeeds(*TRAIN, "-ddp_bucket_mb", ".001", "-ddp_first_bucket_mb", ".001", "-ddp_trace", "trace.json",
                                       "-ddp_trace_steps", "99:101", ranks=ranks)
                self.same_weights(self.weights(), plain)
                self.assertIn("DDP: steps 99 to 101 of all ranks are in trace.json", result.out)
                trace = self.trace()
                names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
                self.assertEqual(sorted(names), list(range(ranks)))
                for rank, name in names.items():
                    self.assertRegex(name, rf"^rank {rank} @ \S+$")
                for rank in range(ranks):
                    mine = [e for e in trace["traceEvents"] if e["pid"] == rank]
                    lanes = {e["tid"]: e["args"]["name"] for e in mine if e["name"] == "thread_name"}
                    self.check_rank([e for e in mine if e["ph"] == "X"], lanes, (99, 100, 101), 6 // ranks, ranks)
                self.assertTrue(any(e["name"] == "backup/tiny.backup" for e in trace["traceEvents"]))
                self.check_clocks(trace["otherData"], ranks)

    def check_clocks(self, clocks, ranks):
        """They are one clock here, so the offsets are errors."""
        self.assertEqual([len(clocks["offsets_us"]), len(clocks["errors_us"])], [ranks, ranks])
        for offset, error in zip(clocks["offsets_us"], clocks["errors_us"]):
            self.assertLessEqual(abs(offset), error + .001)

    def test_other_commands_and_shorter_runs(self):
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=11))
        self.succeeds("classifier", *TRAIN[1:], "-ddp_trace", "trace.json", ranks=2)
        steps = [e["name"] for e in self.trace()["traceEvents"] if e["name"].startswith("step ") and e["pid"] == 1]
        self.assertEqual(steps, ["step 10", "step 11"])
        result = self.succeeds("classifier", *TRAIN[1:], "-ddp_trace", "trace.json", "-ddp_trace_steps", "50:60")
        self.assertIn("no step of 50 to 60 was made", result.err)

    def test_refused(self):
        for steps in ("3", "3:1", "0:1", "a:b", "1:-5", "1: 5"):
            self.refused(*TRAIN, "-ddp_trace", "trace.json", "-ddp_trace_steps", steps, code=2,
                         says=f"-ddp_trace_steps wants A:B, the first and the last step, such as 10:12, not '{steps}'")
        self.refused(*TRAIN, "-ddp_trace_steps", "1:2", code=2, says="-ddp_trace_steps wants -ddp_trace FILE")
        self.refused(*TRAIN, "-ddp_trace", "none/trace.json", code=1, says="-ddp_trace none/trace.json: there is no folder ")


if __name__ == "__main__":
    darknet.main()
