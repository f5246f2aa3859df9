# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of files that cannot be read: of damaged ones, and of those that other programs made.

Readers raise OSError or ValueError, and the message names the file."""

import configparser
import contextlib
import functools
import os

# What Python, h5py and numpy raise over a file that is not what it should be.
FAULTS = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
    configparser.Error,
)


def explain(error):
    """One line about an error."""
    text = " ".join(str(error).split())
    if isinstance(error, (OSError, ValueError)) and text:
        return text
    return f"damaged, or not of this program ({type(error).__name__}: {text})"


@contextlib.contextmanager
def reading(path):
    """Within this block an error of reading is OSError or ValueError and names the file."""
    try:
        yield
    except FAULTS as error:
        clean = isinstance(error, (OSError, ValueError))
        if clean and str(path) in str(error):
            raise
        kind = OSError if isinstance(error, OSError) else ValueError
        raise kind(f"{path}: {explain(error)}") from error


def require_parts(file):
    """Raise FileNotFoundError if a part of an HDF5 file (docs/user/clusters.md) is not beside it: HDF5 would give
    zeros for the rows of that part."""
    if "parts" not in file.attrs:
        return
    folder = os.path.dirname(file.filename)

    def look(name, item):
        for source in item.virtual_sources() if getattr(item, "is_virtual", False) else ():
            if not os.path.exists(os.path.join(folder, source.file_name)):
                raise FileNotFoundError(f"{file.filename}: {source.file_name}, a part of it, is not there")

    file.visititems(look)


def names_file(read):
    """The same for a function whose first argument is the path."""

    @functools.wraps(read)
    def named(path, *arguments, **options):
        with reading(path):
            return read(path, *arguments, **options)

    return named
