#!/usr/bin/env python3
# ddp-test: ci
"""After each patch of the series, what it changes compiles (python/series.py says which files that are), for a CPU. What
compiles for a GPU at some patch of patches/cuda, which ports Darknet's code from older CUDA and cuDNN, or later, does so at
each patch from there on. After the last patch every C file compiles for both. Kernels (.cu) are left to the build for GPUs.
Usage: tests/patches/each_compiles.py SOURCE-DIR DARKNET-SOURCE"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.argv[1], "tests", "python"))
import series  # noqa: E402


def fail(name, failed):
    for words in failed.values():
        print(words)
    sys.exit(f"each_compiles: after {name}: {', '.join(failed)} no longer compiles")


with series.Tree(sys.argv[2]) as tree:
    ported = False
    on_gpu = set()  # what has compiled for a GPU
    for name in series.names():
        words = tree.apply(name)
        if words:
            sys.exit(f"each_compiles: {name} does not apply:\n{words}")
        files = tree.affected(name)
        failed = tree.check_all(files)
        if failed:
            fail(name, failed)
        ported = ported or series.folder(name) == "cuda"
        failed = tree.check_all(files, *series.GPU_FLAGS) if ported else {}
        on_gpu |= set(files) - set(failed) if ported else set()
        lost = {path: words for path, words in failed.items() if path in on_gpu}
        if lost:
            fail(name + " (for a GPU)", lost)
    everything = sorted(tree.built())
    for flags in ((), series.GPU_FLAGS):
        failed = tree.check_all(everything, *flags)
        if failed:
            fail("all patches", failed)
    print(f"{len(series.names())} patches; {len(everything)} files in the end")
