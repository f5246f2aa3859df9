# SPDX-License-Identifier: GPL-3.0-or-later
"""A second N-body code, for comparison: a plain particle mesh in NumPy, in double precision.

It shares nothing with the program, and is right for waves that are long against its mesh cells."""
import numpy as np


def clouds(position, box, mesh):
    """Each particle's eight mesh cells with its weights there (cloud in cell), corner by corner."""
    x = position / box * mesh
    cell = np.floor(x).astype(int)
    for corner in np.ndindex(2, 2, 2):
        weight = np.abs(1 - np.array(corner) - (x - cell)).prod(axis=1)
        yield np.ravel_multi_index(((cell + corner) % mesh).T, (mesh,) * 3), weight


def density(position, box, mesh):
    """Density contrast on the mesh."""
    total = np.zeros(mesh**3)
    for cell, weight in clouds(position, box, mesh):
        total += np.bincount(cell, weight, mesh**3)
    return total.reshape((mesh,) * 3) * mesh**3 / len(position) - 1


def read_out(field, position, box):
    """Value of a field at the particles, with the same clouds."""
    return sum(weight * field.flat[cell] for cell, weight in clouds(position, box, len(field)))


def evolve(position, momentum, box, omega_m, a_begin, a_end, mesh=64, steps=40):
    """Positions (Mpc/h) at a_end in a flat universe, by steps of equal ln a: kick, drift.

    Momenta are p = a^2 dx/dt in km/s; with t in units of 1/(km/s/Mpc), dx/dt = p/a^2 and
    dp/dt = -3/2 Omega_m H0^2/a grad(phi), laplace(phi) = delta."""
    n = np.fft.fftfreq(mesh, 1 / mesh)
    k = np.stack(np.meshgrid(n, n, np.arange(mesh // 2 + 1), indexing='ij')) * 2 * np.pi / box
    k2 = (k**2).sum(axis=0)
    k2[0, 0, 0] = 1
    green = 1j / k2  # -grad of the potential of one wave of density
    green[0, 0, 0] = 0
    green[k2 > (2 * np.pi / box * 3 / 8 * mesh) ** 2] = 0  # waves that a mesh confuses with others

    def integral(power, a, b):  # of a^power dt from a to b
        points, weights = np.polynomial.legendre.leggauss(8)
        x = a + (b - a) * (points + 1) / 2
        hubble = 100 * np.sqrt(omega_m / x**3 + 1 - omega_m)
        return (b - a) / 2 * (weights * x ** (power - 1) / hubble).sum()

    scale = np.geomspace(a_begin, a_end, steps + 1)
    kicked = np.concatenate(([a_begin], np.sqrt(scale[1:] * scale[:-1])))  # what momenta are of
    position, momentum = position.astype(float), momentum.astype(float)
    for i in range(steps):
        wave = np.fft.rfftn(density(position, box, mesh)) * green
        factor = 1.5 * omega_m * 1e4 * integral(-1, kicked[i], kicked[i + 1])
        for axis in range(3):
            force = np.fft.irfftn(wave * k[axis], (mesh,) * 3)
            momentum[:, axis] += factor * read_out(force, position, box)
        position = (position + momentum * integral(-2, scale[i], scale[i + 1])) % box
    return position
