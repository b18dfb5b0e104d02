#!/usr/bin/env python3
"""Time training on this machine's GPU, here and in PyTorch's eager mode: the same networks layer by layer, by SGD with momentum.

Darknet trains in TF32, bf16 (-ddp_bf16 1) or float32. PyTorch trains in Darknet's precision and order of axes (NCHW), before and after
Darknet, and once in bf16 by autocast with channels last; beside Darknet's bf16 only so. Also timed: what -ddp costs at one rank, and,
last, whether two ranks that share the GPU are faster if NCCL's calls block.

Usage: scripts/bench-gpu.py [--build DIR] [--out FILE] [--rounds N] [--seconds N] [NAME...]
  --build DIR    a build for GPUs (build-cuda)
  --out FILE     the figures as JSON
  --rounds N     so many times the steps named in this script, all in one process (3)
  --seconds N    begin no other network after so long (230)
  NAME           networks to time, of those listed below; by default all but `small`

Prints a table in Markdown for the guide. PyTorch is python3's, without which Darknet is timed alone; algorithms are timed in both. A network that fails has a line
that says so, and the next one is timed. Exit status: 0, 1 if it cannot run or a network failed, 2 for a wrong command line, 77 without a GPU. On a build with an emulated device
(-DDDP_EMULATED=ON) it runs without a GPU, for a try of this script."""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SKIPPED = 77

# What the table calls it, cfg, pixels, images a step, steps a run, precision; the last is to try this script.
NETS = {
    "resnet50-64": ("ResNet-50", "resnet50", 224, 64, 15, "TF32"),
    "resnet50-64-bf16": ("ResNet-50", "resnet50", 224, 64, 15, "bf16"),
    "resnet50-256-bf16": ("ResNet-50", "resnet50", 224, 256, 6, "bf16"),
    "yolov4-416-bf16": ("YOLOv4", "yolov4", 416, 64, 6, "bf16"),
    "resnet50-256": ("ResNet-50", "resnet50", 224, 256, 6, "TF32"),
    "yolov3-16": ("YOLOv3", "yolov3", 416, 16, 10, "TF32"),
    "yolov3-16-bf16": ("YOLOv3", "yolov3", 416, 16, 10, "bf16"),
    "vgg16-64": ("VGG-16", "vgg-16", 224, 64, 8, "TF32"),
    "vgg16-64-bf16": ("VGG-16", "vgg-16", 224, 64, 8, "bf16"),
    "yolov4-tiny-64": ("YOLOv4-tiny", "yolov4-tiny", 416, 64, 10, "TF32"),
    "resnet50-64-fp32": ("ResNet-50", "resnet50", 224, 64, 8, "fp32"),
    "resnet50-256-fp32": ("ResNet-50", "resnet50", 224, 256, 3, "fp32"),
    "yolov3-16-fp32": ("YOLOv3", "yolov3", 416, 16, 5, "fp32"),
    "vgg16-64-fp32": ("VGG-16", "vgg-16", 224, 64, 4, "fp32"),
    "small": ("ResNet-18", "resnet18", 32, 4, 2, "fp32"),
}
OPTIONS = {"TF32": (), "fp32": ("-ddp_fp32", "1"), "bf16": ("-ddp_bf16", "1")}
BLOCKING = "blocking"  # two ranks, with NCCL's communicators as they are and such that block
DEFAULT = [*list(NETS)[:4], BLOCKING, *list(NETS)[4:-1]]


class Failed(Exception):
    """A network could not be timed; the text says why."""


