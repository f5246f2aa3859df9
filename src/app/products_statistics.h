/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_PRODUCTS_STATISTICS_H
#define PHOTONS_PRODUCTS_STATISTICS_H

#include "photons/analysis/halo.h"
#include "photons/app/products.h"
#include "photons/cosmology/linear_theory.h"

/** Linear theory of an output. */
struct linear_theory products_linear(const struct products *o);

/** Measure and write the statistics beside P(k) that the parameters ask for. Collective.
 * @param halos  NULL: there are none, and nothing is asked of them */
void products_write_statistics(const struct products *o, const struct halo_catalogue *halos);

#endif
