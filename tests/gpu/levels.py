#!/usr/bin/env python3
"""-ddp_exact on GPUs of several hosts, on emulated devices: one weights file for every arrangement of hosts and ranks, and either
schedule; what leaves a host, as `darknet ddp bench` counts it. $GPU_HOST makes ranks of this machine ranks of several hosts
(preload/host.c). (Every element of sums: sums.hosts.)"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1", "-ddp_exact")
# Ranks of each host, and how levels are spoken of.
PLACES = (("2,2", "2 levels (2 ranks a host, then 2 hosts)"), ("1,1,1,1", "2 levels (1 rank a host, then 4 hosts)"),
          ("2,2,2,2", "2 levels (2 ranks a host, then 4 hosts)"), ("3,1", "2 levels (1 to 3 ranks a host, then 2 hosts)"),
          ("8", "1 level (8 ranks a host)"))
DIRECT = ("-ddp_schedule", "direct")
LEVELS = ("-ddp_schedule", "hierarchical")


def on_hosts(places):
    ranks = list(map(int, places.split(",")))
    return sum(ranks), {"HOST_RANKS": places, "LD_PRELOAD": os.environ["GPU_HOST"], "EMULATED_DEVICES": str(max(ranks))}


class Levels(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=11).boxes()

    def trained(self, *options, places=None):
        ranks, environment = on_hosts(places) if places else (0, None)
        result = self.succeeds(*TRAIN, *options, ranks=ranks, environment=environment)
        self.assertFalse(os.path.exists(self.path("backup/tiny.losses")))  # those of labels are kept on CPUs alone
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            return f.read(), result

    def test_the_same_weights_as_one_process(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=6))
        expected, _ = self.trained()
        for places, said in PLACES:
            for options, way in ((LEVELS, said), (DIRECT, "direct"), ((*LEVELS, "-ddp_channels", "2", "-ddp_bucket_mb", "0.001"), said)):
                with self.subTest(places=places, options=options):
                    weights, result = self.trained(*options, places=places)
                    self.assertIn(f"\nDDP: sums over ranks: {way}\n", result.out, result)
                    self.same_weights(weights, expected)

    def figures(self, places, *options):
        ranks, environment = on_hosts(places)
        result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", "-json", "figures", "-ddp_exact", *options, ranks=ranks,
                               environment=environment)
        with open(self.path("figures"), encoding="ascii") as f:
            figures = json.load(f)
        self.assertIn("nccl", figures["transport"])
        self.assertIn(f"\nsums over ranks: {figures['schedule']}; in a step a rank sends {figures['messages']} message", result.out, result)
        return figures

    def test_what_leaves_a_host(self):
        """At most 1.05 of the least, 2 S (H - 1) / H, by levels; directly as many times that as a host has ranks."""
        body = darknet.convolutional(16, stride=4, batch_normalize=1) + darknet.convolutional(128, stride=2, batch_normalize=1)
        self.write("tiny.cfg", darknet.classifier_cfg(outputs=8, body=body, batch=8, subdivisions=8))
        for places in ("2,2", "1,1,1,1", "2,2,2,2", "8"):
            hosts = len(places.split(","))
            figures = self.figures(places, *LEVELS)
            least = 2 * figures["summed_mb"] * (hosts - 1) / hosts
            self.assertLessEqual(figures["left_host_mb"], 1.05 * least + 0.0005, (places, figures))
            self.assertGreaterEqual(figures["left_host_mb"], 0.99 * least - 0.0005, (places, figures))
            if places == "2,2":
                self.assertGreater(self.figures(places, *DIRECT)["left_host_mb"], 1.9 * least)

    def test_levels_are_the_choice_where_hosts_have_several_ranks(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8))
        self.assertEqual(self.figures("2,2")["schedule"], "2 levels (2 ranks a host, then 2 hosts)")
        self.assertEqual(self.figures("1,1")["schedule"], "direct")


if __name__ == "__main__":
    darknet.main()
