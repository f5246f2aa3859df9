#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear theory of the universe in section [cosmology] of a config.ini, computed by CLASS (Blas,
Lesgourgues & Tram 2011, JCAP 07, 034).

usage: linear_theory.py config.ini --power pk.txt
       linear_theory.py config.ini --power pk.txt --species species.txt
       linear_theory.py config.ini --power pk.txt --transfers transfers.txt
       linear_theory.py config.ini --radiation

--power makes the table for ic.power_spectrum_file: P(k) of cold dark matter and baryons at z = 0. sigma8
of all matter is cosmology.sigma8. --species makes the table for cosmology.species_file: how cold dark
matter and baryons grow from before ic.z_init to z = 0, and which part massive neutrinos, radiation,
dark energy and general relativity (in N-body gauge) add to their attraction. --transfers makes the table
for ic.transfer_file: how far gas and dark matter are from the mean of both at ic.z_init. --radiation prints
Omega_r: photons, and those of N_eff neutrinos that have no mass in m_nu. The species table needs this
Omega_r in the file; for the others it may be 0, and CLASS has the radiation all the same. With
cosmology.w_table they are those of the w0 and wa that are nearest to it.

--running and --wdm change P(k): by a running spectral index, and for thermal relics of warm dark matter by
the fit of Viel et al. (2005), Phys. Rev. D 71, 063534.
"""

from photons.files import read_config
from photons.lightcone import DarkEnergy
from photons.modules import Deferred, fail, need, parser_of

classy, np = Deferred("classy"), Deferred("numpy")
chebyshev = Deferred("numpy.polynomial.chebyshev")
interpolate = Deferred("scipy.interpolate")

# As in the program, where a config.ini does not have a key.
DEFAULTS = {
    "Omega_m": 0.3144,
    "Omega_b": 0.0494,
    "h": 0.6732,
    "n_s": 0.966,
    "sigma8": 0.812,
    "w0": -1.0,
    "wa": 0.0,
    "Omega_r": 0.0,
}
Z_INIT = 49.0
Z_EARLIEST = 199.0  # with ic.z_init = auto
NEUTRINO_EV = 93.14  # Omega h^2 = mass / NEUTRINO_EV at the temperature ratio below
TEMPERATURE_RATIO = 0.71611
PHOTONS = 2.47282e-5  # Omega h^2 at 2.7255 K
MASSLESS = 7 / 8 * (4 / 11) ** (4 / 3)  # of one species with N_eff = 1, over photons
N_EFF = 3.044
N_EFF_MASSIVE = 1.0132  # of one species at TEMPERATURE_RATIO while it is relativistic
K_MIN, K_MAX = 1e-4, 50.0  # h/Mpc
K_NEUTRINOS = 1.0  # h/Mpc; beyond, neutrinos add less than 1e-4, and CLASS's fluid serves
K_EXACT = 0.1  # h/Mpc; below, the response is made to give the growth that CLASS has
TIMES = 160
PRECISE = {
    "ncdm_fluid_approximation": 3,  # none
    "l_max_ncdm": 25,
    "tol_perturbations_integration": 1e-6,
    "perturbations_sampling_stepsize": 0.02,
}


def nearest_w(section):
    """w0 and wa nearest to cosmology.w_table at a from 0.3 to 1, where dark energy counts."""
    dark, a = DarkEnergy(section), np.linspace(0.3, 1.0, 71)
    slope, w0 = np.polyfit(a - 1.0, np.interp(a, dark.a, dark.w), 1)
    return float(w0), float(-slope)


def universe_of(path):
    """The values of [cosmology] in a config.ini, with the masses of neutrinos in eV, and z_init."""
    config = read_config(path)
    section = config.get("cosmology", {})
    c = {key: float(section.get(key, value)) for key, value in DEFAULTS.items()}
    c["m_nu"] = [float(mass) for mass in section.get("m_nu", "").replace(",", " ").split()]
    if section.get("w_table"):
        c["w0"], c["wa"] = nearest_w(section)
    if len(c["m_nu"]) > 3:
        raise ValueError(f"{path}: m_nu has {len(c['m_nu'])} masses; at most 3 are expected")
    c["Omega_lambda"] = float(section.get("Omega_lambda", 1 - c["Omega_m"] - c["Omega_r"]))
    c["running"], c["wdm"], c["w_table"] = 0.0, 0.0, section.get("w_table", "")
    z_init = config.get("ic", {}).get("z_init", Z_INIT)
    c["chosen"] = z_init in ("auto", "-1")
    c["z_init"] = Z_EARLIEST if c["chosen"] else float(z_init)
    return c


def radiation(c, n_eff):
    """Omega_r of photons and massless neutrinos."""
    massless = n_eff - N_EFF_MASSIVE * len(c["m_nu"])
    if massless < 0:
        raise ValueError(f"N_eff = {n_eff} is less than {len(c['m_nu'])} massive neutrinos have")
    return PHOTONS / c["h"] ** 2 * (1 + MASSLESS * massless)


def class_parameters(c):
    """Arguments of classy for the values of universe_of()."""
    h2 = c["h"] ** 2
    neutrinos = sum(c["m_nu"]) / NEUTRINO_EV / h2
    cold = c["Omega_m"] - c["Omega_b"] - neutrinos
    if cold < 0:
        raise ValueError(f"Omega_m = {c['Omega_m']:g} is less than baryons and neutrinos have")
    parameters = {
        "h": c["h"],
        "Omega_b": c["Omega_b"],
        "Omega_cdm": cold,
        "Omega_k": 1 - c["Omega_m"] - c["Omega_lambda"] - c["Omega_r"],
        "n_s": c["n_s"],
        "alpha_s": c["running"],
        "A_s": 2.1e-9,
        "N_ur": c["n_ur"],
        "gauge": "synchronous",
        "nbody_gauge_transfer_functions": "yes",
        "extra_metric_transfer_functions": "yes",
    }
    if abs(parameters["Omega_k"]) < 1e-6:
        del parameters["Omega_k"]
    if c["m_nu"]:
        parameters.update(
            N_ncdm=len(c["m_nu"]),
            m_ncdm=", ".join(str(mass) for mass in c["m_nu"]),
            T_ncdm=", ".join([str(TEMPERATURE_RATIO)] * len(c["m_nu"])),
        )
    if (c["w0"], c["wa"]) != (-1, 0):
        parameters.update(Omega_Lambda=0, w0_fld=c["w0"], wa_fld=c["wa"], use_ppf="yes")
    return parameters


def solve(c, k_max, z_max, **precision):
    model = classy.Class()
    model.set(
        {
            **class_parameters(c),
            "output": "mPk,dTk,vTk",
            "P_k_max_h/Mpc": k_max,
            "z_max_pk": z_max,
            **precision,
        }
    )
    model.compute()
    return model


class Modes:
    """Density contrasts of one model of CLASS: arrays [time][k], and densities by time."""

    def __init__(self, model, ln_a):
        background = model.get_background()
        order = np.argsort(background["z"])[::-1]
        at = -np.log1p(background["z"][order])
        keep = np.concatenate([[True], np.diff(at) > 0])

        def of_time(values):
            return interpolate.CubicSpline(at[keep], values[order][keep])

        expansion = of_time(np.log(background["H [1/Mpc]"]))
        transfers = [model.get_transfer(max(0.0, np.expm1(-x))) for x in ln_a]
        self.k = transfers[0]["k (h/Mpc)"]
        self.hubble_slope = expansion(ln_a, 1)[:, None]
        a = np.exp(ln_a)[:, None]

        def contrast(name):
            return np.array([t[name] for t in transfers])

        def density(name):
            return of_time(background["(.)rho_" + name])(ln_a)[:, None]

        self.cold = density("b") + density("cdm")
        self.contrast = (
            density("b") * contrast("d_b") + density("cdm") * contrast("d_cdm")
        ) / self.cold
        self.share = self.cold / np.exp(2 * expansion(ln_a))[:, None]
        others = sum(
            density(name[2:]) * contrast(name)
            for name in transfers[0]
            if name in ("d_g", "d_ur", "d_fld") or name.startswith("d_ncdm")
        )
        # The metric's part: k^2 gamma of N-body gauge as a density, 4 pi G a^2 rho.
        metric = -contrast("k2gamma_Nb") / (1.5 * a**2)
        self.response = (others + metric) / (self.cold * self.contrast)


def derivatives(ln_a, values):
    """A smooth function's values and first two derivatives by time, [time][k]."""
    scale = 2 / (ln_a[-1] - ln_a[0])
    x = scale * (ln_a - ln_a[0]) - 1
    series = chebyshev.chebfit(x, values, 10)
    first, second = chebyshev.chebder(series), chebyshev.chebder(series, 2)
    return (
        chebyshev.chebval(x, series).T,
        scale * chebyshev.chebval(x, first).T,
        scale**2 * chebyshev.chebval(x, second).T,
    )


