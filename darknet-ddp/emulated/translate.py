#!/usr/bin/env python3
"""Turn a CUDA source into C++ for the emulated device. Usage: translate.py FROM.cu TO.cpp

kernel<<<...>>>( becomes emulated::launcher(EMULATED_NAMED(kernel), ...)( and extern __shared__ T x[]; a pointer. Lines keep their
numbers. All else that kernels need is in include/emulated_kernels.h."""
import re
import sys


def start_of_name(text, end):
    """Where the kernel's name that ends before `end` begins, with its template arguments."""
    at = end
    while text[at - 1].isspace():
        at -= 1
    if text[at - 1] == ">":
        depth = 0
        while True:
            at -= 1
            depth += (text[at] == ">") - (text[at] == "<")
            if depth == 0:
                break
    while at > 0 and re.match(r"[\w:]", text[at - 1]):
        at -= 1
    return at


def translate_launches(text, name):
    done = ""
    while True:
        begin = text.find("<<<")
        if begin < 0:
            return done + text
        end = text.find(">>>", begin)
        line = (done + text[:begin]).count("\n") + 1
        if end < 0:
            sys.exit(f"translate: {name}:{line}: <<< without >>>")
        start = start_of_name(text, begin)
        kernel = text[start:begin].strip()
        if not kernel:
            sys.exit(f"translate: {name}:{line}: no kernel before <<<")
        done += text[:start] + f"emulated::launcher(EMULATED_NAMED({kernel}), {text[begin + 3:end]})"
        text = text[end + 3:]


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"extern\s+__shared__\s+([\w\s]+?)\s*(\w+)\s*\[\s*\]\s*;",
                  r"\1 *\2 = (\1 *)emulated::dynamic_shared();", text)
    text = translate_launches(text, source)
    with open(target, "w", encoding="utf-8") as file:
        file.write(f'#define EMULATED_KERNELS\n#include <cuda_runtime.h>\n#line 1 "{source}"\n{text}')


main()
