#!/usr/bin/env python3
# ddp-test: usual
"""`darknet ddp import`: COCO's JSON, Pascal VOC's XML and Ultralytics' data.yaml become what Darknet trains on, with the same boxes."""
import glob
import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
from turned import add_exif  # noqa: E402

CLASSES = ["cat", "dog", "emu"]
WIDE, HIGH = 32, 20


def box_of(i, k):
    """Pixels: left, top, width, height."""
    return (1 + (i + 3 * k) % 9, 2 + (2 * i + k) % 7, 4 + (i * 5 + k) % 11, 3 + (i + k) % 8)


class Import(darknet.Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("in/images"))
        self.truth = {}
        for i in range(20):
            name = f"p{i:02d}.png"
            darknet.png(self.path("in/images/" + name), WIDE, HIGH, lambda x, y, i=i: (x, y, i))
            self.truth[name] = [(k % 3, box_of(i, k)) for k in range(i % 4)]

    def coco(self, **more):
        pictures = [{"id": 7 * i, "file_name": name, "width": WIDE, "height": HIGH} for i, name in enumerate(self.truth)]
        boxes = [{"id": 100 * i + k, "image_id": 7 * i, "category_id": 10 * (class_id + 1), "bbox": list(box), "iscrowd": 0}
                 for i, truth in enumerate(self.truth.values()) for k, (class_id, box) in enumerate(truth)]
        coco = {"images": pictures, "annotations": boxes + more.get("boxes", []),
                "categories": [{"id": 10 * (i + 1), "name": name} for i, name in reversed(list(enumerate(CLASSES)))]}
        self.write("in/all.json", json.dumps(coco))

    def voc(self, extra=""):
        os.makedirs(self.path("in/Annotations"), exist_ok=True)
        for name, truth in self.truth.items():
            objects = "".join(f"<object><name>{CLASSES[c]}</name><difficult>{k % 2}</difficult><part><name>no</name><bndbox><xmin>1</xmin></bndbox></part>"
                              f"<bndbox><xmin>{x}</xmin><ymin> {y}\n</ymin><xmax>{x + w}</xmax><ymax>{y + h}</ymax></bndbox></object>\n"
                              for k, (c, (x, y, w, h)) in enumerate(truth))
            self.write(f"in/Annotations/{name[:-4]}.xml", f"<annotation><filename>{name}</filename><size><width>{WIDE}</width><height>{HIGH}</height>"
                                                          f"<depth>3</depth></size>{objects}{extra}</annotation>")

    def yolo(self):
        os.makedirs(self.path("in/labels"))
        for name, truth in self.truth.items():
            lines = [f"{c} {(x + w / 2) / WIDE!r} {(y + h / 2) / HIGH!r} {w / WIDE!r} {h / HIGH!r}\n" for c, (x, y, w, h) in truth]
            self.write(f"in/labels/{name[:-4]}.txt", "".join(lines))
        self.write("in/data.yaml", "path: /nowhere/else\ntrain: ../images\nval:\nnc: 3\nnames:\n  0: cat\n  1: dog\n  2: 'emu'\n")

    def imports(self, *args, code=0, out="out"):
        result = self.darknet("ddp", "import", *args, "-o", out)
        if "was built without" in result.err:
            self.skipTest(result.err)
        self.assertEqual(result.code, code, result)
        return result

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def labels(self, name, out="out"):
        """Boxes in pixels, in the order of the file."""
        boxes = []
        with open(self.path(f"{out}/labels/{name[:-4]}.txt"), encoding="utf-8") as f:
            for line in f:
                c, x, y, w, h = (float(word) for word in line.split())
                boxes.append((int(c), ((x - w / 2) * WIDE, (y - h / 2) * HIGH, w * WIDE, h * HIGH)))
        return boxes

    def lists(self, out="out"):
        return [self.read(f"{out}/{side}.list").split() for side in ("train", "valid")]

    def same_boxes(self, out="out"):
        for name, truth in self.truth.items():
            found = self.labels(name, out)
            self.assertEqual([c for c, _ in found], [c for c, _ in truth], name)
            for (_, a), (_, b) in zip(found, truth):
                for x, y in zip(a, b):
                    self.assertAlmostEqual(x, y, delta=1e-6 * WIDE)
        train, valid = self.lists(out)
        self.assertEqual(sorted(train + valid), sorted(f"{out}/images/{name}" for name in self.truth))
        self.assertTrue(valid)
        self.assertEqual(self.read(f"{out}/{os.path.basename(out)}.names").split(), CLASSES)

    def test_each_format_gives_the_same_boxes_and_sides(self):
        self.coco()
        self.voc()
        self.yolo()
        lists = []
        for args in (("coco", "in/all.json"), ("voc", "in"), ("yolo", "in/data.yaml")):
            out = "out-" + args[0]
            result = self.imports(*args, out=out)
            self.same_boxes(out)
            name = os.path.basename(out)
            self.assertIn(f"darknet detector train {out}/{name}.data {out}/{name}.cfg", result.out, result)
            self.assertRegex(result.out, rf"darknet ddp cfg yolov4-tiny -data {out}/{name}.data -width 224 -height 224 -hours 2 -ddp_ranks \d+ -o {out}/{name}-small.cfg\n")
            self.assertEqual([64 % int(ranks) for ranks in re.findall(r"-ddp_ranks (\d+)", result.out)], [0] * 3)  # batch=64
            self.check_sources(args[0], out)
            self.assertIn("\n0 errors", result.out, result)
            lists.append([[os.path.basename(p) for p in side] for side in self.lists(out)])
        self.assertEqual(lists[0], lists[1])
        self.assertEqual(lists[0], lists[2])
        self.write("short.cfg", re.sub("max_batches *=.*", "max_batches=1", self.read(f"{out}/{name}.cfg")))
        self.succeeds("detector", "train", f"{out}/{name}.data", "short.cfg", "-batch", "2", "-subdivisions", "1", "-width", "32", "-height", "32")

    def check_sources(self, kind, out):
        """Each label's line names its object in the source: an <object> of the XML, an id of COCO's, or a line."""
        for i, (name, truth) in enumerate(self.truth.items()):
            stem = name[:-4]
            path = {"coco": "in/all.json", "voc": f"in/Annotations/{stem}.xml", "yolo": f"in/labels/{stem}.txt"}[kind]
            lines = self.read(f"{out}/sources/{stem}.txt").splitlines()
            self.assertEqual([line.split("\t")[0] for line in lines], [os.path.realpath(self.path(path))] * len(truth))
            for k, line in enumerate(lines):
                word, number = line.split("\t")[1].rsplit(" ", 1)
                if kind == "voc":
                    text = self.read(path).splitlines()[int(number) - 1:]
                    self.assertEqual((word, text[0].count("<name>")), ("line", 2), text)
                    self.assertIn(f"<object><name>{CLASSES[truth[k][0]]}</name>", text[0])
                else:
                    self.assertEqual((word, int(number)), ("annotation id", 100 * i + k) if kind == "coco" else ("line", k + 1))

    def test_a_picture_stays_on_its_side(self):
        """When others come and go."""
        self.coco()
        self.imports("coco", "in/all.json", "-valid", "40")
        before = [set(side) for side in self.lists()]
        for name in list(self.truth)[::3]:
            del self.truth[name]
        self.coco()
        os.rename(self.path("out"), self.path("old"))
        self.imports("coco", "in/all.json", "-valid", "40")
        for now, was in zip(self.lists(), before):
            self.assertLessEqual(set(now), was)
        self.assertGreater(len(before[1]), 3)

    def test_sides_of_the_source(self):
        self.voc()
        os.makedirs(self.path("in/ImageSets/Main"))
        names = [name[:-4] for name in self.truth]
        self.write("in/ImageSets/Main/train.txt", "".join(f"{n}\n" for n in names[:12]))
        self.write("in/ImageSets/Main/val.txt", "".join(f"{n}  1\n" for n in names[12:17]))
        self.write("in/ImageSets/Main/test.txt", "".join(f"{n}\n" for n in names[17:]))
        result = self.imports("voc", "in")
        train, valid = self.lists()
        self.assertEqual(train, [f"out/images/{n}.png" for n in names[:12]])
        self.assertEqual(valid, [f"out/images/{n}.png" for n in names[12:17]])
        self.assertRegex(result.out, r"(?m)^test +3 ")

    def test_what_is_odd_is_counted_named_and_left_out_or_kept(self):
        extra = [
            {"id": 1, "image_id": 0, "category_id": 10, "bbox": [2, 2, 5, 5], "iscrowd": 1},
            {"id": 2, "image_id": 0, "category_id": 10, "bbox": [4, 4, 0, 5]},
            {"id": 3, "image_id": 0, "category_id": 20, "bbox": [-3, 4, 8, 5]},
            {"id": 4, "image_id": 0, "category_id": 99, "bbox": [4, 4, 8, 5]},
            {"id": 5, "image_id": 0, "category_id": 30, "bbox": [1, 2, "x", 5]},
            {"id": 6, "image_id": 0, "category_id": 30, "segmentation": [[4, 5, 9, 5, 6, 12]]},
            {"id": 7, "image_id": 0, "category_id": 30, "bbox": [40, 4, 8, 5]},
        ]
        self.coco(boxes=extra)
        result = self.imports("coco", "in/all.json")
        for line in (r"crowd +1 .*left out \(p00", r"no-box +2 .*left out", r"outside +1 .*cut", r"broken +2 .*annotations\[\d+\]",
                     r"segments +1 .*kept", r"empty +4 .*kept"):
            self.assertRegex(result.out, rf"(?m)^{line}", result)
        self.assertEqual(self.labels("p00.png"), [(1, (0, 4, 5, 5)), (2, (4, 5, 5, 7))])
        os.rename(self.path("out"), self.path("cut"))
        self.write("in/cut.json", '{"images": [')
        self.assertRegex(self.imports("coco", "in").out, r"(?m)^broken +3 .*in/cut.json")
        os.rename(self.path("out"), self.path("old"))
        result = self.imports("coco", "in/all.json", "-leave", "segments,empty")
        self.assertEqual(self.labels("p00.png"), [(0, (2, 2, 5, 5)), (1, (0, 4, 5, 5))])
        self.assertFalse(os.path.exists(self.path("out/images/p04.png")))

    def test_turned_pictures(self):
        """Boxes of the stored picture are turned with it where the source's size says that they are the stored one's."""
        path = self.path("in/images/p01.png")
        add_exif(path, 6)
        self.coco()
        result = self.imports("coco", "in/all.json")
        self.assertRegex(result.out, r"(?m)^turned +1 .*turned with the picture \(.*p01", result)
        (c, (x, y, w, h)), = self.truth["p01.png"]
        (found, box), = self.labels("p01.png")
        self.assertEqual(found, c)
        # seen: 20 wide, 32 high; a stored point x, y is seen at HIGH - y, x
        seen = ((HIGH - y - h) * WIDE / HIGH, x * HIGH / WIDE, h * WIDE / HIGH, w * HIGH / WIDE)
        for a, b in zip(box, seen):
            self.assertAlmostEqual(a, b, delta=1e-4)

    def test_links_copies_and_the_source_stays(self):
        self.coco()
        before = {path: os.stat(path).st_mtime_ns for path in glob.glob(self.path("in/**/*"), recursive=True)}
        self.imports("coco", "in/all.json")
        self.assertTrue(os.path.islink(self.path("out/images/p00.png")))
        self.imports("coco", "in/all.json", "-copy", out="copied")
        self.assertFalse(os.path.islink(self.path("copied/images/p00.png")))
        self.same_boxes("copied")
        self.assertEqual(before, {path: os.stat(path).st_mtime_ns for path in glob.glob(self.path("in/**/*"), recursive=True)})
        self.refused("ddp", "import", "coco", "in/all.json", "-o", "out", code=2, says="-o out is there, and not empty")

    def test_pictures_whose_names_differ_in_the_ending_alone(self):
        shutil.copy(self.path("in/images/p03.png"), self.path("in/images/p03.PNG"))
        self.truth["p03.PNG"] = [(1, box_of(9, 1))]
        self.coco()
        self.imports("coco", "in/all.json")
        boxes = {}
        for name in sorted(os.listdir(self.path("out/images"))):
            boxes[os.path.basename(os.path.realpath(self.path("out/images/" + name)))] = len(self.labels(name))
        self.assertEqual(boxes, {name: len(truth) for name, truth in self.truth.items()})
        self.assertEqual(len(os.listdir(self.path("out/sources"))), len(self.truth))

    def test_names_give_the_order(self):
        self.voc()
        self.write("my.names", "emu\ncat\n")
        result = self.imports("voc", "in", "-names", "my.names", "-pictures", "in/images")
        self.assertRegex(result.out, r"(?m)^class +\d+ ", result)
        self.assertEqual([c for c, _ in self.labels("p03.png")], [1, 0])

    def test_what_is_refused(self):
        self.coco()
        self.write("in/other.json", "[1, 2")
        self.refused("ddp", "import", "coco", "in/other.json", "-o", "out", says="in/other.json:1: ")
        self.write("in/other.json", "{}")
        self.refused("ddp", "import", "coco", "in/other.json", "-o", "out", says="is no COCO file")
        self.refused("ddp", "import", "coco", "in/gone.json", "-o", "out", says="in/gone.json")
        self.refused("ddp", "import", "kitti", "in", "-o", "out", code=2, says="import reads coco, voc and yolo, not 'kitti'")
        self.refused("ddp", "import", "yolo", "in", "-o", "out", "-pictures", "in", code=2, says="-pictures is for coco and voc: data.yaml names folders")
        self.refused("ddp", "import", "coco", "in/all.json", code=2, says="import wants -o DIR")
        self.refused("ddp", "import", "coco", "in/all.json", "-o", "out", "-leave", "big", code=2, says="-leave takes crowd, difficult")
        self.refused("ddp", "import", "coco", "in/all.json", "-o", "images/out", says="name another folder", code=2)


if __name__ == "__main__":
    darknet.main()
