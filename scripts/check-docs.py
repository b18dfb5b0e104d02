#!/usr/bin/env python3
"""Check the guides: links lead somewhere, options and functions that are named exist, values and defaults are those of the table of
options, README.md is one page, and each guide that the program names is there.

Usage: scripts/check-docs.py PROGRAM     Exit status: 0 clean, 1 something is wrong (printed).
Darknet's own functions are looked for in the folder darknet-src beside PROGRAM.
"""

import glob
import json
import os
import re
import subprocess
import sys

MOST_LINES, MOST_USUAL = 100, 15
OPTION = re.compile(r"(?<![\w-])-(ddp_\w+)")
PAGES = ("README.md", "CHANGELOG.md", "patches/README.md", "darknet-ddp/README.md", "darknet-ddp/emulated/README.md")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def anchors(text):
    """The anchors of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def wrong_links(path, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(file):
            yield f"{path}: there is no {target}"
        elif not file.startswith("darknet-ddp/docs/") and file not in PAGES:
            yield f"{path}: {target} is not installed, so that the link leads nowhere there"
        elif anchor and anchor not in anchors(read(file)):
            yield f"{path}: {target} has no such heading"


def sources(darknet):
    """{path: text} of darknet-ddp/, and of Darknet as the program was built of it, as src/... and so on."""
    found = {path: read(path) for path in glob.glob("darknet-ddp/**/*.[ch]*", recursive=True) + glob.glob("darknet-ddp/**/*.def", recursive=True)}
    for path in glob.glob(darknet + "/*/*.[ch]*"):
        found[os.path.relpath(path, darknet)] = read(path)
    return found


def wrong_functions(path, text, files):
    """Of places that a page names as `file:function`: those that are not defined there; of words of C: those that stand nowhere."""
    for file, name in re.findall(r"`([\w/]+\.[ch]):(\w+)`", text):
        here = [files[f] for f in files if f.endswith("/" + file) or f == file]
        if not any(re.search(rf"^(?:[^\s#/*].*)?\b{name}\(|^\}} {name};|^struct {name}\b", each, re.M) for each in here):
            yield f"{path}: there is no {name} in {file}"
    if path == "darknet-ddp/README.md":
        known = set(re.findall(r"\w+", " ".join(files.values()) + read("tests/CMakeLists.txt")))
        for name in sorted(set(re.findall(r"`([a-z]+_\w+)`", text)) - known):
            yield f"{path}: no file has {name}"


def takes(row, value):
    """Would the option take this value? None: that is not for a table to say."""
    if row["kind"] in ("whole", "real") and re.fullmatch(r"-?\d+(?:\.\d+)?", value):
        return row["low"] <= float(value) <= row["high"] and (row["kind"] == "real" or "." not in value)
    if row["kind"] == "choice" and not value.isupper():
        return value in row["argument"].split("|")
    return None


def wrong_values(path, text, table):
    """Values behind options, as in `-ddp_ranks 2`, and defaults in brackets behind them, as in `-ddp_timeout` (300)."""
    code = re.findall(r"`([^`]+)`", text) + re.findall(r"(?m)^    .*-.*$", text)
    for piece in code:
        for name, value in re.findall(r"(?<!\S)(-\w+) (\w[\w.]*)(?![\w:/|,])", piece):
            if name.startswith("-ddp_") and name in table and takes(table[name], value) is False:
                yield f"{path}: {name} does not take {value}"
    for name, value in re.findall(r"`(-ddp_\w+)`(?: \w+)?\s\((\d[\d,.]*\d|\d)[;,)\s]", text):
        if name in table and value.replace(",", "") != table[name]["default"].split(";")[0]:
            yield f"{path}: the default of {name} is {table[name]['default']}, not {value}"


def main():
    program = os.path.abspath(sys.argv[1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    table = json.loads(subprocess.run([program, "ddp", "options", "-json"], capture_output=True, text=True, check=True).stdout)
    files = sources(os.path.join(os.path.dirname(program), "darknet-src"))
    known = set(OPTION.findall(" ".join(re.findall(r'"(-\w+)', json.dumps(table)))))
    options = {row["name"]: row for row in table["options"]}
    wrong = [f"{row['name']} has a guide that is not there: {row['guide']}" for row in table["options"]
             if not os.path.exists(f"darknet-ddp/docs/{row['guide']}.md")]
    usual = sum("usual" in row["columns"] for row in table["options"])
    if usual > MOST_USUAL:
        wrong.append(f"options.def: {usual} options are USUAL; at most {MOST_USUAL} are those that people set")
    for path in [*PAGES, *sorted(glob.glob("darknet-ddp/docs/*.md"))]:
        text = read(path)
        wrong += [*wrong_links(path, text), *wrong_functions(path, text, files)]
        if path != "CHANGELOG.md":  # which tells of options that are gone
            wrong += wrong_values(path, text, options)
            wrong += [f"{path}: there is no option -{name}" for name in sorted(set(OPTION.findall(text)) - known)]
    lines = read("README.md").splitlines()
    if len(lines) > MOST_LINES:
        wrong.append(f"README.md has {len(lines)} lines; at most {MOST_LINES} are one page")
    for line in wrong:
        print("check-docs:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
