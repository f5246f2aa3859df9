#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/linear_theory.py asks CLASS for the universe of a config.ini and writes tables, and waves grow in
# a run as its table says. A stand-in has the place of CLASS: below k = 0.1 h/Mpc its matter grows as
# a^p in a universe of matter, which takes species that add a share R of matter's attraction.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy scipy

cat >classy.py <<'END'
import json
import sys

import numpy

__version__ = "stand-in"
RESPONSE = 0.03
POWER = (numpy.sqrt(25 + 24 * RESPONSE) - 1) / 4


class Class:
    def set(self, parameters):
        self.k = numpy.geomspace(1e-4, parameters["P_k_max_h/Mpc"], 100)
        json.dump(parameters, sys.stderr)
        sys.stderr.write("\n")

    def compute(self):
        pass

    def sigma8(self):
        return 0.5

    def Omega_b(self):
        return 0.05

    def get_background(self):
        z = numpy.expm1(numpy.linspace(10, 0, 3000))
        matter = (1 + z) ** 3
        names = {"(.)rho_b": 0.05, "(.)rho_cdm": 0.95, "(.)rho_g": 0, "(.)rho_ncdm[0]": 0}
        return {"z": z, "H [1/Mpc]": matter**0.5, **{n: f * matter for n, f in names.items()}}

    def get_transfer(self, z):
        power = numpy.where(self.k < 0.1, POWER, 1)
        contrast = -1e4 * (1 + z) ** -power * self.k**2 / (1 + 30 * self.k) ** 2
        zero = 0 * self.k
        return {"k (h/Mpc)": self.k, "d_b": contrast, "d_cdm": contrast, "d_g": zero,
                "d_ncdm[0]": zero, "k2gamma_Nb": zero}
END
# tool ARGUMENT...: what CLASS gets goes to err, a line each time.
tool() {
  PYTHONPATH=$work:$PYTHONPATH "$PYTHON" "$PHOTONS_SOURCE/tools/linear_theory.py" "$@" >out 2>err
}
# asked CONDITION: it holds for the parameters p of the last call.
asked() {
  tail -n 1 err | "$PYTHON" -c "
import json, sys
p = json.load(sys.stdin)
near = lambda a, b: abs(a - b) < 1e-6
assert $1, p" || complain "not: $1"
}
config() {
  cat <<END
[cosmology]
Omega_m = 0.9999078
Omega_b = 0.05
Omega_lambda = 0
sigma8 = 0.2
Omega_r = $1
${2:-}
[box]
size = 500
npart_side = 32
[ic]
fixed = yes
power_spectrum = file
power_spectrum_file = pk.txt
normalise = yes
[time]
z_end = 0
step = fixed
steps = 40
kicks = plain
[output]
redshifts = 49, 0
multipoles = yes
images = no
[analysis]
fof = no
END
}

config 9.22e-5 >config.ini
tool config.ini --radiation || complain '--radiation'
radiation=$(sed -n 's/Omega_r = //p' out)
config "$radiation" 'w0 = -0.9' >config.ini
tool config.ini --power pk.txt || complain "--power: $(cat err)"
asked "near(p['Omega_cdm'], 0.9999078 - 0.05) and p['w0_fld'] == -0.9 and 'm_ncdm' not in p"
asked "near(p['N_ur'], 3.044)" # within the digits of Omega_r
# a running index and warm dark matter
tool config.ini --power warm.txt --running 0.01 --wdm 1 || complain "--wdm: $(cat err)"
asked "p['alpha_s'] == 0.01"
grep -q '^# wdm = 1$' warm.txt && grep -q '^# gauge = N-body$' warm.txt || complain 'the table does not say what it is'
grep -v '^#' pk.txt >cold_rows
grep -v '^#' warm.txt | paste -d ' ' cold_rows - | awk '{ x = $4/$2*exp(-0.005*log($1*0.6732/0.05)^2); if ($1 < 0.05 && (x > 1.001 || x < 0.99)) bad = 1
  if ($1 > 10 && x > 0.2) bad = 1; n += $1 > 10 } END { exit bad || !n }' || complain 'another cutoff of warm dark matter'
