"""The command blocks of a Markdown page: what is indented by four spaces under a heading, but within ```. A block is run, unless a comment before it says
why not: <!-- not run: WHY -->. In a block with lines that begin with `$ ` these are the commands, and the others are what they print."""
import re

NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
MENTION = re.compile(r"\d+(?:\.\d+)?")


class Block:
    """place: PAGE:LINE; heading: the last one before it; commands: lines; printed: what stands under the commands; why_not: None where it
    is to be run."""

    def __init__(self, place, heading, lines, why_not):
        self.place, self.heading, self.why_not = place, heading, why_not
        shown = any(line.startswith("$ ") for line in lines)
        self.commands = [line[2:] for line in lines if line.startswith("$ ")] if shown else list(lines)
        self.printed = [line for line in lines if shown and not line.startswith("$ ") and line not in ("", "...")]

    def missing(self, output):
        """Of the lines that should have been printed, in this order, the first that is not there; None: all are. Numbers may differ."""
        said = [MENTION.sub("0", line.rstrip()) for line in output.splitlines()]
        at = 0
        for line in self.printed:
            try:
                at = said.index(MENTION.sub("0", line.rstrip()), at) + 1
            except ValueError:
                return line
        return None


def of_page(path, name):
    """Its Blocks, in order. name: what to call it."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    found, why_not, heading, at = [], None, "", 0
    in_text = in_list = in_program = False
    while at < len(lines):
        line = lines[at]
        in_program ^= line.startswith("```")
        if line.startswith("    ") and not in_program and not in_text and not in_list:
            last = at
            while last < len(lines) and (lines[last].startswith("    ") or not lines[last]):
                last += 1
            text = [each[4:] for each in lines[at:last]]
            while not text[-1]:
                text.pop()
            found.append(Block(f"{name}:{at + 1}", heading, text, why_not))
            why_not, at = None, last
            continue
        if line.startswith("#"):
            heading = line.lstrip("# ")
        marked = NOT_RUN.fullmatch(line)
        if marked:
            why_not = marked[1]
        elif line and why_not:
            raise ValueError(f"{name}:{at + 1}: a mark that no block follows")
        if line and not line.startswith(" "):
            in_list = re.match(r"(?:-|\d+\.) ", line) is not None
        in_text = bool(line) and not marked and not line.startswith("#")
        at += 1
    return found