def grow(ln_a, modes, first=0):
    """Growth of cold dark matter with the response, by Runge-Kutta from CLASS's moment number `first` and its derivative:
    delta'' + (2 + dln H/dln a) delta' = 3/2 Omega (1 + R) delta, of ln a. Returns delta and delta'."""
    source = interpolate.CubicSpline(ln_a, 1.5 * modes.share * (1 + modes.response), axis=0)
    slope = interpolate.CubicSpline(ln_a, modes.hubble_slope, axis=0)
    start = interpolate.CubicSpline(ln_a, modes.contrast, axis=0)

    def change(x, y):
        return np.array([y[1], source(x) * y[0] - (2 + slope(x)) * y[1]])

    y = [np.array([start(ln_a[first]), start(ln_a[first], 1)])]
    for x, step in zip(ln_a[first:], np.diff(ln_a[first:])):
        k1 = change(x, y[-1])
        k2 = change(x + step / 2, y[-1] + step / 2 * k1)
        k3 = change(x + step / 2, y[-1] + step / 2 * k2)
        k4 = change(x + step, y[-1] + step * k3)
        y.append(y[-1] + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.array(y)[:, 0], np.array(y)[:, 1]


def growth_error(ln_a, modes, z):
    """The largest difference of growth from z to 0 by the response from that of CLASS, over the latter; of all k
    below K_NEUTRINOS, up to which the response acts."""
    first = int(np.searchsorted(ln_a, -np.log1p(z)))
    grown = grow(ln_a, modes, first)[0]
    of_class = modes.contrast[-1] / modes.contrast[first]
    return np.max(np.abs(grown[-1] / grown[0] / of_class - 1)[modes.k < K_NEUTRINOS])


def correct_response(ln_a, modes):
    """Below K_EXACT: with delta = q y, where y grows by the response, the response that makes delta
    grow is larger by (q'' + (2 y'/y + 2 + dln H/dln a) q')/(3/2 Omega q)."""
    y, rate = grow(ln_a, modes)
    q, first, second = derivatives(ln_a, modes.contrast / y)
    more = (second + (2 * rate / y + 2 + modes.hubble_slope) * first) / (1.5 * modes.share * q)
    modes.response += np.where(modes.k < K_EXACT, more, 0)


def all_modes(c, ln_a, z_max):
    modes = Modes(solve(c, K_MAX, z_max), ln_a)
    if c["m_nu"]:
        precise = Modes(solve(c, K_NEUTRINOS, z_max, **PRECISE), ln_a)
        low = precise.k < K_NEUTRINOS
        high = modes.k > precise.k[low][-1] * 1.01
        for name in ("contrast", "response"):
            parts = getattr(precise, name)[:, low], getattr(modes, name)[:, high]
            setattr(modes, name, np.concatenate(parts, axis=1))
        modes.k = np.concatenate([precise.k[low], modes.k[high]])
    return modes


def primordial(c, k):
    """P(k) of a transfer function of 1 with A_s = 2.1e-9, (Mpc/h)^3; k in h/Mpc."""
    x = np.log(k * c["h"] / 0.05)
    return 2 * np.pi**2 / k**3 * 2.1e-9 * np.exp((c["n_s"] - 1 + 0.5 * c["running"] * x) * x)


def warm(c, k):
    """The transfer function of warm over that of cold dark matter; k in h/Mpc. Viel et al. 2005, eqs. 6 and 7."""
    if not c["wdm"]:
        return np.ones_like(k)
    dark = c["Omega_m"] - c["Omega_b"] - sum(c["m_nu"]) / NEUTRINO_EV / c["h"] ** 2
    length = 0.049 * c["wdm"] ** -1.11 * (dark / 0.25) ** 0.11 * (c["h"] / 0.7) ** 1.22  # Mpc/h
    return (1 + (length * k) ** 2.24) ** (-5 / 1.12)


def heading(c):
    values = {key: c[key] for key in ("Omega_m", "Omega_b", "Omega_r", "h", "w0", "wa")}
    values.update(sum_m_nu=sum(c["m_nu"]), n_s=c["n_s"], sigma8=c["sigma8"])
    values.update((key, c[key]) for key in ("running", "wdm") if c[key])
    if c["N_eff"] != N_EFF:
        values["N_eff"] = c["N_eff"]
    yield f"Made by tools/linear_theory.py with CLASS {classy.__version__}."
    yield from (f"{key} = {value:.10g}" for key, value in values.items())
    yield "gauge = N-body"
    yield "unit_of_k = h/Mpc"


def write(path, lines, rows):
    with open(path, "w") as file:
        for line in lines:
            file.write(f"# {line}\n")
        for row in rows:
            file.write(" ".join(f"{number:.8e}" for number in row) + "\n")


def write_power(c, path):
    model = solve(c, K_MAX, 0.0)
    transfer = model.get_transfer(0.0)
    k = transfer["k (h/Mpc)"]
    model_density = {name: getattr(model, f"Omega_{name}")() for name in ("b",)}
    baryons = model_density["b"]
    cold = c["Omega_m"] - sum(c["m_nu"]) / NEUTRINO_EV / c["h"] ** 2
    contrast = (baryons * transfer["d_b"] + (cold - baryons) * transfer["d_cdm"]) / cold
    power = primordial(c, k) * contrast**2 * (c["sigma8"] / model.sigma8()) ** 2
    power *= warm(c, k) ** 2
    lines = [
        "P(k) of cold dark matter and baryons at z = 0; sigma8 is that of all matter, neutrinos included.",
        *heading(c),
        "z = 0",
        "k [h/Mpc]   P [(Mpc/h)^3]",
    ]
    write(path, lines, np.column_stack([k, power]))


def write_species(c, path):
    z_max = 1.25 * (1 + c["z_init"])
    ln_a = np.linspace(-np.log1p(z_max), 0, TIMES)
    modes = all_modes(c, ln_a, 1.01 * z_max)
    correct_response(ln_a, modes)
    growth = modes.contrast / modes.contrast[-1]
    rate = interpolate.CubicSpline(ln_a, np.log(growth), axis=0)(ln_a, 1)
    lines = [
        "Growth of cold dark matter and baryons in N-body gauge, and the response: the density contrast",
        "of all other species times their density, over that of cold dark matter and baryons.",
        *heading(c),
        f"growth_error = {growth_error(ln_a, modes, c['z_init']):.2g}",
        "a   k [h/Mpc]   delta(a)/delta(1)   dln delta/dln a   response",
    ]
    rows = (
        (a, modes.k[j], growth[i, j], rate[i, j], modes.response[i, j])
        for i, a in enumerate(np.exp(ln_a))
        for j in range(len(modes.k))
    )
    write(path, lines, rows)


def write_transfers(c, path):
    middle, around = -np.log1p(c["z_init"]), np.linspace(-0.1, 0.1, 9)
    model = solve(c, K_MAX, 1.2 * (1 + c["z_init"]), perturbations_sampling_stepsize=0.02)
    transfers = [model.get_transfer(np.expm1(-middle - x)) for x in around]
    k = transfers[0]["k (h/Mpc)"]
    share = model.Omega_b() / (model.Omega_b() + model.Omega0_cdm())
    contrast = {name: np.array([t["d_" + name] for t in transfers]) for name in ("b", "cdm")}
    matter = share * contrast["b"] + (1 - share) * contrast["cdm"]

    def now(values):
        return [interpolate.CubicSpline(around, values, axis=0)(0.0, order) for order in (0, 1)]

    ratios = [now(contrast[name])[i] / now(matter)[i] for i in (0, 1) for name in ("b", "cdm")]
    lines = [
        "Density contrasts of baryons and cold dark matter over that of both together by mass, and the same of",
        "their derivatives by ln a.",
        *heading(c),
        f"z = {c['z_init']:.10g}",
        "k [h/Mpc]   delta_b   delta_cdm   delta_b'   delta_cdm'",
    ]
    write(path, lines, np.column_stack([k, *ratios]))


def main():
    parser = parser_of(__doc__)
    parser.add_argument("config", help="config.ini")
    parser.add_argument("--power", metavar="FILE", help="write P(k)")
    parser.add_argument("--species", metavar="FILE", help="write growth and response")
    parser.add_argument("--transfers", metavar="FILE", help="write gas and dark matter at z_init")
    parser.add_argument("--z-init", type=float, metavar="Z",
                        help="redshift of the initial conditions (ic.z_init)")  # fmt: skip
    parser.add_argument("--running", type=float, default=0.0, metavar="ALPHA",
                        help="dn_s/dln k at 0.05/Mpc (0)")  # fmt: skip
    parser.add_argument("--wdm", type=float, default=0.0, metavar="KEV",
                        help="mass of thermal relics; 0: cold dark matter (0)")  # fmt: skip
    parser.add_argument("--radiation", action="store_true", help="print Omega_r")
    parser.add_argument("--n-eff", type=float, default=N_EFF, metavar="NUMBER",
                        help="neutrino species, with and without mass (3.044)")  # fmt: skip
    options = parser.parse_args()
    try:
        c = universe_of(options.config)
        c["running"], c["wdm"] = options.running, options.wdm
        if options.z_init is not None:
            c["z_init"] = options.z_init
        elif c["chosen"] and options.transfers:
            raise ValueError(
                f"{options.config}: ic.z_init = auto: give the redshift that photons-starpu --dry-run says"
                " as --z-init"
            )
        if c["wdm"] < 0:
            raise ValueError(f"--wdm {c['wdm']:g}: expected a mass in keV above 0")
        expected = radiation(c, options.n_eff)
        if options.radiation:
            print(f"Omega_r = {expected:.6g}")
        if not (options.power or options.species or options.transfers):
            return
        need("classy", "numpy", "scipy")
        smooth = c["Omega_r"] == 0 and not options.species
        if not smooth and abs(c["Omega_r"] / expected - 1) > 1e-3:
            raise ValueError(
                f"{options.config}: Omega_r = {c['Omega_r']:g}, expected {expected:.6g}, which photons"
                f" and {options.n_eff:g} - {len(c['m_nu'])} massless neutrinos have"
            )
        c["N_eff"] = options.n_eff
        c["n_ur"] = options.n_eff - N_EFF_MASSIVE * len(c["m_nu"])
        if options.power:
            write_power(c, options.power)
        if options.species:
            if c["w_table"]:
                raise ValueError(f"{options.config}: the growth of each k needs w0 and wa: leave out w_table")
            write_species(c, options.species)
        if options.transfers:
            write_transfers(c, options.transfers)
    except (OSError, ValueError) as error:
        fail(error)


if __name__ == "__main__":
    main()
