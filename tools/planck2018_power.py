#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the linear matter power spectrum of Planck 2018 at z = 0, made with CAMB.

usage: planck2018_power.py > params/planck2018_power.txt
"""

import argparse

from needed_modules import Deferred, need

camb, np = Deferred("camb"), Deferred("numpy")

# Planck 2018 (arXiv:1807.06209, table 2), base LCDM. Neutrinos of 0.06 eV make up the difference
# between Omega_c + Omega_b + Omega_Lambda and 1.
OMEGA_LAMBDA, OMEGA_C, OMEGA_B, H, SIGMA8, N_S = 0.684, 0.265, 0.0494, 0.6732, 0.812, 0.966
NEUTRINO_MASS = 0.06
K_MIN, K_MAX, ROWS = 1e-4, 200.0, 800
K_PER_LOGINT = 50  # modes per e-fold of k that CAMB follows outside the acoustic range


def main():
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    need("camb", "numpy")
    cosmology = camb.set_params(
        H0=100 * H,
        omch2=OMEGA_C * H**2,
        ombh2=OMEGA_B * H**2,
        omk=0,
        mnu=NEUTRINO_MASS,
        tau=0.0543,
        As=2.1e-9,
        ns=N_S,
        WantTransfer=True,
        WantCls=False,
        NonLinear="NonLinear_none",
    )
    cosmology.set_matter_power(
        redshifts=[0.0], kmax=1.1 * K_MAX * H, k_per_logint=K_PER_LOGINT, nonlinear=False
    )
    results = camb.get_results(cosmology)
    rescale = (SIGMA8 / results.get_sigma8_0()) ** 2
    k, _, power = results.get_matter_power_spectrum(minkh=K_MIN, maxkh=K_MAX, npoints=ROWS)
    print(
        f"# Linear power spectrum of all matter at z = 0, Planck 2018: Omega_c {OMEGA_C},"
        f" Omega_b {OMEGA_B}, h {H},"
    )
    print(
        f"# neutrinos of {NEUTRINO_MASS} eV, flat (Omega_Lambda {results.get_Omega('de'):.4f}),"
        f" n_s {N_S};"
        f" scaled to sigma8 = {SIGMA8}."
    )
    print(f"# Made by tools/planck2018_power.py with CAMB {camb.__version__}.")
    print("# k [h/Mpc]   P [(Mpc/h)^3]")
    for row in np.column_stack([k, rescale * power[0]]):
        print("%.6e %.6e" % tuple(row))


if __name__ == "__main__":
    main()
