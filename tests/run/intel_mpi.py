#!/usr/bin/env python3
# ddp-test: ci timeout=900 cores=2
"""With Intel MPI in Open MPI's place. Skipped where I_MPI_ROOT does not say where it is: a virtual environment with PyPI's impi-devel,
or Intel's own package."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
import other_mpi  # noqa: E402

ROOT = os.environ.get("I_MPI_ROOT", "")
COMPILER, MPIEXEC = os.path.join(ROOT, "bin", "mpicc"), os.path.join(ROOT, "bin", "mpiexec")


class IntelMpi(other_mpi.OtherMpi):
    mpiexec = MPIEXEC


if __name__ == "__main__":
    if not ROOT or not os.access(COMPILER, os.X_OK):
        other_mpi.skip("I_MPI_ROOT names no folder with bin/mpicc of Intel MPI")
    other_mpi.build("intel_mpi", COMPILER, MPIEXEC)
    darknet.main()
