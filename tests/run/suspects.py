#!/usr/bin/env python3
# ddp-test: usual
"""`darknet ddp suspects`: faults that are sown into labels stand first in the ranking, each as what it is, and the same at any number of
ranks. The labels are what a network of drawn weights finds, so it is sure of them as one that has learnt them."""
import json
import math
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
import small_screen  # noqa: E402
import tiny_weights  # noqa: E402

WORDS = ("train.data", "tiny.cfg", tiny_weights.PATH)
SUSPECTS = ("ddp", "suspects", *WORDS)
EACH = 3  # faults of each kind
COUNT = 160


def iou(a, b):
    both = 1
    for middle, side in ((1, 3), (2, 4)):
        both *= max(0, min(a[middle] + a[side] / 2, b[middle] + b[side] / 2) - max(a[middle] - a[side] / 2, b[middle] - b[side] / 2))
    return both / (a[3] * a[4] + b[3] * b[4] - both)


def sure_weights():
    """Drawn ones, with scores near 0 or 1: the outputs for the objectness and the two classes are ten times as large, around 0."""
    values = tiny_weights.drawn()
    biases, weights = len(values) - tiny_weights.LAST, len(values) - tiny_weights.LAST + 7
    for i in [*range(biases + 4, biases + 7), *range(weights + 4 * 4, weights + 7 * 4)]:
        values[i] *= 10 if i >= weights else 0
    return values


