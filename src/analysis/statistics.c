/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "statistics.h"

#include <math.h>

#include "density_modes.h"
#include "photons/cosmology/linear_sigma.h"
#include "photons/io/provenance.h"

enum { MESH_MOST = 256 }; /* cells a side that are chosen */

bool statistics_wanted(const struct parameters *p) {
  return p->output.multipoles || p->output.correlation || p->output.bispectrum ||
         p->output.halo_power;
}

size_t statistics_mesh(const struct parameters *p, size_t mesh) {
  if (p->analysis.statistics_mesh > 0) return (size_t)p->analysis.statistics_mesh;
  return mesh < MESH_MOST ? mesh : MESH_MOST;
}

double statistics_memory(const struct parameters *p, size_t particles, size_t mesh) {
  const double bytes = density_modes_bytes(mesh), peak = density_modes_peak(particles, mesh);
  double most = statistics_wanted(p) ? peak : 0.0;
  if (p->output.halo_power) most = fmax(most, bytes + density_modes_peak(0, mesh));
  if (p->output.bispectrum) most = fmax(most, 5.0 * bytes); /* delta; a long shell, a short one */
  return most;
}

void statistics_head(FILE *file, const char *title, const struct statistics_state *s) {
  const struct growth growth = linear_theory_mean_growth(&s->linear);
  const double a = s->linear.a;
  fprintf(file, "# %s\n", title);
  if (s->provenance) provenance_print(file, s->provenance);
  fprintf(file, "# a = %.9g, z = %.9g, box = %.9g Mpc/h, mesh = %zu, N = %zu\n", a, 1.0 / a - 1.0,
          s->box, s->mesh, s->number);
  fprintf(file, "# D1 = %.7f, dlnD1/dlna = %.7f\n", growth.d1, growth.f1);
}
