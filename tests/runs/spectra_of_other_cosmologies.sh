#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/planck2018_power.py asks CAMB for the cosmology of its options or of a config.ini, and
# scales what CAMB gives to sigma8. A stand-in has the place of CAMB.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python numpy

cat >camb.py <<'END_OF_MODULE'
import json
import sys

import numpy

__version__ = "stand-in"


class Model:
    def set_matter_power(self, **arguments):
        self.k = arguments["kmax"]


class Results:
    def get_sigma8_0(self):
        return 0.5

    def get_Omega(self, name):
        return 0.7

    def get_matter_power_spectrum(self, minkh, maxkh, npoints):
        k = numpy.geomspace(minkh, maxkh, npoints)
        return k, [0.0], numpy.array([1 / k])


def set_params(**parameters):
    json.dump(parameters, sys.stderr)
    return Model()


def get_results(model):
    return Results()
END_OF_MODULE
# spectrum ARGUMENT...: the table goes to out, the parameters that CAMB gets to err.
spectrum() {
  PYTHONPATH=$work:$PYTHONPATH "$PYTHON" "$PHOTONS_SOURCE/tools/planck2018_power.py" "$@" \
    >out 2>err
}
# asked CONDITION: it holds for the parameters p.
asked() {
  "$PYTHON" -c "
import json
p = json.load(open('err'))
near = lambda a, b: abs(a - b) < 1e-9
assert $1, p" || complain "not: $1"
}

spectrum || complain "no options"
asked "near(p['H0'], 67.32) and near(p['omch2'], 0.265 * 0.6732**2) and p['mnu'] == 0.06"
asked "'w' not in p"
[ "$(grep -vc '^#' out)" -eq 800 ] || complain "not 800 rows"
# P = 1/k times (0.812/0.5)^2, at k = 1e-4
grep -q '^1.000000e-04 2.637376e+04$' out || complain "not scaled to sigma8"

spectrum --w0 -0.9 --wa 0.2 --omega-m 0.3 --h 0.7 --mnu 0.1 || complain "options"
asked "p['w'] == -0.9 and p['wa'] == 0.2 and p['dark_energy_model'] == 'ppf'"
asked "near(p['omch2'], (0.3 - 0.0494) * 0.49 - 0.1 / 93.14)"

cat >config.ini <<END
[cosmology]
Omega_m = 0.28     # of all matter
Omega_lambda = 0.72
h = 0.71
w0 = -1.1
sigma8 = 0.5
[box]
h = wrong
[cosmology]
Omega_m = 0.28     # of all matter
Omega_lambda = 0.72
h = 0.71
w0 = -1.1
sigma8 = 0.5
[box]
h = wrong
END
spectrum --config config.ini || complain "--config"
asked "near(p['H0'], 71) and near(p['omch2'], (0.28 - 0.0494) * 0.71**2) and p['mnu'] == 0"
asked "p['w'] == -1.1 and p['wa'] == 0"
grep -q '^1.000000e-04 1.000000e+04$' out || complain "not scaled to sigma8 of the file"
spectrum --config config.ini --h 0.6 || complain "--config and an option"
asked "near(p['H0'], 60) and p['w'] == -1.1"

# refused TEXT ARGUMENT...
refused() {
  text=$1
  shift
  spectrum "$@" && complain "$* is taken"
  grep -q -- "$text" err || complain "$*: does not say '$text'"
  [ "$(wc -l <err)" -eq 1 ] || complain "$*: not one line"
}
refused 'omega_m = 0.01 is less' --omega-m 0.01
refused 'nowhere.ini' --config nowhere.ini
sed -i 's/0.72/0.5/' config.ini
refused 'flat' --config config.ini

finish
