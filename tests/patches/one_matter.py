#!/usr/bin/env python3
# ddp-test: ci
"""No patch changes more than 400 lines, each folder of patches/ is one stretch of the series, and no patch but ddp's own
src/train.c brings a file: our whole files are darknet-ddp/framework/layers.
Usage: tests/patches/one_matter.py SOURCE-DIR DARKNET-SOURCE"""
import itertools
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.argv[1], "tests", "python"))
import series  # noqa: E402

MOST_LINES = 400
OURS = {"src/train.c"}

wrong = []
for name in series.names():
    with open(os.path.join(series.PATCHES, name), encoding="latin-1") as f:
        text = f.read()
    diff = text[text.index("\ndiff --git "):]
    count = len(re.findall(r"(?m)^[+-](?!\+\+ |-- )", diff))
    if count > MOST_LINES:
        wrong.append(f"{name} changes {count} lines, more than {MOST_LINES}: make it two patches")
    brought = set(re.findall(r"(?m)^--- /dev/null\n\+\+\+ b/(\S+)", diff)) - OURS
    if brought:
        wrong.append(f"{name} brings {', '.join(sorted(brought))}: a file of ours belongs into darknet-ddp/framework/layers")
folders = [folder for folder, _ in itertools.groupby(series.names(), series.folder)]
for folder in sorted(set(folders)):
    if folders.count(folder) > 1:
        wrong.append(f"the series comes back to {folder}/: a patch on what a later folder brought belongs into that one")
if wrong:
    sys.exit("\n".join("one_matter: " + line for line in wrong))
print(f"{len(series.names())} patches in {len(folders)} folders")
