"""Gloo's side of scripts/bench-sums: BYTES TIMES ADDRESS INTERFACE, PyTorch's all_reduce under mpirun. Rank 0 prints the median of the
seconds of a sum, and its own CPU seconds a sum."""
import os
import statistics
import sys
import time

import torch
import torch.distributed as distributed

WARM_UP = 2
size, times = int(sys.argv[1]), int(sys.argv[2])
os.environ["GLOO_SOCKET_IFNAME"] = sys.argv[4]
torch.set_num_threads(1)
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
distributed.init_process_group("gloo", init_method=f"tcp://{sys.argv[3]}:29500", rank=rank, world_size=int(os.environ["OMPI_COMM_WORLD_SIZE"]))
x = torch.zeros(size // 4)
seconds, cpu = [], 0
for i in range(-WARM_UP, times):
    distributed.barrier()
    if i == 0:
        cpu = time.process_time()
    start = time.perf_counter()
    distributed.all_reduce(x)
    if i >= 0:
        seconds.append(time.perf_counter() - start)
cpu = (time.process_time() - cpu) / times
distributed.barrier()
distributed.destroy_process_group()
if rank == 0:
    print(f"{statistics.median(seconds):.4f} {cpu:.4f}", flush=True)
