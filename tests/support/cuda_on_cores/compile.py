#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the CUDA files for the processor, with the C++ compiler, into one object file.

    compile.py OBJECT.o CUDA_FOLDER INCLUDE_FOLDER...

Launches and dynamic shared memory are rewritten; cuda_on_cores.h has the rest of the language. The
rewritten files are in a folder beside it. CUDA_FOLDER/include has the headers of CUDA's
runtime, INCLUDE_FOLDER files that the build makes. The variable CXX names the compiler.
OBJECT.d tells make of which files the object consists.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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


def read_headers(path):
    """The files that a file of dependencies names, as the compiler writes it for make."""
    text = path.read_text().replace("\\\n", " ")
    return text.split(":", 1)[1].split()


def original(path, folder):
    """Of a rewritten file the file that was rewritten; other files as they are."""
    return TOP / path.relative_to(folder) if path.is_relative_to(folder) else path


def write_dependencies(result, folder, objects):
    """For make: the object depends on the sources and their headers, but not on those of CUDA. A header
    that is gone has a rule, so that make does not ask for it."""
    files = {original(Path(name).resolve(), folder)
             for o in objects for name in read_headers(o.with_suffix(".d"))}
    headers = {os.path.relpath(path) for path in files
               if path.is_relative_to(TOP) or path.is_relative_to(Path.cwd())}
    lines = [f"{result}: {' '.join(sorted(headers))}", *(f"{name}:" for name in sorted(headers))]
    Path(result).with_suffix(".d").write_text("\n".join(lines) + "\n")


def main():
    result, cuda, *includes = sys.argv[1:]
    folder = Path(result).resolve().with_suffix(".files")
    shutil.rmtree(folder / "cuda", ignore_errors=True)  # files that are gone are not compiled
    for path in (TOP / "cuda").rglob("*"):
        if path.suffix in (".cu", ".cuh", ".h"):
            to = folder / path.relative_to(TOP)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(f'#line 1 "{path}"\n' + rewrite(path.read_text()))
    folders = [folder, *includes, TOP, TOP / "include", HERE / "include", f"{cuda}/include"]
    # Products and sums of the GPU may be fused, those of the CPU's kernels are not. So many CUDA blocks as
    # fill a GPU take minutes on a core.
    command = [*shlex.split(os.environ.get("CXX", "g++")), "-x", "c++", "-std=c++20", "-O2",
               "-w", "-Wno-psabi", "-ffp-contract=off", "-DP2P_CUDA_BLOCKS=32",
               "-DWALK_CUDA_BLOCKS=8", "-DWALK_LONG_BLOCK=32", "-DPARTICLE_SUM_WARPS=1",
               *(f"-I{f}" for f in folders), "-c"]

    def compile_one(source):
        target = folder / (str(source.relative_to(source.parents[2])).replace("/", "_") + ".o")
        header = [] if source.parent == HERE else ["-include", HERE / "cuda_on_cores.h"]
        subprocess.run([*command, source, *header, "-MMD", "-o", target], check=True)
        return target

    sources = [*sorted(folder.rglob("*.cu")), HERE / "cuda_on_cores.cc"]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        objects = list(pool.map(compile_one, sources))
    subprocess.run(["ld", "-r", "-o", result, *objects], check=True)
    write_dependencies(result, folder, objects)


if __name__ == "__main__":
    main()