class Suspects(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=COUNT)
        self.write("tiny.cfg", darknet.detector_cfg(flip=0))  # drawn weights know nothing of mirrored pictures
        tiny_weights.write(self.path(tiny_weights.PATH), sure_weights())
        self.labels = self.found()
        self.assertGreater(sum(map(len, self.labels.values())), 100)

    def json(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return json.load(f)

    def found(self):
        """By picture, labels of what the network finds, one on a thing."""
        self.succeeds("detector", "test", *WORDS, "train.list", "-thresh", "0.9", "-json", "found.json")
        labels = {}
        for picture in self.json("found.json")["pictures"]:
            of = labels[picture["path"]] = []
            for box in picture["boxes"]:
                left, top = max(0, box["left"] / 32), max(0, box["top"] / 32)
                right, bottom = min(1, (box["left"] + box["width"]) / 32), min(1, (box["top"] + box["height"]) / 32)
                label = (box["class"], (left + right) / 2, (top + bottom) / 2, right - left, bottom - top)
                if all(iou(label, other) < 0.3 for other in of) and iou(label, (0, (box["left"] + box["width"] / 2) / 32, (box["top"] + box["height"] / 2) / 32,
                                                                                 box["width"] / 32, box["height"] / 32)) > 0.6:
                    of.append(label)
        return labels

    def write_labels(self):
        for picture, labels in self.labels.items():
            self.write(self.data.label(picture), "".join(" ".join(f"{v:.6g}" for v in label) + "\n" for label in labels))

    def sow(self):
        """Returns {(kind, picture, line of the label)}, with line 0 for one that is missing."""
        sown = set()
        rich = [p for p, labels in self.labels.items() if labels]
        pictures = iter(rich)
        for kind in ("class", "place", "missing", "twice", "extra") * EACH:
            picture = next(pictures)
            labels = self.labels[picture]
            c, x, y, w, h = labels[0]
            line = 1
            if kind == "class":
                labels[0] = (1 - c, x, y, w, h)
            elif kind == "place":
                labels[0] = (c, x + (w / 2 if x + w / 2 < 1 else -w / 2), y, w, h)
            elif kind == "missing":
                del labels[0]
                line = 0
            elif kind == "twice":
                labels.append((c, x, y, w * 0.97, h) if len(sown) % 2 else (1 - c, x, y, w, h))
            else:
                box = next(b for b in ((c, i / 20, j / 20, 0.06, 0.06) for i in range(1, 20) for j in range(1, 20))
                           if all(iou(b, other) == 0 for other in labels))
                labels.append(box)
                line = len(labels)
            sown.add((kind, picture, line))
        return sown

    def ranking(self, *options, words=WORDS, ranks=0):
        result = self.succeeds("ddp", "suspects", *words, *options, "-json", "suspects.json", ranks=ranks)
        return self.json("suspects.json")["suspects"], result

    def test_sown_faults_stand_first(self):
        """At one rank, two and three, in the terminal, the page and the label files to review."""
        sown = self.sow()
        self.write_labels()
        ranking, result = self.ranking("-o", "suspects.html", "-out", "review")
        first = {(s["kind"], s["picture"], s.get("label", {}).get("line", 0)) for s in ranking[:len(sown)]}
        self.assertEqual(first, sown, result)
        self.assertEqual([s["doubt"] for s in ranking], sorted((s["doubt"] for s in ranking), reverse=True))
        self.assertRegex(result.out, rf"(?m)^{COUNT} pictures, {sum(map(len, self.labels.values()))} labels; suspects: {EACH} twice, ")
        top = re.findall(r"(?m)^ +\d+  [01]\.\d\d  (\w+) +(\S+?)(?::(\d+))?  ", result.out)
        self.assertEqual([(kind, path, int(line or 0)) for kind, path, line in top[:len(sown)]],
                         [(s["kind"], s["labels"], s.get("label", {}).get("line", 0)) for s in ranking[:len(sown)]], result)
        with open(self.path("suspects.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertGreaterEqual(page.count('href="data:image/jpeg;base64,'), len(sown))
        self.assertNotRegex(page, r"https?:|<script|weak network")
        self.check_kinds(page, ranking)
        self.check_review(ranking, {picture for _, picture, _ in sown})
        for ranks in (2, 3):
            self.assertEqual(self.ranking(ranks=ranks)[0], ranking)
        self.refused(*SUSPECTS, "-out", "review", says="-out: cannot write review/")
        self.write("mine.html", "mine")
        self.refused(*SUSPECTS, "-o", "mine.html", code=2, says="page that darknet wrote")

    def check_kinds(self, page, ranking):
        """The page has up to 20 suspects of each kind, each with its place in the ranking."""
        parts = re.split(r'<h2 id="(\w+)">', page)
        self.assertEqual(parts[1::2], ["twice", "class", "place", "missing", "extra"])
        for kind, part in zip(parts[1::2], parts[2::2]):
            places = [i for i, s in enumerate(ranking, 1) if s["kind"] == kind]
            self.assertEqual([int(n) for n in re.findall(r"<b>(\d+)</b> " + kind, part)], places[:20])
            self.assertIn(f"<p>{len(places[:20])} of {len(places)}</p>", part)
            self.assertIn(f'<a href="#{kind}">{kind}</a> {len(places)} ', parts[0])

    def test_a_weak_network_is_named(self):
        """One that finds a third of the labels, since the others are nowhere."""
        total = kept = 0
        for i, labels in enumerate(self.labels.values()):
            if i % 3:
                labels[:] = [(0, 0.01, 0.01, 0.02, 0.02)] * len(labels)
            kept += 0 if i % 3 else len(labels)
            total += len(labels)
        self.write_labels()
        line = f"a weak network: it finds {100 * kept // total} % of the labels"
        self.assertIn("\n" + line, self.ranking("-o", "suspects.html")[1].out)
        with open(self.path("suspects.html"), encoding="utf-8") as f:
            self.assertIn(f"<p><b>{line}", f.read())

    def test_the_source_of_imported_labels(self):
        """Its file and object; only its file once the label file has changed, and for a thing without a label."""
        self.sow()
        self.write_labels()
        os.makedirs(self.path("sources"))
        for picture, labels in self.labels.items():
            name = os.path.basename(self.data.label(picture))
            self.write(f"sources/{name}", "".join(f"/in/{name}.xml\tline {10 * n}\n" for n in range(1, len(labels) + 1)))
        changed = next(p for p, labels in self.labels.items() if labels)
        os.utime(self.path(self.data.label(changed)), (2e9, 2e9))
        ranking = self.ranking("-o", "suspects.html")[0]
        for s in ranking:
            line = s.get("label", {}).get("line")
            self.assertEqual(s.get("source"), f"/in/{os.path.basename(s['labels'])}.xml" if self.labels[s["picture"]] else None)
            self.assertEqual(s.get("object"), f"line {10 * line}" if line and s["picture"] != changed else None)
        self.assertTrue({"twice", "missing"} <= {s["kind"] for s in ranking if "source" in s})
        with open(self.path("suspects.html"), encoding="utf-8") as f:
            self.assertRegex(f.read(), r"/in/\w+\.txt\.xml line \d0<")

    def test_on_a_terminal(self):
        """A line shows progress, and is gone at the end. Ctrl-C ends the program at once, and no file is written."""
        self.write_labels()
        files = ("-o", "suspects.html", "-json", "suspects.json")
        for ranks in (0, 2):
            with small_screen.OnTerminal(darknet.command(*SUSPECTS, ranks=ranks), self.folder, 100) as terminal:
                printed = terminal.read()
                self.assertEqual(terminal.job.wait(darknet.LIMIT_S), 0, printed)
                self.assertRegex(printed, rf"\r\d+/{COUNT} pictures, [\d.]+ a second, \d+ s left\x1b\[K")
                self.assertNotRegex("\n".join(terminal.screen.lines()), r"a second|x1b")
        more = [f"images/more{i}.png" for i in range(4000)]
        for path in more:
            os.link(self.path(self.data.pictures[0]), self.path(path))
        self.data.list("train.list", self.data.pictures + more)
        with small_screen.OnTerminal(darknet.command(*SUSPECTS, *files), self.folder, 100) as terminal:
            terminal.read(until=r"\d+/4160 pictures")
            terminal.type("\x03")
            printed = terminal.read()
            self.assertEqual(terminal.job.wait(darknet.LIMIT_S), -signal.SIGINT, printed)
        self.assertNotIn("labels; suspects:", printed)
        self.assertFalse([name for name in files[1::2] if os.path.exists(self.path(name))])

    def check_review(self, ranking, sown):
        """The files of pictures with a sown fault have the labels as they were before, but for the kind `extra` of small doubt."""
        before = self.found()
        for name in os.listdir(self.path("review")):
            picture = f"images/{name[:-4]}.png"
            kinds = {s["kind"] for s in ranking if s["picture"] == picture}
            with open(self.path(f"review/{name}"), encoding="ascii") as f:
                lines = [tuple(map(float, line.split())) for line in f]
            if picture in sown and kinds & {"class", "place", "missing", "twice"} and len(kinds) == 1:
                self.assertEqual(len(lines), len(before[picture]), (picture, kinds))
                for label in before[picture]:
                    self.assertTrue(any(line[0] == label[0] and iou(line, label) > 0.9 for line in lines), (picture, kinds))

    def test_a_picture_that_stands_twice_counts_once(self):
        self.write_labels()
        once = self.ranking()[0]
        self.data.list("train.list", self.data.pictures * 2)
        self.assertEqual(self.ranking()[0], once)

    def test_weights_of_a_run(self):
        """Without weights on the line the newest ones of the cfg's run count, and numbered ones of its second half, as if they were named."""
        self.write_labels()
        self.refused("ddp", "suspects", *WORDS[:2], says="backup has no weights of a run of tiny")
        os.rename(self.path(WORDS[2]), self.path("first.weights"))
        self.write("tiny.cfg", darknet.detector_cfg(flip=0, max_batches=350, learning_rate=0.0001))
        result = self.succeeds("detector", "train", *WORDS[:2], "first.weights", "-clear", "-ddp_seed", "1")
        self.assertIn("`darknet ddp suspects train.data tiny.cfg` lists the labels", result.out)
        with open(self.path("backup/tiny.html"), encoding="utf-8") as f:
            self.assertIn("`darknet ddp suspects backup/tiny` makes tiny.suspects.html", f.read())
        own = self.ranking(words=WORDS[:2])[0]
        named = [f"backup/tiny_{which}.weights" for which in (200, 300, "final")]
        self.assertEqual(own, self.ranking(words=(*WORDS[:2], *named))[0])
        self.assertEqual(own, self.ranking(words=WORDS[:2], ranks=2)[0])
        self.assertNotEqual(own, self.ranking(words=(*WORDS[:2], named[-1]))[0])
        self.by_name(own)

    def by_name(self, own):
        """One word names a run by its log, which tells data and cfg. Its page stands beside the run's, and goes with it when a new run begins."""
        result = self.ranking(words=("backup/tiny",))
        self.assertEqual(own, result[0])
        self.assertEqual(own, self.ranking(words=("backup/tiny",), ranks=2)[0])
        self.assertIn("backup/tiny.suspects.html shows the first", result[1].out)
        self.refused("ddp", "suspects", "backup/other", says="suspects wants DATA CFG, or the name of a run")
        with open(self.path("backup/tiny.log"), encoding="utf-8") as f:
            log = f.read()
        self.write("backup/tiny.log", log.replace("# cfg ", "# "))
        self.refused("ddp", "suspects", "backup/tiny", says="does not tell the .data file and the cfg")
        self.succeeds("detector", "train", *WORDS[:2], "-clear", "-ddp_seed", "1")
        self.assertTrue(os.path.exists(self.path("backup/tiny.1/tiny.suspects.html")))
        self.assertFalse(os.path.exists(self.path("backup/tiny.suspects.html")))

    def test_refusals(self):
        self.write_labels()
        self.write("cls.cfg", darknet.classifier_cfg())
        self.refused("ddp", "suspects", "train.data", "cls.cfg", tiny_weights.PATH, says="it is of another cfg")
        self.write("no.data", "classes=2\nnames=names.list\n")
        self.refused("ddp", "suspects", "no.data", *WORDS[1:], says="no.data has no train=")
        self.refused(*SUSPECTS, *WORDS[2:] * 8, code=2, says="at most 8 files of weights")


class Losses(darknet.Case):
    """The loss of each label in training, NAME.losses, and the ranking by it."""
    VALUES = {"max_batches": 1500, "learning_rate": 0.01, "batch": 8}
    VISITS = 8 * 1050  # of all labels: the first 30 % of batches do not count
    WRONG = 4  # the picture whose label has the other class

    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=40)
        self.data.boxes()
        wrong = self.data.label(self.data.pictures[self.WRONG])
        with open(self.path(wrong), encoding="ascii") as f:
            label = f.read()
        self.write(wrong, f"\n{1 - int(label[0])}{label[1:]}")  # in line 2
        os.utime(self.path(wrong), (1, 1))
        self.write("tiny.cfg", darknet.detector_cfg(**self.VALUES))

    def train(self, *options, ranks=0):
        return self.succeeds("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "1", *options, ranks=ranks)

    def losses(self):
        """{(picture, line): (mean, times)}, in the order of the file."""
        with open(self.path("backup/tiny.losses"), encoding="ascii") as f:
            rows = [line.split() for line in f if not line.startswith("#")]
        losses = {(picture, int(line)): (float(mean), int(times)) for mean, times, line, picture in rows}
        self.assertEqual(len(losses), len(rows))
        return losses

    def check_losses(self):
        """Each label is there, in the list's order, the wrong one with the greatest loss by far."""
        losses = self.losses()
        wrong = self.data.pictures[self.WRONG]
        self.assertEqual(list(losses), [(p, 1 + (p == wrong)) for p in self.data.pictures])
        self.assertEqual(max(losses, key=lambda label: losses[label][0]), (wrong, 2), losses)
        self.assertGreater(losses[wrong, 2][0], 1.1 * sorted(mean for mean, _ in losses.values())[-2], losses)
        self.assertEqual(sum(times for _, times in losses.values()), self.VISITS)
        return losses

    def test_a_wrong_label_has_the_greatest_loss_and_stands_first(self):
        self.train()
        loss = self.check_losses()[self.data.pictures[self.WRONG], 2][0]
        self.succeeds("ddp", "suspects", "backup/tiny", "-json", "suspects.json")
        with open(self.path("suspects.json"), encoding="utf-8") as f:
            first = next(s for s in json.load(f)["suspects"] if "label" in s)
        self.assertEqual((first["picture"], first["label"]["line"], first["label"]["loss"]), (self.data.pictures[self.WRONG], 2, loss))
        odds = 0.002 * (math.exp(loss) - 1)
        self.assertAlmostEqual(first["doubt"], odds / (1 + odds), places=5)
        os.utime(self.path(self.data.label(self.data.pictures[self.WRONG])))  # it may have other lines now
        self.succeeds("ddp", "suspects", "backup/tiny", "-json", "suspects.json")
        with open(self.path("suspects.json"), encoding="utf-8") as f:
            self.assertNotIn("loss", json.dumps([s for s in json.load(f)["suspects"] if s["picture"] == first["picture"]]))

    def test_a_picture_that_is_listed_twice_has_its_labels_once(self):
        self.data.list("train.list", [*self.data.pictures, self.data.pictures[0]])
        self.train()
        times = self.losses()[self.data.pictures[0], 1][1]
        self.assertAlmostEqual(times / (2 * self.VISITS / 41), 1, delta=0.1)
        self.train("-resume_force", "-epochs", "295")
        self.assertAlmostEqual(self.losses()[self.data.pictures[0], 1][1], times, delta=8)

    def test_of_a_mosaic_each_label_gets_its_own(self):
        """With the forks' formulas and pictures, a box that is cut off is no truth: how often each label is trained is drawn."""
        self.write("tiny.cfg", darknet.detector_cfg(**self.VALUES, mosaic=1))
        self.train()
        losses = self.losses()
        wrong = self.data.pictures[self.WRONG], 2
        self.assertEqual(set(losses), {(p, 1 + (p == wrong[0])) for p in self.data.pictures})
        self.assertEqual(max(losses, key=lambda label: losses[label][0]), wrong, losses)

    def test_any_number_of_ranks_and_a_run_that_goes_on(self):
        self.train("-ddp_exact")
        alone = self.check_losses()
        self.train("-ddp_exact", ranks=2)
        self.assertTrue(os.path.exists(self.path("backup/tiny.1/tiny.losses")))
        self.assertEqual(self.losses(), alone)
        self.train("-resume_force", "-epochs", "304")  # 1520 batches, of which this run trains 20
        self.assertEqual(sum(times for _, times in self.losses().values()), self.VISITS + 8 * 20)
        for label, (mean, times) in self.losses().items():
            self.assertLess(abs(mean * times - alone[label][0] * alone[label][1]), 20 * (times - alone[label][1]))

    def test_none_without_records(self):
        self.train("-ddp_records", "0")
        self.assertFalse(os.path.exists(self.path("backup/tiny.losses")))


if __name__ == "__main__":
    darknet.main()
