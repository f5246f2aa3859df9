/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ic_wave_growth.h"

#include "photons/cosmology/species.h"

double wave_growth(const struct wave_growth *w, double k) {
  const double matter = w->species ? species_growth(w->species, w->a, k) : w->d1;
  return w->fluids ? matter * fluids_contrast(w->fluids, w->fluid, k) : matter;
}

double wave_rate(const struct wave_growth *w, double k) {
  const double matter = w->species ? species_rate(w->species, w->a, k) : w->f1;
  if (!w->fluids) return matter;
  return matter * fluids_flow(w->fluids, w->fluid, k) / fluids_contrast(w->fluids, w->fluid, k);
}

bool wave_rate_depends_on_k(const struct wave_growth *w) { return w->species || w->fluids; }
