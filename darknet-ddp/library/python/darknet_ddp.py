"""Darknet's networks in Python, by libdarknet-ddp.so (darknet_ddp.h), with pictures as numpy arrays or paths of files.

    detector = darknet_ddp.Detector("x.cfg", "x_best.weights", names="x.names")
    for box in detector("one.jpg", thresh=0.25):
        print(box.name, box.score, box.left, box.top, box.width, box.height)

train, validate, export and check start the program `darknet` as a process of its own. What fails is an Error with the sentence that says
why. The library is looked for beside this file, in the folder DARKNET_DDP_LIBRARY names, and where the system has its libraries."""
import collections
import contextlib
import ctypes
import json
import os
import subprocess
import tempfile
import threading

import numpy

__all__ = ["Box", "Classifier", "Detector", "Error", "check", "export", "read_picture", "train", "validate"]

ERROR_BYTES = 1024
Box = collections.namedtuple("Box", "class_id name score left top width height")


class Error(Exception):
    """What failed, a sentence."""


class _Box(ctypes.Structure):
    _fields_ = [("class_id", ctypes.c_int), *((name, ctypes.c_float) for name in ("score", "left", "top", "width", "height"))]


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("is_detector", "classes", "width", "height")]


def _load():
    name = "libdarknet-ddp.so"
    for folder in (os.environ.get("DARKNET_DDP_LIBRARY"), os.path.dirname(os.path.abspath(__file__))):
        if folder and os.path.exists(os.path.join(folder, name)):
            return ctypes.CDLL(os.path.join(folder, name))
    return ctypes.CDLL(name + ".0")


_library = _load()
_library.darknet_ddp_name.restype = ctypes.c_char_p


def _call(function, *args):
    error = ctypes.create_string_buffer(ERROR_BYTES)
    if getattr(_library, function)(*args, error):
        raise Error(error.value.decode(errors="replace"))


def read_picture(path):
    """The picture of a file, an array of height x width x 3 bytes, turned upright."""
    pixels, width, height = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
    _call("darknet_ddp_read_picture", os.fsencode(path), ctypes.byref(pixels), ctypes.byref(width), ctypes.byref(height))
    try:
        data = ctypes.string_at(pixels, 3 * width.value * height.value)
    finally:
        _library.darknet_ddp_free(pixels)
    return numpy.frombuffer(data, numpy.uint8).reshape(height.value, width.value, 3)


def _picture(picture, kinds):
    if isinstance(picture, (str, bytes, os.PathLike)):
        return read_picture(picture)
    picture = numpy.asarray(picture)
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype not in kinds:
        raise Error(f"a picture is an array of height x width x 3, red, green and blue, of {' or '.join(kinds)}, "
                    f"not {picture.shape} of {picture.dtype}")
    return picture


class _Model:
    def __init__(self, cfg, weights, names=None, gpu=-1, bf16=False):
        self._model = ctypes.c_void_p()
        _call("darknet_ddp_open", ctypes.byref(self._model), os.fsencode(cfg), os.fsencode(weights), os.fsencode(names) if names else None, gpu)
        info = _Info()
        _library.darknet_ddp_describe(self._model, ctypes.byref(info))
        self.classes, self.width, self.height = info.classes, info.width, info.height
        said = [_library.darknet_ddp_name(self._model, i) for i in range(info.classes)]
        self.names = [str(i) if name is None else name.decode(errors="replace") for i, name in enumerate(said)]
        if bool(info.is_detector) != self._is_detector:
            self.close()
            raise Error(f"{cfg} is {'a' if info.is_detector else 'no'} detector")
        if bf16:
            _call("darknet_ddp_use_bf16", self._model)

    def close(self):
        """Free the network; it is freed with the object, too."""
        model, self._model = self._model, ctypes.c_void_p()
        _library.darknet_ddp_close(model)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_model", None):
            self.close()


class Detector(_Model):
    """A network that finds objects. names: a file with a name for each class. gpu: the number of a GPU, -1 the CPU. bf16: compute
    in bf16, on a CPU with instructions for it. One thread at a time uses it; several threads may each have their own."""
    _is_detector = True

    def __call__(self, picture, thresh=0.5, nms=0.45):
        """The boxes in a picture, the likeliest first, in its pixels. picture: a path, or an array of height x width x 3, red, green and
        blue: bytes from 0 to 255, or float32 from 0 to 1."""
        picture = _picture(picture, ("uint8", "float32"))
        boxes, count = ctypes.POINTER(_Box)(), ctypes.c_int()
        floats = picture.dtype == numpy.float32
        data = numpy.ascontiguousarray(picture.transpose(2, 0, 1) if floats else picture)
        _call("darknet_ddp_detect_floats" if floats else "darknet_ddp_detect", self._model, data.ctypes.data_as(ctypes.c_void_p), picture.shape[1],
              picture.shape[0], ctypes.c_float(thresh), ctypes.c_float(nms), ctypes.byref(boxes), ctypes.byref(count))
        try:
            return [Box(b.class_id, self.names[b.class_id], b.score, b.left, b.top, b.width, b.height) for b in boxes[:count.value]]
        finally:
            _library.darknet_ddp_free(boxes)


