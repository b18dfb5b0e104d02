#!/usr/bin/env python3
# ddp-test: usual
"""`darknet ddp check -report`: classes, sizes, anchors and a contact sheet, in one page; copies of pictures are found that differ by their
size, quality or side, in a list and between the two lists, and other pictures are not taken for copies."""
import os
import random
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

JPEGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus", "jpeg")
COUNT = 16
CHECK = ("ddp", "check", "x.data", "x.cfg")


class Scene:
    """A made-up picture: spots on a slope of grey, at any size."""

    def __init__(self, number):
        draw = random.Random(number)
        self.spots = [(draw.random(), draw.random(), draw.uniform(0.05, 0.2), [draw.randrange(256) for _ in range(3)]) for _ in range(7)]

    def pixel(self, x, y):
        for left, top, size, ink in self.spots:
            if left <= x < left + size and top <= y < top + size:
                return ink
        return [int(60 + 100 * x)] * 3


class Report(darknet.Case):
    def picture(self, name, scene, size=48, mirrored=False, noise=0):
        draw = random.Random(name)

        def pixel(px, py):
            four = [scene.pixel(1 - x if mirrored else x, y) for x in ((px + 0.25) / size, (px + 0.75) / size) for y in ((py + 0.25) / size, (py + 0.75) / size)]
            return [min(255, max(0, sum(values) // 4 + draw.randint(-noise, noise))) for values in zip(*four)]

        darknet.png(self.path(f"images/{name}.png"), size, size, pixel)
        self.write(f"labels/{name}.txt", "".join(f"{i % 2} {left + s / 2 - max(0, left + s - 1) / 2} {top + s / 2 - max(0, top + s - 1) / 2} "
                                                 f"{min(s, 1 - left)} {min(s, 1 - top)}\n" for i, (left, top, s, _) in enumerate(scene.spots)))
        return f"images/{name}.png\n"

    def setUp(self):
        super().setUp()
        for folder in ("images", "labels", "backup"):
            os.makedirs(self.path(folder))
        self.train = "".join(self.picture(f"t{i}", Scene(i)) for i in range(COUNT))
        self.valid = "".join(self.picture(f"v{i}", Scene(1000 + i)) for i in range(6))
        self.write("x.names", "cat & <dog>\nb\n")
        self.write("x.data", "classes=2\ntrain=t.list\nvalid=v.list\nnames=x.names\nbackup=backup\n")
        self.write("x.cfg", darknet.detector_cfg())

    def report(self, ranks=0):
        self.write("t.list", self.train)
        self.write("v.list", self.valid)
        self.succeeds(*CHECK, "-report", "x.html", ranks=ranks)
        with open(self.path("x.html"), encoding="utf-8") as f:
            return f.read()

    def counts(self, page):
        """How many pictures of valid= are trained on, and how many are like another one of their list."""
        return int(re.search(r"<p>(\d+) of \d+ pictures of valid= show", page).group(1)), int(re.search(r"<p>(\d+) pictures? shows? what another", page).group(1))

    def test_the_page(self):
        page = self.report()
        self.assertEqual(self.counts(page), (0, 0))
        self.assertIn(f"<code>x.data</code>: {COUNT + 6} pictures, 0 without a box, 0 that cannot be read.", page)
        self.assertIn(f'<tr><td>cat &amp; &lt;dog><td class="n">{4 * COUNT}<td class="n">{COUNT}<td class="n">24<td class="n">6<td>', page)
        self.assertNotRegex(page, r"https?:|<script|<dog>")
        self.assertEqual(page.count('href="data:image/jpeg;base64,'), 2 * 12)
        sizes = page.split("Sizes of boxes")[1].split("</table>")[0]
        self.assertEqual(sum(map(int, re.findall(r'class="n">(\d+)', sizes))), 7 * COUNT)
        self.assertRegex(page, r"A cell of its finest detector has \d+ pixels: \d+ box(es)? \([\d.]+%\) (is|are) smaller")
        anchors = page.split("Anchors, and")[1].split("</table>")[0]
        self.assertEqual(sum(map(int, re.findall(r'class="n">(\d+)', anchors))), 7 * COUNT)
        self.assertEqual(self.report(ranks=2), page)
        self.write("t.html", "mine")
        self.refused(*CHECK, "-report", "t.html", code=2, says="is no page that darknet wrote")

    def test_copies(self):
        """Scaled, mirrored, of a worse quality, each of another picture."""
        for i, change in enumerate(({"size": 30}, {"size": 80}, {"mirrored": True}, {"noise": 20}, {"size": 36, "mirrored": True, "noise": 10})):
            self.train += self.picture(f"copy{i}", Scene(i), **change)
            self.valid += self.picture(f"seen{i}", Scene(8 + i), **change)
        page = self.report()
        self.assertEqual(self.counts(page), (5, 5))
        for i in range(5):
            self.assertRegex(page, rf"(images/copy{i}\.png<br>[^\0]*?images/t{i}\.png|images/t{i}\.png<br>[^\0]*?images/copy{i}\.png)<br>")
            self.assertRegex(page, rf"images/seen{i}\.png<br>[^\0]*?images/t{8 + i}\.png<br>")

    def test_a_jpeg_is_decoded_smaller(self):
        """It is like the PNG of the same pixels, though only an eighth of it is decoded."""
        names = sorted(name for name in os.listdir(JPEGS) if name.endswith(".jpg"))
        self.assertTrue(names)
        self.write("images/broken.jpg", "no picture")
        self.train += "images/broken.jpg\n"
        self.write("t.list", self.train)
        self.write("v.list", self.valid)
        self.assertEqual(self.darknet(*CHECK, "-report", "x.html").code, 1)
        with open(self.path("x.html"), encoding="utf-8") as f:
            self.assertIn("1 without a box, 1 that cannot be read", f.read())

    def test_a_classifier(self):
        self.write("x.names", "t\nv\n")
        self.write("x.data", "classes=2\ntrain=t.list\nvalid=v.list\nlabels=x.names\nbackup=backup\n")
        self.write("x.cfg", darknet.classifier_cfg())
        page = self.report()
        self.assertEqual(self.counts(page), (0, 0))
        self.assertNotIn("Sizes of boxes", page)


if __name__ == "__main__":
    darknet.main()
