#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather a run of photons-starpu into one HTML page that needs no other file: pictures, figures,
halos, timings, parameters.

usage: report.py FOLDER [--out FILE]      (default: FOLDER/report.html)"""

import argparse
import base64
import html
import os
import sys

import photons
import plot
from needed_modules import Deferred, need

np = Deferred("numpy")

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto;
  padding: 0 1em; color: #222; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
.row { display: flex; flex-wrap: wrap; gap: 1em; }
figure { margin: 0; flex: 1 1 45%; min-width: 280px; }
img { width: 100%; height: auto; } figcaption { color: #555; font-size: .9em; }
table { border-collapse: collapse; }
td, th { padding: .15em .8em; text-align: right; border-bottom: 1px solid #eee; }
th:first-child, td:first-child { text-align: left; }
pre { background: #f6f6f6; padding: 1em; overflow-x: auto; font-size: .85em; }
"""
CAPTIONS = {
    "power": "Power spectra less shot noise, linear theory (dotted) and HALOFIT (dashed);"
    " below: ratio to HALOFIT.",
    "mass_function": "Mass functions of friends-of-friends halos, and theory;"
    " below: ratio to Reed et al. (2007).",
    "growth": "Growth of the lowest modes beside linear theory.",
    "timings": "Time of the stages, summed over workers, step by step.",
}


def picture(path, caption):
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode()
    text = html.escape(caption)
    image = f'<img alt="{text}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{text}</figcaption></figure>"


def table(head, rows):
    cells = (
        lambda tag, row: "<tr>"
        + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in row)
        + "</tr>"
    )
    return "<table>" + cells("th", head) + "".join(cells("td", row) for row in rows) + "</table>"


def summary(run):
    config, timings = run.config(), run.timings()
    rows = []
    cosmology, box = config.get("cosmology", {}), config.get("box", {})
    if cosmology:
        names = [
            ("Ω_m", "Omega_m"),
            ("Ω_Λ", "Omega_lambda"),
            ("Ω_b", "Omega_b"),
            ("h", "h"),
            ("n_s", "n_s"),
            ("σ_8", "sigma8"),
        ]
        rows.append(
            (
                "cosmology",
                ", ".join(f"{name} = {cosmology[key]}" for name, key in names if key in cosmology),
            )
        )
    if box.get("size"):
        rows.append(("box", f"{box['size']} Mpc/h"))
    for number in run.numbers:
        power = run.power(number)
        if power is not None:
            rows.append(("particles", f"{power.header['N']:,.0f}"))
            break
    if timings is not None and len(timings["step"]):
        rows.append(("steps", f"{int(timings['step'][-1])}, to z = {max(timings['z'][-1], 0):.3g}"))
        rows.append(
            (
                "time",
                f"{timings['wall_s'].sum():,.1f} s in steps,"
                f" {np.median(timings['wall_s']):.3g} s a step",
            )
        )
        rows.append(("speed", f"{np.median(timings['particles_per_s']):.3g} particles a second"))
        rows.append(("memory", f"{timings['peak_rss_bytes'].max() / 2**20:,.0f} MiB at most"))
    return table(("", ""), rows) if rows else ""


def outputs(run):
    rows = []
    for number in run.numbers:
        power, halos = run.power(number), run.halos(number)
        row = [f"{number:03d}", "–", "–", "–", "–"]
        z = run.redshift(number)
        if z is not None:
            row[1] = f"{z:.3f}"
        if power is not None and "sigma8(z)" in power.header:
            row[2] = f"{power.header['sigma8(z)']:.4f}"
        if halos is not None:
            count = len(halos["GroupLen"])
            row[3] = f"{count:,}"
            if count:
                row[4] = f"{halos['GroupMass'][0] * 1e10:.3g}"
            halos.close()
        rows.append(row)
    return table(("output", "z", "σ8(z), linear", "halos", "largest [Msun/h]"), rows)


def make_report(folder, out):
    run = photons.Run(folder)
    figures = plot.make_figures(folder)
    pictures = []
    for number in reversed(run.numbers):
        for stem, what in (("density", "projected density"), ("slice", "slice through the middle")):
            path = run.path(stem, number, "png")
            if path:
                pictures.append(
                    picture(
                        path,
                        (
                            f"{what}, z = {run.redshift(number) or 0:.2f}"
                            if run.redshift(number) is not None
                            else what
                        ),
                    )
                )
    if not figures and not pictures:
        raise ValueError(f"{folder} holds nothing to report: no outputs and no log")
    parts = [
        f"<h1>photons-starpu: {html.escape(os.path.basename(os.path.abspath(folder)))}</h1>",
        summary(run),
    ]
    if run.numbers:
        parts += ["<h2>Outputs</h2>", outputs(run)]
    if pictures:
        parts += ["<h2>Density</h2><div class=row>", *pictures, "</div>"]
    if figures:
        parts += [
            "<h2>Figures</h2><div class=row>",
            *(picture(path, CAPTIONS[name]) for name, path in figures.items()),
            "</div>",
        ]
    used = os.path.join(folder, "config-used.ini")
    if os.path.exists(used):
        with open(used) as file:
            parts += ["<h2>Parameters</h2>", f"<pre>{html.escape(file.read())}</pre>"]
    page = (
        "<!DOCTYPE html><html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'>"
        f"<title>photons-starpu run</title><style>{STYLE}</style></head><body>"
        + "\n".join(parts)
        + "</body></html>\n"
    )
    temporary = out + ".tmp"
    with open(temporary, "w") as file:
        file.write(page)
    os.replace(temporary, out)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--out", metavar="FILE")
    options = parser.parse_args()
    need("h5py", "matplotlib", "numpy")
    out = options.out or os.path.join(options.folder, "report.html")
    make_report(options.folder, out)
    print(out)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"report.py: {error}")
