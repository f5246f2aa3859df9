# SPDX-License-Identifier: GPL-3.0-or-later
"""Do runs on several processes leave what one process leaves, but for when and where it was made?

usage: same_bits_on_any_ranks.py ONE OTHER...    (folders of finished runs)
Particles are compared by id, bit by bit; spectra, mass functions, pictures and halo catalogues byte
by byte. Prints the particles in each file of a snapshot."""

import glob
import os
import re
import sys

import h5py
import numpy as np

failures = []


def read_snapshot(folder, number):
    """Particles by id, from one file or several, and their numbers in the files."""
    names = [f'{folder}/snapshot_{number:03}.hdf5']
    if not os.path.exists(names[0]):
        names = [
            f'{folder}/snapshot_{number:03}.{k}.hdf5'
            for k in range(len(glob.glob(f'{folder}/snapshot_{number:03}.*.hdf5')))
        ]
    parts, counts, heads = [], [], []
    for name in names:
        with h5py.File(name) as file:
            head = dict(file['Header'].attrs)
            head.pop('xxh3_attributes')  # it covers the number of particles in the file
            counts.append(int(head.pop('NumPart_ThisFile')[1]))
            if head.pop('NumFilesPerSnapshot') != len(names):
                failures.append(f'{name}: number of files')
            heads.append({key: np.asarray(value).tobytes() for key, value in head.items()})
            if counts[-1]:
                parts.append({key: data[...] for key, data in file['PartType1'].items()})
                if len(parts[-1]['ParticleIDs']) != counts[-1]:
                    failures.append(f'{name}: number of particles')
    if any(head != heads[0] for head in heads):
        failures.append(f'{names[0]}: headers of the files differ')
    data = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    order = np.argsort(data['ParticleIDs'])
    if len(np.unique(data['ParticleIDs'])) != len(order):
        failures.append(f'{names[0]}: ids are not unique')
    return {key: value[order] for key, value in data.items()}, counts, heads[0]


def read_all(path):
    """All datasets and attributes of a file but its provenance."""
    content = {}

    def visit(name, node):
        if name.startswith('Provenance'):
            return
        content.update(
            {f'{name}@{key}': np.asarray(value).tobytes() for key, value in node.attrs.items()}
        )
        if isinstance(node, h5py.Dataset):
            content[name] = node[...].tobytes()

    with h5py.File(path) as file:
        file.visititems(visit)
    return content


def same_bytes(path, other):
    """Whether the files have the same bytes, without the lines of texts that give the provenance."""
    contents = []
    for name in path, other:
        with open(name, 'rb') as file:
            contents.append(re.sub(rb'# provenance .*\n', b'', file.read()))
    return contents[0] == contents[1]


def numbers(folder):
    return sorted({int(os.path.basename(name)[9:12]) for name in glob.glob(f'{folder}/snapshot_*.hdf5')})


one, others = sys.argv[1], sys.argv[2:]
halos = 0
for other in others:
    if not numbers(one) or numbers(other) != numbers(one):
        failures.append(f'{other}: snapshots {numbers(other)}, not {numbers(one)}')
        continue
    for number in numbers(one):
        (ours, _, head), (theirs, counts, other_head) = read_snapshot(one, number), read_snapshot(
            other, number
        )
        wrong = [
            key
            for key in ours | theirs
            if key not in ours or key not in theirs or ours[key].tobytes() != theirs[key].tobytes()
        ]
        wrong += [key for key in head if head[key] != other_head.get(key)]
        if wrong:
            failures.append(f'{other}, snapshot {number}: {", ".join(wrong)}')
        print(f'{other}, snapshot {number}: {" + ".join(map(str, counts))} particles')
    for path in sorted(
        glob.glob(f'{one}/powerspec_*') + glob.glob(f'{one}/massfunc_*') + glob.glob(f'{one}/*.png')
    ):
        if not os.path.exists(path.replace(one, other, 1)) or not same_bytes(
            path, path.replace(one, other, 1)
        ):
            failures.append(f'{other}: {os.path.basename(path)}')
    for path in sorted(glob.glob(f'{one}/fof_subhalo_tab_*')):
        ours, theirs = read_all(path), read_all(path.replace(one, other, 1))
        wrong = [
            key
            for key in ours | theirs
            if ours.get(key) != theirs.get(key)
            # config.ini names the folder, and the checksum beside it covers config.ini
            and key not in ('Parameters@config.ini', 'Parameters@xxh3_attributes')
        ]
        if wrong:
            failures.append(f'{other}: {", ".join(wrong[:5])} of {os.path.basename(path)}')
        with h5py.File(path) as file:
            halos = max(halos, int(file['Header'].attrs['Ngroups_Total']))
    if glob.glob(f'{other}/**/*.tmp', recursive=True):
        failures.append(f'{other}: unfinished files')
if halos:
    print(f'at most {halos} halos')
sys.exit('FAILED: ' + '; '.join(failures) if failures else 0)
