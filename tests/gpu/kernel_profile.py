#!/usr/bin/env python3
"""Print where the time of a training step goes on GPU 0, kernel by kernel, here and in PyTorch on the same network.

Usage: tests/gpu/kernel_profile.py BUILD [-bf16] [-cfg NAME] [-pixels N] [-batch N] [-steps N] [-rows N] [-darknet FILE] [-pytorch FILE]

NAME: of Darknet's cfgs, or a path less .cfg. -bf16: with -ddp_bf16 1, and PyTorch's by autocast with channels last; else both in TF32.

Both run with CUPTI's record of kernels (trace.c), which slows short ones down: shares say more than sums. A step ends with
the update of parameters; the first two are left out. -darknet, -pytorch: records made before, in place of a run.
Copies are no kernels and are not in it. Exit status 77 without a GPU. On a build with an emulated device, for a try of this script,
kernels are those that the device records, without cuDNN's, and PyTorch's step is not run."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "python"))
from gpu_record import injected, kernels, merged  # noqa: E402

UPDATE = re.compile(r"sgd_(layer_)?kernel|adam_kernel|multi_tensor_apply")
WARM_UP = 2
# What a kernel does, by its name; the first that fits.
KINDS = (("update", UPDATE),
         ("layout", re.compile(r"nchwToNhwc|nhwcToNchw|transpose|permute", re.I)),
         ("convolution, product", re.compile(r"fprop|dgrad|wgrad|conv|gemm|cutlass|xmma|winograd|fft|cudnn.*engine", re.I)),
         ("normalisation", re.compile(r"batch_?norm|bn_|moments|mean_variance|normalize|delta_sums|scale_bias|input_delta", re.I)),
         ("pooling", re.compile(r"pool", re.I)),
         ("elementwise", re.compile(r"elementwise|shortcut|bias|activate|gradient|axpy|scal_|copy|fill|add|mul", re.I)),
         ("other", re.compile("")))


def is_emulated(build):
    return os.path.exists(os.path.join(build, "darknet-emulated"))


def run_darknet(build, cfg, args, path):
    subprocess.run([os.path.join(build, "darknet" + "-emulated" * is_emulated(build)), "ddp", "bench", cfg, "-w", str(args.pixels), "-h",
                    str(args.pixels), "-batch", str(args.batch), "-subdivisions", "1", "-steps", str(args.steps),
                    *(["-ddp_bf16", "1"] if args.bf16 else [])], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, **injected(build, path)})
    return path + "0"


def run_pytorch(build, cfg, args, path):
    requests = ({"cfg": cfg, "width": args.pixels, "height": args.pixels, "batch": args.batch, "fp32": False, "bf16": args.bf16},
                {"steps": args.steps})
    done = subprocess.run([sys.executable, os.path.join(HERE, "../../scripts/bench_torch.py")], check=True, text=True,
                          input="".join(json.dumps(request) + "\n" for request in requests), stdout=subprocess.PIPE,
                          env={**os.environ, **injected(build, path)})
    for answer in map(json.loads, done.stdout.splitlines()):
        if "failed" in answer:
            sys.exit(f"profile: PyTorch: {answer['failed']}")
    return path + "0"


def steps_of(found):
    """The kernels of each whole step but the first ones."""
    steps, step, updating = [], [], False
    for kernel in found:
        update = bool(UPDATE.search(kernel[3]))
        if updating and not update:
            steps.append(step)
            step = []
        step.append(kernel)
        updating = update
    if updating:
        steps.append(step)
    return steps[WARM_UP:]


def demangled(found):
    """The same kernels by names that one can read, where there is c++filt."""
    if not shutil.which("c++filt"):
        return found
    names = subprocess.run(["c++filt"], input="\n".join(kernel[3] for kernel in found), capture_output=True, text=True,
                           check=True).stdout.split("\n")
    return [(*kernel[:3], name) for kernel, name in zip(found, names)]


def short(name):
    """A kernel's name without its types and arguments."""
    name = re.sub(r"^void |\(anonymous namespace\)::|at::native::", "", name)
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    return name.split("(")[0].strip()[:70]


def sums(steps, key):
    """(milliseconds, launches) a step by key(name), the longest first."""
    found = {}
    for start, end, _, name in (kernel for step in steps for kernel in step):
        time, count = found.get(key(name), (0, 0))
        found[key(name)] = (time + end - start, count + 1)
    n = len(steps)
    return sorted(((time / 1e6 / n, count / n, name) for name, (time, count) in found.items()), reverse=True)


def report(title, path, rows):
    steps = steps_of(demangled(kernels(path)))
    if not steps:
        sys.exit(f"{title}: no {WARM_UP + 1} steps in the record")
    busy = sum(end - start for step in steps for start, end in merged(k[:2] for k in step)) / 1e6 / len(steps)
    whole = (steps[-1][-1][1] - steps[0][0][0]) / 1e6 / len(steps)
    print(f"\n{title}: kernels run for {busy:.2f} of {whole:.2f} ms a step, over {len(steps)} steps")
    for part, key in ((len(KINDS), lambda name: next(kind for kind, names in KINDS if names.search(name))), (rows, short)):
        print("      ms  share  launches")
        for time, count, name in sums(steps, key)[:part]:
            print(f"{time:8.3f} {100 * time / busy:5.1f}% {count:9.1f}  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("-bf16", action="store_true")
    parser.add_argument("-cfg", default="resnet50")
    for name, value in (("pixels", 224), ("batch", 64), ("steps", 5), ("rows", 20)):
        parser.add_argument("-" + name, type=int, default=value)
    parser.add_argument("-darknet")
    parser.add_argument("-pytorch")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    cfg = os.path.join(build, "darknet-src", "cfg", args.cfg + ".cfg")
    read, emulated = args.darknet or args.pytorch, is_emulated(build)
    if not read and not emulated and (not shutil.which("nvidia-smi")
                                      or subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode):
        print("no GPU")
        return 77
    missing = [name for name in ("darknet", "tests/libgpu_trace.so") if not os.path.exists(os.path.join(build, name))]
    if missing and not read and not emulated:
        sys.exit(f"profile: {args.build} has no {' and no '.join(missing)}: it wants a build for GPUs with the targets "
                 "darknet and gpu_trace (CUDA 13)")
    with tempfile.TemporaryDirectory() as folder:
        if args.darknet or not read:
            report("darknet", args.darknet or run_darknet(build, cfg, args, os.path.join(folder, "darknet.")), args.rows)
        if args.pytorch or not (read or emulated):
            report("PyTorch", args.pytorch or run_pytorch(build, cfg, args, os.path.join(folder, "pytorch.")), args.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
