#!/usr/bin/env python3
# ddp-test: ci timeout=900 cores=2
"""With MPICH in Open MPI's place. Skipped where it is not installed (Debian's mpich and libmpich-dev)."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
import other_mpi  # noqa: E402

COMPILER, MPIEXEC = shutil.which("mpicc.mpich"), shutil.which("mpiexec.mpich")


class Mpich(other_mpi.OtherMpi):
    mpiexec = MPIEXEC


if __name__ == "__main__":
    if not COMPILER or not MPIEXEC:
        other_mpi.skip("no mpicc.mpich or mpiexec.mpich: Debian's packages libmpich-dev and mpich have them")
    other_mpi.build("mpich", COMPILER, MPIEXEC)
    darknet.main()
