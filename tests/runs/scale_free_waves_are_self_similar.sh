#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/scale_free.py: in units of the nonlinear length the power of the longest waves is one power law at all times.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

"$PHOTONS_SOURCE/tools/scale_free.py" "$PHOTONS_SOURCE/params/scale_free.ini" --index=-1.5 --side 16 --program "$PHOTONS" \
  --set output.dir=out --set time.accuracy=fast >log 2>&1 || complain "exit code $?: $(cat log)"
# Delta^2 of the longest waves over (k/k_NL)^1.5, of each output over that of the first. What is not linear in it falls
# with Delta^2, which is 0.07 to 0.42: 0.1 to 2.7 % of it here, and so a tenth of it is allowed.
awk -F, 'NR == 1 { next } !($1 in seen) { seen[$1]; n++; constant = $4/$3^1.5; if (n == 1) first = constant
    if (n <= 4 && !(constant/first > 1 - 0.1*$4 && constant/first < 1 + 0.1*$4)) wrong = 1 }
  END { exit n < 6 || wrong }' out/n-1.5/selfsimilar_power.csv ||
  complain "the longest waves are not self-similar: $(cat out/n-1.5/selfsimilar_power.csv)"
finish
