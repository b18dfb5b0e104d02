#!/usr/bin/env python3
# ddp-test: usual
"""libdarknet-ddp.so, as it is installed, for the guide's programs in C and in Python, with numpy where some Python has it: the boxes of
`detector test`, and what starts the program. Threads and faulty files: tests/library."""
import glob
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

GUIDE = os.path.join(PROJECT, "darknet-ddp", "docs", "predict.md")
BUILD = os.path.dirname(darknet.PROGRAM)
LEAST = 0.005

BOXES = """
import json, darknet_ddp
detector = darknet_ddp.Detector("tiny.cfg", "backup/tiny_final.weights", "names.list")
picture = darknet_ddp.read_picture("images/cat0.png")
planes = (picture / 255).astype("float32")
print(json.dumps([[box._asdict() for box in detector(what, thresh=0.005)] for what in ("images/cat0.png", picture, planes)]))
"""

OTHERS = """
import os, numpy, darknet_ddp
classifier = darknet_ddp.Classifier("class.cfg", "backup/class_final.weights", "names.list")
scores = classifier("images/cat0.png")
assert scores.shape == (2,) and scores.dtype == numpy.float32 and abs(scores.sum() - 1) < 1e-5, scores
for _ in range(2):  # the second run's rows, and not those that the first has left
    rows = []
    darknet_ddp.train("train.data", "tiny.cfg", progress=rows.append, ddp_seed=7, ddp_validate=3)
    assert [row["step"] for row in rows] == [1, 2, 3], rows
    assert all(row["loss"] > 0 for row in rows) and [row["map"] is not None for row in rows] == [False, False, True], rows
os.mkdir("other")
with open("train.data") as data, open("other/plain.data", "w") as plain:
    plain.writelines(line for line in data if not line.startswith("backup"))
rows = []
darknet_ddp.train("other/plain.data", "tiny.cfg", progress=rows.append, ddp_seed=7)
assert [row["step"] for row in rows] == [1, 2, 3], rows
figures = darknet_ddp.validate("train.data", "tiny.cfg", "backup/tiny_final.weights")
assert 0 <= figures["ap"] <= 1 and len(figures["each"]) == 2, figures
assert darknet_ddp.check("train.data", "tiny.cfg")
lines = darknet_ddp.export("tiny.cfg", "backup/tiny_final.weights", "tiny.onnx", heads="nms")
assert open("tiny.onnx", "rb").read(1) and "tiny.onnx is written" in lines[-1], lines
try:
    darknet_ddp.train("none.data", "tiny.cfg")
    raise SystemExit("trained")
except darknet_ddp.Error as e:
    assert "none.data" in str(e), e
for picture in (numpy.zeros((3, 8, 8), numpy.uint8), numpy.zeros((8, 8, 3), numpy.float64), "none.png", "tiny.cfg"):
    try:
        darknet_ddp.Detector("tiny.cfg", "backup/tiny_final.weights")(picture)
        raise SystemExit("taken")
    except darknet_ddp.Error as e:
        assert "picture" in str(e) or str(picture) in str(e), e
def stop(row):
    raise KeyError(row["step"])
try:
    darknet_ddp.train("train.data", "tiny.cfg", progress=stop, epochs=100000)
    raise SystemExit("trained")
except KeyError:
    pass
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
        self.prefix = self.path("installed")
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix], stdout=subprocess.DEVNULL, check=True)
        data = darknet.DataSet(self.folder)
        data.boxes()
        data.data("train.data", valid="train.list")
        self.write("tiny.cfg", darknet.detector_cfg())
        tiny_weights.write(self.path(tiny_weights.PATH), tiny_weights.drawn())

    def expected(self, thresh=LEAST):
        self.succeeds("detector", "test", "train.data", "tiny.cfg", tiny_weights.PATH, "images/cat0.png", "-thresh", str(thresh), "-json", "found.json")
        with open(self.path("found.json"), encoding="utf-8") as f:
            return json.load(f)["pictures"][0]["boxes"]

    def check_box(self, name, numbers, box):
        self.assertEqual(name, box["name"])
        for number, key in zip(numbers, ("score", "left", "top", "width", "height")):
            self.assertAlmostEqual(float(number), box[key], delta=1e-5 * max(1, abs(box[key])))

    def script(self, text, module=None):
        """What a program says. module: the folder of the module, in place of the one that is installed."""
        if not python():
            raise unittest.SkipTest("no Python here has numpy")
        environment = {**os.environ, "PYTHONPATH": module or self.prefix + "/share/darknet/python", "LD_LIBRARY_PATH": "" if module else self.prefix + "/lib",
                       "PYTHONDONTWRITEBYTECODE": "1", "PATH": self.prefix + "/bin:" + os.environ["PATH"]}
        done = subprocess.run([python(), "-c", text], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=250, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def guide(self, language):
        """The guide's programs, and what they want: x.cfg, names, weights, data and a picture."""
        with open(GUIDE, encoding="utf-8") as f:
            programs = [block.split("```")[0] for block in f.read().split(f"```{language}\n")[1:]]
        for name, own in (("x.cfg", "tiny.cfg"), ("x.names", "names.list"), ("x.data", "train.data"), ("backup/x_best.weights", tiny_weights.PATH),
                          ("images/one.jpg", "images/cat0.png")):
            shutil.copy(self.path(own), self.path(name))
        return programs

    def check_lines(self, out):
        expected, lines = self.expected(thresh=.25), [line.split() for line in out.splitlines()]
        self.assertEqual(len(lines), len(expected))
        self.assertGreater(len(lines), 0)
        for line, box in zip(lines, expected):
            self.check_box(line[0], line[1:], box)

    def test_the_guide_s_program_in_c(self):
        if not shutil.which("cc"):
            raise unittest.SkipTest("no C compiler")
        (program,) = self.guide("c")
        self.write("look.c", program)
        subprocess.run(["cc", "-Wall", "-Werror", "-o", "look", "look.c", "-I", self.prefix + "/include", "-L", self.prefix + "/lib", "-ldarknet-ddp",
                        f"-Wl,-rpath,{self.prefix}/lib"],
                       cwd=self.folder, check=True)
        done = subprocess.run(["./look"], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.check_lines(done.stdout)

    def test_nothing_is_printed(self):
        """Neither of a cfg and weights of which the program says a lot, nor by what the library calls."""
        self.write("said.cfg", darknet.detector_cfg().replace("[yolo]\n", "[yolo]\nscale_x_y=1.05\n"))
        said = self.succeeds("detector", "test", "train.data", "said.cfg", tiny_weights.PATH, "images/cat0.png")
        self.assertIn("Loading weights from", said.err)
        out = self.script('import darknet_ddp\ndetector = darknet_ddp.Detector("said.cfg", "backup/tiny_final.weights")\n'
                          'try:\n    darknet_ddp.Detector("none.cfg", "none.weights")\nexcept darknet_ddp.Error:\n    print(len(detector("images/cat0.png")))')
        self.assertRegex(out, r"^\d+\n$")
        imports = darknet.run(["nm", "-D", "--undefined-only", "--without-symbol-versions", self.prefix + "/lib/libdarknet-ddp.so"], self.folder)
        self.assertEqual(imports.code, 0, imports)
        self.assertEqual({"stdout", "stderr", "printf", "vprintf", "__printf_chk", "__vprintf_chk", "puts", "putchar", "perror"} & set(imports.out.split()), set())

    def test_the_guide_s_programs_in_python(self):
        boxes, run = self.guide("python")
        self.check_lines(self.script(boxes))
        lines = self.script(run).splitlines()
        self.assertGreater(len(lines), 5)
        self.assertTrue(os.path.exists(self.path("x.onnx")))

    def test_boxes_in_python(self):
        expected = self.expected()
        for boxes in json.loads(self.script(BOXES)):
            self.assertEqual(len(boxes), len(expected))
            for found, box in zip(boxes, expected):
                self.check_box(found["name"], [found[key] for key in ("score", "left", "top", "width", "height")], box)

    def test_pip_takes_the_wheel(self):
        """It has the library beside the module."""
        if not python() or subprocess.run([python(), "-m", "pip", "--version"], capture_output=True, check=False).returncode:
            raise unittest.SkipTest("no Python here has numpy and pip")
        source = os.path.join(PROJECT, "darknet-ddp", "library", "python")
        subprocess.run([sys.executable, source + "/make_wheel.py", "1.2", BUILD + "/libdarknet-ddp.so", source + "/darknet_ddp.py", self.folder], check=True)
        (wheel,) = glob.glob(self.path("darknet_ddp-1.2-*.whl"))
        subprocess.run([python(), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", self.path("site"), wheel], check=True)
        self.assertEqual(len(json.loads(self.script(BOXES, self.path("site")))[0]), len(self.expected()))

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
