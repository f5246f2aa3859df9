# SPDX-License-Identifier: GPL-3.0-or-later
"""A second N-body code, for comparison: a plain particle mesh in NumPy, double precision, one thread. Shares nothing with
the program. It is right for waves that are long against its mesh cells."""
import numpy as np


def density(position, box, mesh):
    """Density contrast on the mesh by cloud-in-cell assignment."""
    x = position / box * mesh
    cell = np.floor(x).astype(int)
    part, total = x - cell, np.zeros(mesh**3)
    for corner in np.ndindex(2, 2, 2):
        weight = np.abs(1 - np.array(corner) - part).prod(axis=1)
        total += np.bincount(np.ravel_multi_index(((cell + corner) % mesh).T, (mesh,) * 3), weight, mesh**3)
    return total.reshape((mesh,) * 3) * mesh**3 / len(x) - 1


def read_out(field, position, box):
    """Value of a field at the particles, with the same clouds."""
    mesh = len(field)
    x = position / box * mesh
    cell = np.floor(x).astype(int)
    part, value = x - cell, np.zeros(len(x))
    for corner in np.ndindex(2, 2, 2):
        value += np.abs(1 - np.array(corner) - part).prod(axis=1) * field[tuple(((cell + corner) % mesh).T)]
    return value


def evolve(position, momentum, box, omega_m, a_begin, a_end, mesh=64, steps=40):
    """Positions (Mpc/h) at a_end of a flat universe. Momenta are a^2 dx/dt in km/s. Steps of equal ln a: kick, drift, kick.

    dx/dt = p/a^2, dp/dt = -(3/2) Omega_m H0^2/a grad(phi), laplace(phi) = delta, t in units of 1/(km/s/Mpc)."""
    n = np.fft.fftfreq(mesh, 1 / mesh)
    k = 2 * np.pi / box * np.stack(np.meshgrid(n, n, np.arange(mesh // 2 + 1), indexing='ij'))
    k2 = (k**2).sum(axis=0)
    k2[0, 0, 0] = 1
    green = 1j / k2  # -grad of the potential of one wave of density
    green[0, 0, 0] = 0
    green[(k2 > (2 * np.pi / box * 3 / 8 * mesh) ** 2)] = 0  # waves that a mesh confuses with others

    def integral(power, a, b):  # of a^power dt from a to b
        points, weights = np.polynomial.legendre.leggauss(8)
        x = a + (b - a) * (points + 1) / 2
        return (b - a) / 2 * (weights * x ** (power - 1) / (100 * np.sqrt(omega_m / x**3 + 1 - omega_m))).sum()

    def kick(a, b):
        delta = np.fft.rfftn(density(position, box, mesh))
        factor = 1.5 * omega_m * 1e4 * integral(-1, a, b)
        for axis in range(3):
            force = np.fft.irfftn(delta * green * k[axis], (mesh,) * 3)
            momentum[:, axis] += factor * read_out(force, position, box)

    position, momentum = position.astype(float), momentum.astype(float)
    scale = np.geomspace(a_begin, a_end, steps + 1)
    middle = np.sqrt(scale[1:] * scale[:-1])
    for i in range(steps):
        kick(scale[0] if i == 0 else middle[i - 1], middle[i])
        position = (position + momentum * integral(-2, scale[i], scale[i + 1])) % box
    return position
