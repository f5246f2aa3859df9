/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What steps of particles and of gas have in common. */
#include "photons/app/step_log.h"

#include <string.h>

struct moment_text step_text_of_redshift(const struct step_record *record, bool length) {
  struct moment_text m;
  snprintf(m.text, sizeof m.text, length ? "z %-8.4f dlna %.4f" : "z %.3f", 1.0 / record->a - 1.0,
           record->dlna);
  return m;
}

/** Whether only runs of gas, or only others, run a stage. */
static bool is_of(uint32_t stage, bool gas) {
  const char *family = stage_at(stage)->family;
  return (family && strcmp(family, "gas") == 0) == gas;
}

void stage_columns(FILE *out, bool gas) {
  for (uint32_t i = 0; i < stage_count(); i++)
    if (is_of(i, gas)) fprintf(out, ",%s_s", stage_name(stage_at(i)));
  fprintf(out, ",gpu_idle_share");
  for (uint32_t i = 0; i < stage_count(); i++)
    if (is_of(i, gas)) fprintf(out, ",gpu_%s_s", stage_name(stage_at(i)));
}

void stage_seconds(FILE *out, bool gas, const struct step_record *record, const struct usage *cores,
                   const struct usage *gpus) {
  for (uint32_t i = 0; i < stage_count(); i++)
    if (is_of(i, gas)) fprintf(out, ",%.6g", cores->seconds[i]);
  usage_print_idle_share(gpus, record->wall, out);
  for (uint32_t i = 0; i < stage_count(); i++)
    if (is_of(i, gas)) fprintf(out, ",%.6g", gpus->seconds[i]);
}
