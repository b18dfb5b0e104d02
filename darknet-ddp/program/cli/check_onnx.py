"""Compare an ONNX file in onnxruntime with what Darknet's forward pass gives, layer by layer.

Usage: check_onnx.py FILE TOLERANCE <records     (framework/onnx/reference.h explains the records)
Exit status: 0 all alike, 1 something differs, 77 there is no onnxruntime.

The difference of two arrays is the length of their difference, as vectors, over that of Darknet's.
"""

import sys

try:
    import numpy as np
    import onnxruntime
except ImportError:
    sys.exit(77)


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def with_outputs(model, names):
    """The bytes of a model that also gives these values: fields behind a message are merged with it."""
    return model + field(7, b"".join(field(12, field(1, name.encode())) for name in names))


def read_record(stream):
    words = stream.readline().decode().split(" ")
    if words[0] in ("", "compare\n"):
        return words[0].strip(), words, None
    return words[0], words, np.frombuffer(stream.read(4 * int(words[-1])), np.float32)


def difference(ours, theirs):
    theirs = np.asarray(theirs, np.float32).ravel()
    if theirs.size != ours.size:
        return np.inf
    if not ours.size:
        return 0.0
    # A box's side is the exponential of a number: beyond 1e4 it says nothing, and would outweigh all others.
    ours, theirs = np.clip(ours, -1e4, 1e4), np.clip(theirs, -1e4, 1e4)
    size = float(np.linalg.norm(ours.astype(np.float64)))
    apart = float(np.linalg.norm(theirs.astype(np.float64) - ours))
    return (apart / size if size > 0 else apart) if np.isfinite(apart) else np.inf


def in_order_of(ours, theirs):
    """Both as rows of detections, theirs in such an order that each row is near the row of ours beside it."""
    ours, left = (np.array(rows, np.float32).reshape(-1, 7) for rows in (ours, theirs))
    for i in range(min(len(ours), len(left))):
        nearest = i + np.abs(left[i:] - ours[i]).max(axis=1).argmin()
        left[[i, nearest]] = left[[nearest, i]]
    return ours.ravel(), left.ravel()


class Check:
    def __init__(self, path, tolerance):
        with open(path, "rb") as f:
            self.model = f.read()
        self.tolerance = tolerance
        self.session = None
        self.names = []
        self.worst = (-1.0, "")
        self.wrong = 0
        self.compared = 0

    def run(self, picture, wanted):
        if self.session is None:
            own = [o.name for o in onnxruntime.InferenceSession(self.model).get_outputs()]
            self.names = sorted({name for name, _, _ in wanted})
            more = [name for name in self.names if name not in own and name != "images"]
            self.session = onnxruntime.InferenceSession(with_outputs(self.model, more))
        feed = self.session.get_inputs()[0]
        shape = [d if isinstance(d, int) else 1 for d in feed.shape]
        run = [name for name in self.names if name != feed.name]
        found = dict(zip(run, self.session.run(run, {feed.name: picture.reshape(shape)})))
        found[feed.name] = picture
        return found

    def compare(self, path, picture, wanted):
        found = self.run(picture, wanted)
        for name, label, ours in wanted:
            theirs = found[name]
            if name == "detections":
                ours, theirs = in_order_of(ours, theirs)
            apart = difference(ours, theirs)
            self.compared += 1
            if apart > self.worst[0]:
                self.worst = (apart, label)
            if not apart <= self.tolerance:
                self.wrong += 1
                if self.wrong <= 10:
                    print(f"{path}: {label} differs by {apart:.2g}, more than {self.tolerance:g}: {sizes(ours, theirs)}")


def sizes(ours, theirs):
    count = np.asarray(theirs).size
    return f"{ours.size} values here, {count} in onnxruntime" if count != ours.size else f"of its {ours.size} values"


def main():
    check = Check(sys.argv[1], float(sys.argv[2]))
    stream = sys.stdin.buffer
    path, picture, wanted = "", None, []
    while True:
        kind, words, values = read_record(stream)
        if kind == "":
            break
        if kind == "picture":
            path, picture, wanted = " ".join(words[1:-1]), values, []
        elif kind == "layer":
            wanted.append((words[3], f"layer {words[1]}, [{words[2]}],", values))
        elif kind == "output":
            wanted.append((words[1], f"output {words[1]}", values))
        else:
            try:
                check.compare(path, picture, wanted)
            except Exception as error:  # onnxruntime's own kinds have no common one
                print(f"{path}: onnxruntime refuses the file: {error}")
                return 1
    if check.wrong > 10:
        print(f"{check.wrong} of {check.compared} arrays differ")
    print(f"largest difference {check.worst[0]:.2g}, of {check.worst[1].rstrip(',')}: {check.compared} arrays, onnxruntime {onnxruntime.__version__}")
    return 1 if check.wrong or not check.compared else 0


sys.exit(main())
