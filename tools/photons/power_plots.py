# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the power spectra of a run: P(k) beside theory, and the growth of the longest waves."""

from .drawing import (
    add_redshifts, mark, name_of, some_of, style_of, tables_of,
)  # fmt: skip
from .modules import Deferred
from .spectra import matter_power, noise_from, nyquist, particles_nyquist

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")

FOLDED_FROM = 0.75  # of the mesh's Nyquist wave number; beyond it the box is folded fourfold


def mark_ranges(axis, power, last):
    """Nyquist wave numbers of particles and mesh, and the wave numbers of folded boxes, up to the
    last wave number that is shown."""
    particles, mesh = particles_nyquist(power), nyquist(power.header, power.header["mesh"])
    if np.isclose(particles, mesh):
        marks = {mesh: "Nyquist: particles, mesh"}
    else:
        marks = {particles: "Nyquist: particles", mesh: "Nyquist: mesh"}
    for k, text in marks.items():
        if k <= last:
            mark(axis, k, text)
    folded = FOLDED_FROM * mesh
    if folded < last:
        axis.axvspan(folded, last, color="0.5", alpha=0.1, lw=0)
        axis.text(
            last, 0.02, "box folded 4×", ha="right", fontsize=7, color="0.35",
            transform=axis.get_xaxis_transform(),
        )  # fmt: skip


def draw_power(top, bottom, power, signal, style, theory):
    """One output: P of matter; theory as thin lines, if wanted; and the ratio to HALOFIT with the
    standard error of Gaussian modes."""
    colour, dashes, name = style
    some = np.isfinite(signal)
    k = power["k"]
    top.plot(k, signal, color=colour, ls=dashes, lw=1.7, label=name)
    if not np.all(power["P_halofit"] > 0):
        return
    if theory and np.any(some):
        shown = k <= k[some][-1]
        top.plot(k[shown], power["P_linear"][shown], color=colour, ls=":", lw=0.7)
        top.plot(k[shown], power["P_halofit"][shown], color=colour, ls="-", lw=0.6)
    ratio = signal / power["P_halofit"]
    error = power["P"] / np.sqrt(power["modes"]) / power["P_halofit"]
    bottom.plot(k, ratio, color=colour, ls=dashes, lw=1.2)
    if theory:
        bottom.fill_between(k, ratio - error, ratio + error, color=colour, alpha=0.15, lw=0)


