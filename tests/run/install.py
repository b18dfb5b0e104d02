#!/usr/bin/env python3
# ddp-test: ci
"""What `cmake --install` and `cpack -G DEB` make: a program that finds its files from any folder, wherever the prefix is
moved to, Darknet's interface for Python, a manual page, completion of two shells, and a package. What needs a tool
that is not here is skipped, and said."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

BUILD = os.path.dirname(darknet.PROGRAM)
LIMIT_S = 300  # strip and dpkg-shlibdeps are slow on a loaded machine
DETECT = """
import darknet
net = darknet.load_net(b"tiny.cfg", b"backup/tiny_final.weights", 0)
meta = darknet.load_meta(b"train.data")
for name, share, box in darknet.detect(net, meta, b"images/cat0.png", thresh=.02):
    print(name.decode(), round(100 * share))
"""


class Install(darknet.Case):
    def output(self, *args, **environment):
        done = subprocess.run(args, cwd=self.folder, env={**darknet.ENVIRONMENT, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, f"{args}\n{done.stdout}")
        return done.stdout

    def needs(self, tool):
        if not shutil.which(tool):
            self.skipTest(f"no {tool}")
        return tool

    def train(self, program):
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=150, learning_rate=.01))
        return self.output(program, "detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7")

    def test_a_prefix_that_is_moved_works_from_any_folder(self):
        self.output("cmake", "--install", BUILD, "--prefix", self.path("first"))
        os.rename(self.path("first"), self.path("moved"))
        program = self.path("moved/bin/darknet")
        self.train(program)
        words = (program, "detector", "test", "train.data", "tiny.cfg", "backup/tiny_final.weights", "images/cat0.png",
                 "-thresh", ".02", "-out", "seen")
        said = self.output(*words)
        self.assertRegex(said, r"(?m)^(cat|dog): \d+%$")
        self.assertTrue(os.path.exists(self.path("seen.jpg")) or os.path.exists(self.path("seen.png")))
        self.assertIn("Floating Point Operations", self.output(program, "ops", "cfg/tiny.cfg"))
        by_python = self.output(sys.executable, "-c", DETECT, LD_LIBRARY_PATH=self.path("moved/lib"),
                                PYTHONPATH=self.path("moved/share/darknet/python"), PYTHONDONTWRITEBYTECODE="1")
        shares = re.findall(r"(?m)^(?:cat|dog) (\d+)$", by_python)
        self.assertTrue(shares, by_python)
        # The two drop overlapping boxes by other rules; the likeliest stays.
        self.assertEqual(max(map(int, shares)), max(map(int, re.findall(r"(?m)^(?:cat|dog): (\d+)%$", said))), said)
        self.assertEqual(glob.glob(self.path("moved/share/zsh/*/_darknet")), [self.path("moved/share/zsh/site-functions/_darknet")])
        self.links(self.path("moved/share/doc/darknet-ddp"))
        names = self.path("moved/share/darknet/data/coco.names")
        os.rename(names, names + ".gone")
        self.write("x.data", "classes=80\nnames=data/coco.names\n")
        gone = darknet.run((program, *words[1:3], "x.data", *words[4:]), self.folder)
        self.assertIn("data/coco.names", self.check_refused(gone, "cannot read ").err)
        guides = self.path("moved/share/doc/darknet-ddp/darknet-ddp/docs")
        self.assertIn(f"A guide NAME is {guides}/NAME.md.\n", self.output(program, "ddp", "help"))
        named = re.search(r"\n  more: (.*)\n", darknet.run((program, *words[1:3], "x.data", words[4], "-ddp_ranks", "0"), self.folder).err)
        self.assertTrue(named and os.path.exists(named[1]) and named[1].startswith(guides), named)

    def links(self, folder):
        """Every link of every installed page leads to an installed one."""
        count = 0
        for page in glob.glob(folder + "/**/*.md", recursive=True):
            with open(page, encoding="utf-8") as f:
                for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", f.read()):
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(page), link)), f"{page}: {link}")
                    count += 1
        self.assertGreater(count, 30)

    def manual(self, name, *words):
        """A page as troff gets it, and as one reads it."""
        page = self.output(darknet.PROGRAM, "ddp", "man", *words)
        self.write(name, page)
        said = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", self.path(name)],
                              env={**darknet.ENVIRONMENT, "MANROFFSEQ": "", "LC_ALL": "C.UTF-8"}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=True, timeout=LIMIT_S).stderr
        self.assertEqual(said, "")
        self.assertNotRegex(page, r"(?m)^'")
        return self.output("man", "-l", self.path(name), MANWIDTH="500", LC_ALL="C.UTF-8", MAN_KEEP_FORMATTING="")

    def test_the_manual_pages(self):
        """The few options that people set are in both, all in the second."""
        self.needs("man")
        first, second = self.manual("darknet.1"), self.manual("darknet-ddp-options.7", "options")
        self.assertRegex(first, r"(?m)^ +darknet detector train DATA CFG \[WEIGHTS\]")
        table = darknet.options()
        self.assertGreater(len(table), 40)
        for option, row in table.items():
            self.assertRegex(second, rf"(?m)^ +{option}\b")
            self.assertEqual(re.search(rf"(?m)^       {option}\b", first) is not None, "usual" in row["columns"], option)
        for guide in {row["guide"] for row in table.values()} - {"hosts"}:
            self.assertIn(f"Guide: {guide}.md", second)

    def completed(self, *words):
        """What bash offers for the last word."""
        self.write("complete.bash", self.output(darknet.PROGRAM, "ddp", "completion", "bash"))
        script = ("compopt() { :; }; source ./complete.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _darknet; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        return self.output("bash", "--norc", "-c", script, "bash", *words).split()

    def test_completion_of_bash(self):
        self.assertIn("detector", self.completed("darknet", "det"))
        self.assertEqual(self.completed("darknet", "detector", "tr"), ["train"])
        self.assertEqual(self.completed("darknet", "ddp", "che"), ["check"])
        self.assertEqual(self.completed("darknet", "detector", "train", "x", "y", "-ddp_sync_e"), ["-ddp_sync_every"])
        self.assertEqual(self.completed("darknet", "detector", "test", "x", "y", "-thres"), ["-thresh"])
        self.assertEqual(self.completed("darknet", "detector", "train", "-thr"), ["-threads"])
        self.assertEqual(self.completed("darknet", "detector", "train", "-ddp_backend", "m"), ["mpi"])
        self.assertEqual(self.completed("darknet", "detector", "train", "x.d"), [])
        self.assertEqual(self.completed("darknet", "detector", "train", "-ddp_hosts", ""), [])  # by readline: files
        if shutil.which("shellcheck"):
            self.output("shellcheck", "-s", "bash", "complete.bash")

    def test_completion_of_zsh(self):
        self.needs("zsh")
        self.write("_darknet", self.output(darknet.PROGRAM, "ddp", "completion", "zsh"))
        self.output("zsh", "-n", "_darknet")
        # compadd and _describe are the shell's own; here they print what they are given.
        script = ("compadd() { print -l -- ${@:#--} }; _describe() { print -l -- ${(P)2} }; _files() { print FILES }; "
                  "words=(\"$@\"); CURRENT=$#words; PREFIX=$words[CURRENT]; source ./_darknet")
        for words, offered in ((("darknet", "d"), "detector"), (("darknet", "detector", "t"), "calc_anchors"),
                               (("darknet", "detector", "train", "-ddp_backend", "m"), "mpi"),
                               (("darknet", "detector", "train", "x"), "FILES")):
            self.assertIn(offered, self.output("zsh", "-fc", script, "zsh", *words).splitlines())
        self.assertIn("\n-keep:keep the last K numbered weights",
                      self.output("zsh", "-fc", script, "zsh", "darknet", "detector", "train", "-"))

    def test_the_package(self):
        self.needs("dpkg-shlibdeps")
        self.output("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-G", "DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
                    "-B", self.path("made"))
        package, = glob.glob(self.path("made/*.deb"))
        depends = self.output("dpkg-deb", "-f", package, "Depends")
        for library in ("libc6", "libxxhash0"):
            self.assertIn(library + " ", depends)
        listed = self.output("dpkg-deb", "-c", package)
        for name in ("bin/darknet", "lib/libdarknet.so", "share/man/man1/darknet.1.gz", "share/man/man7/darknet-ddp-options.7.gz", "share/darknet/data/labels/65_0.png",
                     "share/darknet/cfg/yolov3.cfg", "share/darknet/python/darknet.py",
                     "share/bash-completion/completions/darknet", "share/zsh/vendor-completions/_darknet", "share/doc/darknet-ddp/copyright"):
            self.assertIn(f" ./usr/{name}", listed)
        self.assertNotIn("site-functions", listed)
        self.needs("lintian")
        said = subprocess.run(["lintian", "--allow-root", "--tag-display-limit", "0", package], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=LIMIT_S).stdout
        self.assertNotRegex(said, r"(?m)^E: ")


if __name__ == "__main__":
    darknet.main()
