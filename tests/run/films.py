#!/usr/bin/env python3
# ddp-test: usual
"""Films: each frame has the boxes of its picture, and a film with boxes has as many frames. Exits 77 where the build has no module for
films."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
import film  # noqa: E402
import tiny_weights  # noqa: E402

TEST = ("detector", "test", "train.data", "tiny.cfg", tiny_weights.PATH)
LEAST = ("-thresh", "0.005")
FRAMES = 12


def picture(number):
    """A rectangle that moves, in a picture of 48x32."""
    return lambda x, y: (200, 40, 3 * y) if 3 * number <= x < 3 * number + 12 and 8 <= y < 20 else (10, 5 * number, 4 * x)


class Films(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder)
        self.write("tiny.cfg", darknet.detector_cfg())
        tiny_weights.write(self.path(tiny_weights.PATH), tiny_weights.drawn())
        film.avi(self.path("film.avi"), 48, 32, [picture(i) for i in range(FRAMES)])
        os.mkdir(self.path("frames"))
        for i in range(FRAMES):
            darknet.png(self.path(f"frames/{i:02}.png"), 48, 32, picture(i))

    def found(self, *words):
        self.succeeds(*TEST, *words, *LEAST, "-json", "found.json")
        with open(self.path("found.json"), encoding="utf-8") as f:
            return json.load(f)["pictures"]

    def test_each_frame_has_the_boxes_of_its_picture(self):
        pictures, frames = self.found("frames/"), self.found("film.avi")
        self.assertEqual([(f["path"], f["frame"]) for f in frames], [("film.avi", i + 1) for i in range(FRAMES)])
        self.assertEqual([f["boxes"] for f in frames], [p["boxes"] for p in pictures])
        self.assertGreater(len({json.dumps(f["boxes"]) for f in frames}), FRAMES // 2)

    def test_demo(self):
        """Darknet's command for films is the same."""
        boxes = self.found("film.avi")
        self.succeeds("detector", "demo", *TEST[2:], "film.avi", *LEAST, "-json", "demo.json", "-out", "seen", "-dont_show")
        with open(self.path("demo.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["pictures"], boxes)
        self.assertTrue(os.path.exists(self.path("seen.mp4")))

    def test_a_film_among_pictures(self):
        self.assertEqual([(p["path"], p.get("frame")) for p in self.found("frames/00.png", "film.avi", "frames/03.png")],
                         [("frames/00.png", None), *(("film.avi", i + 1) for i in range(FRAMES)), ("frames/03.png", None)])

    def test_a_film_with_boxes(self):
        """NAME.mp4; read again it has the frames, of their size, and the boxes' colour where none was."""
        self.succeeds(*TEST, "film.avi", *LEAST, "-out", "seen")
        seen = self.found("seen.mp4")
        self.assertEqual([(f["frame"], f["width"], f["height"]) for f in seen], [(i + 1, 48, 32) for i in range(FRAMES)])
        self.refused(*TEST, "film.avi", "-out", "seen", code=2, says="-out would write over the film seen.mp4: remove it first")
        self.succeeds(*TEST, "film.avi", "frames/", *LEAST, "-out", "folder")
        self.assertEqual(sorted(os.listdir(self.path("folder"))), sorted(["film.mp4"] + [f"{i:02}.jpg" for i in range(FRAMES)]))

    def test_what_is_no_film(self):
        self.write("broken.mp4", "no film\n" * 100)
        self.refused(*TEST, "broken.mp4", code=1, says="cannot read the film broken.mp4: ")
        self.refused(*TEST, "none.mp4", code=1, says="cannot read the film none.mp4: No such file")
        self.refused(*TEST, "film.avi", ranks=2, code=2, says="film.avi is a film, which one rank reads from end to end")


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(darknet.PROGRAM), "darknet-ddp-film.so")):
        print("films: the build has no module for films")
        sys.exit(77)
    darknet.main()