def plot_power(run):
    """P(k) of all outputs, with linear theory and HALOFIT; lower panel: ratio to HALOFIT. Of
    particles that began on a grid or a glass nothing is shown beyond their Nyquist wave number."""
    spectra = tables_of(run.power, run)
    if not spectra:
        return None
    k_noise, count = noise_from(spectra), len(spectra)
    figure, (top, bottom) = plt.subplots(
        2, 1, sharex=True, figsize=(7, 7), height_ratios=[2, 1], layout="constrained"
    )
    signals = [matter_power(power, k_noise) for power in spectra]
    for i, (power, signal) in enumerate(zip(spectra, signals)):
        colour, dashes, _ = style_of(i, count)
        style = colour, dashes, name_of(power.header["z"], count)
        draw_power(top, bottom, power, signal, style, i in some_of(count))
    last = spectra[-1]
    noise = "shot noise" if k_noise == 0 else "V/N, not part of this P"
    top.axhline(last["P_shot"][0], color="black", lw=0.7, ls=(0, (5, 5)), label=noise)
    if np.all(last["P_halofit"] > 0):
        top.plot([], [], "k:", lw=0.7, label="linear theory")
        top.plot([], [], "k-", lw=0.6, label="HALOFIT (Takahashi et al. 2012)")
    top.set(xscale="log", yscale="log", ylabel="P(k) [(Mpc/h)³]", ylim=limits_of(spectra, signals))
    end = 1.1 * k_noise if k_noise > 0 else last["k"][-1]
    mark_ranges(top, last, min(end, last["k"][-1]))
    bottom.axhline(1, color="grey", lw=0.5)
    bottom.set(xlabel="k [h/Mpc]", ylabel="P / HALOFIT", ylim=(0.5, 1.5))
    bottom.set_xlim(right=min(end, 1.1 * last["k"][-1]))
    top.legend(frameon=False, fontsize="small", ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    add_redshifts(figure, (top, bottom), [power.header["z"] for power in spectra])
    return figure


def limits_of(spectra, signals):
    """The range of P: all that is drawn, and V/N."""
    drawn = np.concatenate([signal[signal > 0] for signal in signals] + [spectra[0]["P_shot"]])
    drawn = drawn[drawn > 0]
    return (drawn.min() / 2, 1.5 * drawn.max()) if len(drawn) else None


# Growth.

GROWTH_ALARM = 0.002  # an error of linear growth that is worth an alarm


def lowest_modes(spectra):
    """How many of the lowest bins are compared with linear theory: those below a fifth of the last
    output's nonlinear wave number, and no fewer than three."""
    last = spectra[-1]
    linear = last["k"] < 0.2 * last.header.get("k_nonlinear", 0.0)
    return min(max(3, np.count_nonzero(linear)), len(last["k"]))


def measured_growth(spectra, k_noise):
    """Growth since the first output over that of linear theory, of each of the lowest bins [output,
    bin]; the weights of the bins, and their wave numbers. Bins in which the power of an output is
    less than the shot noise in it are left out."""
    count = lowest_modes(spectra)
    growth = np.array([power.header["D1"] for power in spectra])
    signal = np.array([matter_power(power, k_noise)[:count] for power in spectra])
    some = np.all(signal > 0, axis=0)
    measured = np.sqrt(signal[:, some] / signal[0, some])
    modes, k = (spectra[0][name][:count][some] for name in ("modes", "k"))
    return measured * (growth[0] / growth)[:, None], modes, k


def mean_growth(run):
    """Growth of the lowest modes since the first output over that of linear theory, as (ratio [output, bin],
    its mean over the modes, the error of the mean, wave numbers of the bins, scale factors); None without two
    outputs that can be compared. The error follows from the scatter of the bins: all outputs have the same
    modes, so that cosmic variance cancels in linear theory."""
    spectra = [power for power in tables_of(run.power, run) if np.all(power["P_linear"] > 0)]
    spectra.sort(key=lambda power: power.header["a"])
    if len(spectra) < 2 or len({len(power["k"]) for power in spectra}) > 1:
        return None
    ratio, modes, k = measured_growth(spectra, noise_from(spectra))
    if not len(k):
        return None
    mean = np.average(ratio, axis=1, weights=modes)
    variance = np.average((ratio - mean[:, None]) ** 2, axis=1, weights=modes)
    error = np.sqrt(variance / max(len(k) - 1, 1))
    return ratio, mean, error, k, np.array([power.header["a"] for power in spectra])


def growth_alarm(run):
    """A sentence for each output in which the lowest modes have not grown as linear theory says: by more than
    GROWTH_ALARM and three errors of the mean. Empty where they have, and with fewer than three bins, which
    tell no error."""
    found = mean_growth(run)
    if found is None or len(found[3]) < 3:
        return ""
    _, mean, error, _, a = found
    off = np.abs(mean - 1) > GROWTH_ALARM + 3 * error
    return "".join(
        f" Wrong growth: at z = {1 / a[i] - 1:.3g} the lowest modes have grown {mean[i]:.4f} ± {error[i]:.4f} times as"
        " much as linear theory says."
        for i in np.flatnonzero(off)
    )


def plot_growth(run):
    """Growth of the lowest modes over linear theory, and its mean."""
    found = mean_growth(run)
    if found is None:
        return None
    ratio, mean, error, k, a = found
    figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for i, column in enumerate(ratio.T):
        colour, dashes, marker = style_of(i, len(k))
        axis.plot(a, column, color=colour, ls=dashes, marker=marker, ms=3, lw=0.7,
                  label=f"k = {k[i]:.3f} h/Mpc")  # fmt: skip
    axis.errorbar(a, mean, error, fmt="ko", ms=5, capsize=3, lw=1.4, zorder=3,
                  label="mean of all these modes")  # fmt: skip
    axis.axhline(1, color="grey", lw=0.7)
    axis.set(xlabel="scale factor a", ylabel="growth since the first output / linear theory")
    axis.legend(frameon=False, fontsize="small", ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return figure
