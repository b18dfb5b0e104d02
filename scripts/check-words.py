#!/usr/bin/env python3
"""Check how comments and docs are written, or draw some of them by lot for a reading.

Usage: scripts/check-words.py                               exit status: 0 clean, 1 not (printed)
       scripts/check-words.py -draw N [-seed S]             N comments of headers, each with its declaration, and with what a reader
                                                            has read before it: the file's head, and the comment of a member's struct
       scripts/check-words.py -draw-paragraphs N [-seed S]  N paragraphs of the guides
       scripts/check-words.py -draw-heads N [-seed S]       N heads of files

What it checks: a comment of darknet-ddp/ does not begin with a word of NO_BEGINNING, which refers to a comment above (in .c files
a phrase behind a variable may); a sentence of a header has at most MOST_WORDS words, a line of Markdown MOST_COLUMNS characters,
and the name of a patch MOST_NAME.
Without -seed the system chooses a seed, which is printed."""
import argparse
import os
import random
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_WORDS, MOST_COLUMNS, MOST_NAME = 30, 120, 60
NO_BEGINNING = re.compile(r"(?i:The same|Those|As|Of|And|What|With it|After it|In place of|From here on)\b(?!-)")
SOURCES = (".h", ".c", ".cpp", ".cu", ".cuh", ".def")
COMMENT = re.compile(r"/\*(.*?)\*/|((?:^[ \t]*//[^\n]*\n)+)|//([^\n]*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S | re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def our_files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return sorted(path for path in listed if os.path.exists(os.path.join(ROOT, path)))


def comments(text):
    """(offset, end, the comment's lines without what marks them) of each comment of a C file."""
    for match in COMMENT.finditer(text):
        body = next((group for group in match.groups() if group is not None), None)
        if body is not None:
            yield match.start(), match.end(), [re.sub(r"^\s*(?:\*(?!\*)|/{2,})? ?", "", line).rstrip() for line in body.splitlines()]


def sentences(lines):
    """The sentences of a comment. A line set in deeper than its paragraph, which is no list, is code or a table, and belongs to none."""
    paragraphs, in_list = [[]], False
    for line in lines:
        starts_item = re.match(r" *(?:-|\d+\.) ", line)
        in_list = bool(starts_item) or (in_list and line.strip() != "")
        if not line.strip() or (line.startswith("  ") and not in_list):
            paragraphs.append([])
        elif starts_item:
            paragraphs.append([line])
        else:
            paragraphs[-1].append(line)
    for paragraph in paragraphs:
        text = " ".join(" ".join(paragraph).split())
        yield from (part for part in re.split(r"(?<=[.!?])[)\"']?\s+(?=[^a-z\s])", text) if part)


def wrong_comments(path, text):
    for start, _, lines in comments(text):
        line = text.count("\n", 0, start) + 1
        said = list(sentences(lines))
        beginning = NO_BEGINNING.match(said[0]) if said else None
        if beginning and (path.endswith(".h") or beginning[0][0].isupper()):
            yield f"{path}:{line}: say the whole thing again in place of '{beginning[0]} ...'"
        for sentence in said if path.endswith(".h") else ():
            if len(re.findall(r"[\w`'-]*\w[\w`'.()-]*", sentence)) > MOST_WORDS:
                yield f"{path}:{line}: more than {MOST_WORDS} words: {sentence[:80]}..."


def wrong():
    for path in our_files():
        if path.startswith("darknet-ddp/") and path.endswith(SOURCES):
            yield from wrong_comments(path, read(path))
        elif path.endswith(".md"):
            yield from (f"{path}:{i}: {len(line)} characters; {MOST_COLUMNS} are the most" for i, line in enumerate(read(path).splitlines(), 1) if len(line) > MOST_COLUMNS)
        elif path.endswith(".patch") and len(os.path.basename(path)) > MOST_NAME:
            yield f"{path}: a name of {len(os.path.basename(path))} characters; {MOST_NAME} are the most"


def check():
    found = list(wrong())
    for line in found:
        print("check-words:", line)
    return 1 if found else 0


def declaration(text):
    """What stands behind a comment, up to the end of the statement or of a struct's first line; nothing if a blank line follows."""
    if not re.match(r"[ \t]*\n[ \t]*[^\s/]", text):
        return ""
    text = text.lstrip()
    end = re.search(r"\n" if text.startswith("#") else r"[;{]|(?<=^)[^(;{]*,\n", text)
    return " ".join(text[: end.end()].split()) if end else ""


def enclosing(text, start):
    """The first line of the struct or enum of a comment that is set in, and where it starts in the text; else nothing."""
    since = text.rfind("\n}", 0, start) + 1
    found = list(re.finditer(r"^((?:typedef )?(?:struct|enum|union)[^\n;]*\{)$", text[since:start], re.M))
    if not found or not re.search(r"^\s+\S?.*\Z", text[text.rfind("\n", 0, start) + 1 : start + 1]):
        return "", None
    return found[-1][1] + " ", since + found[-1].start()


def head(text):
    """The lines of the comment at a file's head; None where there is none."""
    for start, _, lines in comments(text):
        if re.sub(r"#(?:ifndef|define|pragma)[^\n]*|/\* ddp-test:[^\n]*", "", text[:start]).strip():
            return None
        if not lines[0].startswith("ddp-test:"):
            return lines
    return None


def drawn_comments():
    for path in our_files():
        if path.startswith("darknet-ddp/") and path.endswith(".h"):
            text, before_declaration = read(path), {}
            for start, end, lines in comments(text):
                said, before = "\n".join(lines).strip(), text[text.rfind("\n", 0, start) + 1 : start].strip()
                if not before:
                    before_declaration[end + len(text[end:]) - len(text[end:].lstrip())] = said
                what = before or declaration(text[end:])
                if what and not said.startswith("----") and not re.match(r"\}|#\s*(?:ifndef|ifdef|if|else|endif|include|pragma)", what):
                    struct, at = enclosing(text, start)
                    read_before = [("head", "\n".join(head(text) or [])), ("struct", before_declaration.get(at, ""))]
                    yield f"{path}:{text.count(chr(10), 0, start) + 1}", said, "".join(f"[{name}: {words}]\n" for name, words in read_before if words not in ("", said)), struct + what


def drawn_paragraphs():
    for path in our_files():
        if path.endswith(".md") and path != "CHANGELOG.md":
            line = 1
            prose = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), read(path), flags=re.S | re.M)
            for paragraph in prose.split("\n\n"):
                if not re.match(r"\s*(?:#|\||    |<!--|!\[|\*\*[^*]*\*\*(?: \(.*\))?\s*$|$)", paragraph):
                    yield f"{path}:{line}", paragraph.strip("\n"), "", ""
                line += paragraph.count("\n") + 2


def drawn_heads():
    for path in our_files():
        if path.startswith("darknet-ddp/") and path.endswith(SOURCES):
            lines = head(read(path))
            if lines:
                yield path, "\n".join(lines).strip(), "", ""


def draw(places, count, seed):
    places = list(places)
    seed = random.SystemRandom().randrange(10**9) if seed is None else seed
    print(f"seed {seed}: {min(count, len(places))} of {len(places)}")
    for place, said, read_before, what in random.Random(seed).sample(places, min(count, len(places))):
        print(f"\n{place}\n{read_before}{said}" + (f"\n    {what}" if what else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("-draw", "-draw-paragraphs", "-draw-heads"):
        parser.add_argument(name, type=int, metavar="N")
    parser.add_argument("-seed", type=int, metavar="S")
    args = parser.parse_args()
    for count, places in ((args.draw, drawn_comments), (args.draw_paragraphs, drawn_paragraphs), (args.draw_heads, drawn_heads)):
        if count:
            draw(places(), count, args.seed)
            return 0
    return check()


if __name__ == "__main__":
    sys.exit(main())
