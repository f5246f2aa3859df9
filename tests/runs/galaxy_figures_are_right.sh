#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What figures and page of an isolated system show agrees with theory; tools/plot.py draws a folder
# and a snapshot, and bad input ends it with one line.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python astropy h5py matplotlib numpy

helper || complain "figures of isolated systems"

plot() { "$PYTHON" "$PHOTONS_SOURCE/tools/plot.py" "$@" >out 2>err; }

plot --csv --components disk,halo run || complain "a folder: exit code $?"
plot --csv --out single run/snapshot_001.hdf5 || complain "a snapshot: exit code $?"
for file in $(cat out) run/figures/picture.png run/figures/energy.pdf run/figures/disk_height.csv \
  single/snapshot_001_picture.png single/snapshot_001_rotation_curve.csv; do
  [ -s "$file" ] || complain "no $file"
done
[ ! -e single/snapshot_001_lagrangian_radii.png ] || complain "Lagrangian radii over one time"
grep -q '^time_myr,r_low,r_high,N_halo,rho_halo,error_halo,N_disk' \
  run/figures/density_profile.csv || complain "columns of density_profile.csv"

# refused TEXT ARGUMENT...: exit code 1 and one line of error, with the text.
refused() {
  text=$1
  shift
  plot "$@"
  found=$?
  [ $found -eq 1 ] || complain "$*: exit code $found, not 1"
  [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$text" err || complain "$*: not one line with: $text"
}

"$PYTHON" - <<'END' || complain "bad files"
import h5py

def snapshot(name, **datasets):
    with h5py.File(name, "w") as file:
        header = {"BoxSize": 0.0, "Time": 0.0, "MassTable": [0.0] * 6}
        file.create_group("Header").attrs.update(header)
        for name, rows in datasets.items():
            file[f"PartType1/{name}"] = rows

snapshot("empty.hdf5")
snapshot("massless.hdf5", Coordinates=[[1.0, 2, 3]], Velocities=[[0.0, 0, 0]])
snapshot("short.hdf5", Coordinates=[[1.0, 2, 3]], Velocities=[[0.0, 0, 0]], Masses=[1.0, 1.0])
snapshot("negative.hdf5", Coordinates=[[1.0, 2, 3]], Velocities=[[0.0, 0, 0]], Masses=[-1.0])
snapshot("still.hdf5", Coordinates=[[1.0, 2, 3]], Masses=[1.0])
snapshot("nowhere.hdf5", Coordinates=[[float("nan"), 2, 3]], Velocities=[[0.0, 0, 0]], Masses=[1.0])
h5py.File("other.hdf5", "w").close()
END
echo text >text.hdf5
refused 'empty.hdf5 holds no particles' empty.hdf5
refused 'PartType1 has no Masses' massless.hdf5
refused 'PartType1 has no Velocities' still.hdf5
refused 'nowhere.hdf5: PartType1 has numbers that are not finite' nowhere.hdf5
refused 'PartType1 has masses that are not above 0' negative.hdf5
refused 'have different numbers of rows' short.hdf5
refused 'other.hdf5: not a Gadget file: no Header' other.hdf5
refused 'text.hdf5: not an HDF5 file' text.hdf5
refused 'not of an isolated system: BoxSize is 100' snap_periodic.hdf5
refused 'no component bar, only halo, disk' --components disk,bar run
refused 'nowhere: no such folder' nowhere

mkdir -p periodic/log none
printf 'step,a,z,wall_s,p2p_s\n0,0.5,1,1,1\n' >periodic/log/timings.csv
refused 'periodic is not a run with box.boundary = isolated' --csv periodic
plot periodic || complain "a periodic run: exit code $?"
[ "$(cat out)" = periodic/figures/timings.png ] || complain "a periodic run: $(cat out)"

printf '[box]\nboundary = isolated\n' >none/config-used.ini
refused 'no snapshot_*.hdf5, log/energy.csv or log/timings.csv' none
mkdir none/log
printf 'step,time_myr,kinetic,total\n0,0,1,-1\n' >none/log/energy.csv
refused 'none/log/energy.csv: no column potential, virial' none
printf 'step,time_myr,kinetic,potential,total,virial\n0,0,1,-1,0,1\n' >none/log/energy.csv
refused 'log/energy.csv: the first total energy is 0' none

finish
