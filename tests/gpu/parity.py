#!/usr/bin/env python3
"""Ranks that share GPU 0 against one process on it (parity/parity.c): the table of cases, one line each.

Usage: tests/gpu/parity.py PROGRAM [-jobs N] [-limit SECONDS] [NAME...]      exit status 1 if a case failed, 77 without a GPU

DARKNET_SRC: Darknet's source. On an emulated device the cases take turns at the orders of its work. On a real one, that the ranks
have to share, more than two sum by MPI: NCCL's kernels wait for each other, and the GPU gives those of each process a turn."""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OWN = os.path.join(HERE, "..", "..", "cfg")
SKIPPED = 77
ORDERS = ("eager", "compute-late", "streams-late", "random:1", "random:2")
ANY_ORDER = "ordered=0 order=darknet"

# Ranks, cfg and the options of parity.c; a name with a slash is a cfg of Darknet's.
CASES = {
    **{f"{cfg}-{backend}-{ranks}": (ranks, cfg, f"gpu={backend}")
       for backend, most in (("nccl", (1, 2, 4)), ("mpi", (2, 4))) for ranks in most for cfg in ("layers", "adam")},
    **{f"any-order-{cfg}-{ranks}": (ranks, cfg, f"gpu=nccl subdivisions=12 batch=24 learning_rate=0.001 {ANY_ORDER}")
       for ranks in (2, 3, 4) for cfg in ("plain", "adam")},
    "split": (3, "plain", "gpu=nccl order=darknet"),
    "rnn": (2, "rnn", "gpu=nccl"),
    "crnn": (2, "crnn", "gpu=nccl"),
    "buckets-nccl": (3, "layers", "gpu=nccl batch=24 subdivisions=6 variants=1"),
    "buckets-mpi": (2, "layers", "gpu=mpi batch=24 subdivisions=6 variants=1"),
    "sync-every": (2, "adam", "gpu=nccl sync_every=3"),
    "batch-rank": (2, "plain", "gpu=nccl rank_mode=1 order=darknet learning_rate=0.002"),
    "sync-bn-nccl": (3, "layers", "gpu=nccl batch=12 subdivisions=1 sync_bn=1"),
    "sync-bn-mpi": (2, "forks", "gpu=mpi batch=4 subdivisions=1 sync_bn=1"),
    "frozen": (3, "layers", "gpu=nccl batch=24 subdivisions=6 frozen=4"),
    "unused-on-a-rank": (4, "layers", "gpu=nccl batch=32 subdivisions=8 skip_layer=5 skip_rank=2"),
    "unused": (4, "layers", "gpu=mpi batch=32 subdivisions=8 skip_layer=5"),
    "unused-at-first": (2, "layers", "gpu=nccl batch=32 subdivisions=8 skip_layer=5 skip_rank=0 skip_mini_batch=0"),
    "yolov3-tiny": (2, "cfg/yolov3-tiny.cfg", "gpu=nccl width=64 height=64 batch=4 subdivisions=2 learning_rate=.001"),
    "resnet18": (2, "cfg/resnet18.cfg", "gpu=nccl width=64 height=64 batch=4 subdivisions=2 learning_rate=.001"),
}
SLOW = ("yolov3-tiny", "resnet18")  # on an emulated device


def is_emulated(args):
    return os.path.basename(args.program).startswith("emulated")


def run(name, order, args):
    ranks, cfg, options = CASES[name]
    if ranks > 2 and not is_emulated(args):
        options = options.replace("gpu=nccl", "gpu=mpi")
    cfg = cfg if "/" in cfg else os.path.join(OWN, cfg + ".cfg")
    command = ["mpirun", "-np", str(ranks), os.path.abspath(args.program), cfg, *options.split()]
    try:
        # Each job has a folder of its own for Open MPI's files: one that ends removes the folder in which another makes its own.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            done = subprocess.run(command, cwd=os.environ.get("DARKNET_SRC", "."),
                                  env={"EMULATED_ORDER": order, **os.environ, "OMPI_MCA_orte_tmpdir_base": place, "PRTE_MCA_prte_tmpdir_base": place},
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=args.limit, check=False)
        code, words = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, words = "hang", f"no end after {args.limit} s"
    if code == 0:
        figures = re.findall(r"^  (\w+) +(\S+) worst", words, re.M)
        words = " ".join(f"{what} {figure}" for what, figure in figures)
    elif code == SKIPPED or "skipped: no GPU" in words:
        code = SKIPPED
    print({0: "ok  ", SKIPPED: "skip"}.get(code, "BAD "), f"{name}: {words.strip()[-1500:]}", flush=True)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("-jobs", type=int, default=1)
    parser.add_argument("-limit", type=int, default=120 * int(os.environ.get("TEST_GPU_SLOW", "1")))
    args = parser.parse_intermixed_args()
    if not os.path.exists(args.program):
        sys.exit(f"parity: no program {args.program}: build it first (target {os.path.basename(args.program)})")
    names = args.names or [name for name in CASES if not (is_emulated(args) and name in SLOW)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        codes = list(pool.map(lambda i: run(names[i], ORDERS[i % len(ORDERS)], args), range(len(names))))
    if set(codes) == {SKIPPED}:
        print(f"{len(codes)} skipped: no GPU", flush=True)
        return SKIPPED
    print(f"{codes.count(0)} of {len(codes)} agree", flush=True)
    return set(codes) != {0}


if __name__ == "__main__":
    sys.exit(main())
