# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather a run of photons-starpu into one HTML page that needs no other file: pictures, figures,
halos, timings, parameters.

usage: report.py FOLDER [--out FILE]
       report.py --serve [PORT] FOLDER

The page is FOLDER/report.html or FILE. With --serve it is a page at http://127.0.0.1:PORT that follows
a run while it goes on."""

import os
import sys
import urllib.parse

from . import galaxy, galaxy_log, gas, gas_problems, plots
from .drawing import tables_of
from .files import Run, particle_counts
from .html_page import element, join, page, picture, table
from .modules import Deferred, fail, need, parser_of
from .power_plots import growth_alarm
from .reading import FAULTS, explain

np = Deferred("numpy")

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto;
  padding: 0 1em; color: #222; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
p.what { font-size: 1.15em; margin-top: -.5em; color: #444; }
.row { display: flex; flex-wrap: wrap; gap: 1em; }
.row.small figure { flex: 0 0 170px; min-width: 0; }
summary { cursor: pointer; }
figure { margin: 0; flex: 1 1 45%; min-width: 280px; } figure.wide { flex-basis: 100%; }
img { width: 100%; height: auto; } figcaption { color: #555; font-size: .9em; }
table { border-collapse: collapse; }
td, th { padding: .15em .8em; text-align: right; border-bottom: 1px solid #eee; }
th:first-child, td:first-child { text-align: left; }
table.facts td { text-align: left; vertical-align: top; }
pre { background: #f6f6f6; padding: 1em; overflow-x: auto; font-size: .85em; }
progress { width: 100%; height: 1.2em; }
p.message { color: #a00; margin: .3em 0; }
"""
CAPTIONS = {
    "power": "Power spectra, linear theory (dotted) and HALOFIT (thin); below: ratio to HALOFIT,"
    " shaded: standard error of Gaussian modes. Of particles that began on a grid or a glass nothing"
    " is subtracted, for they have no shot noise on these scales, and nothing is shown beyond their"
    " Nyquist wave number. Of a random sample the shot noise V/N is subtracted, and curves have gaps"
    " where it is larger than the rest.",
    "mass_function": "Mass functions by friends-of-friends mass and by M200c, with Poisson errors,"
    " and theory; below: ratio to the theory with the solid line. Points of several redshifts"
    " stand side by side.",
    "growth": "Growth of the lowest modes since the first output, over that of linear theory. The"
    " error of the mean follows from the scatter of the bins.",
    "halo_profile": "Density about the density peaks of the largest halos of the last output, with shot"
    " noise, beside NFW profiles (dashed) with the concentrations of the catalogue.",
    "multipoles": "Multipoles of the power spectrum in redshift space, seen along z, and linear theory"
    " (Kaiser 1987, dotted).",
    "correlation": "Correlation function of matter, and linear theory (dotted).",
    "bispectrum": "Reduced bispectrum Q = B/(P₁P₂ + P₂P₃ + P₃P₁) of equilateral triangles, and of squeezed"
    " ones with one long wave, and second-order perturbation theory (dotted).",
    "halo_bias": "Bias of halos, each of them one point: of their own power less the shot noise V/N, and of"
    " that with matter; dotted: the mean of Tinker et al. 2010 for the masses of these halos. Outputs with"
    " ten halos or more are shown; the curve has gaps where the power of halos is below V/N.",
    "tree": "Merger tree of the largest halo of the last output, time upwards: each line is a halo with"
    " its main progenitors, red for the largest one. Areas of the dots grow with mass as M^(2/3). A"
    " dotted line skips an output in which the halo was not found, or was a part of another one.",
    "mass_history": "Mass accretion histories: masses of the largest halos of the last output and of"
    " their main progenitors, of all particles (where trees are of subhalos, of those of the halo's"
    " largest subhalo) and M200c (dotted).",
    "timings": "Seconds a step; shares of the parts of a step in busy time; with block time steps,"
    " particles by rung.",
    "picture": "Surface density of the outputs (twelve of them at most) face-on and edge-on, all in"
    " one frame and with the same colours. The frame is as wide as 99 % of the disk's mass, of what"
    " is pictured where there is no disk. Particles are smoothed as widely as they are apart.",
    "structure": "The last output in the colours of its components, and an unsharp mask: the surface"
    " density over the same smoothed, in which arms, bars and tails stand out.",
    "density_profile": "Mean density in shells about the densest point, with shot noise, of the"
    " first output (thin) and the last.",
    "rotation_curve": "Lines: circular velocity of the mass within each radius, as if its shape was a"
    " sphere. Points: mean velocity of rotation of the disk's particles with its standard error. Of"
    " the first output (thin, open) and the last.",
    "lagrangian_radii": "Radii about the densest point that hold 10, 50 and 90 % of the mass of"
    " each component.",
    "disk_height": "Root mean square of the height over the plane of the disk, in rings, of the"
    " first output (thin) and the last.",
    "disk": "Measures of the disk over time: strength A2 of the bar within two scale lengths, and the"
    " largest of a ring; the speed at which the bar's angle turns from output to output; scale length"
    " (of an exponential disk with the same median radius) and height; dispersions at two scale"
    " lengths.",
    "galaxies": "Radii about the centre of each galaxy that hold 10, 50 and 90 % of its mass, at the steps"
    " at which energies were measured; and the distances of the centres of galaxies.",
    "bar": "Of each disk at these steps: strength A2 of the bar within two scale lengths, its pattern"
    " speed from step to step, scale length and height.",
    "anisotropy": "Dispersion of velocities in shells, and β = 1 - (σ_θ² + σ_φ²)/(2 σ_r²), which is 0"
    " where all directions are alike and 1 on radial orbits. The mean rotation of a shell does not count. Of the"
    " first output (thin) and the last.",
    "profile": "Means in bins along the coordinate of the problem, the range of values in each bin"
    " (grey), and the exact solution, of the last output. Errors are means over the volume.",
    "evolution": "At all outputs beside theory: the amplitude of a wave that gravity (Jeans) or shear (Kelvin and"
    " Helmholtz) makes unstable, in theory to first order in the wave; or the radius of half of the mass of a ball"
    " that falls together. Growth rates are slopes of ln(amplitude) over the outputs at which the"
    " wave is small in theory.",
    "outputs": "Density in the plane through the middle of the box, of the outputs (eight of them at"
    " most), all with the same colours.",
    "slices": "The plane through the middle of the box, in the last output.",
    "matter": "Column densities of gas and particles over their means, in the last output.",
    "spectra": "Power spectra of the gas, on the cells of the root level and without their window,"
    " and of the particles, as measured, beside linear theory (dotted). Below: gas over"
    " particles.",
    "halo": "The largest halo of the last output: densities in shells, the part of gas in all"
    " matter within a radius, over the mean, and the temperature of the gas. Dotted: the radius"
    " within which the density is 200 times the critical one. Grey: the virial temperature"
    " μ m_H G M/(2 k r).",
    "conservation": "Change of mass and energy of all gas since the first step, over their first"
    " values, and of the momentum of all matter over √(2 mass energy). Gas that leaves through open sides, and"
    " the pressure on them, count as changes.",
    "energy": "Change of the total energy since the first row of log/energy.csv, over that row's;"
    " virial ratio, 1 in equilibrium.",
    "conserved": "Change of the angular momentum of all particles and of the disk since the first"
    " row of log/energy.csv, over that row's; shift of the centre of mass.",
}
GAS_TIMINGS = (
    "Cells advanced a second, patches by level, and shares of the stages in busy time, by steps of"
    " the root level."
)
# As wide as the page.
WIDE = ("mass_function", "picture", "structure", "slices", "outputs", "matter", "tree")
SMALL_BOX = 300  # Mpc/h; a smaller box gets a caption about its few long modes