class Classifier(_Model):
    """A network that tells how likely each class is. Arguments as of Detector."""
    _is_detector = False

    def __call__(self, picture):
        """How likely each class is, float32. picture: a path, or an array of height x width x 3 bytes."""
        picture = numpy.ascontiguousarray(_picture(picture, ("uint8",)))
        scores = numpy.zeros(self.classes, numpy.float32)
        _call("darknet_ddp_classify", self._model, picture.ctypes.data_as(ctypes.c_void_p), picture.shape[1], picture.shape[0],
              scores.ctypes.data_as(ctypes.c_void_p))
        return scores


class _Rows:
    """The rows that a run adds to its CSV file, in the folder backup= of DATA, or else backup beside DATA."""

    def __init__(self, data, cfg):
        folder = os.path.join(os.path.dirname(data), "backup")
        with contextlib.suppress(OSError), open(data, encoding="utf-8", errors="replace") as f:
            for line in f:
                key, _, value = line.partition("=")
                folder = value.strip() if key.strip() == "backup" else folder
        self._path = os.path.join(folder, os.path.basename(cfg).split(".")[0] + ".csv")
        self._before = self._identity()  # the file of an earlier run, which a new run replaces
        self._file = self._columns = None

    def _identity(self):
        with contextlib.suppress(OSError):
            return os.stat(self._path).st_ino
        return None

    def new(self):
        """The rows since the last call, each a dictionary: numbers by the names of columns, None where there is none."""
        if not self._file:
            if self._identity() in (None, self._before):
                return
            self._file = open(self._path, encoding="utf-8")  # noqa: SIM115
        for line in self._file:
            values = line.rstrip("\n").split(",")
            if not self._columns:
                self._columns = values
            elif len(values) == len(self._columns):
                yield {name: float(value) if value else None for name, value in zip(self._columns, values)}

    def close(self):
        if self._file:
            self._file.close()


def _run(words, options, program, each=lambda line: None):
    """Start the program, call each(line) for each line that it prints, and return all lines. Options: epochs=3 is -epochs 3, ddp=True is
    -ddp; None and False are left out."""
    command = [program, *map(os.fspath, words)]
    for name, value in options.items():
        command += [f"-{name}"] if value is True else [] if value in (None, False) else [f"-{name}", str(value)]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as e:
        raise Error(f"cannot start {program}: {e.strerror}") from None
    lines, errors = [], []
    with process:
        reader = threading.Thread(target=lambda: errors.extend(line.strip() for line in process.stderr))
        reader.start()
        try:
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                each(lines[-1])
        except BaseException:
            process.terminate()
            process.stdout.close()  # what it still says may be more than a pipe takes
            raise
        finally:
            reader.join()
    if process.returncode:
        said = [line for line in errors if line.startswith("darknet")] or errors[-1:] or lines[-1:]
        raise Error(said[0] if said else f"{program} ended with exit status {process.returncode}")
    return lines


def train(data, cfg, weights=None, progress=None, program="darknet", **options):
    """Train a detector as `darknet detector train -ddp` does. progress(row) gets the figures of each step, a dictionary with the columns of
    the run's CSV file: step, loss, map and more; None where a step has none. An exception in progress ends the run. options: those of the
    program, as ddp_ranks=2, epochs=3, resume=True."""
    rows = _Rows(data, cfg)

    def tell(_=None):
        for row in rows.new():
            progress(row)

    with contextlib.closing(rows):
        _run(["detector", "train", data, cfg, *([weights] if weights else [])], {"ddp": True, **options}, program, tell if progress else lambda _: None)
        if progress:
            tell()


def validate(data, cfg, weights, program="darknet", **options):
    """The figures of `darknet detector map`, as its -json has them: ap, ap50, ap75, and each, by class."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "map.json")
        _run(["detector", "map", data, cfg, weights], {**options, "json": path}, program)
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def export(cfg, weights, out, program="darknet", **options):
    """Write the network as the ONNX file out, as `darknet ddp export` does. options: as data="x.data", heads="nms", check=True. Returns the
    lines that it prints."""
    return _run(["ddp", "export", cfg, weights], {**options, "o": os.fspath(out)}, program)


def check(data, cfg, program="darknet", **options):
    """The lines of `darknet ddp check`: what is wrong with pictures, labels and cfg. An Error if something is."""
    return _run(["ddp", "check", data, cfg], options, program)
