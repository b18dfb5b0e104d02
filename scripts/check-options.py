#!/usr/bin/env python3
"""Check that docs/options.md and the manual page of options have every option of `darknet ddp options -json`, with the same argument,
default and meaning, and docs/from-alexeyab.md every word of engine/options/foreign_options.def, with the same sentence.
Usage: scripts/check-options.py PROGRAM [--fix]    --fix writes the lists of these pages, between <!-- list: NAME --> and <!-- end -->.
Exit status: 0 the same, 1 not (the lines that differ are printed)."""
import difflib
import json
import os
import re
import subprocess
import sys
import textwrap

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "darknet-ddp")
PAGE = os.path.join(PLUGIN, "docs", "options.md")
FOREIGN_PAGE = os.path.join(PLUGIN, "docs", "from-alexeyab.md")
USUAL = "Most runs set none but these"
WIDTH = 118


def said(program, *words):
    return subprocess.run([program, "ddp", *words], capture_output=True, text=True, check=True).stdout


def code(text):
    """Words that one types, as the page sets them."""
    return re.sub(r"(?<![\w-])(-(?:ddp\w*|gpus|i|resume\w*)\b|mpirun\b|srun\b|[a-z_]+=)", r"`\1`", text)


def item(text):
    return [line + "\n" for line in textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False,
                                                  break_on_hyphens=False)]


def named(row):
    return f"{row['name']} {row['argument']}".rstrip()


def title_of(row):
    return f"**{USUAL}**" if "usual" in row["columns"] else f"**{row['group']}** ([{row['guide']}]({row['guide']}.md))"


def option_list(rows):
    """The lines of a list of options, under the titles of their groups."""
    lines, last = [], None
    for row in rows:
        if title_of(row) != last:
            lines += [title_of(row) + "\n", "\n"]
            last = title_of(row)
        default = f" ({row['default']})" if row["default"] else ""
        lines += [*item(f"`{named(row)}`{default}: {code(row['meaning'])}"), "\n"]
    return lines[:-1]


def missing_in_manual(program, rows):
    """Options that `darknet ddp man options` does not have as the table has them."""
    text = re.sub(r"\\f[BIR]|\\&", "", said(program, "man", "options")).replace("\\-", "-").replace("\\e", "\\")
    for row in rows:
        if f".TP\n{named(row)}\n{row['meaning']}{' [' + row['default'] + ']' if row['default'] else ''}\n" not in text:
            yield named(row)


def foreign_list():
    """Words from elsewhere, under the titles of the table; those with the same sentence share an item."""
    with open(os.path.join(PLUGIN, "engine", "options", "foreign_options.def"), encoding="utf-8") as f:
        parts = re.split(r"^/\* ---- (.*) ---- \*/$", f.read(), flags=re.M)[1:]
    lines = []
    for title, rows in zip(parts[::2], parts[1::2]):
        words = {}
        for kind, name, sentence in re.findall(r'^(TAKEN|REFUSED)\("(\w+)", (?:\d, )?"(.*)"\)$', rows, re.M):
            words.setdefault(("taken: " if kind == "TAKEN" else "") + sentence, []).append(f"`-{name}`")
        lines += ["\n"] * bool(lines) + [f"**{title}**\n", "\n"]
        lines += [line for sentence, names in words.items() for line in item(f"{', '.join(names)}: {sentence}")]
    return lines


def check(page, lists):
    """Are these the page's lists? lists: name and wanted lines of each. With --fix they are written."""
    with open(page, encoding="utf-8") as f:
        lines = f.readlines()
    same = True
    for name, wanted in lists:
        first = lines.index(f"<!-- list: {name} -->\n") + 1
        last = lines.index("<!-- end -->\n", first)
        wanted = ["\n", *wanted, "\n"]
        if lines[first:last] != wanted:
            same = False
            sys.stdout.writelines(difflib.unified_diff(lines[first:last], wanted, os.path.basename(page), name, n=0))
            lines[first:last] = wanted
    if not same and sys.argv[2:] == ["--fix"]:
        with open(page, "w", encoding="utf-8") as f:
            f.writelines(lines)
        same = True
    return same


def main():
    program = os.path.abspath(sys.argv[1])
    rows = json.loads(said(program, "options", "-json"))["options"]
    run = sorted((row for row in rows if row["scope"] != "command"), key=lambda row: "usual" not in row["columns"])
    same = [check(PAGE, [("a run", option_list(run)), ("commands", option_list([row for row in rows if row["scope"] == "command"]))]),
            check(FOREIGN_PAGE, [("words", foreign_list())])]
    missing = list(missing_in_manual(program, rows))
    for name in missing:
        print(f"`darknet ddp man options` has no {name}, or another meaning or default")
    sys.exit(0 if all(same) and not missing else 1)


main()
