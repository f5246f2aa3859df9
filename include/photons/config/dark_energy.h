/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The equation of state w(a) of dark energy: w0 + wa (1 - a), or a table (cosmology.w_table). */
#ifndef PHOTONS_DARK_ENERGY_H
#define PHOTONS_DARK_ENERGY_H

#include <stdbool.h>
#include <stddef.h>

enum { DARK_ENERGY_ROWS = 256 };

/** Between rows w is linear in a, beyond them constant. */
struct w_table {
  size_t rows;                /**< 0: there is no table */
  double a[DARK_ENERGY_ROWS]; /**< rising, at most 1 */
  double w[DARK_ENERGY_ROWS];
  double ln_density[DARK_ENERGY_ROWS]; /**< at a, over today's */
};

/** w at a. @param t  without rows: w0 and wa count */
double dark_energy_w(const struct w_table *t, double w0, double wa, double a);
/** Density at a over today's, exp(3 int_a^1 (1 + w) dln a). */
double dark_energy_density(const struct w_table *t, double w0, double wa, double a);
/** Fill ln_density from a and w. */
void w_table_integrate(struct w_table *t);

/** Read a file in the format of cosmology.w_table.
 * @param[out] reason  why it is no table, if false is returned */
bool w_table_read(struct w_table *t, const char *path, char *reason, size_t length);

#endif
