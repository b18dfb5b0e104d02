#!/usr/bin/env python3
# ddp-test: usual
"""libdarknet-ddp.so for a program in C, and for one in Python with numpy (77 where no Python has it): the boxes of `detector test`, two
networks in four threads, and files that are refused: a sentence each, no end of the program, and no memory that is not given back."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(PROJECT, "tests", "python"))
import darknet  # noqa: E402
import tiny_weights  # noqa: E402

LIBRARY = os.path.join(PROJECT, "darknet-ddp", "library")
BUILD = os.path.dirname(darknet.PROGRAM)
LEAST = 0.005

IN_C = r"""
#include <darknet_ddp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char error[DARKNET_DDP_ERROR];
    darknet_ddp_model *model;
    darknet_ddp_box *boxes;
    unsigned char *pixels;
    int width, height, count;

    if (argc != 5 || darknet_ddp_open(&model, argv[1], argv[2], argv[3], -1, error)
        || darknet_ddp_read_picture(argv[4], &pixels, &width, &height, error)
        || darknet_ddp_detect(model, pixels, width, height, 0.005f, 0.45f, &boxes, &count, error))
        return fprintf(stderr, "%s\n", error), 3;
    for (int i = 0; i < count; i++)
        printf("%s %.9g %.9g %.9g %.9g %.9g\n", darknet_ddp_name(model, boxes[i].class_id), boxes[i].score, boxes[i].left, boxes[i].top,
               boxes[i].width, boxes[i].height);
    darknet_ddp_free(boxes);
    darknet_ddp_free(pixels);
    darknet_ddp_close(model);
    return 0;
}
"""

BOXES = """
import json, darknet_ddp
detector = darknet_ddp.Detector("tiny.cfg", "backup/tiny_final.weights", "names.list")
picture = darknet_ddp.read_picture("images/cat0.png")
planes = (picture / 255).astype("float32")
print(json.dumps([[box._asdict() for box in detector(what, thresh=0.005)] for what in ("images/cat0.png", picture, planes)]))
"""

THREADS = """
import threading, darknet_ddp
def look(weights, found):
    detector = darknet_ddp.Detector("tiny.cfg", weights)
    found.append([detector(f"images/{name}.png", thresh=0.005) for name in ("cat0", "dog1", "cat2") for _ in range(20)])
weights = ["backup/tiny_final.weights", "backup/other.weights"]
alone, together = [], [[] for _ in range(4)]
for name in weights:
    look(name, alone)