def small_box_text(run):
    """What to expect of P(k) in a small box; empty for a large one."""
    powers = tables_of(run.power, run)
    box = powers[0].header["box"] if powers else SMALL_BOX
    if box >= SMALL_BOX:
        return ""
    modes = powers[0]["modes"][0]
    fixed = run.config().get("ic", {}).get("fixed") == "yes"
    start = (
        "The amplitudes of this run were fixed at the start (ic.fixed = yes), which removes their"
        " scatter in linear theory only."
        if fixed
        else "Random amplitudes scatter as the shaded range shows; ic.fixed = yes removes that in"
        " linear theory."
    )
    return (
        f" A box of {box:g} Mpc/h holds few long modes, {modes:.0f} in the first bin, and none"
        f" longer than the box. {start} Nonlinear growth depends on how these few modes combine:"
        " P(k) of one such run is commonly off HALOFIT by 10 to 20 %. The missing long waves also"
        " slow the growth of small scales, whose P(k) stays below HALOFIT. The mean over a run and"
        " its partner (ic.paired = yes) is closer, and so is a larger box."
    )


def duration(seconds):
    """Seconds as 12.3 s, 4 min 5 s, or 2 h 3 min."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def listed(names, section):
    """Those of the parameters that are there, as "name = value, ..."."""
    return ", ".join(f"{name} = {section[key]}" for key, name in names.items() if section.get(key))


# The head of the page: what was computed, by what, and how fast. A row without text is left out.


def particles_text(run, config):
    known, ic = run.provenance(), config.get("ic", {})
    if ic.get("source") == "gadget":
        return known.get("particles") or f"read from {ic.get('file')}"
    seed = f"{known['seed']:.0f}" if "seed" in known else ic.get("seed")
    switches = {"fixed": "fixed amplitudes", "paired": "phases shifted by π"}
    words = [known.get("particles", "generated"), f"seed {seed}"] if seed else []
    words += [text for key, text in switches.items() if ic.get(key) == "yes"]
    return ", ".join(words)


def start_text(run, config):
    """Where generated initial conditions are: ic.z_init, and what chose it, if the log says so."""
    ic = config.get("ic", {})
    if ic.get("source") != "generate" or not ic.get("z_init"):
        return ""
    path = os.path.join(run.folder, "log", "run.log")
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("  start "):
                    return line.split(None, 1)[1].strip()
    return f"z = {ic['z_init']}"


def spectrum_text(run, config):
    known, ic = run.provenance().get("spectrum"), config.get("ic", {})
    if known or not ic:
        return known or ""
    if ic.get("power_spectrum") == "file":
        return f"table {ic.get('power_spectrum_file')}"
    return "power law" if ic.get("power_spectrum") == "power_law" else "Eisenstein & Hu (1998)"


def machine_text(run):
    known, names = run.provenance(), ("ranks", "workers", "gpus")
    counts = [(known[name], name) for name in names if name in known]
    words = {"ranks": "rank", "workers": "worker", "gpus": "GPU"}
    texts = [f"{number:.0f} {words[name]}{'' if number == 1 else 's'}" for number, name in counts]
    return ", ".join(([known["host"]] if "host" in known else []) + texts)


def program_text(run):
    known = run.provenance()
    parts = [known.get("program", ""), known.get("git_revision", "")]
    if "StarPU" in known:
        parts.append(f"with StarPU {known['StarPU']}")
    return " ".join(part for part in parts if part)


def left_out_text(run):
    names = run.provenance().get("left out")
    return f"{names} of the provenance: the file has another type than expected" if names else ""


def time_text(run, timings):
    """Duration of the run, of its steps where the whole is not known."""
    if timings is None or not len(timings.get("step", ())):
        return ""
    wall = timings["wall_s"]
    steps = f"{duration(wall.sum())} in steps, median {np.median(wall):.3g} s"
    whole = run.provenance().get("wall_seconds")
    return f"{duration(whole)} to the last output, {steps}" if whole else steps


def speed_text(timings, last=0):
    """The median speed of the last steps, of all by default."""
    if "updates_per_s" in timings:
        speed = timings["updates_per_s"][-last:]  # step 0 advances no cell
        return f"{np.median(speed[speed > 0]) if np.any(speed > 0) else 0:.3g} cells a second"
    return f"{np.median(timings['particles_per_s'][-last:]):.3g} particles a second"


def reached_text(timings, form=".3g"):
    """How far the run has come: the time of gas or of an isolated system, else the redshift.

    form -- format of the redshift"""
    if "time" in timings:
        return f"t = {timings['time'][-1]:.5g}"
    if "time_myr" in timings:
        return f"t = {timings['time_myr'][-1]:.1f} Myr"
    return f"z = {max(timings['z'][-1], 0):{form}}"


def universe_rows(run, config):
    """What is known of a run in a periodic box."""
    cosmology, box = config.get("cosmology", {}), config.get("box", {})
    densities = {"Omega_m": "Ω_m", "Omega_lambda": "Ω_Λ", "Omega_b": "Ω_b", "h": "h"}
    table = cosmology.get("w_table")
    dark = f"w of {table}" if table else listed({"w0": "w_0", "wa": "w_a"}, cosmology)
    count = next((power.header["N"] for power in tables_of(run.power, run)), None)
    return [
        ("cosmology", listed({**densities, "n_s": "n_s", "sigma8": "σ_8"}, cosmology)),
        ("dark energy", dark),
        ("linear spectrum", spectrum_text(run, config)),
        ("initial conditions", particles_text(run, config)),
        ("start", start_text(run, config)),
        ("box", f"{box['size']} Mpc/h" if box.get("size") else ""),
        ("particles", f"{count:,.0f}" if count else ""),
    ]


def isolated_rows(run, config):
    """What is known of a run without a box."""
    counts = particle_counts(run.snapshots[-1]) if run.snapshots else {}
    words = [f"{count:,} {galaxy.COMPONENTS[kind]}" for kind, count in counts.items()]
    return [
        ("boundary", "isolated"),
        ("initial conditions", particles_text(run, config)),
        ("particles", ", ".join(words)),
    ]


def gas_rows(run, config):
    """What is known of a run of gas."""
    section, problem = config.get("gas", {}), config.get("ic", {})
    names = {"solver": "solver", "precision": "precision", "gamma": "γ", "cfl": "Courant number"}
    names_of_details = ("direction", "amplitude", "energy", "separation", "z_caustic")
    details = (name for name in names_of_details if name in problem)
    source = [problem.get("source", ""), *(f"{name} = {problem[name]}" for name in details)]
    rows = [
        ("gas", listed(names, section)),
        ("initial conditions", ", ".join(text for text in source if text)),
    ]
    if run.gas_files:
        mesh = gas.Mesh(run.gas_files[-1])
        cells = " × ".join(str(count) for count in mesh.root)
        rows += [("mesh", f"{cells}, {mesh.finest} finer levels, {mesh.cells:,} cells at the end")]
        rows += [(name.replace("_", " "), text) for name, text in error_texts(mesh)]
    return rows


def error_texts(mesh):
    """Name and text of what was measured beside an exact solution."""
    problem = gas_problems.problem_of(mesh)
    found = problem.errors() if problem and problem.solved else {}
    for name, value in found.items():
        if f"{name}_exact" in found:
            yield name, f"{value:.5g}, exact {found[f'{name}_exact']:.5g}"
        elif not name.endswith("_exact"):
            yield name, f"{value:.3g}"


def first_of(rows, *names):
    return [text for name, text in rows if name in names and text]


def summary(run):
    """What was computed, in one line."""
    config, timings = run.config(), run.timings()
    if run.gas:
        words = ["Gas on an adaptive mesh"] + first_of(gas_rows(run, config), "initial conditions")
    elif run.isolated:
        words = ["An isolated system"] + first_of(isolated_rows(run, config), "particles")
    else:
        rows = universe_rows(run, config)
        words = ["A periodic box"] + [f"of {text}" for text in first_of(rows, "box")]
        words = [" ".join(words)] + [f"{text} particles" for text in first_of(rows, "particles")]
    if timings is not None and len(timings.get("step", ())):
        words.append(f"to {reached_text(timings)}")
    return ", ".join(words)


def head_rows(run):
    config, timings = run.config(), run.timings()
    kind = gas_rows if run.gas else isolated_rows if run.isolated else universe_rows
    rows = kind(run, config)
    rows += [
        ("program", program_text(run)),
        ("machine", machine_text(run)),
        ("written", run.provenance().get("date", "")),
        ("left out", left_out_text(run)),
        ("time", time_text(run, timings)),
    ]
    if timings is not None and len(timings.get("step", ())):
        rows += [
            ("steps", f"{int(timings['step'][-1])}, to {reached_text(timings)}"),
            ("speed", speed_text(timings)),
            ("memory", f"{timings['peak_rss_bytes'].max() / 2**20:,.0f} MiB at most"),
        ]
    return [row for row in rows if row[1]]


def gas_outputs(run):
    rows, column = [], "t"
    for path in run.gas_files:
        mesh = gas.Mesh(path)
        share = 100 * mesh.volume_share(mesh.finest)
        number = os.path.basename(path).split(".")[0].removeprefix("gas_")
        column, moment = mesh.moment.split(" = ")
        rows.append((number, moment, f"{mesh.cells:,}", mesh.finest, f"{share:.3g}"))
    return table(("output", column, "cells", "finest level", "its share of the volume [%]"), rows)


def outputs(run):
    if run.gas:
        return gas_outputs(run)
    if run.isolated:
        times = ((number, run.time_myr(number)) for number in run.numbers)
        rows = [(f"{number:03d}", f"{time:.1f}") for number, time in times if time is not None]
        return table(("output", "t [Myr]"), rows)
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


# The page.


def name_of(run):
    return os.path.basename(os.path.abspath(run.folder))


PICTURES = (  # stems of the program's own pictures, and what they show
    ("density", "projected density"),
    ("slice", "slice through the middle"),
    ("projection_density", "gas: column density"),
    ("projection_particles", "particles: column density"),
    ("projection_temperature", "gas: mean temperature"),
    ("slice_density", "gas: density"),
)
THUMBNAIL, LAST = 170, 520  # pixels across of pictures in the page: of all outputs, of the last one


def files_of_pictures(run, number):
    found = ((run.path(stem, number, "png"), what) for stem, what in PICTURES)
    return [(path, what) for path, what in found if path]


def moment_of(run, number):
    if run.gas:
        return gas.Mesh(run.gas_files[run.numbers.index(number)]).moment
    z = run.redshift(number)
    return f"output {number:03d}" if z is None else f"z = {z:.2f}"


def link_to(path, page):
    """The address of a file as a page links to it; None without a page."""
    if page is None:
        return None
    return urllib.parse.quote(os.path.relpath(path, os.path.dirname(os.path.abspath(page))))


def pictures_of(run, numbers, page=None):
    """The last output's pictures, and small ones of all. numbers -- of outputs, the last one first;
    page -- path of the page, beside which the files are that open; None: they do not"""
    found = []
    for number in numbers:
        files = files_of_pictures(run, number)
        moment = moment_of(run, number) if files else ""
        width = LAST if number == numbers[0] else THUMBNAIL
        for path, what in files:
            shown = picture(path, f"{what}, {moment}", None, width, link_to(path, page))
            found.append((number, shown))
    return found


def rows_of_pictures(run, numbers, page):
    found = pictures_of(run, numbers, page)
    large = [shown for number, shown in found if number == numbers[0]]
    small = [shown for number, shown in found if number != numbers[0]]
    parts = rows_of_figures("Pictures", large)
    return parts + ([element("div", join(small, "\n"), class_="row small")] if small else [])


def rows_of_figures(title, figures):
    return [element("h2", title), element("div", join(figures, "\n"), class_="row")] if figures else []


def figures_of(run, paths, page=None):
    """Figures with captions, from {name: path}. page -- path of the page, None: figures do not open"""
    captions = {
        **CAPTIONS,
        "power": CAPTIONS["power"] + small_box_text(run),
        "growth": CAPTIONS["growth"] + growth_alarm(run),
    }
    if run.gas:
        captions["timings"] = GAS_TIMINGS
    return [
        picture(path, captions[name], "wide" if name in WIDE else None, None, link_to(path, page))
        for name, path in paths.items()
    ]


def page_of(run, parts, head=()):
    """A whole HTML page. head -- further elements of its head"""
    return page(name_of(run), STYLE, [element("p", summary(run), class_="what"), *parts], head)


def body(run, figures, pictured, page=None):
    """The parts of a page. figures -- {name: path}; pictured -- outputs whose pictures are shown, the
    last one first; page -- path of the page, None: pictures and figures do not open"""
    rows = head_rows(run)
    parts = rows_of_figures("Figures", figures_of(run, figures, page))
    parts += rows_of_pictures(run, pictured, page) if pictured else []
    if run.numbers:
        parts += [element("h2", "Outputs"), outputs(run)]
    if rows:
        parts += [element("h2", "Run"), table(("", ""), rows, "facts")]
    components = galaxy_log.components_text(run.folder) if run.isolated else ""
    if components:
        parts += [element("h2", "Components"), element("pre", components)]
    used = os.path.join(run.folder, "config-used.ini")
    if os.path.exists(used):
        with open(used, encoding="utf-8", errors="replace") as file:
            text = element("pre", file.read())
        all_of = element("details", element("summary", "all that have a meaning for this run"), text)
        parts += [element("h2", "Parameters"), all_of]
    return parts


def make_report(folder, out):
    """Write the page about the run in a folder. Raises ValueError if there is nothing to report."""
    run = Run(folder)
    figures, pictured = plots.make_figures(folder), run.numbers[::-1]
    if not figures and not pictures_of(run, pictured):
        raise ValueError(f"{folder} holds nothing to report: no outputs and no log")
    temporary = out + ".tmp"
    with open(temporary, "w", encoding="utf-8", errors="replace") as file:
        file.write(page_of(run, body(run, figures, pictured, out)))
    os.replace(temporary, out)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--out", metavar="FILE", help="(default: FOLDER/report.html)")
    parser.add_argument(
        "--serve",
        metavar="PORT",
        nargs="?",
        type=int,
        const=8000,
        help="follow a run that goes on, on a page for browsers of this machine (port 8000; 0: any"
        " free one)",
    )
    # "--serve FOLDER" has no PORT
    words = sys.argv[1:]
    if "--serve" in words[:-1] and not words[words.index("--serve") + 1].isdigit():
        words[words.index("--serve")] = "--serve=8000"
    options = parser.parse_args(words)
    need("h5py", "matplotlib", "numpy")
    try:
        if options.serve is not None:
            from .serve import serve

            return serve(options.folder, options.serve)
        out = options.out or os.path.join(options.folder, "report.html")
        make_report(options.folder, out)
        print(out)
    except FAULTS as error:
        fail(explain(error))
