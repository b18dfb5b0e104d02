#!/usr/bin/env python3
# ddp-test: ci
"""Under Slurm a node goes down in mid-run, its network and all that runs there at once: the ranks that are left name it and end, srun
ends, and the job goes on on the node that is left, to one process's weights. As root; skipped where network namespaces cannot be made or
Slurm is not installed."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
os.environ["DDP_HOSTS_ID"] = str(os.getpid())
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402
import slurm  # noqa: E402
from namespaces import NAMESPACES  # noqa: E402

HOST = f"ddp{os.getpid()}"
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_exact", "-ddp_seed", "7", "-threads", "1")
OPEN_MPI = {"OMPI_MCA_btl": "tcp,self,vader", "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24"}


def on(host):
    """In front of a command of that host. Not `ip netns exec`, which mounts /sys anew: slurmd looks for /sys/fs/cgroup."""
    return ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec nsenter --net=/run/netns/"$0" "$@"', f"{HOST}-{host}"]


class NodeDown(darknet.Case):
    def srun(self, nodes, *options):
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start([*on(1), "srun", "--quiet", "--mpi=pmix", "--kill-on-bad-exit", "--overcommit", "-N", str(nodes), "--ntasks-per-node=1",
                                 darknet.PROGRAM, *TRAIN, *options], self.folder, OPEN_MPI, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def test_a_node_goes_down(self):
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=3000))
        self.succeeds(*TRAIN)
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            expected = f.read()
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        job = self.srun(2, "-ddp_timeout", "6")
        self.wait_for("tiny_100.weights.state", job)
        subprocess.run([NAMESPACES, "kill", "2"], check=True)
        self.until(lambda: f"and the run ends; the others wait for rank 1 on {HOST}-2, which is not heard any more" in self.said(), self.said)
        # As slurmctld finds by itself after SlurmdTimeout, 300 s.
        subprocess.run([*on(1), "scontrol", "update", f"NodeName={HOST}-2", "State=DOWN", "Reason=died"], check=True)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        job = self.srun(1, "-resume")
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertIn("DDP: resuming from backup/tiny", self.said())
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            self.same_weights(f.read(), expected, self.said())


if __name__ == "__main__":
    made = subprocess.run([NAMESPACES, "up"], check=False)
    if made.returncode:
        sys.exit(made.returncode)
    try:
        slurm.main([(f"{HOST}-{host}", f"10.77.0.{host}", on(host)) for host in (1, 2)])
    finally:
        subprocess.run([NAMESPACES, "down"], check=False)
