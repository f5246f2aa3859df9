# SPDX-License-Identifier: GPL-3.0-or-later
"""Shot noise in measured power spectra.

N particles at random places have the power V/N at all wave numbers: the shot noise, which is
subtracted to get the power of the field that the particles are a sample of. Particles that began on
a grid or a glass are no such sample. Below their Nyquist wave number P(k) of the displaced points is
that of the field: in the sum over pairs, other points cancel the V/N of a point with itself
(Gabrielli 2004, Phys. Rev. E 70, 066131). To subtract V/N there takes away power that was never
added. Beyond the Nyquist wave number P(k) is first that of the points, not of the field, with the
peaks of the grid; later halos and V/N add up."""

from .modules import Deferred

np = Deferred("numpy")

SIGNIFICANCE = 5  # standard errors


def nyquist(header, side):
    """The Nyquist wave number [h/Mpc] of so many points a side of the box."""
    return np.pi * side / header["box"]


def particles_nyquist(power):
    """The Nyquist wave number of the particles [h/Mpc]; of several masses that of as many equal ones as have their V/N."""
    return nyquist(power.header, np.cbrt(power.header.get("N_effective", power.header["N"])))


def below_noise(power):
    """Whether P of a bin is less than a random sample can have: V/N, whose standard error is
    1/sqrt(modes)."""
    return bool(np.any(power["P"] < power["P_shot"] * (1 - SIGNIFICANCE / np.sqrt(power["modes"]))))


def mostly_noise(power):
    """Whether V/N is more than half of P in the upper half of the range below the particles' Nyquist
    wave number."""
    limit = particles_nyquist(power)
    some = (power["k"] > limit / 2) & (power["k"] < limit)
    return bool(np.any(some)) and np.average(
        power["P"][some] / power["P_shot"][some], weights=power["modes"][some]
    ) < 2  # fmt: skip


def noise_from(spectra):
    """The wave number [h/Mpc] from which on shot noise is part of P in the spectra of one run: the
    particles' Nyquist wave number if the particles began on a grid or a glass, 0 if they are a
    random sample. The files say it (k_noise) of particles that the program has placed. Particles of
    other origin are taken for a random sample if V/N is most of P, and no P is less than V/N.

    spectra -- from read_power(), of all outputs of the run"""
    for power in spectra:
        if "k_noise" in power.header:
            return power.header["k_noise"]
    spectra = [power for power in spectra if np.all(power["P_shot"] > 0)]  # gas has none
    if any(map(below_noise, spectra)) or not any(map(mostly_noise, spectra)):
        return particles_nyquist(spectra[0]) if spectra else 0.0
    return 0.0


def matter_power(power, k_noise=None):
    """P(k) of matter [(Mpc/h)^3]: less shot noise where that is part of P, NaN where the shot noise
    is then larger than what is left, and NaN beyond the Nyquist wave number of particles that began
    on a grid or a glass.

    power -- from read_power(); k_noise -- noise_from(), None: of this spectrum alone"""
    k_noise = noise_from([power]) if k_noise is None else k_noise
    if k_noise > 0:
        return np.where(power["k"] <= k_noise, power["P"], np.nan)
    signal = power["P"] - power["P_shot"]
    return np.where(signal > power["P_shot"], signal, np.nan)
