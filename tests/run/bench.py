#!/usr/bin/env python3
# ddp-test: usual
"""`darknet ddp plan` and `bench`: what they print, and what they refuse. (With times of layers: tests/run/forecast.py.)"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

PLAN = """\
tiny.cfg: 5 layers, 303 parameters in 8 arrays
bucket    layers            arrays         MB
     1     0 to 3                6      0.001
     2     0 to 0                2      0.000
2 buckets, 0.002 MB of gradients, 0.000 MB of BatchNorm statistics
4 ranks: each sends and receives 0.002 MB a step, 0.000 s at 10 Gbit/s
batch 4 = 4 ranks x 1 mini-batch x 1 image, smaller than the cfg's
"""


class Plan(darknet.Case):
    def test_prints_the_buckets_of_a_cfg(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        result = self.succeeds("ddp", "plan", "tiny.cfg", "-np", "4", "-ddp_first_bucket_mb",
                               "0.001", "-ddp_bucket_mb", "0.002")
        self.assertEqual(result.out, PLAN, result)
        self.assertEqual(result.err, "", result)

    def test_takes_sizes_from_the_command_line(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        result = self.succeeds("ddp", "plan", "tiny.cfg", "-batch", "12", "-subdivisions", "3",
                               "-np", "3")
        self.assertIn("batch 12 = 3 ranks x 1 mini-batch x 4 images\n", result.out, result)

    def test_says_what_cannot_be_split(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        self.refused("ddp", "plan", "tiny.cfg", "-np", "2", "-hosts", "3", says="-hosts 3: 2 ranks cannot be on so many\n")
        result = self.succeeds("ddp", "plan", "tiny.cfg", "-np", "3")
        self.assertIn("batch=4 cannot be cut evenly over 3 ranks; batch=6 or -ddp_batch rank "
                      "would work\n", result.out, result)

    def test_refuses_what_darknet_would_round(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        result = self.succeeds("ddp", "plan", "tiny.cfg", "-batch", "64", "-subdivisions", "22",
                               "-np", "2")
        self.assertIn("batch=64 is not a multiple of subdivisions=22: ", result.out, result)

    def test_names_the_cfg_in_errors(self):
        self.write("bad.cfg", "[net]\nbatch=abc\n")
        self.refused("ddp", "plan", "bad.cfg", says="darknet: bad.cfg:2: batch=abc: not a number\n")
        self.refused("ddp", "plan", "none.cfg", says="darknet: Couldn't open file: none.cfg (No such file or directory)")


class Bench(darknet.Case):
    def bench(self, *options, ranks):
        self.write("tiny.cfg", darknet.detector_cfg())
        result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "3", "-json", "figures",
                               *options, ranks=ranks)
        with open(self.path("figures"), encoding="ascii") as f:
            return result, json.load(f)

    def test_measures_steps(self):
        for ranks in (0, 1, 2):
            with self.subTest(ranks=ranks):
                result, figures = self.bench(ranks=ranks)
                self.assertEqual(figures["ranks"], ranks or 1)
                self.assertEqual(figures["transport"], "mpi" if ranks else "solo")
                self.assertEqual((figures["device"], figures["precision"]), ("CPU", "fp32"))
                self.assertIn(f" (CPU, fp32, {figures['transport']}), ", result.out, result)
                self.assertEqual((figures["batch"], figures["width"]), (4, 32))
                for name in ("forward", "backward", "exposed", "update", "step", "local_step",
                             "communication"):
                    self.assertRegex(result.out, rf"(?m)^{name} +\d")
                    self.assertGreaterEqual(figures[name]["median"], 0)
                self.check_sums(figures)

    def test_counts_messages(self):
        """Two ranks on one host: hierarchical sums need none, by either word; directly each sends every bucket once. With the
        optimizer's state in shares, each sends its half of a bucket twice, gradients and updated parameters, and one sum more."""
        small = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
        for schedule, said, shares, count in (("hierarchical", "1 level (2 ranks a host in shared memory)", 0, lambda _: 0),
                                              ("levels", "1 level (2 ranks a host in shared memory)", 0, lambda _: 0),
                                              ("direct", "direct", 0, lambda buckets: buckets),
                                              ("direct", "direct", 1, lambda buckets: 2 * buckets + 1)):
            with self.subTest(schedule=schedule, shares=shares):
                result, figures = self.bench("-ddp_schedule", schedule, *small, "-ddp_shard_optimizer", shares, ranks=2)
                self.assertIn(f"\nsums over ranks: {said}; in a step a rank sends ", result.out, result)
                self.assertEqual(figures["schedule"], said)
                self.assertEqual(figures["left_host_mb"], 0)
                self.assertEqual(figures["messages"], count(figures["buckets"]))

    def test_the_watch_sees_steps_alone(self):
        """A step without communication takes longer than the time without movement after which the watch warns, 1 s."""
        layer = "[convolutional]\nfilters=64\nsize=3\npad=1\n"
        net = "[net]\nbatch={}\nwidth=104\nheight=104\nchannels=64\n" + 16 * layer + "[maxpool]\nsize=104\nstride=104\n[softmax]\n"
        batch, seconds = 4, 0
        while seconds < 1.2:
            self.write("deep.cfg", net.format(batch))
            result = self.succeeds("ddp", "bench", "deep.cfg", "-steps", "1", "-ddp_timeout", "10", "-json", "figures", "-profile", "layers")
            self.assertNotIn("nothing has moved", result.err, result)
            with open(self.path("figures"), encoding="ascii") as f:
                seconds = json.load(f)["local_step"]["median"]
            batch *= 2

    def test_prints_nothing_else(self):
        """Darknet's lines about boxes, one for each mini-batch, are not among the figures."""
        figures = (r"tiny\.cfg, 32x32, 4 images .*\n +median .*\n(?:[a-z_]+ +\d.*\n){7}"
                   r"communication alone .*\n(?:sums over ranks: .*\n)?limit = .*\n.* images/s.*\n")
        yolo = darknet.detector_cfg()
        region = yolo.replace("[yolo]\nmask=0", "[region]\ncoords=4").replace("ignore_thresh=0.7\ntruth_thresh=1\n", "")
        self.assertNotEqual(region, yolo)
        for cfg in (yolo, region):
            for ranks in (0, 2):
                with self.subTest(cfg=cfg, ranks=ranks):
                    self.write("tiny.cfg", cfg)
                    result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", "-trace", "trace", ranks=ranks)
                    drawn = r"trace: .*\n" if ranks else ""
                    self.assertRegex(result.out, rf"\A{figures}{drawn}\Z", result)
                    self.assertEqual(result.err, "", result)

    def test_draws_a_step(self):
        """Every bucket's sum begins within the step and has its time, in one process there are none."""
        for ranks, buckets in ((0, 0), (2, 2)):
            with self.subTest(ranks=ranks):
                result, figures = self.bench("-trace", "trace", "-ddp_bucket_mb", ".001",
                                             "-ddp_first_bucket_mb", ".001", "-ddp_defer_mb", "0",
                                             ranks=ranks)
                with open(self.path("trace"), encoding="ascii") as f:
                    all_events = [e for e in json.load(f)["traceEvents"] if e["ph"] == "X"]
                self.assertEqual({e["pid"] for e in all_events}, set(range(ranks or 1)))
                for rank in range(ranks or 1):
                    events = [e for e in all_events if e["pid"] == rank]
                    sums = [e for e in events if e["name"].startswith("bucket")]
                    (step,) = [e for e in events if e["name"].startswith("step")]
                    passes = {e["name"].split(",")[0] for e in events if e["tid"] == 1}
                    for kind in ("forward", "backward", "update"):
                        self.assertTrue({f"{kind} 0 convolutional", f"{kind} 2 convolutional"} <= passes, passes)
                    self.assertEqual(len(sums), figures["buckets"] if ranks else 0, result)
                    self.assertGreaterEqual(len(sums), buckets)
                    for event in sums:
                        self.assertTrue(step["ts"] < event["ts"] < step["ts"] + step["dur"] and event["dur"] > 0, event)
                if ranks:
                    self.assertRegex(result.out, rf"trace: \d+ of {figures['buckets']} buckets were")

    def test_says_what_changes_its_figures(self):
        for words, says in (((), ""), (("-ddp_exact",), ", exact"), (("-ddp_overlap", "0"), ", overlap off"),
                            (("-ddp_deterministic", "1"), ""), (("-ddp_exact", "-ddp_overlap", "0"), ", exact, overlap off")):
            with self.subTest(words=words):
                result, figures = self.bench(*words, "-trace", "trace", ranks=2)
                self.assertRegex(result.out, rf"\A.* MB in 1 bucket{says}\n", result)
                self.assertRegex(result.out, r"\ntrace: [01] of 1 bucket was summed when backward ended\n\Z", result)
                self.assertEqual((figures["exact"], figures["deterministic"], figures["overlap"]),
                                 ("exact" in says, False, "off" not in says))

    def check_sums(self, figures):
        """A step's parts are in it, and images a second are a batch of them by its time."""
        step, local = figures["step"]["median"], figures["local_step"]["median"]
        parts = sum(figures[name]["low"] for name in ("forward", "backward", "update", "exposed"))
        self.assertLessEqual(parts, figures["step"]["high"] + 1e-5)
        for name in ("forward", "backward", "update"):
            self.assertGreater(figures[name]["high"], 0, name)  # the least may be 0, less the communication in it
        self.assertAlmostEqual(figures["images_per_s"] * step, 4, delta=4 * 1e-6 / step + 1e-3)
        self.assertAlmostEqual(figures["local_images_per_s"] * local, 4,
                               delta=4 * 1e-6 / local + 1e-3)

    def test_takes_sizes_from_the_command_line(self):
        _, figures = self.bench("-batch", "6", "-subdivisions", "1", "-w", "64", ranks=2)
        self.assertEqual((figures["batch"], figures["width"], figures["height"]), (6, 64, 32))

    def test_refuses_before_it_measures(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        for words, sentence, code in (
                ("-json none/figures", "cannot write none/figures: No such file", 1),
                ("-json -steps", "-json wants a file name, not '-steps'\n", 2),
                ("-gpus 0,a", "-gpus wants numbers of GPUs", 2),
                ("-steps 0", "-steps wants a whole number from 1 to 100000, not '0'\n", 2)):
            for ranks in (0, 2):
                with self.subTest(words=words, ranks=ranks):
                    self.refused("ddp", "bench", "tiny.cfg", *words.split(), says=sentence,
                                 code=code, ranks=ranks)
        self.write("bad.cfg", "[net]\nbatch=abc\n")
        self.refused("ddp", "bench", "bad.cfg", ranks=2, says=": bad.cfg:2: batch=abc: not a number")


if __name__ == "__main__":
    darknet.main()
