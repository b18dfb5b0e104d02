#!/usr/bin/env python3
"""Check how our own files are written. Usage: scripts/lint.py [-build BUILD] [format|tidy|shell|python|words]...     all by default

  format   clang-format (.clang-format): C, C++ and CUDA
  tidy     clang-tidy (.clang-tidy): C, as BUILD (build) compiles it
  shell    shellcheck
  python   pyflakes; names end in .py
  words    scripts/check-words.py

scripts/setup installs them, Debian 12's. Exit status: 0 clean, 1 not (said), 77 where a tool is not installed.
`clang-format -i FILE` mends a file's format."""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("darknet-ddp", "tests", "scripts", ".ci")
AT_ONCE = os.cpu_count() or 1
LLVM = 14


def our_files():
    """Paths from ROOT, in order."""
    found = []
    for folder in FOLDERS:
        for path, folders, names in os.walk(os.path.join(ROOT, folder)):
            folders[:] = [name for name in folders if name != "__pycache__"]
            found += [os.path.relpath(os.path.join(path, name), ROOT) for name in names]
    return sorted(found)


def interpreter(path):
    """The first line of a script, or nothing."""
    with open(os.path.join(ROOT, path), "rb") as f:
        line = f.readline(80)
    return line.decode(errors="replace") if line.startswith(b"#!") else ""


def with_suffix(*suffixes):
    return [path for path in our_files() if path.endswith(suffixes)]


def tool(name, version=None):
    """Ends with 77 where it is not there: other versions of LLVM's find other faults."""
    said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout if shutil.which(name) else ""
    if not said or (version and f"version {version}." not in said):
        print(f"lint: no {name}{f' {version}' if version else ''}: scripts/setup installs Debian 12's")
        sys.exit(77)
    return name


def clean(command):
    """Run it from ROOT, and print what it says where it finds fault."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        print(done.stdout, end="", flush=True)
    return done.returncode == 0


def check_format(_):
    return clean([tool("clang-format", LLVM), "--dry-run", "--Werror", "--ferror-limit=1", *with_suffix(".c", ".h", ".cpp", ".cu")])


def plainest_commands(build):
    """Each C file's command of compile_commands.json, one where there are several: of no sanitizer and no emulated device."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    chosen = {}
    for entry in sorted(entries, key=lambda e: sum(word in e["command"] for word in ("asan", "tsan", "mulated"))):
        chosen.setdefault(os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT), entry)
    return chosen


def looser(path):
    """What tests/.clang-tidy leaves out, for tests that lie beside what they test."""
    if "/tests/" not in path:
        return []
    with open(os.path.join(ROOT, "tests", ".clang-tidy"), encoding="utf-8") as f:
        checks = f.read().split("Checks: >", 1)[1]
    return ["--checks=" + "".join(checks.split())]


def check_tidy(build):
    """Without clang's own warnings, which read gcc's options: gcc warns itself."""
    name = tool("clang-tidy", LLVM)
    commands = plainest_commands(build)
    files = [path for path in with_suffix(".c") if path in commands]
    if not files:
        sys.exit(f"lint: {build}/compile_commands.json names no file of ours")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as f:
            json.dump([commands[path] for path in files], f)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return all(list(pool.map(lambda path: clean([name, "--quiet", "--extra-arg=-w", *looser(path), "-p", folder, path]), files)))


def check_shell(_):
    scripts = [path for path in our_files() if interpreter(path).rstrip().endswith(("/sh", "/bash"))]
    return clean([tool("shellcheck"), *scripts])


def check_python(_):
    for path in our_files():
        if "python" in interpreter(path) and not path.endswith(".py"):
            print(f"lint: {path} is Python, and its name does not end in .py")
            return False
    return clean([tool("pyflakes3"), *with_suffix(".py")])


def check_words(_):
    return clean([sys.executable, os.path.join("scripts", "check-words.py")])


CHECKS = {"format": check_format, "tidy": check_tidy, "shell": check_shell, "python": check_python, "words": check_words}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-build", default=os.path.join(ROOT, "build"))
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    args = parser.parse_args()
    for name in args.checks:
        if name not in CHECKS:
            parser.error(f"no check is named '{name}'")
    return 0 if all([CHECKS[name](os.path.abspath(args.build)) for name in args.checks or CHECKS]) else 1


if __name__ == "__main__":
    sys.exit(main())
