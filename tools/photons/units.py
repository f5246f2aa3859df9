# SPDX-License-Identifier: GPL-3.0-or-later
"""Units of what the files hold, as units of astropy."""

import re

# Columns of text files.
TEXT_UNITS = {
    **dict.fromkeys(["k", "k1", "k2", "k3"], "littleh / Mpc"),
    **dict.fromkeys(["P", "P_shot", "P_linear", "P_halofit"], "Mpc3 / littleh3"),
    **dict.fromkeys(["P0", "P2", "P4", "P0_kaiser", "P2_kaiser", "P4_kaiser"], "Mpc3 / littleh3"),
    **dict.fromkeys(["P_hh", "P_hm", "P_mm"], "Mpc3 / littleh3"),
    **dict.fromkeys(["B", "B_tree"], "Mpc6 / littleh6"),
    "r": "Mpc / littleh",
    **dict.fromkeys(["low", "high"], "Msun / littleh"),
    **dict.fromkeys(["FoF", "FoF_error", "200c", "200c_error"], "littleh3 / Mpc3"),
    **dict.fromkeys(["Press-Schechter", "Sheth-Tormen", "Reed 2007"], "littleh3 / Mpc3"),
    **dict.fromkeys(["Tinker 2008 (200m)", "Tinker 2008 (200c)"], "littleh3 / Mpc3"),
    "peak_rss_bytes": "byte",
    **dict.fromkeys(["time_myr", "dt_myr"], "Myr"),
    **dict.fromkeys(["kinetic", "potential", "total"], "1e10 Msun km2 / s2"),
    **dict.fromkeys(["momentum_x", "momentum_y", "momentum_z"], "1e10 Msun km / s"),
    **dict.fromkeys(["angular_x", "angular_y", "angular_z"], "1e10 Msun kpc km / s"),
    **dict.fromkeys(["centre_x", "centre_y", "centre_z"], "kpc"),
}
# What Gadget's constants stand for: the attribute to_cgs of a dataset, and its unit.
GADGET_UNITS = {1.989e43: "1e10 Msun", 3.085678e21: "kpc", 3.085678e24: "Mpc", 1e5: "km / s"}


def _astropy():
    try:
        import astropy.cosmology.units as cosmology_units
        import astropy.units as u
    except ImportError as error:
        raise ImportError("units=True needs astropy (Debian package python3-astropy)") from error
    u.add_enabled_units(cosmology_units)  # littleh
    return u


def text_unit(name):
    """The unit of a column of a text file; None for numbers and for columns of other kinds."""
    u = _astropy()
    if name.endswith("_s") and not name.endswith("per_s"):
        return u.s
    name = re.sub(r"_type_\d", "", name)
    return u.Unit(TEXT_UNITS[name]) if name in TEXT_UNITS else None


def _named_unit(u, attributes):
    """The unit without powers of h, from Gadget-4's attributes of a dataset."""
    to_cgs = float(attributes["to_cgs"])
    for value, name in GADGET_UNITS.items():
        if abs(to_cgs / value - 1) < 1e-6:
            return u.Unit(name)
    length, mass, velocity = (
        float(attributes[f"{kind}_scaling"]) for kind in ("length", "mass", "velocity")
    )
    return u.Unit(to_cgs * u.cm**length * u.g**mass * (u.cm / u.s) ** velocity)


def dataset_quantity(dataset, a):
    """The values of an HDF5 dataset at scale factor a. Lengths stay comoving. Everything else is
    physical, such as peculiar velocities. Datasets without a unit become arrays.

    a -- None: of an isolated system, whose numbers have no powers of a and h"""
    attributes, values = dataset.attrs, dataset[()]
    if not any(attributes.get(f"{kind}_scaling", 0) for kind in ("length", "mass", "velocity")):
        return values
    u = _astropy()
    unit = _named_unit(u, attributes)
    if a is None:
        return values * unit
    unit = unit * u.Unit("littleh") ** float(attributes["h_scaling"])
    if attributes["velocity_scaling"]:
        values = values * a ** float(attributes["a_scaling"])
    return values * unit
