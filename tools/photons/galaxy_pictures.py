# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of isolated systems: surface density of the outputs face-on and edge-on, and of the last
one the colours of its components and an unsharp mask."""

from . import galaxy_maps
from .modules import Deferred

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")
colors, ticker = Deferred("matplotlib.colors"), Deferred("matplotlib.ticker")
effects = Deferred("matplotlib.patheffects")

SHOWN_MOST = 12  # outputs in one figure
COLUMNS = 4
PIXELS = 256, 512  # a side of a map, least and most
BORDER = 1.1  # half width over the one that holds SHARE of the mass in the first and last output
SHARE = 0.99
STRIP = 0.4  # height of the edge-on part over its width
DECADES = 3.5  # of colours below the brightest
LIGHT = {  # colours of the components, of which the mixed colour of a pixel consists
    "disk": (0.3, 0.55, 1.0),
    "bulge": (1.0, 0.5, 0.12),
    "stars": (0.95, 0.75, 0.6),
    "gas": (0.9, 0.35, 0.75),
    "halo": (0.35, 0.3, 0.6),
    "boundary": (0.5, 0.9, 0.5),
}


def shown_numbers(count):
    """Places of the outputs in the figure: all, or SHOWN_MOST at equal steps with first and last."""
    return sorted(set(np.linspace(0, count - 1, min(count, SHOWN_MOST)).round().astype(int).tolist()))


def check_components(names, system, path):
    unknown = [name for name in names if name not in system.components]
    if unknown:
        there = ", ".join(system.components)
        raise ValueError(f"{path}: no component {', '.join(unknown)}, only {there}")


class Views:
    """Maps of the outputs of a run in one frame and on one scale.

    first, last -- Systems; names -- of the components that are shown"""

    def __init__(self, first, last, names):
        self.names = names
        self.frame = galaxy_maps.Frame(first, names)
        reach = max(self.frame.extent(system, SHARE) for system in (first, last))
        self.half_width = BORDER * reach or 1.0
        count = sum(len(last.components[name].mass) for name in names)
        self.pixels = int(np.clip(2 ** round(np.log2(np.sqrt(count))), *PIXELS))

    def of(self, system, names=None):
        """Maps face-on and edge-on of an output [Msun/kpc^2], the second a strip."""
        positions = self.frame.positions(system)
        positions = {name: positions[name] for name in names or self.names if name in positions}
        masses = {name: system.components[name].mass for name in positions}
        face, edge = galaxy_maps.views(positions, masses, self.half_width, self.pixels)
        cut = round(self.pixels * (1 - STRIP) / 2)
        return face, edge[cut:-cut]

    def extents(self):
        w = self.half_width
        return [-w, w, -w, w], [-w, w, -STRIP * w, STRIP * w]


def brightness(maps):
    """The colours of all maps of a figure, as a norm."""
    filled = np.concatenate([density[density > 0].ravel() for pair in maps for density in pair])
    high = np.percentile(filled, 99.8)
    return colors.LogNorm(high / 10**DECADES, high)


def new_panels(count, size):
    """A figure with pairs of axes, face-on above edge-on, in rows of COLUMNS."""
    columns = min(count, COLUMNS)
    rows = -(-count // columns)
    beside = 1.3 if columns > 1 else 2.2  # labels and the colour bar; panels that stand alone give no room
    figure = plt.figure(figsize=(size * columns + beside, size * (1 + STRIP) * rows + 0.9),
                        layout="constrained")  # fmt: skip
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0, hspace=0)
    grid = figure.subplots(
        2 * rows, columns, squeeze=False, sharex=True, height_ratios=[1, STRIP] * rows
    )
    pairs = [(grid[2 * (i // columns), i % columns], grid[2 * (i // columns) + 1, i % columns])
             for i in range(rows * columns)]  # fmt: skip
    for pair in pairs[count:]:
        for axis in pair:
            axis.remove()
    return figure, pairs[:count], columns


def label_panels(pairs, columns):
    """Names of axes where no panel stands left of or below another."""
    for i, (face, edge) in enumerate(pairs):
        face.tick_params(labelbottom=False)
        edge.tick_params(labelbottom=i + columns >= len(pairs))
        if i + columns >= len(pairs):
            edge.set_xlabel("x [kpc]")
        for axis, name in ((face, "y [kpc]"), (edge, "z [kpc]")):
            axis.xaxis.set_major_locator(ticker.MaxNLocator(4, prune="both"))
            axis.tick_params(labelleft=i % columns == 0)
            if i % columns == 0:
                axis.set_ylabel(name)


def write_on(axis, text):
    """White text with a dark rim in the upper left corner, legible on any colour."""
    rim = [effects.withStroke(linewidth=2.5, foreground="black")]
    axis.text(0.04, 0.96, text, color="white", transform=axis.transAxes, va="top", path_effects=rim)


def draw_pair(pair, maps, extents, **shown):
    for axis, image, extent in zip(pair, maps, extents):
        drawn = axis.imshow(image, origin="lower", extent=extent, interpolation="nearest", **shown)
        axis.set_facecolor("black")
    return drawn


def plot_picture(evolution):
    """Surface density of the outputs face-on and edge-on, all with the same frame and colours."""
    if not evolution.paths:
        return None
    maps, views = evolution.maps(), evolution.views
    if not any(np.any(density > 0) for _, pair in maps for density in pair):
        return None
    norm = brightness([pair for _, pair in maps])
    figure, pairs, columns = new_panels(len(maps), 2.9 if len(maps) > 2 else 5)
    for pair, (time_myr, images) in zip(pairs, maps):
        images = [np.maximum(image, norm.vmin) for image in images]
        drawn = draw_pair(pair, images, views.extents(), norm=norm, cmap="magma")
        write_on(pair[0], f"{time_myr:.0f} Myr")
    label_panels(pairs, columns)
    sides = "the x-y plane, and x-z below" if views.frame.fixed else "face-on, and edge-on below"
    figure.suptitle(f"Surface density of {', '.join(views.names)}: {sides}")
    axes = [axis for pair in pairs for axis in pair]
    figure.colorbar(drawn, ax=axes, label="Msun/kpc²", extend="both", aspect=35, fraction=0.04)
    return figure


def mixed_colours(maps):
    """Pictures [rows, columns, 3] in the colours of LIGHT: brightness is a logarithm of the whole
    surface density, and the hue is that of the components' shares in it.

    maps -- {name: images}; the images of all components are of the same places"""
    total = [sum(images) for images in zip(*maps.values())]
    norm = brightness([total])
    pictures = []
    for i, whole in enumerate(total):
        hue = sum(images[i][..., None] * np.array(LIGHT[name]) for name, images in maps.items())
        hue = hue / np.maximum(whole, 1e-300)[..., None]
        light = np.clip(norm(np.maximum(whole, norm.vmin)).filled(0), 0, 1)[..., None]
        white = np.clip(4 * light - 3.2, 0, 0.4)  # where it is brightest
        pictures.append(np.clip(light * (hue + (1 - hue) * white), 0, 1))
    return pictures


def plot_structure(evolution):
    """The last output in the colours of its components, and what is denser or thinner than its
    surroundings: spiral arms, bars, tails."""
    if not evolution.shown:
        return None
    views, last = evolution.views, evolution.shown[-1]
    maps = {name: views.of(last, [name]) for name in views.names}
    if not any(np.any(images[0] > 0) for images in maps.values()):
        return None
    figure, pairs, columns = new_panels(2, 5)
    draw_pair(pairs[0], mixed_colours(maps), views.extents())
    write_on(pairs[0][0], f"{last.time_myr:.0f} Myr")
    for i, name in enumerate(views.names):
        pairs[0][0].text(0.04 + 0.2 * i, 0.04, name, color=LIGHT[name],
                         transform=pairs[0][0].transAxes)  # fmt: skip
    masked = [name for name in ("disk",) if name in maps] or views.names
    total = [sum(images) for images in zip(*(maps[name] for name in masked))]
    deviation = views.pixels / 16
    # arms are denser than their surroundings by tens of percent; single particles are smoothed away
    smooth = galaxy_maps.blurred(total[0], views.pixels / 128)
    contrast = galaxy_maps.unsharp(smooth, deviation)
    drawn = pairs[1][0].imshow(contrast, origin="lower", extent=views.extents()[0], cmap="RdBu_r",
                               vmin=-1, vmax=1, interpolation="nearest")  # fmt: skip
    label_panels(pairs, columns)
    pairs[1][0].tick_params(labelbottom=True)
    pairs[1][0].set(xlabel="x [kpc]", facecolor="0.85")
    pairs[1][1].axis("off")
    bar = figure.colorbar(drawn, cax=pairs[1][1].inset_axes([0.05, 0.5, 0.9, 0.14]),
                          orientation="horizontal", extend="both")  # fmt: skip
    bar.set_label(f"{', '.join(masked)}: surface density over the same\n"
                  f"smoothed by {views.half_width / 8:.2g} kpc, less 1")  # fmt: skip
    figure.suptitle("Components by colour, and an unsharp mask")
    return figure
