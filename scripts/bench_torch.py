"""PyTorch's side of scripts/bench.py and bench-gpu.py: the network of a Darknet cfg, layer by layer, trained eagerly on random images.

Requests are arguments, or lines of the standard input, of JSON each: {"cfg", "width", "height", "batch", "fp32", "bf16"} builds a network and
warms it up (bf16: by autocast, channels last), {"steps": N} times N steps of it. Each is answered by a line: {"seconds": [...]}, one a step,
or {"failed": "why"}, after which there is no network. Under mpirun with arguments, DistributedDataParallel over Gloo; rank 0 answers."""
import json
import os
import sys
import time

import torch
import torch.distributed
import torch.nn.functional as F

WARM_UP = 5
GPU = torch.cuda.is_available()
RANK = int(os.environ.get("OMPI_COMM_WORLD_RANK", 0))
RANKS = int(os.environ.get("OMPI_COMM_WORLD_SIZE", 1))


def sections(path):
    found = []
    with open(path, encoding="ascii") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line.startswith("["):
                found.append((line.strip("[]"), {}))
            elif "=" in line:
                key, value = line.split("=", 1)
                found[-1][1][key.strip()] = value.strip()
    return found


def activation(options):
    return {"leaky": [torch.nn.LeakyReLU(.1, inplace=True)], "relu": [torch.nn.ReLU(inplace=True)],
            "mish": [torch.nn.Mish(inplace=True)], "linear": []}[options.get("activation", "linear")]