threads = [threading.Thread(target=look, args=(weights[i % 2], together[i])) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert alone[0] != alone[1] and any(alone[0])
for i in range(4):
    assert together[i] == [alone[i % 2]], i
"""

FAULTY = """
import resource, darknet_ddp
good = open("tiny.cfg").read()
faults = [good.replace("filters=7", "filters=8"), good.replace("[yolo]", "[nothing]"), good.replace("stride=", "strid=", 1), good[:200], "",
          good.replace("activation=leaky", "activation=none", 1), good.replace("width=32", "width=x", 1)]
said, sizes = set(), []
for i in range(300):
    if i % 3:
        open("bad.cfg", "w").write(faults[i % len(faults)])
        words = ("bad.cfg", "backup/tiny_final.weights")
    else:
        open("bad.weights", "wb").write(open("backup/tiny_final.weights", "rb").read()[:7 * i % 900])
        words = ("tiny.cfg", "bad.weights")
    try:
        darknet_ddp.Detector(*words)
    except darknet_ddp.Error as e:
        said.add(str(e))
    else:
        raise SystemExit(f"taken: {i} {words}")
    if i % 50 == 49:
        sizes.append(int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 1024)
for words in (("none.cfg", "x"), ("tiny.cfg", "none.weights"), ("tiny.cfg", "backup/tiny_final.weights", "none.names")):
    try:
        darknet_ddp.Detector(*words)
    except darknet_ddp.Error as e:
        said.add(str(e))
assert all(said) and len(said) > 6, said
assert sizes[-1] - sizes[1] < 2000, sizes
for bad in ("none.png", "tiny.cfg"):
    try:
        darknet_ddp.read_picture(bad)
        raise SystemExit("taken")
    except darknet_ddp.Error as e:
        assert bad in str(e), e
assert darknet_ddp.Detector("tiny.cfg", "backup/tiny_final.weights")("images/cat0.png", thresh=0.005)
"""

OTHERS = """
import numpy, darknet_ddp
classifier = darknet_ddp.Classifier("class.cfg", "backup/class_final.weights", "names.list")
scores = classifier("images/cat0.png")
assert scores.shape == (2,) and scores.dtype == numpy.float32 and abs(scores.sum() - 1) < 1e-5, scores
lines = []
darknet_ddp.train("train.data", "tiny.cfg", progress=lines.append, ddp_seed=7, ddp_validate=0)
assert any(line.startswith("3: ") for line in lines), lines
figures = darknet_ddp.validate("train.data", "tiny.cfg", "backup/tiny_final.weights")
assert 0 <= figures["ap"] <= 1 and len(figures["each"]) == 2, figures
darknet_ddp.check("train.data", "tiny.cfg")
try:
    darknet_ddp.train("none.data", "tiny.cfg")
    raise SystemExit("trained")
except darknet_ddp.Error as e:
    assert "none.data" in str(e), e
"""


def python():
    """A Python that has numpy, or NULL."""
    for program in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(program) and subprocess.run([program, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return program
    return None


class Library(darknet.Case):
    def setUp(self):
        super().setUp()
        data = darknet.DataSet(self.folder)
        data.boxes()
        data.data("train.data", valid="train.list")
        self.write("tiny.cfg", darknet.detector_cfg())
        tiny_weights.write(self.path(tiny_weights.PATH), tiny_weights.drawn())
        tiny_weights.write(self.path("backup/other.weights"), [value / 2 for value in tiny_weights.drawn()])

    def expected(self):
        self.succeeds("detector", "test", "train.data", "tiny.cfg", tiny_weights.PATH, "images/cat0.png", "-thresh", str(LEAST), "-json", "found.json")
        with open(self.path("found.json"), encoding="utf-8") as f:
            return json.load(f)["pictures"][0]["boxes"]

    def check_box(self, name, numbers, box):
        self.assertEqual(name, box["name"])
        for number, key in zip(numbers, ("score", "left", "top", "width", "height")):
            self.assertAlmostEqual(float(number), box[key], delta=1e-5 * max(1, abs(box[key])))

    def script(self, text):
        if not python():
            raise unittest.SkipTest("no Python here has numpy")
        environment = {**os.environ, "PYTHONPATH": os.path.join(LIBRARY, "python"), "DARKNET_DDP_LIBRARY": BUILD, "PYTHONDONTWRITEBYTECODE": "1",
                       "PATH": BUILD + ":" + os.environ["PATH"]}
        done = subprocess.run([python(), "-c", text], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=250, check=False)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_a_program_in_c(self):
        if not shutil.which("cc"):
            raise unittest.SkipTest("no C compiler")
        self.write("look.c", IN_C)
        subprocess.run(["cc", "-Wall", "-Werror", "-o", "look", "look.c", "-I", LIBRARY, "-L", BUILD, "-ldarknet-ddp", f"-Wl,-rpath,{BUILD}"],
                       cwd=self.folder, check=True)
        done = subprocess.run(["./look", "tiny.cfg", tiny_weights.PATH, "names.list", "images/cat0.png"], cwd=self.folder, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done)
        boxes, lines = self.expected(), [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), len(boxes))
        self.assertGreater(len(boxes), 0)
        for line, box in zip(lines, boxes):
            self.check_box(line[0], line[1:], box)

    def test_boxes_in_python(self):
        expected = self.expected()
        for boxes in json.loads(self.script(BOXES)):
            self.assertEqual(len(boxes), len(expected))
            for found, box in zip(boxes, expected):
                self.check_box(found["name"], [found[key] for key in ("score", "left", "top", "width", "height")], box)

    def test_two_networks_in_four_threads(self):
        self.script(THREADS)

    def test_faulty_files(self):
        self.script(FAULTY)

    def test_what_starts_the_program(self):
        self.write("class.cfg", darknet.classifier_cfg())
        self.succeeds("classifier", "train", "train.data", "class.cfg", "-ddp_seed", "7", "-ddp_validate", "0")
        shutil.copy(self.path("backup/class.weights"), self.path("backup/class_final.weights"))
        self.script(OTHERS)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(BUILD, "libdarknet-ddp.so")):
        print("library: the build has no libdarknet-ddp.so")
        sys.exit(77)
    darknet.main()
