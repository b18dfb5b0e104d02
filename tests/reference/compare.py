"""Compare a program's results with a case of the reference: how far they are apart, and how far they may be. The reference's README defines both."""
import array
import json
import lzma
import math
import os
import sys

# Of a family, of a small case: about four times what builds of one program differ by.
LIMITS = {"loss 1": (2e-6, 2e-6), "loss 2": (4e-6, 1e-5), "loss 3": (1e-5, 2e-5), "output": (1e-4, 2e-5), "delta": (5e-4, 4e-5),
          "test output": (5e-4, 2e-4), "array 1": (5e-4, 3e-4), "array 3": (1e-3, 3e-4), "update 1": (4e-4, 5e-5), "update 3": (1e-4, 2e-5)}
HEADER = 20  # bytes of a weights file


def unpacked(path):
    """The bytes of a file that may be kept as .xz."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            return file.read()
    with lzma.open(path + ".xz") as file:
        return file.read()


def weights(path):
    values = array.array("f", unpacked(path)[HEADER:])
    if sys.byteorder == "big":
        values.byteswap()
    return values


def distance(a, b):
    return math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(a, b)))


def norm(a):
    return math.sqrt(math.fsum(x * x for x in a))


def compare_weights(arrays, start, expected, got):
    """The worst array's difference in parts of its update and a thousandth of itself, and that of all trained ones together."""
    if len(got) != len(expected):
        return (math.inf, f"{len(got)} weights in place of {len(expected)}"), math.inf
    worst, off, update, at = (0, ""), 0, 0, 0
    for layer, name, count in arrays:
        part = slice(at, at + count)
        at += count
        d, u = distance(got[part], expected[part]), distance(expected[part], start[part])
        worst = max(worst, (d / (u + norm(expected[part]) / 1000 or 1), f"layer {layer}, {name}"))
        if name not in ("mean", "variance"):
            off, update = off + d * d, update + u * u
    return worst, math.sqrt(off / update)


def row_difference(expected, got, count):
    size, root = expected[0], expected[0] / math.sqrt(count)
    parts = [abs(size - got[0]) / size, abs(expected[1] - got[1]) / (size * math.sqrt(count))]
    return max(parts + [abs(a - b) / root for a, b in zip(expected[2:], got[2:])])


def compare_rows(expected, got, layers):
    """The worst layer, of [L2, sum, first values]."""
    worst = (0, "")
    for i, (a, b) in enumerate(zip(expected, got, strict=True)):
        if a[0]:
            kind, c, h, w = layers[i]
            d = row_difference(a, b, 2 * c * h * w)
            worst = max(worst, (math.inf if math.isnan(d) else d, f"layer {i}, {kind}"))
    return worst


def compare(case, folder):
    """{what: (difference, where)} of FOLDER's after1.weights, after3.weights and numbers.json."""
    with open(f"{case}/numbers.json") as file:
        expected = json.load(file)
    with open(f"{folder}/numbers.json") as file:
        got = json.load(file)
    found, start = {}, weights(f"{case}/w0.weights")
    for step in "13":
        array_off, update_off = compare_weights(expected["arrays"], start, weights(f"{case}/after{step}.weights"), weights(f"{folder}/after{step}.weights"))
        found[f"array {step}"], found[f"update {step}"] = array_off, (update_off, "")
    for i, (a, b) in enumerate(zip(expected["loss"], got["loss"], strict=True)):
        found[f"loss {i + 1}"] = (abs(a - b) / abs(a), "")
    for key, name in (("out", "output"), ("delta", "delta")):
        found[name] = max(compare_rows(a[key], b[key], expected["layers"]) for a, b in zip(expected["step1"], got["step1"], strict=True))
    found["test output"] = compare_rows(expected["test"]["out"], got["test"]["out"], expected["layers"])
    return found, 1 if expected["kind"] == "small" else 0
