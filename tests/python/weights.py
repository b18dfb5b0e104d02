"""Compare two weights files: in which array they differ first, and by how much. Arrays are named by the cfg, as far as small networks need."""
import array
import math

HEADER = 20  # three numbers of the version, and how many images were seen


def sections(text):
    """[(kind, {key: value})] of a cfg."""
    found = []
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            found.append((line.strip("[]"), {}))
        elif "=" in line and found:
            key, _, value = line.partition("=")
            found[-1][1][key.strip()] = value.strip()
    return found


def normalised(values, count):
    """BatchNorm's arrays of a layer with so many outputs."""
    return [(part, count) for part in ("scales", "mean", "variance")] if int(values.get("batch_normalize", 0)) else []


class Shapes:
    """What each layer's output is, width, height and channels, and which arrays it has in a file, in their order."""

    def __init__(self, text):
        self.shapes, self.arrays = [], []
        for number, (kind, values) in enumerate(sections(text), -1):
            if number < 0:
                names = ("width", "height", "channels")
                self.first = (1, 1, int(values["inputs"])) if "inputs" in values else tuple(int(values[n]) for n in names)
                continue
            before = self.shapes[-1] if self.shapes else self.first
            shape, arrays = getattr(self, kind, self.other)(before, values)
            self.shapes.append(shape)
            self.arrays += [(f"layer {number} {kind} {part}", count) for part, count in arrays]

    @staticmethod
    def other(before, _):
        return before, []

    @staticmethod
    def convolutional(before, values):
        filters, size, stride = (int(values.get(key, 1)) for key in ("filters", "size", "stride"))
        pad = size // 2 if int(values.get("pad", 0)) else int(values.get("padding", 0))
        width, height = ((side + 2 * pad - size) // stride + 1 for side in before[:2])
        weights = before[2] // int(values.get("groups", 1)) * filters * size * size
        return (width, height, filters), [("biases", filters), *normalised(values, filters), ("weights", weights)]

    @staticmethod
    def connected(before, values):
        inputs, outputs = math.prod(before), int(values.get("output", 1))
        return (1, 1, outputs), [("biases", outputs), ("weights", inputs * outputs), *normalised(values, outputs)]

    def rnn(self, before, values):
        hidden, arrays = (1, 1, int(values["hidden"])), []
        for part, inputs, outputs in (("input", before, values["hidden"]), ("self", hidden, values["hidden"]), ("output", hidden, values["output"])):
            shape, own = self.connected(inputs, {**values, "output": outputs})
            arrays += [(f"{part} {name}", count) for name, count in own]
        return shape, arrays

    @staticmethod
    def maxpool(before, values):
        stride = int(values.get("stride", 1))
        size = int(values.get("size", stride))
        padding = int(values.get("padding", size - 1))
        return (*((side + padding - size) // stride + 1 for side in before[:2]), before[2]), []

    @staticmethod
    def avgpool(before, _):
        return (1, 1, before[2]), []

    @staticmethod
    def upsample(before, values):
        stride = int(values.get("stride", 2))
        return (before[0] * stride, before[1] * stride, before[2]), []

    def route(self, _, values):
        chosen = [self.shapes[int(layer)] for layer in values["layers"].split(",")]
        return (*chosen[0][:2], sum(shape[2] for shape in chosen) // int(values.get("groups", 1))), []


def named(text, count):
    """[(name, count)] of a file with so many numbers; one array of all where the cfg does not say how many there are."""
    try:
        arrays = Shapes(text).arrays
    except (KeyError, ValueError, IndexError):
        arrays = []
    return arrays if sum(size for _, size in arrays) == count else [("all arrays", count)]


def shown(number):
    return f"{number:.9g}"


def difference(found, expected, text):
    """Of two weights files of the cfg `text`, as bytes: the first array that differs and how far; None where none does."""
    if found == expected:
        return None
    if len(found) != len(expected):
        return f"{len(found)} bytes of weights, not {len(expected)}"
    if found[:HEADER] != expected[:HEADER]:
        return f"another head of the weights file: {found[:HEADER].hex()}, not {expected[:HEADER].hex()}"
    ours, theirs = (array.array("f", file[HEADER:]) for file in (found, expected))
    start, others, first = 0, 0, None
    arrays = named(text, len(ours))
    for name, count in arrays:
        a, b = ours[start:start + count], theirs[start:start + count]
        start += count
        others += a.tobytes() != b.tobytes()
        if others and not first:
            first = name, a, b
    name, a, b = first
    apart = [i for i, (x, y) in enumerate(zip(a, b)) if array.array("f", [x]).tobytes() != array.array("f", [y]).tobytes()]
    at = max(apart, key=lambda i: abs(a[i] - b[i]) if math.isfinite(a[i] - b[i]) else math.inf)
    return (f"other weights: {name}: {len(apart)} of {len(a)} differ, most by {shown(abs(a[at] - b[at]))}, number {at}: {shown(a[at])}, "
            f"not {shown(b[at])}; {others} of {len(arrays)} arrays differ")

