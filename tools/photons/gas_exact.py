# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact solutions of the equations of gas: the Riemann problem, the explosion of Sedov and
Taylor, the standing sound wave, Jeans' wave, a ball in free fall, and Zel'dovich's wave in an
expanding universe. Numbers have no units; density, velocity, pressure are called rho, u, p."""

from .modules import Deferred

np = Deferred("numpy")


class Riemann:
    """Two states of gas beside each other (Toro 2009, Riemann solvers and numerical methods for
    fluid dynamics, chapter 4).

    left, right -- (rho, u, p) at x < 0 and x > 0 at t = 0. Attributes: p and u of the region
    between the waves, rho_left and rho_right on the two sides of its contact.
    Raises ValueError if a density or pressure is not positive, or if a vacuum appears."""

    def __init__(self, left, right, gamma):
        self.left, self.right, self.gamma = left, right, gamma
        if min(left[0], left[2], right[0], right[2]) <= 0:
            raise ValueError("densities and pressures must be above 0")
        self.sound = [np.sqrt(gamma * p / rho) for rho, _, p in (left, right)]
        if 2 / (gamma - 1) * sum(self.sound) <= right[1] - left[1]:
            raise ValueError("there is a vacuum between the two states")
        self.p = self._pressure()
        self.u = 0.5 * (left[1] + right[1] + self._wave(1, self.p) - self._wave(0, self.p))
        self.rho_left, self.rho_right = self._density(0), self._density(1)

    def _wave(self, side, p):
        """Change of the velocity through a wave behind which the pressure is p (equation 4.6)."""
        rho, _, p0 = (self.left, self.right)[side]
        g = self.gamma
        if p > p0:
            return (p - p0) * np.sqrt(2 / rho / ((g + 1) * p + (g - 1) * p0))
        return 2 * self.sound[side] / (g - 1) * ((p / p0) ** ((g - 1) / (2 * g)) - 1)

    def _pressure(self):
        """The root of a function that rises, by bisection of log p."""

        def excess(p):
            return self._wave(0, p) + self._wave(1, p) + self.right[1] - self.left[1]

        low, high = 1e-12 * min(self.left[2], self.right[2]), max(self.left[2], self.right[2])
        while excess(high) < 0:
            high *= 2
        for _ in range(200):
            middle = np.sqrt(low * high)
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        return np.sqrt(low * high)

    def _density(self, side):
        """Between the wave of a side and the contact (equations 4.50, 4.53)."""
        rho, _, p0 = (self.left, self.right)[side]
        ratio, g = self.p / p0, (self.gamma - 1) / (self.gamma + 1)
        return rho * ((ratio + g) / (g * ratio + 1) if ratio > 1 else ratio ** (1 / self.gamma))

    def speeds(self, side):
        """Of the outer and the inner edge of a side's wave, relative to the side's direction: equal
        for a shock."""
        rho, u, p0 = (self.left, self.right)[side]
        sign, g = (-1, 1)[side], self.gamma
        if self.p > p0:
            shock = self.sound[side] * np.sqrt((g + 1) / (2 * g) * self.p / p0 + (g - 1) / (2 * g))
            return u + sign * shock, u + sign * shock
        inner = self.sound[side] * (self.p / p0) ** ((g - 1) / (2 * g))
        return u + sign * self.sound[side], self.u + sign * inner

    def at(self, speed):
        """rho, u, p at x/t = speed, an array."""
        speed = np.asarray(speed, dtype=float)
        result = [np.empty(speed.shape) for _ in range(3)]
        for side in (0, 1):
            here = (speed <= self.u) if side == 0 else (speed > self.u)
            for values, found in zip(result, self._on_side(side, speed[here])):
                values[here] = found
        return result

    def _on_side(self, side, speed):
        """The undisturbed state, the fan of a rarefaction, and the state at the contact."""
        rho, u, p0 = state = (self.left, self.right)[side]
        sign, g, sound = (-1, 1)[side], self.gamma, self.sound[side]
        outer, inner = self.speeds(side)
        behind = (self.rho_left, self.rho_right)[side], self.u, self.p
        c = 2 / (g + 1) * sound - sign * (g - 1) / (g + 1) * (u - speed)  # equation 4.56
        c = np.maximum(c, 0)
        cooled = (c / sound) ** (2 / (g - 1))
        fan = rho * cooled, speed - sign * c, p0 * cooled**g
        outside, inside = sign * speed >= sign * outer, sign * speed <= sign * inner
        return [
            np.where(outside, before, np.where(inside, after, between))
            for before, after, between in zip(state, behind, fan)
        ]


class Sedov:
    """The explosion of an energy at a point of cold gas at rest, of uniform density (Sedov 1959;
    in the form of Kamm & Timmes 2007, LA-UR-07-2849, for three dimensions).

    gamma -- between 1 and 2. Attribute alpha: energy t^2 / (density r_shock^5), by quadrature."""

    def __init__(self, gamma, points=20001):
        if not 1 < gamma < 2:
            raise ValueError("the ratio of specific heats must be between 1 and 2")
        self.gamma = g = gamma
        # From the shock (v = v_2) to the centre (v_0), where the density falls as a power of
        # v - v_0.
        v_0, v_2 = 2 / (5 * g), 4 / (5 * (g + 1))
        above = (v_2 - v_0) * np.linspace(0, 1, points)[1:] ** 6
        v = v_0 + above
        a_0, a_2 = 2 / 5, -(g - 1) / (2 * g + 1)
        a_1 = 5 * g / (3 * g - 1) * (6 * (2 - g) / (25 * g) - a_2)
        a_3, a_4, a_5 = 3 / (2 * g + 1), 5 * a_1 / (2 - g), -2 / (2 - g)
        x_1 = 5 * (g + 1) / 4 * v
        x_2 = (g + 1) / (g - 1) * 5 * g / 2 * above
        x_3 = 5 * (g + 1) / (5 * (g + 1) - 2 * (3 * g - 1)) * (1 - (3 * g - 1) / 2 * v)
        x_4 = (g + 1) / (g - 1) * (1 - 5 / 2 * v)
        self.r = x_1**-a_0 * x_2**-a_2 * x_3**-a_1  # over that of the shock, rising
        self.rho = x_2**a_3 * x_3**a_4 * x_4**a_5 * (g + 1) / (g - 1)  # over that outside
        self.u = x_1 * self.r * 2 / (g + 1)  # over the speed of the shock
        self.p = x_1 ** (3 * a_0) * x_3 ** (a_4 - 2 * a_1) * x_4 ** (1 + a_5) * 2 / (g + 1)
        density = self.rho * self.u**2 / 2 + self.p / (g - 1)  # of the energy
        shell = 4 * np.pi / 3 * np.diff(self.r**3)
        centre = 4 * np.pi / 3 * self.r[0] ** 3 * density[0]
        self.alpha = (2 / 5) ** 2 * (centre + np.sum(shell * (density[1:] + density[:-1]) / 2))

    def shock_radius(self, energy, rho_0, t):
        return (energy * t**2 / (self.alpha * rho_0)) ** 0.2

    def at(self, radius, energy, rho_0, t, p_0=0.0):
        """rho, u (outwards), p at radii, an array; p_0 -- pressure outside, which must be small."""
        shock = self.shock_radius(energy, rho_0, t)
        speed, x = 2 / 5 * shock / t, np.asarray(radius, dtype=float) / shock
        inside = x <= 1
        log_x = np.log(np.maximum(x, 1e-300))
        rho = rho_0 * np.exp(np.interp(log_x, np.log(self.r), np.log(self.rho)))
        u = speed * np.interp(x, np.append(0, self.r), np.append(0, self.u))
        p = rho_0 * speed**2 * np.interp(x, self.r, self.p)
        return [np.where(inside, a, b) for a, b in ((rho, rho_0), (u, 0.0), (p, p_0))]


def standing_wave(phase, t_phase, amplitude, rho_0, p_0, gamma):
    """rho, u (along the wave vector), p of a small standing sound wave that begins at rest, to
    first order in the amplitude.

    phase -- k x, an array; t_phase -- k c t with the speed of sound c; amplitude -- of the density,
    over rho_0"""
    wave = amplitude * np.cos(phase) * np.cos(t_phase)
    sound = np.sqrt(gamma * p_0 / rho_0)
    u = amplitude * sound * np.sin(phase) * np.sin(t_phase)
    return [rho_0 * (1 + wave), u, p_0 * (1 + gamma * wave)]


def jeans_rate(k, rho_0, p_0, gamma, newton):
    """At which a small wave grows under its own gravity (Jeans 1902), imaginary where its pressure
    is stronger: sqrt(4 pi G rho_0 - k^2 c^2) with the speed of sound c."""
    return np.sqrt(complex(4 * np.pi * newton * rho_0 - k**2 * gamma * p_0 / rho_0))


def jeans_wave(phase, t, k, amplitude, rho_0, p_0, gamma, newton):
    """rho, u (along the wave vector), p of the growing mode amplitude sin(k x) of self-gravitating
    gas, or of the oscillation that begins at rest, to first order in the amplitude.

    phase -- k x, an array"""
    rate = jeans_rate(k, rho_0, p_0, gamma, newton)
    size = amplitude * np.exp(rate * t)
    wave, u = size.real * np.sin(phase), (rate * size).real / k * np.cos(phase)
    return [rho_0 * (1 + wave), u, p_0 * (1 + gamma * wave)]


class FreeFall:
    """A ball of uniform density without pressure that falls together from rest: its radius is
    cos^2(b) of the first one at b + sin(2 b)/2 = pi/2 t/time (Lin, Mestel & Shu 1965, ApJ 142,
    1431).

    Attribute time: of the collapse to a point, sqrt(3 pi/(32 G rho_0))."""

    def __init__(self, rho_0, newton):
        self.time = np.sqrt(3 * np.pi / (32 * newton * rho_0))

    def _angle(self, t):
        fine = np.linspace(0, np.pi / 2, 100001)
        return np.interp(np.pi / 2 * t / self.time, fine + np.sin(2 * fine) / 2, fine)

    def radius(self, t):
        """Over the first one."""
        return np.cos(self._angle(t)) ** 2

    def rate(self, t):
        """d ln radius / dt."""
        angle = self._angle(t)
        return -np.pi / 2 / self.time * np.tan(angle) / np.cos(angle) ** 2


def growth(a, omega_m, omega_lambda):
    """The growing mode D of linear perturbations in a universe of matter, a cosmological constant
    and curvature (Heath 1977), which is a at early times, and f = dln D/dln a."""
    fine = a * (np.arange(20000) + 0.5) / 20000

    def expansion(x):  # (a H/H0)^2
        return omega_m / x + omega_lambda * x**2 + 1 - omega_m - omega_lambda

    integral = a / 20000 * np.sum(expansion(fine) ** -1.5)
    d = 2.5 * omega_m * np.sqrt(expansion(a)) / a * integral
    slope = (-omega_m / a + 2 * omega_lambda * a**2) / (2 * expansion(a)) - 1
    return d, slope + a * expansion(a) ** -1.5 / integral


def pancake(phase, size):
    """Zel'dovich's wave, in which gas of the phase q has come to q - size sin(q), size < 1: the
    density over its mean, and q."""
    q = np.linspace(-np.pi, np.pi, 200001)
    q = np.interp(phase, q - size * np.sin(q), q)
    return 1 / (1 - size * np.cos(q)), q
