#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Bad command lines and configurations: one clear message, exit code 2, and nothing left behind.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
mkdir run && cd run || exit 99 # what programs print is kept outside

# expect CODE MESSAGE ARGUMENT...: the program ends with CODE, says MESSAGE in one line of stderr
# and leaves the folder as it was.
expect() {
  code=$1 message=$2
  shift 2
  find . -exec ls -ld --full-time {} + >../before
  timeout "$(seconds 60)" "$PHOTONS" "$@" >../out 2>../err </dev/null
  found=$?
  find . -exec ls -ld --full-time {} + >../after
  [ $found -eq "$code" ] || complain "$*: exit code $found, not $code"
  grep -qF -- "$message" ../err || complain "$*: no line with: $message"
  [ -s ../out ] && complain "$*: something on standard output"
  cmp -s ../before ../after || complain "$*: left something behind: $(ls)"
}

# config LINE...: a complete config.ini and these lines after it.
config() {
  {
    printf '[box]\nsize = 100\nnpart_side = 8\n'
    printf '%s\n' "$@"
  } >config.ini
}

config
# The command line.
expect 2 'no config.ini was given; try --help'
expect 2 'unknown option --dryrun; try --help' --dryrun config.ini
expect 2 'unknown option -x; try --help' -qx config.ini
expect 2 'the option --quiet=1 takes no value; try --help' --quiet=1 config.ini
expect 2 'the option --set needs a value; try --help' config.ini --set
expect 2 '--steps -1: not a number of steps' --steps -1 config.ini
expect 2 '--steps 2x: not a number of steps' -s 2x config.ini
expect 2 '--steps : not a number of steps' -s '' config.ini
expect 2 'more than one config.ini: config.ini and other.ini' config.ini other.ini
# The file itself.
expect 2 'none.ini: cannot open the configuration: No such file or directory' none.ini
expect 2 'cannot open the configuration: it is a folder' .
expect 2 'not a text file; --defaults prints what is expected' "$PHOTONS"
: >empty.ini
expect 2 'empty.ini: 2 problems, nothing was run' empty.ini
# Its lines.
config '[gravty]' 'theta = 1'
expect 2 'config.ini:4: [gravty]: unknown section; did you mean [gravity]?' config.ini
config '[gravity]' 'thetta = 1'
expect 2 'config.ini:5: [gravity] thetta: unknown key; did you mean [gravity] theta?' config.ini
config '[gravity]' 'theta = 0.5' 'theta = 0.6'
expect 2 'config.ini:6: [gravity] theta: given twice, first in line 5' config.ini
config '[gravity]' 'theta = 0.5x7'
expect 2 'config.ini:5: [gravity] theta = 0.5x7: not a number; allowed: 0.01 .. 1.5' config.ini
config '[gravity]' 'theta = -1'
expect 2 'config.ini:5: [gravity] theta = -1: out of range; allowed: 0.01 .. 1.5' config.ini
config '[cosmology]' 'sigma8 = inf'
expect 2 'config.ini:5: [cosmology] sigma8 = inf: not a finite number' config.ini
config '[gravity]' 'softening = 0'
expect 2 'config.ini:5: [gravity] softening = 0: no length for time.step = adaptive or block' config.ini
# The first mesh has 10 cells of 10 Mpc/h, and direct sums end at 3.45 of them.
config '[gravity]' 'softening = 15500'
expect 2 'gravity.softening = 15500 kpc/h is too long for the mesh' config.ini
expect 2 'direct sums end at gravity.r_cut = 3.45 cells = 34500 kpc/h (gravity.pm_grid = 10): take at most' \
  config.ini
expect 2 'gravity.pm_grid_most = 16): take at most 7701 kpc/h, or a mesh of at most 14 cells' \
  --set gravity.softening=8000 --set gravity.pm_grid_most=16 config.ini
expect 2 'gravity.softening_max_physical (comoving) = 15500 kpc/h is too long' \
  --set gravity.softening=99999 --set gravity.softening_max_physical=310 config.ini
expect 2 'softened up to 6 times that, 48000 kpc/h' \
  --set gravity.softening=8000 --set gravity.softening_kernel=plummer config.ini
config '[gravity]' 'softening = 1e-12'
expect 2 'gravity.softening: 1e-12 kpc/h at the end of the run are below a millionth' config.ini
config '[gravity]' 'assignment = ngp'
expect 2 'config.ini:5: [gravity] assignment = ngp: unknown word; allowed: cic | tsc | pcs' \
  config.ini
config '[ic]' 'source = gadget' 'file = none.gadget2'
expect 2 'config.ini:6: [ic] file = none.gadget2: cannot read it: No such file or directory' \
  config.ini
config '[ic]' 'power_spectrum = file' 'power_spectrum_file = none.txt'
expect 2 'config.ini:6: [ic] power_spectrum_file = none.txt: cannot read it: No such file' \
  config.ini
