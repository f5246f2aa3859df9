/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gas_files.h"

#include <string.h>

bool stage_of_gas(uint32_t stage) {
  const char *family = stage_at(stage)->family;
  return family && strcmp(family, "gas") == 0;
}

void gas_timings_header(FILE *out, bool comoving) {
  fprintf(out,
          "step,%s,wall_s,updates_per_s,level_patches,level_updates,idle_share,imbalance,"
          "peak_rss_bytes,first_order_faces",
          comoving ? "a,z,dlna" : "time,dt");
  for (uint32_t i = 0; i < stage_count(); i++)
    if (stage_of_gas(i)) fprintf(out, ",%s_s", stage_name(stage_at(i)));
  fprintf(out, ",gpu_idle_share");
  for (uint32_t i = 0; i < stage_count(); i++)
    if (stage_of_gas(i)) fprintf(out, ",gpu_%s_s", stage_name(stage_at(i)));
  fprintf(out, "\n");
}

void gas_statistics_header(FILE *out, bool comoving) {
  fprintf(out,
          "step,%s,mass,momentum_x,momentum_y,momentum_z,energy,potential_energy,"
          "particle_momentum_x,particle_momentum_y,particle_momentum_z,particle_energy\n",
          comoving ? "a,z" : "time");
}

/** The number of the step and its time. */
static void write_moment(FILE *out, const struct step_record *record) {
  if (record->isolated)
    fprintf(out, "%lld,%.15g", (long long)record->step, record->gas->time);
  else
    fprintf(out, "%lld,%.15g,%.9g", (long long)record->step, record->a, 1.0 / record->a - 1.0);
}

/** A column of numbers by level, from the root on: "64;128;0". */
static void by_level(FILE *out, const uint64_t *number, int levels) {
  for (int l = 0; l < levels; l++)
    fprintf(out, "%s%llu", l == 0 ? "," : ";", (unsigned long long)number[l]);
}

void gas_timings_row(FILE *out, const struct step_record *record, const struct usage *cores,
                     const struct usage *gpus, double peak_bytes) {
  const struct gas_record *g = record->gas;
  write_moment(out, record);
  fprintf(out, ",%.9g,%.6g,%.6g", record->isolated ? g->dt : record->dlna, record->wall,
          (double)record->kicked / record->wall);
  by_level(out, g->patches, g->levels);
  by_level(out, g->updates, g->levels);
  usage_print_idle_share(cores, record->wall, out);
  fprintf(out, ",%.4g,%.0f,%.0f", usage_imbalance(gpus->units ? gpus : cores), peak_bytes,
          g->totals.first_order);
  for (uint32_t i = 0; i < stage_count(); i++)
    if (stage_of_gas(i)) fprintf(out, ",%.6g", cores->seconds[i]);
  usage_print_idle_share(gpus, record->wall, out);
  for (uint32_t i = 0; i < stage_count(); i++)
    if (stage_of_gas(i)) fprintf(out, ",%.6g", gpus->seconds[i]);
  fprintf(out, "\n");
}

void gas_statistics_row(FILE *out, const struct step_record *record) {
  const struct gas_record *g = record->gas;
  write_moment(out, record);
  for (int v = GAS_DENSITY; v <= GAS_ENERGY; v++) fprintf(out, ",%.15g", g->totals.conserved[v]);
  fprintf(out, ",%.15g", g->totals.potential_energy);
  for (int c = 0; c < 3; c++) fprintf(out, ",%.15g", g->totals.particles.momentum[c]);
  fprintf(out, ",%.15g\n", g->totals.particles.kinetic_energy);
}
