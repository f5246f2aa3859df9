# SPDX-License-Identifier: GPL-3.0-or-later
"""What a finished run must have left: usage: whole_run_agrees_with_other_codes.py FOLDER [PARTICLES]

PARTICLES are those of PhotoNs-2 from the same initial conditions at the last redshift. Without them a
plain particle mesh runs from the first snapshot, for comparison."""
import csv
import glob
import os
import sys

import h5py
import numpy as np

from particle_mesh import density, evolve

folder, particles = sys.argv[1], sys.argv[2:]
BOX, COUNT, REDSHIFTS = 100000.0, 32**3, (49.0, 40.0, 0.0)
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)


def read_positions(path):
    """In Mpc/h."""
    with h5py.File(path) as file:
        return file['PartType1/Coordinates'][...].astype(float) / 1000


for k, z in enumerate(REDSHIFTS):
    with h5py.File(f'{folder}/snapshot_{k:03}.hdf5') as file:
        head, part = file['Header'].attrs, file['PartType1']
        check(abs(head['Redshift'] - z) < 1e-9 and abs(head['Time'] - 1 / (1 + z)) < 1e-12, f'time of snapshot {k}')
        check(head['BoxSize'] == BOX and list(head['NumPart_ThisFile']) == [0, COUNT, 0, 0, 0, 0], f'header of snapshot {k}')
        check((head['Omega0'], head['OmegaLambda'], head['HubbleParam']) == (0.25, 0.75, 0.7), f'cosmology of snapshot {k}')
        position = part['Coordinates'][...]
        check(position.shape == (COUNT, 3) and position.min() >= 0 and position.max() < BOX, f'positions of snapshot {k}')
        check(np.isfinite(part['Velocities'][...]).all(), f'velocities of snapshot {k}')
        check(len(np.unique(part['ParticleIDs'][...])) == COUNT, f'ids of snapshot {k}')
    table = np.loadtxt(f'{folder}/powerspec_{k:03}.txt')
    check(table.shape[0] > 10 and (np.diff(table[:, 0]) > 0).all() and (table[:, 1] > 0).all(), f'power spectrum {k}')
    for picture in glob.glob(f'{folder}/*_{k:03}.png'):
        with open(picture, 'rb') as file:
            check(file.read(8) == b'\x89PNG\r\n\x1a\n' and os.path.getsize(picture) > 1000, picture)
    check(glob.glob(f'{folder}/density_{k:03}.png'), f'picture {k}')
check(not glob.glob(f'{folder}/**/*.tmp', recursive=True), 'unfinished files')

with open(f'{folder}/log/timings.csv', encoding='ascii') as file:
    rows = list(csv.DictReader(file))
check([int(row['step']) for row in rows] == list(range(len(rows))) and len(rows) > 50, 'one row a step in the log')
check(float(rows[0]['a']) == 0.02 and float(rows[-1]['a']) == 1.0, 'first and last row of the log')
check(all(abs(np.log(float(b['a']) / float(a['a'])) - float(b['dlna'])) < 1e-6 for a, b in zip(rows, rows[1:])), 'steps in the log')

# Another code from the same initial conditions has the same waves, not only the same spectrum.
# Bounds of power and correlation in shells low <= n < high:
if particles:
    # PhotoNs-2's mesh forces (CIC, four points) err by 0.2 % on the median and 1.4 % for one
    # particle in a hundred, most at the distance of the split, and its steps are long. Where the
    # spectrum is nonlinear that makes some per cent of its height.
    code, theirs = 'PhotoNs-2', read_positions(particles[0])
    bounds = ((1, 3, 0.01, 0.999), (3, 6, 0.05, 0.998), (6, 12, 0.05, 0.995))
else:
    # The particle mesh has no forces from below its cells, 1/64 of the box, and takes long
    # steps. On waves longer than five cells that makes some per cent.
    code = 'a particle mesh'
    with h5py.File(f'{folder}/snapshot_000.hdf5') as file:
        momentum = file['PartType1/Velocities'][...] * file['Header'].attrs['Time'] ** 1.5
    theirs = evolve(read_positions(f'{folder}/snapshot_000.hdf5'), momentum, BOX / 1000, 0.25, 0.02, 1.0)
    bounds = ((1, 3, 0.03, 0.999), (3, 6, 0.05, 0.995), (6, 12, 0.08, 0.975))
MESH = 64
ours = read_positions(f'{folder}/snapshot_002.hdf5')
ours, theirs = (np.fft.rfftn(density(x, BOX / 1000, MESH)) for x in (ours, theirs))
n = np.fft.fftfreq(MESH, 1 / MESH)
n = np.sqrt(sum(x**2 for x in np.meshgrid(n, n, np.arange(MESH // 2 + 1), indexing='ij')))
for low, high, power, correlation in bounds:
    shell = (n >= low) & (n < high)
    p, q = (np.sum(np.abs(x[shell])**2) for x in (ours, theirs))
    r = np.sum(ours[shell] * theirs[shell].conj()).real / np.sqrt(p * q)
    print(f'{low} <= n < {high}: power over that of {code} {p / q:.4f}, correlation {r:.5f}')
    check(abs(p / q - 1) <= power and r >= correlation, f'agreement with {code} at n = {low} .. {high}')
sys.exit('FAILED: ' + '; '.join(failures) if failures else 0)