config '[output]' 'dir = config.ini'
expect 2 'config.ini:5: [output] dir = config.ini: config.ini is not a folder' config.ini
# What has no meaning because another key was forgotten.
config '[time]' 'steps = 100'
expect 2 'config.ini:5: [time] steps = 100: has no meaning without time.step = fixed, which is not given' config.ini
config '[ic]' 'file = config.ini'
expect 2 'config.ini:5: [ic] file = config.ini: has no meaning without ic.source = gadget or array' config.ini
config '[output]' 'halo_order = yes' '[analysis]' 'fof = no'
expect 2 'config.ini:5: [output] halo_order = yes: needs analysis.fof = yes' config.ini
config '[output]' 'subhalos = yes' '[analysis]' 'fof = no'
expect 2 'config.ini:5: [output] subhalos = yes: needs analysis.fof = yes' config.ini
config '[output]' 'trees = yes' '[analysis]' 'fof = no'
expect 2 'config.ini:5: [output] trees = yes: needs analysis.fof = yes' config.ini
config '[output]' 'accelerations = yes' 'snapshots = no'
expect 2 'config.ini:5: [output] accelerations = yes: needs output.snapshots = yes' config.ini
# Schedulers that do not work are not among those that are named.
config
export STARPU_SCHED=peager
expect 2 'STARPU_SCHED=peager: not a scheduler of this StarPU; allowed: owner-computes' --dry-run config.ini
grep -q 'lws' ../err && ! grep -q 'peager \|pheft\|graph_test' ../err || complain 'schedulers'
unset STARPU_SCHED
# The dry run finds the same, and all is reported in one go.
config '[time]' 'z_end = x' 'step = slow' '[output]' 'redshifts = 99'
expect 2 'config.ini:5: [time] z_end = x: not a number' --dry-run config.ini
expect 2 'config.ini:6: [time] step = slow: unknown word' --dry-run config.ini
expect 2 'config.ini: 2 problems, nothing was run' --dry-run config.ini
# --set.
config
expect 2 '--set gravity.theta=much: [gravity] theta = much: not a number' \
  --set gravity.theta=much config.ini
expect 2 '--set theta=1: expected SECTION.KEY=VALUE' --set theta=1 config.ini
expect 2 '--set box.sise=1: [box] sise: unknown key; did you mean [box] size?' \
  config.ini -P box.sise=1
expect 2 'config.ini: 3 problems, nothing was run' \
  -P a.b=1 -P box.size=0 -P box.npart_side=x config.ini

# A run that is probably not meant is one with a warning.
printf '[box]\nsize = 100\nnpart_side = 8\n[ic]\nz_init = 4\n[gravity]\nsoftening = 0.5\n' >late.ini
"$PHOTONS" --dry-run late.ini >../out 2>../err || complain "late.ini: exit code $?"
grep -q 'warning: ic.z_init = 4 is late' ../err && grep -q 'warning: gravity.softening: 0.5 kpc/h' ../err &&
  [ "$(wc -l <../err)" -eq 2 ] || complain 'late.ini: not two warnings'
# warned TEXT OPTION...: --dry-run is in order, and warns.
warned() {
  text=$1
  shift
  "$PHOTONS" --dry-run "$@" >../out 2>../err || complain "$*: exit code $?"
  grep -q -F "warning: $text" ../err || complain "$*: no warning \"$text\""
}
printf '# Redshift, Select Output\n2., Snapshot\n0., Snapshot\n' >times.txt
warned 'output.times_file = times.txt has a second column, which is not used' \
  --set output.redshifts= --set output.times_file=times.txt config.ini
config
warned 'analysis.min_members = 513: the run has 512 particles, and will have no halos' \
  --set analysis.min_members=513 config.ini
warned 'cosmology.Omega_lambda is not given and makes the universe flat: it is 1 - Omega_m - Omega_r = -0.2, below 0' \
  --set cosmology.Omega_m=1.2 config.ini
printf '[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[galaxy]\nmodel = plummer\nparticles = 2000\n' >galaxy.ini
printf '[gravity]\nsoftening = 1\n[time]\nend = 20\n' >>galaxy.ini
"$PHOTONS" --dry-run galaxy.ini >../out 2>../err || complain "galaxy.ini: exit code $?"
grep warning ../err && complain 'galaxy.ini: a warning'

# What ends well without a run says so on standard output alone.
for option in --help '--help time.max_step' '--help gas' --version --defaults --reference; do
  "$PHOTONS" $option >../out 2>../err || complain "$option: exit code $?"
  [ -s ../out ] || complain "$option: says nothing"
  [ -s ../err ] && complain "$option: something on standard error"
done
"$PHOTONS" --help max_step | grep -q '^  of: isolated systems$' ||
  complain '--help max_step: not of isolated systems'
expect 2 '--help max_stop: neither a parameter nor a section' --help max_stop
if [ -w /dev/full ]; then
  "$PHOTONS" --defaults >/dev/full 2>../err
  [ $? -eq 1 ] || complain '--defaults to a full disk: not exit code 1'
fi

finish
