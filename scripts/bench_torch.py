"""PyTorch's side of scripts/bench: one rank, random images. Under mpirun, DistributedDataParallel over Gloo."""
import os
import statistics
import time

import torch
import torch.distributed
import torchvision

WARM_UP = 3
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", 0))
ranks = int(os.environ.get("OMPI_COMM_WORLD_SIZE", 1))
steps = int(os.environ.get("BENCH_STEPS", 8))

torch.set_num_threads(1)
torch.manual_seed(rank)
model = torchvision.models.resnet50()
if ranks > 1:
    os.environ["GLOO_SOCKET_IFNAME"] = "eth0"
    torch.distributed.init_process_group("gloo", init_method="tcp://10.77.0.1:29500", rank=rank, world_size=ranks)
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=float(os.environ.get("BENCH_BUCKET_MB", 25)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
loss_of = torch.nn.CrossEntropyLoss()
images, classes = torch.rand(4, 3, 128, 128), torch.randint(0, 1000, (4,))

seconds = []
for _ in range(WARM_UP + steps):
    start = time.perf_counter()
    loss = loss_of(model(images), classes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seconds.append(time.perf_counter() - start)
if ranks > 1:
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
if rank == 0:
    seconds = sorted(seconds[WARM_UP:])
    print(f"PyTorch {torch.__version__} on {ranks} rank(s): step median {statistics.median(seconds):.4f} s, "
          f"lowest {seconds[0]:.4f}, highest {seconds[-1]:.4f}", flush=True)
