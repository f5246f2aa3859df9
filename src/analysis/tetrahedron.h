/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mass of a uniform tetrahedron projected along z onto pixels, exactly. */
#ifndef PHOTONS_TETRAHEDRON_H
#define PHOTONS_TETRAHEDRON_H

#include <stddef.h>
#include <stdint.h>

/** x and y in pixels, in (-pixels, 2 pixels): the map is periodic; z in any unit. */
struct vertex {
  double x, y, z;
};

/**
 * Add to each pixel the mass of the tetrahedron in the column of the pixel between z = low and
 * z = high. The masses of all pixels sum up to the mass between the two planes, but for rounding to
 * whole units. Local.
 * @param mass    of the tetrahedron, in units of the map
 * @param pixels  a side of the map
 * @param map     [x][y], second differences along y (column.h)
 */
void tetrahedron_deposit(const struct vertex v[4], double mass, double low, double high,
                         size_t pixels, uint64_t *map);

#endif
