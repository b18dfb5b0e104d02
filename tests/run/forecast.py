#!/usr/bin/env python3
# ddp-test: usual
"""Times of layers in a file: `ddp bench` writes them (-profile) and sleeps by them (-replay), and `ddp plan` predicts from them."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

HEAD = "# darknet-ddp profile of something\ndevice\tgpu\nimages\t2\n"


class Forecast(darknet.Case):
    def setUp(self):
        super().setUp()
        self.write("tiny.cfg", darknet.classifier_cfg(batch=4, subdivisions=2))
        self.layers = 6
        # 10, 5 and 5 ms a layer, and 1 ms: a step of 2 mini-batches takes 246 ms.
        self.write("made-up", HEAD + "".join(f"{i}\t.010\t.005\t.005\t.001\n" for i in range(self.layers)))

    def times(self, name):
        with open(self.path(name), encoding="ascii") as f:
            lines = [line for line in f if line[0].isdigit()]
        return [[float(x) for x in line.split("#")[0].split()[1:]] for line in lines]

    def rows(self, result):
        table = result.out.partition("ranks  hosts ")[2]
        return [line.split() for line in table.splitlines() if re.match(r" +\d+ +\d+ ", line)]

    def median(self, result, name):
        return float(re.search(rf"(?m)^{name} +(\S+)", result.out).group(1))

    def test_a_profile_has_each_layer(self):
        self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", "-profile", "p")
        times = self.times("p")
        self.assertEqual(len(times), self.layers)
        self.assertTrue(all(t >= 0 for row in times for t in row), times)
        self.assertGreater(sum(map(sum, times)), 0)
        with open(self.path("p"), encoding="ascii") as f:
            text = f.read()
        self.assertIn("device\tcpu\nimages\t2\n", text)
        self.assertTrue(text.startswith("# darknet-ddp profile of tiny.cfg, 32x32, by rank 0 of 1; medians of 2 steps\n"), text)

    def test_layers_sleep_as_long_as_it_says(self):
        result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "3", "-replay", "made-up", "-profile", "again")
        self.assertGreater(self.median(result, "local_step"), .22)
        self.assertIn(", layers sleep as long as in made-up\n", result.out)
        times = self.times("again")
        self.assertEqual(len(times), self.layers)
        self.assertGreater(sum(map(sum, times)), .04, times)  # .123, where nobody else wants the CPU

    def test_sums_are_real(self):
        result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", "-replay", "made-up", "-ddp_schedule", "direct",
                               ranks=2)
        self.assertGreater(int(re.search(r"a rank sends (\d+) message", result.out).group(1)), 0)

    def test_half_a_mini_batch_takes_half_the_time(self):
        """No less, ever; that it is no more, others who want the CPU can hide in a run."""
        for _ in range(10):
            result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "3", "-batch", "2", "-replay", "made-up")
            took = self.median(result, "local_step")
            self.assertGreater(took, .11)
            if took < .2:
                return
        self.fail(f"ten runs of half a mini-batch took as long as a whole one's .246 s, the last {took}")

    def test_a_prediction_for_each_number_of_ranks(self):
        result = self.succeeds("ddp", "plan", "tiny.cfg", "-ddp_batch", "rank", "-profile", "made-up", "-np", "12", "-hosts", "3",
                               "-net", "1")
        rows = self.rows(result)
        self.assertEqual([row[:3] for row in rows], [["1", "1", "4"], ["2", "1", "8"], ["4", "1", "16"], ["8", "2", "32"],
                                                     ["12", "3", "48"]], result)
        self.assertEqual(float(rows[0][3]), .246)
        steps = [float(row[4]) for row in rows]
        self.assertEqual(steps, sorted(steps), "more ranks, longer steps")

    def test_hosts_that_ranks_do_not_fill_evenly(self):
        words = ("ddp", "plan", "tiny.cfg", "-ddp_batch", "rank", "-profile", "made-up")
        for ranks, hosts, found in (("4", "3", [["1", "1"], ["2", "1"], ["4", "3"]]), ("5", "4", [["1", "1"], ["2", "1"], ["4", "2"], ["5", "4"]])):
            result = self.succeeds(*words, "-np", ranks, "-hosts", hosts)
            self.assertEqual([row[:2] for row in self.rows(result)], found, result)

    def test_what_travels_counts(self):
        """On a line so slow that it is all that counts."""
        words = ("ddp", "plan", "tiny.cfg", "-ddp_batch", "rank", "-profile", "made-up", "-np", "2", "-net", ".001")
        plain, half = self.succeeds(*words), self.succeeds(*words, "-ddp_compress", "bf16")
        self.assertAlmostEqual(float(self.rows(half)[1][6]), float(self.rows(plain)[1][6]) / 2, delta=.001)
        self.assertGreater(float(self.rows(plain)[1][6]), .004)
        self.assertIn("not known", self.succeeds(*words, "-ddp_sync_bn", "1").out)

    def test_one_file_for_both(self):
        self.refused("ddp", "bench", "tiny.cfg", "-replay", "made-up", "-profile", "made-up", says="would write over made-up, which this command reads", code=2)
        self.assertEqual(len(self.times("made-up")), self.layers)
        self.refused("ddp", "bench", "tiny.cfg", "-replay", "made-up", "-ddp_sync_bn", "1", says="-ddp_sync_bn", code=2)

    def test_to_a_thousand_ranks(self):
        rows = self.rows(self.succeeds("ddp", "plan", "tiny.cfg", "-ddp_batch", "rank", "-profile", "made-up"))
        self.assertEqual(rows[-1][:2], ["1024", "1024"])
        result = self.succeeds("ddp", "plan", "tiny.cfg", "-profile", "made-up", "-np", "8")
        self.assertIn("    8      8   batch 4 cannot be cut evenly over them", result.out)

    def test_what_is_no_profile_is_refused(self):
        for text, says in (("0\t1\t1\t1\t1\n", "bad is no profile"),
                           (HEAD + "0\t1\t1\t1\n", "bad, line 4: not 'device cpu|gpu', 'images N', or layer 0 of 6"),
                           (HEAD + "0\t1\t1\t-1\t1\n", "bad, line 4"), (HEAD + "0\t1\t1\tnan\t1\n", "bad, line 4"),
                           (HEAD + "1\t1\t1\t1\t1\n", "bad, line 4"), (HEAD.replace("gpu", "tpu"), "bad, line 2"),
                           (HEAD + "0\t1\t1\t1\t1\n", "bad has 1 layers, the network 6")):
            with self.subTest(text=text):
                self.write("bad", text)
                for words in (("plan", "tiny.cfg", "-profile"), ("bench", "tiny.cfg", "-replay")):
                    self.refused("ddp", *words, "bad", says=says, code=2)
        self.refused("ddp", "plan", "tiny.cfg", "-profile", "none", says="none")


if __name__ == "__main__":
    darknet.main()
