"""A Slurm that a test starts: slurmctld and a slurmd for each node. Skipped where it is not installed (Debian's slurmctld, slurmd,
slurm-client and slurm-wlm-basic-plugins)."""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import darknet

os.environ["PATH"] += ":/usr/sbin"
CONFIGURATION = """ClusterName=test
SlurmctldHost={first[0]}({first[1]})
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/none
CredType=cred/none
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
StateSaveLocation={folder}/state
TmpFS={folder}/tmp.%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=5
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1
{nodes}
PartitionName=p Nodes=ALL Default=YES
"""


def skip(why):
    print(f"slurm: {why}", file=sys.stderr)
    sys.exit(77)


def free_ports(n):
    """Below those that the kernel gives to whoever asks for any, so that nobody has got them until the daemons listen there."""
    found = []
    while len(found) < n:
        port = random.randrange(10000, 30000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


class Cluster:
    """Until it is ended. nodes: of each its name, its address, and what to put in front of a command that is to run there."""

    def __init__(self, nodes):
        self.folder = tempfile.mkdtemp(prefix="slurm")
        self.memory = tempfile.mkdtemp(prefix="slurm", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.nodes = nodes
        self.daemons = []
        user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        os.mkdir(os.path.join(self.folder, "state"))
        for name, _, _ in nodes:
            os.mkdir(os.path.join(self.folder, f"spool.{name}"))
            os.mkdir(os.path.join(self.folder, f"tmp.{name}"))
        os.environ["SLURM_CONF"] = os.path.join(self.folder, "slurm.conf")
        lines = "\n".join(f"NodeName={name} NodeAddr={address} CPUs=16 RealMemory=1000" for name, address, _ in nodes)
        darknet.write(os.environ["SLURM_CONF"], CONFIGURATION.format(first=nodes[0], user=user, folder=self.folder,
                                                                     ports=free_ports(2), nodes=lines))
        # What Open MPI's ranks share has the number of the job in its name, and each cluster has a first, a second...
        darknet.ENVIRONMENT = dict(darknet.ENVIRONMENT, SLURM_CONF=os.environ["SLURM_CONF"], PATH=os.environ["PATH"],
                                   OMPI_MCA_btl_vader_backing_directory=self.memory)

    def start(self):
        """False: some node does not come up here."""
        self.start_daemon("slurmctld", self.nodes[0], "-D", "-c")
        for node in self.nodes:
            self.start_daemon("slurmd", node, "-D", "-N", node[0])
        limit = time.monotonic() + darknet.LIMIT_S
        while time.monotonic() < limit:
            state = subprocess.run([*self.nodes[0][2], "sinfo", "-h", "-N", "-o", "%T"], check=False, capture_output=True, text=True)
            if state.stdout.split() == ["idle"] * len(self.nodes):
                return True
            time.sleep(.1)
        return False

    def start_daemon(self, program, node, *options):
        with open(os.path.join(self.folder, f"{program}.{node[0]}.out"), "w", encoding="ascii") as out:
            self.daemons.append(subprocess.Popen([*node[2], program, *options], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                 start_new_session=True))

    def said(self):
        texts = []
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".out"):
                with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as f:
                    texts.append(f.read()[-1000:])
        return "\n".join(texts)

    def end(self):
        for daemon in reversed(self.daemons):
            darknet.end_group(daemon)
        for folder in (self.folder, self.memory):
            shutil.rmtree(folder, ignore_errors=True)


def main(nodes):
    """The tests of the calling script, under Slurm."""
    for name in ("slurmctld", "slurmd", "srun", "sbatch", "sinfo"):
        if not shutil.which(name):
            skip(f"no {name}: Debian's packages slurmctld slurmd slurm-client slurm-wlm-basic-plugins have it")
    if not shutil.which("mpirun"):
        skip("no mpirun")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    cluster = Cluster(nodes)
    try:
        if not cluster.start():
            skip("no Slurm node comes up here: " + cluster.said())
        darknet.main()
    finally:
        cluster.end()
