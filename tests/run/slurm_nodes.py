#!/usr/bin/env python3
# ddp-test: ci
"""Under Slurm on two nodes, made of network namespaces: 2 x 4 ranks of srun train to one process's weights, and a node that dies ends the
job. As root; skipped where namespaces cannot be made or Slurm is not installed."""
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
os.environ["DDP_HOSTS_ID"] = str(os.getpid())
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402
import slurm  # noqa: E402

NAMESPACES = os.path.join(here, "..", "hosts", "namespaces.sh")
HOST = f"ddp{os.getpid()}"
TRIES = 3
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")


def on(host):
    """In front of a command of that host. Not `ip netns exec`, which mounts /sys anew: slurmd looks for /sys/fs/cgroup."""
    return ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec nsenter --net=/run/netns/"$0" "$@"', f"{HOST}-{host}"]


class Nodes(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.cfg(12)

    def cfg(self, steps):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=steps))

    def srun(self, tasks, *options):
        return [*on(1), "srun", "--quiet", "--mpi=pmix", "--kill-on-bad-exit", "--overcommit", "-N", "2", f"--ntasks-per-node={tasks}",
                darknet.PROGRAM, *TRAIN, *options]

    def trained(self, tasks, *options):
        """The Result of a run. It is tried again where a rank died before the first line, by a jump to no address: Open MPI 4.1 under
        Slurm 22.05 and PMIx 4.2 leaves MPI_Init when a node's own ranks have come to its last barrier, so they send to ranks of the
        other node that are still in theirs."""
        for _ in range(TRIES):
            result = darknet.run(self.srun(tasks, *options), self.folder, environment=OPEN_MPI)
            if result.code == 0 or result.out or not re.search(r"Segmentation fault.*\n.*\n.*Failing at address: \(nil\)", result.err):
                break
            print(f"again, for a rank died in MPI_Init: {result}")
        return result

    def weights(self):
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            found = f.read()
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        return found

    def test_two_nodes_train_to_one_file(self):
        self.succeeds(*TRAIN, "-ddp_exact")
        expected = self.weights()
        for tasks, said in ((1, "direct"), (4, "2 levels (4 ranks a host in shared memory, then 2 hosts)")):
            result = self.trained(tasks, "-ddp_exact")
            self.assertEqual(result.code, 0, result)
            self.assertIn(f"DDP: {2 * tasks} ranks on 2 hosts ({HOST}-1 {HOST}-2), CPU", result.out, result)
            self.assertIn(f"\nDDP: sums over ranks: {said}\n", result.out, result)
            self.assertTrue(self.weights() == expected, result)

    @darknet.again_if_too_late
    def test_a_task_that_dies_on_the_other_node_ends_the_job_and_resume_makes_up_for_it(self):
        self.cfg(3000 * self.longer)
        self.succeeds(*TRAIN, "-ddp_exact")
        expected = self.weights()
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(self.srun(1, "-ddp_exact"), self.folder, OPEN_MPI, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        self.wait_for("tiny_100.weights.state", job)
        for rank in self.rank_1():
            os.kill(rank, signal.SIGKILL)
        if job.wait(darknet.LIMIT_S) == 0:
            raise darknet.TooLate
        self.assertFalse(os.path.exists(self.path("backup/tiny.finished")), self.said())
        result = self.trained(4, "-ddp_exact", "-resume")
        self.assertEqual(result.code, 0, result)
        self.assertTrue(self.weights() == expected, result)

    def rank_1(self):
        """Its process id; nothing where it has ended."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as f:
                    variables = f.read().split(b"\0")
                if os.readlink(f"/proc/{name}/cwd") == os.path.realpath(self.folder) and b"SLURM_PROCID=1" in variables:
                    found.append(int(name))
            except OSError:
                continue
        return found


OPEN_MPI = {"OMPI_MCA_btl": "tcp,self,vader", "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24"}

if __name__ == "__main__":
    made = subprocess.run([NAMESPACES, "up"], check=False)
    if made.returncode:
        sys.exit(made.returncode)
    try:
        slurm.main([(f"{HOST}-{host}", f"10.77.0.{host}", on(host)) for host in (1, 2)])
    finally:
        subprocess.run([NAMESPACES, "down"], check=False)