class PyTorch:
    """bench_torch.py, which builds a network once and times it when asked."""

    def __init__(self):
        self.process = None

    def ask(self, **request):
        if not self.process:
            self.process = subprocess.Popen([sys.executable, os.path.join(ROOT, "scripts", "bench_torch.py")],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            self.process.kill()
            self.process.wait()
            self.process = None  # the next network has another
            raise Failed("bench_torch.py has ended") from None
        if "failed" in answer:
            raise Failed(f"PyTorch: {answer['failed']}")
        return answer["seconds"]

    def build(self, cfg, pixels, batch, fp32, bf16):
        self.ask(cfg=cfg, width=pixels, height=pixels, batch=batch, fp32=fp32, bf16=bf16)


class Darknet:
    def __init__(self, build):
        emulated = os.path.join(build, "darknet-emulated")
        self.emulated = os.path.exists(emulated)
        self.program = emulated if self.emulated else os.path.join(build, "darknet")
        self.cfgs = os.path.join(build, "darknet-src", "cfg")

    def cfg(self, name, folder):
        """Darknet's own, or one that our program writes, into folder."""
        path = os.path.abspath(os.path.join(self.cfgs, name + ".cfg"))
        if os.path.exists(path):
            return path
        path = os.path.join(folder, name + ".cfg")
        self.run("ddp", "cfg", name, "-classes", "80", "-o", path)
        return path

    def run(self, *words, launcher=(), **environment):
        done = subprocess.run([*launcher, self.program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, **environment})
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise Failed(f"Darknet: {lines[-1]}")

    def bench(self, cfg, pixels, batch, steps, precision):
        """The figures of `darknet ddp bench`, one rank."""
        with tempfile.NamedTemporaryFile(suffix=".json") as f:
            self.run("ddp", "bench", cfg, "-w", str(pixels), "-h", str(pixels), "-batch", str(batch), "-subdivisions", "1",
                     "-steps", str(steps), *OPTIONS[precision], "-json", f.name)
            return json.load(f)

    def two_ranks(self, cfg, pixels, batch, steps, blocking):
        """Seconds a step of two ranks on the GPU that NCCL sums for."""
        with tempfile.NamedTemporaryFile(suffix=".json") as f:
            self.run("ddp", "bench", cfg, "-w", str(pixels), "-h", str(pixels), "-batch", str(batch), "-subdivisions", "1", "-steps",
                     str(steps), "-gpus", "0,0", "-ddp_backend", "nccl", "-json", f.name, launcher=("mpirun", "-np", "2"),
                     DARKNET_DDP_NCCL_BLOCKING=str(int(blocking)))
            return json.load(f)["step"]["median"]


def compare_blocking(darknet, folder):
    name = "small" if darknet.emulated else "resnet50-64"
    _, cfg, pixels, batch, steps, _ = NETS[name]
    cfg = darknet.cfg(cfg, folder)
    free, blocking = (darknet.two_ranks(cfg, pixels, batch, steps, way) for way in (False, True))
    return (f"| {heading(name)} | two ranks that share the GPU: {1000 * free:.2f} ms a step, with communicators that block "
            f"(DARKNET_DDP_NCCL_BLOCKING=1) {1000 * blocking:.2f} ms |")


def compare(name, darknet, pytorch, rounds, folder):
    """Seconds a step: of Darknet without and with -ddp, of PyTorch's in its two kinds."""
    title, cfg, pixels, batch, steps, precision = NETS[name]
    cfg = darknet.cfg(cfg, folder)
    row = {"name": name, "title": title, "pixels": pixels, "batch": batch, "precision": precision}
    if pytorch and precision != "bf16":
        pytorch.build(cfg, pixels, batch, precision == "fp32", False)
        row["pytorch"] = pytorch.ask(steps=rounds * steps)
    figures = darknet.bench(cfg, pixels, batch, rounds * steps, precision)
    row |= {"local": figures["local_step"], "ddp": figures["step"], "device": figures["device"]}
    if not pytorch:
        return row
    if precision != "bf16":
        row["pytorch"] += pytorch.ask(steps=rounds * steps)
    pytorch.build(cfg, pixels, batch, precision == "fp32", True)
    row["pytorch_bf16"] = pytorch.ask(steps=2 * rounds * steps)
    return row


def cells(row):
    """Images a second: lowest to highest step."""
    local = row["local"]
    rate = row["batch"] / local["median"]
    yield f"{rate:.1f} ({row['batch'] / local['high']:.1f} to {row['batch'] / local['low']:.1f})"
    for key in ("pytorch", "pytorch_bf16"):
        if key not in row:
            yield "-"
            yield "-"
            continue
        its = row["batch"] / statistics.median(row[key])
        yield f"{its:.1f} ({row['batch'] / max(row[key]):.1f} to {row['batch'] / min(row[key]):.1f})"
        yield f"{rate / its:.2f}"
    yield f"{100 * (row['ddp']['median'] / local['median'] - 1):+.1f}%"


def heading(name):
    title, _, pixels, batch, _, precision = NETS[name]
    return f"{title}, {pixels}x{pixels}, {batch} images | {precision}"


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine():
    versions = output_of(sys.executable, "-c", "import torch; print('PyTorch', torch.__version__, 'CUDA', torch.version.cuda,"
                         " 'cuDNN', torch.backends.cudnn.version())")
    driver = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return f"{datetime.date.today()}; {driver or 'no GPU'}; {versions}"


def listed():
    rows = (f"  {name:18} {title}, {pixels}x{pixels}, {batch} images a step, {precision}"
            for name, (title, _, pixels, batch, _, precision) in NETS.items())
    return "networks:\n" + "\n".join(rows) + f"\n  {BLOCKING:18} two ranks, with NCCL's communicators as they are and such that block"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=listed(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build-cuda"))
    parser.add_argument("--out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=230)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_intermixed_args()
    for name in args.names:
        if name not in (*NETS, BLOCKING):
            print(f"bench-gpu: no network '{name}': there are {' '.join(NETS)} {BLOCKING}", file=sys.stderr)
            sys.exit(2)
    return args


def require(darknet):
    """Ends the program where it cannot run, with what is missing."""
    if not darknet.emulated and not output_of("nvidia-smi", "-L").startswith("GPU"):
        print("skipped: no GPU (nvidia-smi lists none)")
        sys.exit(SKIPPED)
    if not os.path.exists(darknet.program):
        sys.exit(f"bench-gpu: no {darknet.program}: build for GPUs first (darknet-ddp/docs/gpus.md), or name a build with --build")


def has_pytorch(darknet):
    found = output_of(sys.executable, "-c", "import torch; print(torch.cuda.is_available())")
    return found == "True" or (found == "False" and darknet.emulated)


def main():
    args = arguments()
    darknet, rows, failures = Darknet(args.build), [], 0
    require(darknet)
    pytorch = PyTorch() if has_pytorch(darknet) else None
    end = datetime.datetime.now() + datetime.timedelta(seconds=args.seconds)
    print(machine() + "\n")
    if not pytorch:
        print(f"{sys.executable} has no PyTorch with CUDA: Darknet alone\n")
    print("| network | precision | images/s (slowest to fastest step) | PyTorch's, the same, NCHW | ratio | bf16, channels last | ratio "
          "| `-ddp` on one rank |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or DEFAULT:
            if datetime.datetime.now() > end:
                print(f"not begun: {name}")
                continue
            try:
                if name == BLOCKING:
                    print(compare_blocking(darknet, folder), flush=True)
                    continue
                rows.append(compare(name, darknet, pytorch, args.rounds, folder))
                print(f"| {heading(name)} | {' | '.join(cells(rows[-1]))} |", flush=True)
            except Failed as failed:
                failures += 1
                print(f"| {name if name == BLOCKING else heading(name)} | {failed} |", flush=True)
            if args.out:
                with open(args.out, "w", encoding="ascii") as f:
                    json.dump({"machine": machine(), "rows": rows}, f, indent=1)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
