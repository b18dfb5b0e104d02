#!/usr/bin/env python3
"""GPU against CPU: gpu_compare, or gpu_bf16, on cases of cases.py, several at a time, one line each.

Usage: tests/gpu/layers.py PROGRAM [-jobs N] [-limit SECONDS] [-dry] [-under COMMAND] [-with key=value]
              [layers|smooth-layers|bf16|bf16-fused|bf16-layers|nets|slow-nets|NAME]...      default: layers; -under compute-sanitizer, say

A network that fails, or a layer's case with a [maxpool], is tried once more with other data: a [maxpool] that finds two inputs
equal but for their last bit is rare, though the same data find it each time on the CPUs of one maker, and a mistake is not.
Exit status 1 if a case failed, 77 if there is no GPU. DARKNET_SRC: Darknet's source."""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
os.environ.setdefault("DARKNET", "darknet")
import cases  # noqa: E402

GROUPS = {"layers": list(cases.LAYERS), "smooth-layers": cases.SMOOTH, "bf16": list(cases.BF16), "bf16-fused": list(cases.FUSED),
          "bf16-layers": cases.MIXED,
          "nets": list(cases.NETS), "slow-nets": ["slow-" + name for name in cases.SLOW_NETS]}
SMALL = {**cases.LAYERS, **cases.BF16, **{name: cfg for name, (cfg, _) in cases.FUSED.items()}}
SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("names", nargs="*", default=["layers"])
    parser.add_argument("-jobs", type=int, default=2)
    parser.add_argument("-limit", type=int, default=120 * int(os.environ.get("TEST_GPU_SLOW", "1")))
    parser.add_argument("-dry", action="store_true")
    parser.add_argument("-under", type=str.split, default=[])
    parser.add_argument("-with", dest="more", type=str.split, default=[])
    return parser.parse_intermixed_args()


def command_of(name, args, folder):
    if name in SMALL:
        cfg, options = os.path.join(folder, name + ".cfg"), {"fused": cases.FUSED[name][1]} if name in cases.FUSED else {}
        with open(cfg, "w", encoding="ascii") as f:
            f.write(SMALL[name].replace("tree=", f"tree={folder}/"))
    else:
        table, net = (cases.SLOW_NETS, name[5:]) if name.startswith("slow-") else (cases.NETS, name)
        cfg, options = f"cfg/{net}.cfg", table[net]
    words = [f"{key}={value}" for key, value in options.items()]
    return [*args.under, os.path.abspath(args.program), cfg, *words, *args.more, *(["dry=1"] if args.dry else [])]


def attempt(command, limit_s):
    """Exit status and what was said."""
    try:
        done = subprocess.run(command, cwd=os.environ.get("DARKNET_SRC", "."), stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit_s, check=False)
        return done.returncode, done.stdout.strip() or done.stderr.strip()[-400:]
    except subprocess.TimeoutExpired:
        return "hang", f"no end after {limit_s} s"


def run(name, args, folder):
    command = command_of(name, args, folder)
    code, words = attempt(command, args.limit)
    if code == 1 and "[maxpool]" in SMALL.get(name, "[maxpool]"):
        print(f"     {name}: {words}; again with other data", flush=True)
        code, words = attempt([*command, "seed=21"], args.limit)
    word = {0: "ok  ", SKIPPED: "skip"}.get(code, "BAD ")
    print(f"{word} {name}: {words}" + ("" if code in (0, 1, SKIPPED) else f" (exit {code})"), flush=True)
    return code


def main():
    args = arguments()
    if not os.path.exists(args.program):
        sys.exit(f"layers: no program {args.program}: build it first (target {os.path.basename(args.program)})")
    names = [name for word in args.names for name in GROUPS.get(word, [word])]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        with open(os.path.join(folder, "tree"), "w", encoding="ascii") as f:
            f.write(cases.TREE)
        codes = list(pool.map(lambda name: run(name, args, folder), names))
    if set(codes) == {SKIPPED}:
        print(f"{len(codes)} skipped: no GPU", flush=True)
        return SKIPPED
    print(f"{codes.count(0)} of {len(codes)} agree", flush=True)
    return 0 if set(codes) == {0} else 1


if __name__ == "__main__":
    sys.exit(main())
