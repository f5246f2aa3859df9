#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for nvcc: compiles a CUDA file for the processor, with the C++ compiler.

    compile.py [OPTION...] -c FILE.cu -o FILE.o

Launches and dynamic shared memory are rewritten; cuda_on_cores.h has the rest of the language. The
files of the folder cuda are rewritten into a temporary folder that comes first among the folders of
includes. Options of nvcc that a C++ compiler does not know are dropped.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]


def end_of(text, start, opening, closing):
    """Index behind the bracket that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == opening) - (text[i] == closing)
        if depth == 0:
            return i + 1
    raise SystemExit(f"compile.py: no {closing!r} for {opening!r}")


def start_of_kernel(text, end):
    """Where the name of a kernel with its template arguments begins that ends at `end`."""
    i = end
    while text[i - 1].isspace():
        i -= 1
    if text[i - 1] == ">":
        depth = 0
        while True:
            i -= 1
            depth += (text[i] == ">") - (text[i] == "<")
            if depth == 0:
                break
    while re.match(r"[\w:]", text[i - 1]):
        i -= 1
    return i


def rewrite(text):
    """CUDA's launches and dynamic shared memory in C++."""
    text = re.sub(r"extern __shared__\s+(?:__align__\(\d+\)\s+)?((?:struct\s+)?\w+)\s+(\w+)\[\];",
                  r"\1 *\2 = (\1 *)cores_dynamic_memory();", text)
    while (at := text.find("<<<")) >= 0:
        close = text.index(">>>", at)
        arguments = end_of(text, close + 3, "(", ")")
        start = start_of_kernel(text, at)
        name = " ".join(text[start:at].split())
        inner = text[close + 4 : arguments - 1].strip()
        text = (text[:start]
                + f"cores_launch(cores_grid({text[at + 3 : close]}), [](auto &...a) {{ {name}(a...); }}"
                + (", " if inner else "") + inner + ")" + text[arguments:])
    return text


def cuda_folder():
    """Where the headers of CUDA's runtime are."""
    command = [TOP / "tools/build-starpu.sh", "--find-cuda"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main():
    options, source, target, more = [], None, None, iter(sys.argv[1:])
    for argument in more:
        if argument in ("-o", "-c"):
            value = next(more) if argument == "-o" else None
            target = value or target
        elif argument.endswith(".cu"):
            source = argument
        elif argument.startswith(("-I", "-D")):
            options.append(argument)
    with tempfile.TemporaryDirectory() as folder:
        for path in (TOP / "cuda").rglob("*"):
            if path.suffix in (".cu", ".cuh", ".h"):
                to = Path(folder) / path.relative_to(TOP)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(f'#line 1 "{path}"\n' + rewrite(path.read_text()))
        relative = Path(source).resolve().relative_to(TOP)
        command = [os.environ.get("CXX", "g++"), "-x", "c++", "-std=c++20", "-O2", "-g", "-fPIC",
                   "-ffp-contract=off", "-w", f"-I{folder}", *options, f"-I{HERE}/include", f"-I{cuda_folder()}/include",
                   "-include", f"{HERE}/cuda_on_cores.h", "-c", f"{folder}/{relative}", "-o", target]
        sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
