#!/usr/bin/env python3
# ddp-test: ci timeout=900 cores=2
"""With MPICH in Open MPI's place. Skipped where it is not installed (Debian's mpich and libmpich-dev)."""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
import other_mpi  # noqa: E402

COMPILER, MPIEXEC = shutil.which("mpicc.mpich"), shutil.which("mpiexec.mpich")


def compiles():
    """Debian's package mpich has the compiler's name, and libmpich-dev what it wants."""
    words = [COMPILER, "-x", "c", "-include", "mpi.h", "-fsyntax-only", os.devnull]
    return COMPILER is not None and subprocess.run(words, check=False, stderr=subprocess.DEVNULL).returncode == 0


class Mpich(other_mpi.OtherMpi):
    mpiexec = MPIEXEC


if __name__ == "__main__":
    if not MPIEXEC or not compiles():
        other_mpi.skip("no MPICH: Debian's packages mpich and libmpich-dev have it")
    other_mpi.build("mpich", COMPILER, MPIEXEC)
    darknet.main()
