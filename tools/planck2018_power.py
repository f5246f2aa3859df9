#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the linear power spectrum of all matter at z = 0, made with CAMB. Without options it is
that of Planck 2018 (arXiv:1807.06209, table 2), base LCDM with neutrinos of 0.06 eV.

usage: planck2018_power.py > params/planck2018_power.txt
       planck2018_power.py --w0 -0.9 --wa 0.1 > pk.txt
       planck2018_power.py --config my.ini > pk.txt
"""

from photons.files import read_config
from photons.modules import Deferred, fail, need, parser_of

camb, np = Deferred("camb"), Deferred("numpy")

# Planck 2018. Neutrinos make up the difference between Omega_c + Omega_b + Omega_Lambda and 1.
OMEGA_C = 0.265
DEFAULTS = {
    "omega_m": None,  # OMEGA_C + omega_b + that of neutrinos
    "omega_b": 0.0494,
    "h": 0.6732,
    "sigma8": 0.812,
    "n_s": 0.966,
    "w0": -1.0,
    "wa": 0.0,
    "mnu": 0.06,
}
CONFIG_KEYS = {"omega_m": "Omega_m", "omega_b": "Omega_b"}  # in config.ini; others are the same
HELP = {
    "omega_m": "density of all matter, neutrinos included",
    "omega_b": "density of baryons",
    "h": "Hubble constant [100 km/s/Mpc]",
    "sigma8": "linear rms density contrast in spheres of 8 Mpc/h at z = 0",
    "n_s": "spectral index",
    "w0": "dark energy has w = w0 + wa (1 - a)",
    "wa": "dark energy has w = w0 + wa (1 - a)",
    "mnu": "sum of the masses of neutrinos [eV]",
}
NEUTRINO_EV = 93.14  # Omega_nu h^2 = mnu / NEUTRINO_EV (Planck 2018)
K_MIN, K_MAX, ROWS = 1e-4, 200.0, 800
K_PER_LOGINT = 50  # modes per e-fold of k that CAMB follows outside the acoustic range


def from_config(path):
    """The values of [cosmology] in a config.ini, by the names of DEFAULTS. Neutrinos have no
    parameter there: 0 eV."""
    section = read_config(path).get("cosmology", {})
    keys = {name: CONFIG_KEYS.get(name, name) for name in DEFAULTS}
    found = {name: float(section[key]) for name, key in keys.items() if key in section}
    curved = abs(float(section.get("Omega_m", 0)) + float(section.get("Omega_lambda", 0)) - 1)
    if {"Omega_m", "Omega_lambda"} <= section.keys() and curved > 1e-4:
        raise ValueError(f"{path}: Omega_m + Omega_lambda is not 1, and this program makes flat"
                         " models only")  # fmt: skip
    return {**found, "mnu": 0.0}


def cosmology_of(options):
    """All values: options of the command line before those of --config, before Planck 2018."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    config = from_config(given.pop("config")) if "config" in given else {}
    return {**DEFAULTS, **config, **given}


def camb_parameters(c):
    """Arguments of camb.set_params() for the values of cosmology_of()."""
    baryons = c["omega_b"] * c["h"] ** 2
    matter = OMEGA_C * c["h"] ** 2
    if c["omega_m"] is not None:
        matter = c["omega_m"] * c["h"] ** 2 - baryons - c["mnu"] / NEUTRINO_EV
    if matter < 0:
        raise ValueError(f"omega_m = {c['omega_m']:g} is less than baryons and neutrinos have")
    parameters = {
        "H0": 100 * c["h"],
        "omch2": matter,
        "ombh2": baryons,
        "omk": 0,
        "mnu": c["mnu"],
        "tau": 0.0543,
        "As": 2.1e-9,
        "ns": c["n_s"],
        "WantTransfer": True,
        "WantCls": False,
        "NonLinear": "NonLinear_none",
    }
    if (c["w0"], c["wa"]) != (-1, 0):  # "ppf" may cross w = -1
        parameters.update(w=c["w0"], wa=c["wa"], dark_energy_model="ppf")
    return parameters


def spectrum(c):
    """k [h/Mpc], P [(Mpc/h)^3] scaled to sigma8, and the density of dark energy."""
    model = camb.set_params(**camb_parameters(c))
    model.set_matter_power(
        redshifts=[0.0], kmax=1.1 * K_MAX * c["h"], k_per_logint=K_PER_LOGINT, nonlinear=False
    )
    results = camb.get_results(model)
    rescale = (c["sigma8"] / results.get_sigma8_0()) ** 2
    k, _, power = results.get_matter_power_spectrum(minkh=K_MIN, maxkh=K_MAX, npoints=ROWS)
    return k, rescale * power[0], results.get_Omega("de")


def print_table(c):
    k, power, dark_energy = spectrum(c)
    omega_c = camb_parameters(c)["omch2"] / c["h"] ** 2
    planck = ", Planck 2018" if c == DEFAULTS else ""
    print(
        f"# Linear power spectrum of all matter at z = 0{planck}: Omega_c {omega_c:.6g},"
        f" Omega_b {c['omega_b']}, h {c['h']},"
    )
    print(
        f"# neutrinos of {c['mnu']} eV, flat (Omega_Lambda {dark_energy:.4f}), w0 {c['w0']:g},"
        f" wa {c['wa']:g}, n_s {c['n_s']}; scaled to sigma8 = {c['sigma8']}."
    )
    print(f"# Made by tools/planck2018_power.py with CAMB {camb.__version__}.")
    print("# k [h/Mpc]   P [(Mpc/h)^3]")
    for row in np.column_stack([k, power]):
        print("%.6e %.6e" % tuple(row))


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--config", metavar="FILE", help="take [cosmology] of this config.ini")
    for name in DEFAULTS:
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=float, metavar="NUMBER", help=HELP[name]
        )
    options = parser.parse_args()
    need("camb", "numpy")
    try:
        print_table(cosmology_of(options))
    except (OSError, ValueError) as error:
        fail(error)


if __name__ == "__main__":
    main()
