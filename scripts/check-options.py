#!/usr/bin/env python3
"""Check that docs/options.md and the manual page of options have every option of `darknet ddp help`, with the same argument, default and
meaning, and docs/from-alexeyab.md every word of engine/options/foreign_options.def, with the same sentence.
Usage: scripts/check-options.py PROGRAM [--fix]    --fix writes their rows into the tables.
Exit status: 0 the same, 1 not (the lines that differ are printed)."""
import difflib
import os
import re
import subprocess
import sys

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "darknet-ddp")
PAGE = os.path.join(PLUGIN, "docs", "options.md")
FOREIGN_PAGE = os.path.join(PLUGIN, "docs", "from-alexeyab.md")
FOREIGN_HEAD = "| typed from habit | here |"
TRAINING = "| option | default | meaning |"
COMMANDS = "| option of `ddp plan`, `bench`, `check` and `cfg` | default | meaning |"
LAST = "Of darknet ddp"  # the group that is a table of its own


def help_groups(program):
    """Of each group of the help its title, its guide or None, and (name and argument, default, meaning) of each option."""
    out = subprocess.run([program, "ddp", "help"], capture_output=True, text=True, check=True).stdout
    groups = []
    for line in out[out.index("Options"):].splitlines():
        title = re.fullmatch(r"(\w.*?)(?: \(guide: ([\w-]+)\))?:", line)
        found = re.fullmatch(r"  (-.+?)  +(.+?)(?: \[([^]]*)\])?", line)
        if title:
            groups.append((title[1], title[2], []))
        elif found:
            groups[-1][2].append((found[1], found[3] or "", found[2]))
    return groups


def code(text):
    """Words that one types, as the page sets them."""
    return re.sub(r"(?<![\w-])(-(?:ddp\w*|gpus|resume\w*)|mpirun|srun|max_batches)\b", r"`\1`", text)


def page_rows(groups):
    """The lines of its tables: that of training, and that of the commands."""
    lines = {True: [], False: []}
    for title, guide, rows in groups:
        last = title.startswith(LAST)
        if not last:
            lines[last].append(f"| **{title}**{f' ([{guide}]({guide}.md))' if guide else ''} | | |\n")
        for name, default, meaning in rows:
            option = name.replace("|", r"\|")
            default = f" {default} " if default else " "
            lines[last].append(f"| `{option}` |{default}| {code(meaning)} |\n")
    return lines[False], lines[True]


def missing_in_manual(program, groups):
    """Options that `darknet ddp man options` does not have as the help has them."""
    text = subprocess.run([program, "ddp", "man", "options"], capture_output=True, text=True, check=True).stdout
    text = re.sub(r"\\f[BIR]|\\&", "", text).replace("\\-", "-").replace("\\e", "\\")
    for _, _, rows in groups:
        for name, default, meaning in rows:
            if f".TP\n{name}\n{meaning}{f' [{default}]' if default else ''}\n" not in text:
                yield name


def table_at(lines, head):
    first = lines.index(head + "\n") + 2
    last = first
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    return first, last


def foreign_options():
    """The rows of the table of words from elsewhere; those with the same sentence share one."""
    with open(os.path.join(PLUGIN, "engine", "options", "foreign_options.def"), encoding="utf-8") as f:
        found = re.findall(r'^(TAKEN|REFUSED)\("(\w+)", (?:\d, )?"(.*)"\)$', f.read(), re.M)
    words = {}
    for kind, name, sentence in found:
        words.setdefault(("taken: " if kind == "TAKEN" else "") + sentence, []).append(f"`-{name}`")
    return [f"| {', '.join(names)} | {sentence.replace('|', chr(92) + '|')} |\n" for sentence, names in words.items()]


def check(page, tables, source):
    """Are these the page's tables? tables: head and wanted lines of each. With --fix they are written."""
    with open(page, encoding="utf-8") as f:
        lines = f.readlines()
    same = True
    for head, wanted in tables:
        first, last = table_at(lines, head)
        if lines[first:last] == wanted and wanted:
            continue
        same = False
        sys.stdout.writelines(difflib.unified_diff(lines[first:last], wanted, os.path.basename(page), source, n=0))
        lines[first:last] = wanted
    if not same and sys.argv[2:] == ["--fix"]:
        with open(page, "w", encoding="utf-8") as f:
            f.writelines(lines)
        same = True
    return same


def main():
    groups = help_groups(sys.argv[1])
    same = [check(PAGE, zip((TRAINING, COMMANDS), page_rows(groups)), "darknet ddp help"),
            check(FOREIGN_PAGE, [(FOREIGN_HEAD, foreign_options())], "foreign_options.def")]
    missing = list(missing_in_manual(sys.argv[1], groups))
    for name in missing:
        print(f"`darknet ddp man options` has no {name}, or another meaning or default")
    sys.exit(0 if all(same) and not missing else 1)


main()
