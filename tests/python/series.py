"""The series on Darknet, applied a patch at a time to a copy of the untouched source, and whether files of it compile.

A file is checked with gcc -fsyntax-only: seconds for the whole series, and enough to see that a patch does not use what
only a later one brings. A function that no header declares is an error here, as it is for a linker."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PATCHES = os.path.join(SOURCE, "patches")
FLAGS = ("-fsyntax-only", "-Iinclude", "-Isrc", *("-I" + os.path.abspath(os.path.join(SOURCE, "darknet-ddp", tier)) for tier in ("framework", "support")), "-Werror=implicit-function-declaration")
# CUDA's and cuDNN's declarations: the emulated device's, so that no toolkit is needed. CUDA's own bring math.h.
GPU_FLAGS = ("-DGPU", "-DCUDNN", "-D_GNU_SOURCE", "-include", "math.h", "-isystem", os.path.join(SOURCE, "darknet-ddp", "emulated", "include"))


def listed(path):
    """The names in a file of patches/, one a line."""
    with open(os.path.join(PATCHES, path), encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def names():
    """The patches in their order: folder/name.patch."""
    return listed("series")


def folder(name):
    return name.split("/")[0]


def touched(name):
    """The files that a patch changes or adds."""
    with open(os.path.join(PATCHES, name), encoding="utf-8") as f:
        return re.findall(r"(?m)^\+\+\+ b/(\S+)", f.read())


class Tree:
    """A copy of Darknet's source in a folder of its own, which goes with it."""

    def __init__(self, source):
        self.folder = tempfile.mkdtemp()
        for item in ("Makefile", "include", "src", "examples"):
            path = os.path.join(source, item)
            copy = shutil.copytree if os.path.isdir(path) else shutil.copy
            copy(path, os.path.join(self.folder, item))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.folder)

    def apply(self, name):
        """Apply a patch as the build does. Returns what `patch` says where it does not apply, else None."""
        done = subprocess.run(
            ["patch", "-p1", "--fuzz=0", "--forward", "--batch", "--no-backup-if-mismatch", "-r", "-", "-i",
             os.path.join(os.path.abspath(PATCHES), name)],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return done.stdout if done.returncode else None

    def built(self):
        """The C files that the Makefile names: upstream has some that nothing builds."""
        objects = re.findall(r"[\w-]+(?=\.o)", "".join(re.findall(r"(?m)^(?:OBJ|EXECOBJA)=.*", self.read("Makefile"))))
        paths = (os.path.join(place, name + ".c") for name in objects for place in ("src", "examples"))
        return {path for path in paths if os.path.exists(os.path.join(self.folder, path))}

    def including(self, header):
        """Those of built that include a header by name."""
        return {path for path in self.built() if f'#include "{header}"' in self.read(path)}

    def read(self, path):
        with open(os.path.join(self.folder, path), encoding="utf-8", errors="replace") as f:
            return f.read()

    def check(self, path, *flags):
        """What gcc says of a file that does not compile, else None."""
        done = subprocess.run(["gcc", *FLAGS, *flags, path], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return done.stdout if done.returncode else None

    def check_all(self, paths, *flags):
        """{path: what gcc says} of those that do not compile."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            said = pool.map(lambda path: self.check(path, *flags), paths)
            return {path: words for path, words in zip(paths, said) if words}

    def affected(self, name):
        """The C files to check after a patch: those that it touches, and three of those that include a header that it
        touches: what they need of it most of the others need too."""
        files = set(touched(name)) & self.built()
        for path in touched(name):
            if path.endswith(".h"):
                files |= set(sorted(self.including(os.path.basename(path)))[-3:])
        return sorted(files)
