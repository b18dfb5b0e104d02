#!/usr/bin/env python3
# ddp-test: usual
"""Which options exclude each other: what `darknet ddp options -json` says of them is what is refused, in both orders."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402


class Pairs(darknet.Case):
    def table(self):
        return json.loads(self.succeeds("ddp", "options", "-json").out)

    def test_pairs_are_refused_as_they_are_listed(self):
        claims = self.table()["claims"]
        refused = 0
        for a in claims:
            for b in claims:
                if a["example"].split()[0] == b["example"].split()[0]:
                    continue
                with self.subTest(a=a["example"], b=b["example"]):
                    listed = b["example"] in a["excludes"]
                    self.assertEqual(listed, a["example"] in b["excludes"])
                    result = self.darknet("detector", "train", "none.data", "none.cfg", "-ddp", *a["example"].split(), *b["example"].split())
                    self.assertEqual("does not go with" in result.err, listed, result)
                    if listed:
                        self.assertIn("; leave one of them out\n", result.err)
                        for words in (a["example"], b["example"]):
                            self.assertIn(words, result.err)
                        self.assertEqual(result.code, 2, result)
                        refused += 1
        self.assertGreater(refused, 20)

    def test_what_breaks_the_promise_of_plain_steps_is_for_training(self):
        for claim in self.table()["claims"]:
            result = self.darknet("ddp", "bench", "none.cfg", *claim["example"].split())
            self.assertEqual(" is for training: `darknet ddp` knows only plain steps\n" in result.err, "plain" in claim["breaks"], result)

    def test_the_table_is_that_of_help(self):
        options = self.table()["options"]
        out = self.succeeds("ddp", "help").out
        for option in options:
            shown = f"  {option['name']} {option['argument']}".rstrip() + " "
            self.assertIn("\n" + shown, out)
            self.assertIn(option["meaning"], out)
        self.assertEqual(out[out.index("Options"):].count("\n  -"), len(options))

    def test_it_may_be_written_into_a_file(self):
        self.succeeds("ddp", "options", "-json", "table")
        with open(self.path("table"), encoding="utf-8") as f:
            self.assertEqual(json.load(f), self.table())
        self.assertIn("\n  -ddp_exact ", self.succeeds("ddp", "options").out)
        self.refused("ddp", "options", "-json", "none/table", code=1, says="cannot write none/table: ")


if __name__ == "__main__":
    darknet.main()
