#!/usr/bin/env python3
"""Check which module of darknet-ddp/ includes which, circles of calls, sizes of modules.

Usage: scripts/check-layers.py     Exit status: 0 clean, 1 something is wrong (printed).

A tier's include path holds itself and the tiers beneath it (darknet-ddp/CMakeLists.txt), so an include upwards does not
compile. Within a tier the table below says which modules a module may include. A unit is a .c file and its header; units whose
calls of ddp_ functions make a circle are refused, and so are more than 25 .c files in a folder.
The table of options includes algorithms.def, by which each algorithm's folder brings its own options and words.
Only framework/ and library/ include darknet.h; what allocates in layers/ includes utils.h, whose calloc is checked; only options/,
algorithms/ and program/ name an option of the command line.
"""

import collections
import glob
import os
import re
import sys

# Each module, and the modules that it may include: `+` stands for all of the tiers beneath.
MODULES = {
    "support": {
        "text": "",
        "base": "text",
        "eval": "base",
        "check": "base text",
        "monitor": "base eval",
        "watch": "base",
        "film": "base",
        "device": "base",
    },
    "engine": {
        "comm": "+",
        "transport": "+ comm",
        "nccl": "+ comm",
        "core": "+ comm",
        "checkpoint": "+ comm core",
        "options": "+ comm core",
        "algorithms": "+ comm core options",
    },
    "framework": {
        "layers": "text",
        "samples": "+ layers",
        "glue": "+ samples layers",
        "trainer": "+ samples layers glue",
        "state": "+ samples glue",
        "timing": "+ samples glue trainer",
        "predict": "+ samples layers glue",
        "onnx": "+ layers glue state",
    },
    "program": {
        "inputs": "+ show",
        "validate": "+ inputs",
        "launch": "+",
        "show": "+ validate launch saves",
        "saves": "+ inputs show launch",
        "run": "+ inputs validate launch show saves bench",
        "bench": "+",
        "predict": "+ inputs validate show",
        "import": "+",
        "report": "+ inputs",
        "cli": "+ inputs validate launch show saves run bench predict import report",
    },
    "library": {"library": "base device check samples layers glue predict"},
}
MOST_FILES = 25
OPTION = re.compile(r'"[^"]*-(ddp_|gpus|nogpu|resume|clear)')
NAMES_OPTIONS = ("options", "algorithms")
SUFFIX = re.compile(r"\.(c|h|cpp|cu|def)$")

wrong = []


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def without_comments(text, keep_strings=False):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return text if keep_strings else re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def check_includes(tier, module, path, text, beneath):
    allowed = MODULES[tier][module].split() + [module]
    for other, name in re.findall(r'^\s*#\s*include\s*["<](?:\.\./)*([a-z0-9_]+)/([^">]*)', text, re.M):
        if other in ("sys", "net", "netinet", "arpa", "linux", "gloo", "nvtx3", "libavcodec", "libavformat", "libavutil", "libswscale") or name == "algorithms.def":
            continue
        if other not in allowed and not ("+" in allowed and other in beneath):
            wrong.append(f"{path}: {module} may include only: {' '.join(allowed)}; this is {other}")
    if tier not in ("framework", "library") and re.search(r"^\s*#\s*include\s*[\"<]darknet\.h", text, re.M):
        wrong.append(f"{path}: only framework/ and library/ include darknet.h")
    if module == "layers" and path.endswith(".c") and re.search(r"= calloc\(", text) and '"utils.h"' not in text:
        wrong.append(f"{path}: include utils.h, by which calloc ends the program if there is no memory")


def unit_of(path):
    return SUFFIX.sub("", path.split("/", 1)[1])


def definitions(text):
    """The functions, and the data, that a source file defines for others."""
    names = re.findall(r"^(?!static\b|extern\b|typedef\b|return\b)[A-Za-z_][\w \*]*?\**\b(ddp_\w+)\([^;{]*\)\s*\{", text, re.M)
    return names + re.findall(r"^(?!static\b|extern\b|typedef\b)[A-Za-z_][\w \*]*\b(ddp_\w+)(?:\[[^\]]*\])?(?: = |;)", text, re.M)


def calls(files):
    """{unit: {unit that it calls: names}}"""
    home = {}
    for path, text in files.items():
        if not path.endswith((".h", ".def")):
            for name in definitions(text):
                home.setdefault(name, unit_of(path))
    edges = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, text in files.items():
        if path.endswith(".h"):
            continue
        for name in set(re.findall(r"\bddp_\w+\b", text)):
            if name in home and home[name] != unit_of(path):
                edges[unit_of(path)][home[name]].add(name)
    return edges


def circles(edges):
    """Tarjan's strongly connected components of more than one unit."""
    index, low, stack, found = {}, {}, [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for other in edges.get(unit, ()):
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] == index[unit]:
            part = []
            while not part or part[-1] != unit:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10000)
    for unit in list(edges):
        if unit not in index:
            visit(unit)
    return found


def check_circles(files):
    edges = calls(files)
    for part in circles(edges):
        lines = [f"    {a} -> {b}: {' '.join(sorted(edges[a][b])[:4])}" for a in part for b in part if b in edges[a]]
        wrong.append("a circle of calls: " + " ".join(part) + "\n" + "\n".join(lines))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "darknet-ddp"))
    files, beneath = {}, set()
    for tier, modules in MODULES.items():
        for module in [tier] if tier in modules else sorted(d for d in os.listdir(tier) if os.path.isdir(os.path.join(tier, d))):
            if module not in modules:
                wrong.append(f"{tier}/{module} is in no table of scripts/check-layers.py")
                continue
            folder = tier if module == tier else f"{tier}/{module}"
            paths = sorted(p for p in glob.glob(f"{folder}/**/*", recursive=True) if SUFFIX.search(p) and "/tests/" not in p)
            for folder, count in collections.Counter(os.path.dirname(p) for p in paths if p.endswith(".c")).items():
                if count > MOST_FILES:
                    wrong.append(f"{folder} has {count} .c files; at most {MOST_FILES} can be taken in")
            for path in paths:
                text = read(path)
                check_includes(tier, module, path, text, beneath)
                if tier != "program" and module not in NAMES_OPTIONS and OPTION.search(without_comments(text, keep_strings=True)):
                    wrong.append(f"{path}: names an option; only program/, {' and '.join(NAMES_OPTIONS)} do")
                files[path] = without_comments(text)
        beneath |= set(modules)
    check_circles(files)
    for line in wrong:
        print("check-layers:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
