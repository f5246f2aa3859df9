#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/mocks.py makes mocks and their covariance, and goes on after a kill with those that have not ended.
# tools/pairs.py runs a pair of opposite phases and writes the mean. The commands of the tutorial's section 7 do so,
# with few particles, and those of its sections 3 to 6 leave what they say.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy

cat >config.ini <<'END'
[box]
size = 200
npart_side = 16
[ic]
z_init = 9
[time]
step = pm
steps = 2
z_end = 0
[analysis]
linking_length = 0.4
min_members = 2
[output]
dir = mocks
END
# The first time that the third mock is to run, the command that runs it is killed.
cat >program <<'END'
#!/bin/sh
case " $* " in
*--dry-run*) ;;
*ic.seed=3\ *) [ -e killed ] || { : >killed; kill -9 "$PPID"; exit 1; } ;;
esac
exec "$PHOTONS" "$@"
END
chmod +x program
tool() { # tool NAME ARGUMENT...
  name=$1
  shift
  timeout "$(seconds 120)" "$PYTHON" "$PHOTONS_SOURCE/tools/$name.py" "$@" --program ./program >out 2>err
}
tool mocks config.ini 4 --jobs 1 && complain 'a command that is killed ends well'
[ -e mocks/mock_2/finished.json ] && [ ! -e mocks/mock_3/finished.json ] || complain 'the kill'
cp -p mocks/mock_2/powerspec_000.txt before
tool mocks config.ini 4 || complain "mocks after a kill: $(cat err)"
[ mocks/mock_2/powerspec_000.txt -nt before ] && complain 'a mock that has ended is repeated'
[ -e mocks/figures/mocks_000.png ] || complain 'no figure'
[ ! -e mocks/mock_1/snapshot_000.hdf5 ] || complain 'mocks write snapshots'
"$PYTHON" -c 'import h5py, sys; sys.exit("IDs" in h5py.File("mocks/mock_1/fof_subhalo_tab_000.hdf5"))' ||
  complain 'mocks write ids of members'
tool mocks config.ini 4 --set cosmology.sigma8=0.9 && complain 'mocks of two universes are mixed'
grep -q 'other settings' err || complain "two universes: $(cat err)"
tool mocks config.ini 1 && complain 'one mock has a covariance'
tool mocks config.ini 4 --set box.size=-1 && complain 'a wrong parameter is taken'
grep -q 'box.size' err || complain "a wrong parameter: $(cat err)"
tool mocks config.ini 2 --set output.dir=empty --set analysis.min_members=4000 || complain "no halos: $(cat err)"
[ -e empty/mockpower_000.txt ] || complain 'mocks without halos have no P(k)'

tool pairs config.ini --set output.dir=pair || complain "pairs: $(cat err)"
cp -p pair/plus/powerspec_000.txt before
tool pairs config.ini --set output.dir=pair || complain "pairs again: $(cat err)"
[ pair/plus/powerspec_000.txt -nt before ] && complain 'a pair that has ended is repeated'
helper "$(cat out)" || complain 'the numbers'

page=$PHOTONS_SOURCE/docs/user/tutorial.md
mkdir -p tutorial/params && cd tutorial && ln -s "$PHOTONS_SOURCE/tools" tools || exit 99
few() { sed 's/^npart_side = [0-9]*/npart_side = 8/'; }
few <"$PHOTONS_SOURCE/params/mocks.ini" >params/mocks.ini
sed -n '/^## 7/,/^## /p' "$page" | grep -E '^tools/python.sh tools/(mocks|pairs).py' | sed 's/ini 8$/ini 2/' >commands
[ "$(wc -l <commands)" = 2 ] || complain "the tutorial has other commands: $(cat commands)"
PYTHON=$PYTHON PATH=$(dirname "$PHOTONS"):$PATH timeout "$(seconds 120)" sh -e commands >out 2>err ||
  complain "the commands of the tutorial: $(cat err)"
for file in mocks/mockcovariance_000.txt mocks/figures/mocks_000.png pair/figures/growth.png; do
  [ -s "output/$file" ] || complain "the commands of the tutorial make no output/$file"
done
# Sections 3 to 6: every command, and the files that the page has. In the place of the file that stops the run are a few
# steps.
few <"$PHOTONS_SOURCE/params/quickstart.ini" >params/quickstart.ini
ln -s "$PHOTONS" photons-starpu
awk '/^## 3/ { on = 1 } /^## 7/ { on = 0 }
  on && /^```/ { inside = !inside; if (inside) file = sprintf("block%d", ++n); next }
  on && inside { print >file }' "$page"
[ -s block8 ] && [ ! -e block9 ] || complain 'sections 3 to 6 of the tutorial have another number of blocks'
halos='--set analysis.min_members=2 --set analysis.linking_length=0.4'
sed "s/npart_side=32/npart_side=8 $halos/" block1 >part1
cp block3 mass-functions.py
few <block5 >my.ini
sed '/stop/d; s/$/ --steps 3/' block7 >part7
for part in part1 block2 block4 block6 part7 block8; do
  PYTHON=$PYTHON timeout "$(seconds 120)" sh -e $part >out 2>err || complain "the tutorial: $(cat $part err)"
  [ $part != part1 ] || ./photons-starpu --quiet params/quickstart.ini 2>err || complain "the quickstart: $(cat err)"
done
for file in sigma8/figures/mass_function.png sigma8/figures/power.png my/powerspec_001.txt ../mass-functions.png; do
  [ -s "output/$file" ] || complain "the tutorial makes no output/$file"
done
cd ..
finish
