#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/scale_free.py: in units of the nonlinear length the power of the longest waves is one power law at all times;
# and with ic.lattice_growth waves up to the Nyquist frequency of the particles grow to linear theory.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

"$PYTHON" "$PHOTONS_SOURCE/tests/support/self_similar_tables.py" || complain "tables of a self-similar universe are not, or tables of another one are"

"$PHOTONS_SOURCE/tools/scale_free.py" "$PHOTONS_SOURCE/params/scale_free.ini" --index=-1.5 --side 16 --coarser 12 --fewest 49 \
  --program "$PHOTONS" --set output.dir=out --set time.accuracy=fast >log 2>&1 || complain "exit code $?: $(cat log)"
"$PHOTONS_SOURCE/tools/scale_free.py" "$PHOTONS_SOURCE/params/scale_free.ini" --side 16 --program "$PHOTONS" --set output.dir=refused \
  --set box.npart_side=8 >refused.log 2>&1 && complain "a number of particles that is not that of --side is taken"
grep -q -e '--set box.npart_side=8: expected --side' refused.log || complain "no error names --side: $(cat refused.log)"
# Delta^2 of the longest waves over (k/k_NL)^1.5, of each output over that of the first. What is not linear in it falls
# with Delta^2, which is 0.05 to 0.33: 2.4 to 3.4 % of it here, and so a tenth of it is allowed.
awk -F, 'NR == 1 { next } !($1 in seen) { seen[$1]; n++; constant = $4/$3^1.5; if (n == 1) first = constant
    if (n <= 4 && !(constant/first > 1 - 0.1*$4 && constant/first < 1 + 0.1*$4)) wrong = 1 }
  END { exit n < 6 || wrong }' out/n-1.5/selfsimilar_power.csv ||
  complain "the longest waves are not self-similar: $(cat out/n-1.5/selfsimilar_power.csv)"
# The same waves on 2.4 times fewer particles have 2.9 % more power, and 6.1 % less where waves grow as on a grid.
awk '/over 16\^3/ { over = 1 } over && /power, k\/k_N 0.5 to 1:/ { mean = $10 + 0; found = 1 }
  END { exit !(found && mean > -4 && mean < 4) }' log || complain "particles' distance matters: $(cat log)"

# The correlation function at a spacing, where forces are softened over a 31st of it, is 5 % lower on fewer particles; where they are softened
# over a spacing, 21 %.
awk '/over 16\^3/ { over = 1 } over && /correlation, r\/spacing 0.75 to 1.5:/ { mean = $10 + 0; found = 1 }
  END { exit !(found && mean > -10 && mean < 10) }' log || complain "particles' distance matters to the correlation function: $(cat log)"

# Waves that stay linear from z = 49 to 4. Steps of 0.04 in ln a cost 5e-3 of their power, which on a grid is half of that
# of a fluid near the Nyquist frequency.
for growth in 1 10; do
  timeout "$(seconds 100)" "$PHOTONS" --quiet "$PHOTONS_SOURCE/params/scale_free.ini" --set box.size=16 --set box.npart_side=16 \
    --set cosmology.sigma8=0.01 --set ic.z_init=49 --set ic.order=1 --set ic.lattice_growth=$growth \
    --set time.step=fixed --set time.steps=60 --set time.z_end=4 --set output.scale_factors=0.02,0.2 \
    --set output.correlation=no --set analysis.fof=no --set analysis.statistics_mesh=32 \
    --set output.dir=linear$growth || exit 1
done
paste linear1/powerspec_000.txt linear1/powerspec_001.txt linear10/powerspec_001.txt |
  awk '!/#/ && $1 < 3.14 { grid = $8/$2/100; fluid = $14/$2/100; rows++; print $1, grid, fluid
      if (fluid < 0.99 || fluid > 1.01) wrong = 1 }
    END { exit wrong || rows < 5 || grid > 0.6 }' >growth.txt ||
  complain "P(k) over that of linear theory, of waves of a fluid and of a grid: $(cat growth.txt)"
finish
