#!/usr/bin/env python3
# ddp-test: ci
"""The patches of patches/ddp apply to Darknet's source with only those before them that patches/ddp/needs names, and what
they change compiles; none of these can be left out.
Usage: tests/patches/ddp_alone.py SOURCE-DIR DARKNET-SOURCE"""
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/tests/python")
import series  # noqa: E402

HINT = "what the group cannot do without belongs into patches/ddp/needs"


def trouble(names):
    """Why the patches cannot be applied one after the other, or do not compile then; None if they do."""
    with series.Tree(sys.argv[2]) as tree:
        files = set()
        for name in names:
            words = tree.apply(name)
            if words:
                return f"{name} does not apply: {HINT}\n{words}"
            if series.folder(name) == "ddp":
                files |= set(tree.affected(name))
        failed = tree.check_all(sorted(files))
        return f"{', '.join(failed)}: {HINT}\n{''.join(failed.values())}" if failed else None


order = series.names()
group = [name for name in order if series.folder(name) == "ddp"]
needs = series.listed("ddp/needs")
unknown = [name for name in needs if name not in order]
if unknown:
    sys.exit(f"ddp_alone: patches/ddp/needs names what the series has not: {unknown}")
needs.sort(key=order.index)
words = trouble(needs + group)
if words:
    sys.exit(f"ddp_alone: {words}")
for spare in needs:
    if not trouble([name for name in needs if name != spare] + group):
        sys.exit(f"ddp_alone: patches/ddp does without {spare}: take it out of patches/ddp/needs")
print(f"{len(group)} patches apply with {len(needs)} of the {len(order) - len(group)} others")
