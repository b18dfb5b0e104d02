#!/usr/bin/env python3
# ddp-test: usual
"""random=1 draws sizes up to 608x608: before the first step a run says what that takes of the memory that it may have, and one that would
take too much is refused, with what fits. By `ulimit -v`, and in a control group of 1.5 GB where root may make one."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp_seed", "7", "-threads", "1", "-nogpu")
LINE = r"DDP: at 608x608, the largest size that random=1 draws, a rank takes about ([0-9.]+) GB of the ([0-9.]+) GB that it may have \((.*)\)\n"
LIMIT = 1500000000


class Memory(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder, count=8).boxes()

    def cfg(self, **values):
        text = darknet.detector_cfg(**{"batch": 48, "subdivisions": 1, "max_batches": 2, **values}).replace("filters=4", "filters=24")
        self.write("tiny.cfg", text.replace("random=0", "random=1"))

    def peak(self):
        """How many bytes the run before took at most."""
        return int(self.read("peak")) * 1024

    def read(self, name):
        with open(self.path(name), encoding="ascii") as f:
            return f.read()

    def under(self, *words, before=()):
        """A run whose greatest resident memory goes to the file peak."""
        program = ("import os, resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
                   "open('peak', 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(code)")
        return darknet.run([*before, sys.executable, "-c", program, darknet.PROGRAM, *TRAIN, *words], self.folder)

    def test_the_forecast_is_what_a_run_takes(self):
        """At most 5 % below the real peak, nor above it by more than a tenth and the 64 MiB that malloc may keep."""
        for images, words in ((4, ()), (8, ()), (8, ("-ddp_ranks", "2"))):
            self.cfg(batch=images)
            result = self.under(*words)
            self.assertEqual(result.code, 0, result)
            takes, has, _ = re.search(LINE, result.out).groups()
            self.assertLess(float(takes), float(has))
            with self.subTest(images=images, words=words, takes=takes, peak=self.peak()):
                self.assertGreater(float(takes) * 1e9, .95 * self.peak())
                self.assertLess(float(takes) * 1e9, 1.1 * self.peak() + (64 << 20))

    def test_no_line_without_random(self):
        self.cfg(batch=2)
        self.write("tiny.cfg", self.read("tiny.cfg").replace("random=1", "random=0"))
        self.assertNotIn("largest size", self.under().out)

    def fitted(self, result, limit):
        """The -subdivisions that a refusal names, with which it then trains."""
        found = re.search(r"at 608x608, the largest size that random=1 draws, a rank takes about ([0-9.]+) GB, and it may have ([0-9.]+) GB "
                          r"\((.*)\): -subdivisions (\d+) would take ([0-9.]+) GB", result.err)
        self.assertTrue(found, result)
        self.assertEqual(result.code, 2, result)
        self.assertEqual(found[3], limit)
        self.assertGreater(float(found[1]), float(found[2]))
        self.assertLess(float(found[5]), float(found[2]) + .01)
        self.assertFalse(os.path.exists(self.path("backup/tiny_final.weights")))
        return "-subdivisions", found[4]

    def test_too_few_addresses(self):
        self.cfg()
        before = ("sh", "-c", f'ulimit -v {4 * LIMIT // 3 // 1024} && exec "$@"', "sh")
        subdivisions = self.fitted(self.under(before=before), "ulimit -v")
        result = self.under(*subdivisions, before=before)
        self.assertEqual(result.code, 0, result)

    def test_a_control_group(self):
        group, limit = self.group()
        before = ("sh", "-c", 'echo 0 > "$0" && exec "$@"', os.path.join(group, "cgroup.procs"))
        self.cfg()
        subdivisions = self.fitted(self.under(before=before), limit)
        result = self.under(*subdivisions, before=before)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(re.search(LINE, result.out)[3], limit)

    def group(self):
        """A control group with so much memory, and the words for its limit."""
        for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            group = os.path.join(root, f"darknet-ddp-{os.getpid()}")
            try:
                os.mkdir(group)
            except OSError:
                continue
            self.addCleanup(os.rmdir, group)
            try:
                with open(os.path.join(group, limit), "w", encoding="ascii") as f:
                    f.write(str(LIMIT))
            except OSError:
                continue
            return group, f"its cgroup's {limit}"
        return self.skipTest("no control group of memory can be made here")


if __name__ == "__main__":
    darknet.main()
