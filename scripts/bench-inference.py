#!/usr/bin/env python3
"""Time predictions on this machine's CPU beside other programs: onnxruntime, OpenCV and PyTorch (from PyPI), each where this Python has it.

Usage: scripts/bench-inference.py [--build DIR] [--rounds N] [--cores N,...] [--side PIXELS] [--picture FILE] [--list N] [CFG...]
  --build DIR      a build with the targets darknet, random_weights and ddp_library (build)
  --rounds N       so many turns of each program; a turn is one picture (15)
  --cores N,...    on how many cores, one after the other: the first N of this process's (1,2)
  --side PIXELS    width and height of the networks' input (416)
  --picture FILE   a photo (Darknet's dog.jpg); with --list also a folder of JPEGs
  --list N         in place of the table: `detector test` on a list of N pictures, those of --picture over and over
  CFG              detectors (Darknet's yolov3-tiny.cfg and yolov3.cfg). Weights are drawn at random, so boxes mean nothing

Prints a table in Markdown: medians in ms, with the least and the greatest. `forward` is the forward pass of one picture with its heads;
`whole` is from the file to the boxes: decoding, resizing, forward pass and suppression. Programs take turns, each in a process of its own.
Ours is the library by Python, with the times of calls. bf16 is timed where the CPU has instructions for it. PyTorch has the network layer
by layer (scripts/bench_torch.py), compiled by torch.compile; it decodes and suppresses no boxes. With --list: the pictures a second, and
those that the forward pass alone would come to, by its time with pictures of 8x8 pixels, which take next to nothing to decode. Exit status:
0, or 1 if a program fails."""
import argparse
import glob
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import replays  # noqa: E402

THRESH, NMS = .95, .45  # networks with random weights find too much

# ---- a program of its own: reads "forward" and "whole" from its input, and answers with seconds ----


def letter_box(picture, side):
    """A picture of OpenCV's as onnxruntime and OpenCV's network want it; stretched, which takes no more time."""
    import cv2
    import numpy
    small = cv2.resize(picture, (side, side))[:, :, ::-1]
    return numpy.ascontiguousarray(small.transpose(2, 0, 1)[None], dtype=numpy.float32) / numpy.float32(255)


def suppress(outputs):
    """Boxes of one score each and their best class, suppressed as one usually does."""
    import cv2
    import numpy
    by_width = {a.shape[-1]: a.reshape(-1, a.shape[-1]) for a in outputs}
    boxes = by_width.pop(4)
    scores = by_width.popitem()[1]
    best = scores.max(axis=1)
    kept = numpy.nonzero(best > THRESH)[0]
    left = [[float(b[0]), float(b[1]), float(b[2] - b[0]), float(b[3] - b[1])] for b in boxes[kept]]
    return cv2.dnn.NMSBoxes(left, best[kept].tolist(), THRESH, NMS)


class Ours:
    def __init__(self, job):
        os.environ["DARKNET_DDP_LIBRARY"] = job["library"]
        sys.path.insert(0, os.path.join(replays.ROOT, "darknet-ddp", "library", "python"))
        import darknet_ddp
        import numpy
        self.detector = darknet_ddp.Detector(job["cfg"], job["weights"], bf16=job["bf16"])
        self.planes = numpy.full((job["side"], job["side"], 3), .5, dtype=numpy.float32)
        self.picture = job["picture"]

    def forward(self):
        self.detector(self.planes, thresh=1)

    def whole(self):
        self.detector(self.picture, thresh=THRESH, nms=NMS)


