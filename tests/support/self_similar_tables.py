# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of a universe that is self-similar, as the program writes them, and what tools/scale_free.py says of them: P(k), correlation
function and mass functions of all outputs are the same within 0.5 %, also where they come from a run of fewer particles; and where one of
them is 5 % too high at one output, that one alone is not. Needs no module."""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.environ["PHOTONS_SOURCE"], "tools"))
from photons import scale_free  # noqa: E402

INDEX, SIDE, COARSE, FACTOR, OUTPUTS = -1.5, 128, 64, 1.5, 4
FEWEST = 100
SMOOTHED = 1 / (2 * SIDE)  # parts of the box, of P(k) exp(-(k s)^2)
SLOPE = 1.8  # of the correlation function
LAST_K_NL = 0.1 * math.pi  # of SIDE

SMOOTHING_LINE = "# all powers, measured and linear, are multiplied by exp(-(k s)^2), s = %.7g Mpc/h\n"


def k_nl(side, number):
    return LAST_K_NL * SIDE / side * FACTOR ** (OUTPUTS - 1 - number)


def delta2(x):
    return x ** (INDEX + 3) * (1 + x * x)


def power_rows(side, number, factor):
    """k, P, modes, Pshot, Plinear."""
    for i in range(1, 60):
        k = 2 * math.pi / side * 1.07**i * 2
        linear, power = [2 * math.pi**2 / k**3 * y for y in ((k / k_nl(side, number)) ** (INDEX + 3), delta2(k / k_nl(side, number)))]
        if k < 2 * math.pi:
            yield k, factor * power + (k > math.pi), 1000, 1, linear


def correlation_rows(side, number, factor):
    """r, xi of P(k) exp(-(k s)^2), cells: a power law's to fourth order in s."""
    s = SMOOTHED * side
    for i in range(1, SIDE):
        r = (i + 0.6) * side / (2 * SIDE)
        second = SLOPE * (SLOPE - 1) * s**2 / r**2
        fourth = second * (SLOPE + 2) * (SLOPE + 1) * s**2 / r**2 / 2
        yield r, factor * (r * k_nl(side, number)) ** -SLOPE * (1 + second + fourth), 1000


def mass_rows(side, number, factors):
    """M_low, M_high, N, dn/dlnM and its error of friends of friends, and the same of M200. Counts need not be whole numbers."""
    edges = [round(20 * 2 ** (i / 2)) - 0.5 for i in range(20)]

    def above(particles):
        mass = particles * k_nl(side, number) ** 3 / 100
        return 0.1 * side**3 / particles * math.exp(-(mass**0.4))

    for low, high in zip(edges, edges[1:]):
        count = above(low) - (above(high) if high < edges[-1] else 0)
        row = [count * factors[0], 0, 0, count * factors[1], 0, 0]
        yield (low * scale_free.PARTICLE_MASS, high * scale_free.PARTICLE_MASS, *row)


def write(folder, side, wrong=None):
    """All tables of a run; at the second output the statistic of that name is 5 % too high."""
    os.makedirs(folder, exist_ok=True)
    for number in range(OUTPUTS):
        high = {name: 1.05 if (name, number) == (wrong, 1) else 1.0 for name in NAMES}
        tables = {
            "powerspec": power_rows(side, number, high["power"]),
            "correlation": correlation_rows(side, number, high["correlation"]),
            "massfunc": mass_rows(side, number, (high["friends"], high["m200"])),
        }
        for stem, rows in tables.items():
            with open(os.path.join(folder, f"{stem}_{number:03d}.txt"), "w", encoding="utf-8") as file:
                if stem == "correlation":
                    file.write(SMOOTHING_LINE % (SMOOTHED * side))
                file.writelines(" ".join(f"{x:.9g}" for x in row) + "\n" for row in rows)
    times = [f"{FACTOR ** (-(INDEX + 3) / 2 * (OUTPUTS - 1 - i)):.9g}" for i in range(OUTPUTS)]
    return scale_free.Outputs(folder, INDEX, side, times, FEWEST)


NAMES = [statistic.name for statistic in scale_free.STATISTICS]


def means(found_of):
    """Of each statistic the mean distances of each output that has any."""
    return {s.name: [sum(d for _, d in found) / len(found) for found in outputs if found] for s, outputs in found_of.items()}


def next_of(run):
    return {
        s: [scale_free.distances(run, i, run, i + 1, s) for i in range(OUTPUTS - 1)] for s in scale_free.STATISTICS
    }


fine = write("fine", SIDE)
for what, found in (("next", next_of(fine)), ("finer", scale_free.differences(write("coarse", COARSE), fine))):
    for name, of_outputs in means(found).items():
        assert len(of_outputs) >= 2, f"{what}, {name}: too few outputs with bins"
        assert max(map(abs, of_outputs)) < 0.005, f"{what}, {name}: {of_outputs}"
for wrong in NAMES:
    run = write("wrong", SIDE, wrong)
    for name, of_outputs in means(next_of(run)).items():
        largest = max(map(abs, of_outputs))
        assert 0.04 < largest < 0.06 if name == wrong else largest < 0.005, f"{wrong} is wrong, {name}: {of_outputs}"

SMOOTHING_LINE = "# s = %.7g\n"
try:
    next_of(write("unknown", SIDE))
except ValueError as error:
    assert "correlation_001.txt: no length of smoothing" in str(error), error
else:
    raise AssertionError("a correlation function whose smoothing no comment says is read")
