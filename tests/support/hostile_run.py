# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of a run whose files hold HTML and scripts wherever a text of theirs reaches a page.

usage: hostile_run.py RUN FOLDER    (of the copy)"""

import os
import re
import shutil
import sys

import h5py

# Ends elements and attributes in either quotes, and runs if it becomes an element or an attribute.
ATTACK = (
    "\"'></title></pre></td><script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
    "<svg onload='window.hit = 1'></svg><a href='javascript:window.hit = 1'>{}</a>"
)
PLACES = ["eta", "message", "config", "program", "host", "date", "spectrum"]
NAME = "<img src=x onerror=window.hit=1>'\""  # of the folder, as far as file names allow


def attack(place):
    return ATTACK.format(place)


def rewrite(path, change):
    with open(path) as file:
        text = change(file.read())
    with open(path, "w") as file:
        file.write(text)


def make(run, folder):
    shutil.copytree(run, folder)
    rewrite(
        os.path.join(folder, "log", "run.log"),
        lambda text: re.sub(r"^(step .* ETA ).*", lambda m: m[1] + attack("eta"), text, flags=re.M)
        + f"2026-01-01T00:00:00Z the run goes on\n"
        + f"2026-01-01T00:00:00Z warning: {attack('message')}\n",
    )
    rewrite(
        os.path.join(folder, "config-used.ini"),
        lambda text: re.sub(r"^sigma8 = .*", f"sigma8 = {attack('config')}", text, flags=re.M),
    )
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if re.match(r"(snapshot|fof_subhalo_tab)_.*\.hdf5$", name):
            with h5py.File(path, "a") as file:
                for place in ("program", "host", "date", "spectrum"):
                    file["Provenance"].attrs[place] = attack(place)
        if re.match(r"density_.*\.png$", name):
            with open(path, "w") as file:
                file.write(f"<svg xmlns='http://www.w3.org/2000/svg'>{attack('picture')}</svg>")


if __name__ == "__main__":
    make(*sys.argv[1:])
