/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/output_log.h"

#include "photons/app/csv.h"
#include "photons/app/products.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"

static const char *const names[PRODUCT_PARTS] = {
    [PART_FRIENDS] = "friends_s",       [PART_POWER] = "power_s",
    [PART_PICTURES] = "pictures_s",     [PART_HALOS] = "halos_s",
    [PART_SUBHALOS] = "subhalos_s",     [PART_TREES] = "trees_s",
    [PART_STATISTICS] = "statistics_s", [PART_SNAPSHOT] = "snapshot_s",
    [PART_SUBSAMPLE] = "subsample_s",   [PART_COPY] = "copy_s",
    [PART_BESIDE] = "beside_s",         [PART_WAITED] = "waited_s"};

static void write_header(FILE *out, bool isolated) {
  fprintf(out, isolated ? "output,time_myr" : "output,a,z");
  for (int i = 0; i < PRODUCT_PARTS; i++) fprintf(out, ",%s", names[i]);
  fprintf(out, ",snapshot_gb,snapshot_gb_per_s\n");
}

static void write_row(FILE *out, const struct products *o) {
  fprintf(out, "%zu", o->number);
  if (o->cosmology->isolated)
    fprintf(out, ",%.9g", cosmology_myr(o->a));
  else
    fprintf(out, ",%.9g,%.9g", o->a, 1.0 / o->a - 1.0);
  for (int i = 0; i < PRODUCT_PARTS; i++) fprintf(out, ",%.6g", o->seconds[i]);
  const double gb = 1e-9 * o->snapshot_bytes, seconds = o->seconds[PART_SNAPSHOT];
  fprintf(out, ",%.6g,%.6g\n", gb, gb > 0.0 ? gb / seconds : 0.0);
}

void output_log_add(const struct products *o) {
  if (comm_rank() != 0) return;
  char path[PARAMETER_PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/log/outputs.csv", o->parameters->output.dir);
  FILE *file = csv_continue(path, (int64_t)o->number - 1);
  if (ftell(file) == 0) write_header(file, o->cosmology->isolated);
  fflush(file); /* the names of the columns are looked up in the file */
  struct output_text row;
  write_row(output_text_begin(&row), o);
  output_text_append(&row, file, path);
  if (fclose(file) != 0) fail(EXIT_RUN_FAILED, "cannot write %s: is the disk full?", path);
}