grep -q N_eff warm.txt && complain 'the usual number of neutrinos is in a heading'
config 0 >config.ini
tool config.ini --power more.txt --n-eff 4 || complain "--n-eff: $(cat err)"
asked "near(p['N_ur'], 4)"
grep -q '^# N_eff = 4$' more.txt || complain 'the table does not tell the number of neutrinos'
# heavy neutrinos, three of them
config 1e-9 'm_nu = 0.1, 0.1, 0.1' >config.ini
tool config.ini --radiation
config "$(sed -n 's/Omega_r = //p' out)" 'm_nu = 0.1, 0.1, 0.1' >config.ini
tool config.ini --species species.txt || complain "--species with neutrinos: $(cat err)"
asked "p['m_ncdm'] == '0.1, 0.1, 0.1' and near(p['Omega_cdm'], 0.9499078 - 0.3 / 93.14 / 0.6732**2)"
asked "p['ncdm_fluid_approximation'] == 3 and p['P_k_max_h/Mpc'] == 1"
grep -q '^# sum_m_nu = 0.3$' species.txt || complain 'the table does not name its neutrinos'

# A run with these neutrinos, and its snapshot analysed
"$PHOTONS" --quiet config.ini --steps 0 --set cosmology.species_file=species.txt --set output.dir=heavy \
  --set output.redshifts=49 2>err || complain "heavy neutrinos: $(cat err)"
analyse_heavy() { "$PHOTONS" --quiet --analyse heavy/snapshot_000.hdf5 --set output.dir=again --set analysis.fof=no 2>err; }
analyse_heavy || complain "--analyse of neutrinos: $(cat err)"
same_text heavy/powerspec_000.txt again/powerspec_000.txt || complain 'heavy neutrinos: --analyse gives another P(k) or theory'
mv species.txt elsewhere.txt
analyse_heavy && complain '--analyse has no table of neutrinos and goes on'
grep -q 'species_file' err || complain "--analyse without the table: $(cat err)"
mv elsewhere.txt species.txt

# refused TEXT ARGUMENT...
refused() {
  text=$1
  shift
  tool "$@" && complain "$* is taken"
  grep -q -- "$text" err || complain "$*: does not say '$text'"
  [ "$(wc -l <err)" -eq 1 ] || complain "$*: not one line"
}
config 1e-4 >wrong.ini
refused 'expected 9.2' wrong.ini --power pk.txt
refused 'nowhere.ini' nowhere.ini --power pk.txt
config 9.15757e-05 'm_nu = 60' >wrong.ini
refused 'less than baryons and neutrinos' wrong.ini --n-eff 4 --power pk.txt

# The program refuses neutrinos without the table, and a table of another universe.
# says CODE TEXT OPTION...
says() {
  code=$1 text=$2
  shift 2
  "$PHOTONS" --dry-run config.ini "$@" >out 2>err
  [ $? -eq "$code" ] || complain "$*: not exit code $code"
  grep -qF -- "$text" err || complain "$*: does not say '$text': $(cat err)"
}
config "$radiation" >config.ini
tool config.ini --power pk.txt --species species.txt || complain "tables: $(cat err)"
awk '/^# growth_error = / { n++; bad = !($4 < 1e-5) } END { exit bad || n != 1 }' species.txt ||
  complain "the table's response does not give its growth: $(grep growth_error species.txt)"
says 2 'needs cosmology.species_file' --set cosmology.m_nu=0.06
says 3 'sum_m_nu = 0, and the run has 0.06' --set cosmology.m_nu=0.06 \
  --set cosmology.species_file=species.txt
says 3 'expected from z_init = 99 or earlier' --set ic.z_init=99 \
  --set cosmology.species_file=species.txt
sed 's/^# z = 0$/# z = 1/' pk.txt >early.txt
says 3 'it is of z = 1, expected 0' --set ic.power_spectrum_file=early.txt
says 0 'it is of a universe with h = 0.6732, and the run has 0.7' --set cosmology.h=0.7
grep -v '^1.0' species.txt >cut.txt
says 3 'to 0' --set cosmology.species_file=cut.txt
{ cat species.txt && echo '1 2 3'; } >damaged.txt
says 3 'expected five numbers' --set cosmology.species_file=damaged.txt
sed '$d' species.txt >damaged.txt
says 3 'the same 4 or more rising k' --set cosmology.species_file=damaged.txt

# Waves grow as the table says, in the universe of the stand-in, which has no radiation.
config 0 >config.ini
sed -i '/^# Omega_r/d' species.txt
for species in '' species.txt; do
  timeout "$(seconds 300)" "$PHOTONS" --quiet config.ini --set output.dir="run-$species" \
    --set cosmology.species_file="$species" || complain "the run with '$species'"
done
helper run-/snapshot_000.hdf5 run-/snapshot_001.hdf5 run-species.txt/snapshot_000.hdf5 \
  run-species.txt/snapshot_001.hdf5 species.txt run-species.txt run- || complain 'the growth'
finish