def fitted(source, x):
    """Darknet's shortcut between layers of unlike sizes: every stride-th point, and the channels that both have."""
    stride = max(1, source.shape[2] // x.shape[2])
    source = source[:, :x.shape[1], ::stride, ::stride]
    missing = x.shape[1] - source.shape[1]
    return F.pad(source, (0, 0, 0, 0, 0, missing)) if missing else source


def max_pooled(x, options):
    size = int(options.get("size", options.get("stride", 1)))
    stride, pad = int(options.get("stride", 1)), int(options.get("padding", size - 1))
    behind = ((x.shape[2] + pad - size) // stride) * stride + size - x.shape[2] - pad // 2
    if pad // 2 or behind > 0:
        x = F.pad(x, (pad // 2, max(behind, 0)) * 2, value=float("-inf"))
    return F.max_pool2d(x, size, stride)


def cropped(x, options):
    h, w = int(options["crop_height"]), int(options["crop_width"])
    top, left = (x.shape[2] - h) // 2, (x.shape[3] - w) // 2
    return x[:, :, top:top + h, left:left + w]


class Network(torch.nn.Module):
    def __init__(self, path, width, height):
        super().__init__()
        (_, head), *self.parts = sections(path)
        self.layers = torch.nn.ModuleList()
        x = torch.zeros(1, int(head.get("channels", 3)), height, width)
        outputs = []
        with torch.no_grad():
            for i, (kind, options) in enumerate(self.parts):
                self.layers.append(self.module(kind, options, x).eval())
                x = self.run(i, x, outputs)
                outputs.append(x)

    @staticmethod
    def module(kind, options, x):
        def number(key, default=0):
            return int(options.get(key, default))

        if kind == "convolutional":
            size, filters = number("size", 1), number("filters", 1)
            pad = size // 2 if number("pad") else number("padding")
            normalized = number("batch_normalize")
            layers = [torch.nn.Conv2d(x.shape[1], filters, size, number("stride", 1), pad, groups=number("groups", 1),
                                      bias=not normalized)]
            layers += [torch.nn.BatchNorm2d(filters, momentum=.01)] if normalized else []
            return torch.nn.Sequential(*layers, *activation(options))
        if kind == "connected":
            return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(x[0].numel(), number("output")),
                                       *activation(options))
        if kind == "shortcut":
            return torch.nn.Sequential(*activation(options))
        if kind == "dropout":
            return torch.nn.Dropout(float(options["probability"]))
        return torch.nn.Identity()

    def run(self, i, x, outputs):
        kind, options = self.parts[i]
        if kind == "crop":
            return cropped(x, options)
        if kind == "maxpool":
            return max_pooled(x, options)
        if kind == "avgpool":
            return x.mean((2, 3), keepdim=True)
        if kind == "upsample":
            return F.interpolate(x, scale_factor=int(options.get("stride", 2)), mode="nearest")
        if kind == "shortcut":
            return self.layers[i](x + fitted(outputs[i + int(options["from"])], x))
        if kind == "route":
            groups, group = int(options.get("groups", 1)), int(options.get("group_id", 0))
            return torch.cat([outputs[k if k >= 0 else i + k].chunk(groups, 1)[group]
                              for k in map(int, options["layers"].split(","))], 1)
        if kind not in ("convolutional", "connected", "dropout", "softmax", "yolo", "cost"):
            sys.exit(f"[{kind}] is no layer that this script knows")
        return self.layers[i](x)

    def forward(self, x):
        """Classes, or what goes into each [yolo]."""
        outputs, boxes = [], []
        for i, (kind, _) in enumerate(self.parts):
            if kind == "yolo":
                boxes.append(x)
            x = self.run(i, x, outputs)
            outputs.append(x)
        return boxes or x.flatten(1)


class Trainer:
    """A step copies its images to the GPU, as Darknet's does. The loss of boxes is a sum of squares, less than [yolo] does."""

    def __init__(self, cfg, width, height, batch, fp32, bf16):
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = not fp32
        torch.backends.cuda.matmul.allow_tf32 = False  # PyTorch's default, and what Darknet asks of cuBLAS
        self.device = torch.device("cuda" if GPU else "cpu")
        self.bf16 = bf16
        self.layout = torch.channels_last if bf16 else torch.contiguous_format
        self.net = Network(cfg, width, height).to(self.device, memory_format=self.layout).train()
        if RANKS > 1:
            self.net = torch.nn.parallel.DistributedDataParallel(self.net, bucket_cap_mb=float(os.environ.get("BENCH_BUCKET_MB", "25")))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=1e-4, momentum=.9, weight_decay=5e-4)
        self.images = torch.rand(batch, 3, height, width)
        if GPU:
            self.images = self.images.pin_memory()
        self.labels = torch.zeros(batch, dtype=torch.long, device=self.device)
        for _ in range(WARM_UP):
            self.step()

    def step(self):
        images = self.images.to(self.device, non_blocking=True).contiguous(memory_format=self.layout)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            out = self.net(images)
            if isinstance(out, list):
                loss = sum(boxes.float().square().mean() for boxes in out)
            else:
                loss = F.cross_entropy(out.float(), self.labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

    def times(self, steps):
        if not GPU:
            stamps = [time.perf_counter()]
            for _ in range(steps):
                self.step()
                stamps.append(time.perf_counter())
            return [b - a for a, b in zip(stamps, stamps[1:])]
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 2)]
        self.step()
        for mark in marks:
            self.step()
            mark.record()
        torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1000 for a, b in zip(marks[:-1], marks[1:])]


def answer_to(request, trainer):
    """The trainer from now on, and the answer."""
    if "steps" in request:
        return trainer, {"seconds": trainer.times(request["steps"])}
    trainer = None
    if GPU:
        torch.cuda.empty_cache()
    return Trainer(**request), {"seconds": []}


def main():
    trainer = None
    if RANKS > 1:
        os.environ["GLOO_SOCKET_IFNAME"] = "eth0"
        torch.distributed.init_process_group("gloo", init_method=f"tcp://{os.environ['BENCH_MASTER']}:29500", rank=RANK, world_size=RANKS)
    for line in sys.argv[1:] or sys.stdin:
        try:
            trainer, answer = answer_to(json.loads(line), trainer)
        except Exception as error:  # memory, say: the next network may fit
            trainer, answer = None, {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}
        if RANK == 0:
            print(json.dumps(answer), flush=True)
    if RANKS > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
