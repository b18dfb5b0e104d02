#!/usr/bin/env python3
"""Time sums of gradients over ranks, without compute: ours (`darknet ddp bench`), MPI_Allreduce of the same mpirun, and Gloo's, if Debian's
python3-torch is installed. The ranks are on hosts that this script makes (network namespaces; as root), and on one host.

Usage: scripts/bench-sums.py [--build DIR] [--times N] [--mb N] [hosts | ranks]
  --build DIR    (build)
  --times N      sums of each run (5)
  --mb N         about how many MB of gradients: whole layers of 16.8 MB (92, which gives 85.5)
  hosts, ranks   only the rows of several hosts, or those of one

MPI and Gloo sum all gradients in one call, which is the best that they can do. A row of H hosts has the least bytes that must leave a host,
2 S (H-1)/H for S bytes of gradients; the bytes that left it; our time, also divided by the time that the least bytes take on the line; and the
CPU seconds of all ranks (those of rank 0, times the ranks). A row of one host has the CPU seconds of a rank. Run it on a quiet machine. It
prints tables in Markdown.
Exit status: 0, 1 if a run failed, 77 where hosts cannot be made."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import replays  # noqa: E402

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # which Debian's packages are for
HOSTS = ((2, 2, 1), (4, 1, 1), (4, 2, 1), (2, 2, 4), (4, 1, 4), (4, 2, 2), (4, 2, 4))  # hosts, ranks a host, Gbit/s a host
RANKS = (8, 16, 32)
WIDE = 2048
WARM_UP = 2
ON_ONE = ("mpirun", "--oversubscribe", "--bind-to", "none")


def cfg(megabytes):
    """Connected layers of so many bytes, and nearly nothing to compute."""
    layers = max(1, round(megabytes * 1e6 / 4 / WIDE / WIDE))
    side = "[connected]\noutput=%d\nactivation=linear\n"
    return "[net]\nbatch=1\nwidth=8\nheight=8\nchannels=3\n" + side % WIDE * (layers + 1) + side % 2 + "[cost]\ntype=sse\n"


class Sums:
    def __init__(self, build, folder, args):
        self.folder, self.times = folder, args.times
        self.network = os.path.join(folder, "wide.cfg")
        with open(self.network, "w", encoding="ascii") as f:
            f.write(cfg(args.mb))
        self.darknet = os.path.join(os.path.abspath(build), "darknet")
        self.mpi = self.compile("bench_sums")
        self.has_gloo = subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode == 0
        self.size = 0

    def compile(self, name):
        program = os.path.join(self.folder, name)
        subprocess.run(["mpicc", "-O2", os.path.join(SCRIPTS, name + ".c"), "-o", program], check=True)
        return program

    def ours(self, where, ranks, slots):
        path = os.path.join(self.folder, "figures")
        replays.run([*where, self.darknet, "ddp", "bench", self.network, "-batch", ranks, "-subdivisions", ranks, "-steps", self.times,
                     "-json", path, "-ddp_oversubscribe"], DDP_HOSTS_SLOTS=str(slots))
        with open(path, encoding="ascii") as f:
            found = json.load(f)
        self.size = int(found["gradient_mb"] * 1e6) // 4 * 4
        return found["communication"]["median"], found["communication_cpu"], found["left_host_mb"], found["schedule"]

    def peers(self, where, slots, address, interface):
        """Seconds and CPU seconds of MPI_Allreduce, and of Gloo."""
        programs = [[self.mpi, self.size, self.times]]
        if self.has_gloo:
            programs.append([PYTHON, os.path.abspath(__file__), "gloo", address, interface, "--mb", self.size / 1e6, "--times", self.times])
        for program in programs:
            yield figures(where, program, slots)


def figures(where, program, slots):
    return [float(x) for x in replays.run([*where, *program], DDP_HOSTS_SLOTS=str(slots)).split()]


def times(found):
    return " | ".join(f"{seconds:.3f} s" for seconds, _ in found)


def on_hosts(sums):
    print("| hosts x ranks | a host's line | must leave a host | leaves it | ours | of the line's time | CPU time of all ranks | MPI_Allreduce | Gloo | sums |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for count, ranks, gbit in HOSTS:
        with replays.hosts(gbit, count):
            seconds, cpu, left, schedule = sums.ours(replays.ON_HOSTS, count * ranks, ranks)
            peers = list(sums.peers(replays.ON_HOSTS, ranks, replays.FIRST_HOST, "eth0"))
        least = 2 * sums.size * (count - 1) / count
        line = least * 8 / gbit / 1e9
        print(f"| {count} x {ranks} | {gbit} Gbit/s | {least / 1e6:.1f} MB | {left:.1f} MB ({left * 1e6 / least:.3f}) | {seconds:.3f} s | "
              f"{seconds / line:.2f} | {cpu * count * ranks:.2f} s | {times(peers)} | {schedule} |", flush=True)


def on_one_host(sums):
    print("| ranks | ours | MPI_Allreduce | Gloo | CPU time a rank: ours | MPI_Allreduce | Gloo | sums |\n|---|---|---|---|---|---|---|---|")
    for ranks in RANKS:
        where = (*ON_ONE, "-np", ranks)
        seconds, cpu, _, schedule = sums.ours(where, ranks, ranks)
        peers = list(sums.peers(where, ranks, "127.0.0.1", "lo"))
        cpus = " | ".join(f"{x:.3f} s" for _, x in peers)
        print(f"| {ranks} | {seconds:.3f} s | {times(peers)} | {cpu:.3f} s | {cpus} | {schedule} |", flush=True)


def gloo(size, count, address, interface):
    """A rank of Gloo's side, under mpirun. Rank 0 prints the median of the seconds of a sum, and its own CPU seconds a sum."""
    import torch  # here: Debian's Python alone has it
    from torch import distributed

    os.environ["GLOO_SOCKET_IFNAME"] = interface
    torch.set_num_threads(1)
    rank, ranks = (int(os.environ["OMPI_COMM_WORLD_" + of]) for of in ("RANK", "SIZE"))
    distributed.init_process_group("gloo", init_method=f"tcp://{address}:29500", rank=rank, world_size=ranks)
    x = torch.zeros(size // 4)
    seconds, cpu = [], 0
    for i in range(-WARM_UP, count):
        distributed.barrier()
        if i == 0:
            cpu = time.process_time()
        start = time.perf_counter()
        distributed.all_reduce(x)
        if i >= 0:
            seconds.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / count
    distributed.barrier()
    distributed.destroy_process_group()
    if rank == 0:
        print(f"{statistics.median(seconds):.4f} {cpu:.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(replays.ROOT, "build"))
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--mb", type=float, default=92)
    parser.add_argument("rows", nargs="?", choices=("hosts", "ranks", "gloo"))  # gloo: a rank of that, started by this script
    parser.add_argument("where", nargs="*", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.rows == "gloo":
        gloo(round(args.mb * 1e6), args.times, *args.where)
        return
    with tempfile.TemporaryDirectory() as folder:
        sums = Sums(args.build, folder, args)
        if args.rows != "ranks":
            on_hosts(sums)
        if args.rows != "hosts":
            on_one_host(sums)


if __name__ == "__main__":
    main()