class OnnxRuntime:
    def __init__(self, job):
        import cv2
        import numpy
        import onnxruntime
        cv2.setNumThreads(job["cores"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = job["cores"]
        self.session = onnxruntime.InferenceSession(job["onnx"], options, providers=["CPUExecutionProvider"])
        self.name = self.session.get_inputs()[0].name
        self.values = numpy.full((1, 3, job["side"], job["side"]), .5, dtype=numpy.float32)
        self.job = job

    def run(self, values):
        return self.session.run(None, {self.name: values})

    def forward(self):
        self.run(self.values)

    def whole(self):
        import cv2
        suppress(self.run(letter_box(cv2.imread(self.job["picture"]), self.job["side"])))


class OpenCv(OnnxRuntime):
    def __init__(self, job):
        import cv2
        import numpy
        cv2.setNumThreads(job["cores"])
        self.net = cv2.dnn.readNetFromONNX(job["onnx"])
        self.names = self.net.getUnconnectedOutLayersNames()
        self.values = numpy.full((1, 3, job["side"], job["side"]), .5, dtype=numpy.float32)
        self.job = job

    def run(self, values):
        self.net.setInput(values)
        return self.net.forward(self.names)


class PyTorch:
    def __init__(self, job):
        import bench_torch
        import torch
        self.torch, self.bf16, self.job = torch, job["bf16"], job
        torch.set_num_threads(job["cores"])
        layout = torch.channels_last if self.bf16 else torch.contiguous_format
        self.net = torch.compile(bench_torch.Network(job["cfg"], job["side"], job["side"]).eval().to(memory_format=layout))
        self.values = torch.full((1, 3, job["side"], job["side"]), .5).to(memory_format=layout)
        self.run(self.values)

    def run(self, values):
        with self.torch.inference_mode(), self.torch.autocast("cpu", dtype=self.torch.bfloat16, enabled=self.bf16):
            return self.net(values)

    def forward(self):
        self.run(self.values)

    def whole(self):
        import cv2
        self.run(self.torch.from_numpy(letter_box(cv2.imread(self.job["picture"]), self.job["side"])))


PROGRAMS = {"ours, float32": Ours, "ours, bf16": Ours, "onnxruntime": OnnxRuntime, "OpenCV": OpenCv, "PyTorch, float32": PyTorch,
            "PyTorch, bf16": PyTorch}
NEEDS = {"onnxruntime": ("onnxruntime", "cv2"), "OpenCV": ("cv2",), "PyTorch, float32": ("torch", "cv2"), "PyTorch, bf16": ("torch", "cv2")}


def work(job):
    program = PROGRAMS[job["program"]](job)
    print("ready", flush=True)
    for line in sys.stdin:
        began = time.perf_counter()
        getattr(program, line.strip())()
        print(time.perf_counter() - began, flush=True)


# ---- turns ----


class Child:
    def __init__(self, job):
        cores = sorted(os.sched_getaffinity(0))[:job["cores"]]
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--work", json.dumps(job)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": str(job["cores"])},
            preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.ready = self.process.stdout.readline().strip() == "ready"

    def time(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        """What the program said last, if it failed."""
        _, said = self.process.communicate()
        return said.strip().splitlines()[-1:]


def programs():
    return [name for name in PROGRAMS if all(importlib.util.find_spec(module) for module in NEEDS.get(name, ()))
            and (replays.has_bf16() or not name.endswith("bf16"))]


def cell(seconds):
    return f"{statistics.median(seconds) * 1e3:.1f} ({min(seconds) * 1e3:.1f} to {max(seconds) * 1e3:.1f})"


def compare(job, rounds):
    """Lines of the table, and whether a program failed."""
    children, failed = {}, False
    for name in programs():
        child = Child({**job, "program": name, "bf16": name.endswith("bf16")})
        if child.ready:
            children[name] = child
        else:
            failed = True
            print(f"{name}: {' '.join(child.end())}", file=sys.stderr)
    times = {name: {"forward": [], "whole": []} for name in children}
    for _ in range(rounds + 1):
        for what in ("forward", "whole"):
            for name, child in children.items():
                times[name][what].append(child.time(what))
    for child in children.values():
        child.end()
    title = f"{os.path.basename(job['cfg'])[:-4]}, {job['cores']} core{'s' if job['cores'] > 1 else ''}"
    for name, t in times.items():
        print(f"| {title} | {name} | {cell(t['forward'][1:])} | {cell(t['whole'][1:])} |", flush=True)
    return failed


# ---- a list of pictures ----


def run_list(job, count, pictures):
    """(pictures a second, seconds of a forward pass) of `detector test` on a list."""
    path = os.path.join(os.path.dirname(job["cfg"]), "pictures.list")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(pictures[i % len(pictures)] + "\n" for i in range(count))
    cores = sorted(os.sched_getaffinity(0))[:job["cores"]]
    out = subprocess.run([job["darknet"], "detector", "test", job["data"], job["cfg"], job["weights"], path, "-thresh", str(THRESH)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": str(job["cores"])},
                         preexec_fn=lambda: os.sched_setaffinity(0, cores)).stdout
    speed, forward = re.search(r"([\d.]+) a second; a forward pass takes ([\d.]+) ms", out).groups()
    return float(speed), float(forward) / 1e3


def write_data(cfg, folder):
    """A .data file, and a picture of 8x8 gray pixels."""
    with open(cfg, encoding="utf-8") as f:
        classes = int(re.findall(r"^classes\s*=\s*(\d+)", f.read(), re.M)[-1])
    for name, text in (("x.names", "thing\n" * classes), ("x.data", f"classes={classes}\nnames={folder}/x.names\n"), ("small.ppm", "P6 8 8 255\n" + "x" * 192)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    return {"data": os.path.join(folder, "x.data"), "small": [os.path.join(folder, "small.ppm")]}


def compare_list(job, count, pictures):
    job = {**job, **write_data(job["cfg"], os.path.dirname(job["cfg"]))}
    _, before = run_list(job, count // 5 + 1, job["small"])
    speed, forward = run_list(job, count, pictures)
    _, after = run_list(job, count // 5 + 1, job["small"])
    alone = 2 / (before + after)
    print(f"| {os.path.basename(job['cfg'])[:-4]}, {job['cores']} cores | {count} | {speed:.1f} | {alone:.1f} | {speed / alone:.2f} | {forward * 1e3:.1f} |", flush=True)


# ---- networks ----


def prepare(cfg, side, build, folder):
    """The cfg for one picture of this size, random weights for it, and the ONNX file of both."""
    with open(cfg, encoding="utf-8", errors="replace") as f:
        text = f.read()
    for key, value in (("width", side), ("height", side), ("batch", 1), ("subdivisions", 1)):
        text = re.sub(rf"^\s*{key}\s*=.*$", f"{key}={value}", text, flags=re.M)
    base = os.path.join(folder, os.path.basename(cfg)[:-4])
    with open(base + ".cfg", "w", encoding="utf-8") as f:
        f.write(text)
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([os.path.join(build, "tests", "random_weights"), base + ".cfg", base + ".weights"], **quiet)
    subprocess.run([os.path.join(build, "darknet"), "ddp", "export", base + ".cfg", base + ".weights", "-o", base + ".onnx"], **quiet)
    return {"cfg": base + ".cfg", "weights": base + ".weights", "onnx": base + ".onnx", "side": side, "library": find_library(build),
            "darknet": os.path.join(build, "darknet")}


def find_library(build):
    for folder in (build, os.path.join(build, "darknet-ddp", "library"), os.path.join(build, "library")):
        if os.path.exists(os.path.join(folder, "libdarknet-ddp.so")):
            return folder
    sys.exit(f"bench-inference: no libdarknet-ddp.so in {build}: cmake --build {build} --target ddp_library")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(replays.ROOT, "build"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cores", default="1,2")
    parser.add_argument("--side", type=int, default=416)
    parser.add_argument("--picture")
    parser.add_argument("--list", type=int)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("cfg", nargs="*")
    args = parser.parse_args()
    if args.work:
        work(json.loads(args.work))
        return 0
    source = os.path.join(args.build, "darknet-src")
    picture = os.path.abspath(args.picture or os.path.join(source, "data", "dog.jpg"))
    cfgs = args.cfg or [os.path.join(source, "cfg", name) for name in ("yolov3-tiny.cfg", "yolov3.cfg")]
    failed = False
    if args.list:
        pictures = sorted(glob.glob(os.path.join(picture, "*.jp*g"))) if os.path.isdir(picture) else [picture]
        print("| network | pictures | a second | forward pass alone, a second | share | forward pass meanwhile, ms |\n|---|---|---|---|---|---|")
    else:
        print("| network | program | forward, ms | whole picture, ms |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for cfg in cfgs:
            job = {**prepare(cfg, args.side, args.build, folder), "picture": picture}
            for cores in map(int, args.cores.split(",")):
                if args.list:
                    compare_list({**job, "cores": cores}, args.list, pictures)
                    continue
                failed = compare({**job, "cores": cores}, args.rounds) or failed
    return failed


if __name__ == "__main__":
    sys.exit(main())
