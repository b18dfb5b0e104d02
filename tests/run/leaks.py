#!/usr/bin/env python3
# ddp-test: usual
"""Many steps of a tiny network on 4 ranks, with checkpoints meanwhile: memory and descriptors of each rank stay what they are.
DDP_LEAKS_STEPS=10000 tests/run/leaks.py by hand takes a minute."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

STEPS = int(os.environ.get("DDP_LEAKS_STEPS", "2500"))
WARM = 1000  # by then caches are full
MOST_KIB = 256  # a leak of 200 bytes a step is more


def looked_at(pid):
    """Resident memory in KiB, and open descriptors."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        memory = next(int(line.split()[1]) for line in f if line.startswith("RssAnon:"))
    return memory, len(os.listdir(f"/proc/{pid}/fd"))


class Flat(darknet.Case):
    def test_nothing_grows(self):
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=100 * STEPS))
        job = darknet.start(darknet.command("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1",
                                            "-keep", "2", "-ddp_batch", "rank", ranks=4), self.folder, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        before, after = [], []
        for line in job.stdout:
            if line.startswith(f"{WARM}:"):
                before = [looked_at(pid) for pid in darknet.ranks_under(job.pid)]
            elif line.startswith(f"{STEPS}:"):
                after = [looked_at(pid) for pid in darknet.ranks_under(job.pid)]
                break
        job.stdout.close()
        self.assertEqual(len(before), 4)
        print(f"after {WARM} steps {before}, after {STEPS} {after}")
        for rank, ((memory, files), (memory_then, files_then)) in enumerate(zip(before, after)):
            self.assertLess(memory_then - memory, MOST_KIB, f"rank {rank}: {before}, {after}")
            self.assertLessEqual(files_then, files + 8, f"rank {rank}: {before}, {after}")  # files that are being written


if __name__ == "__main__":
    darknet.main()
