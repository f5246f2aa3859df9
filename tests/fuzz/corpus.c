/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that fuzzing begins with: corpus FOLDER. One small valid file of every kind, in a
 * folder for each target, and FOLDER/config.dict with the words of config.ini. */
#include <byteswap.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "harness.h"
#include "photons/base/output_file.h"
#include "photons/config/parameter_table.h"
#include "photons/cosmology/cosmology.h"
#include "photons/cosmology/linear_power.h"
#include "photons/io/snapshot.h"

enum { SIDE = 2, COUNT = SIDE * SIDE * SIDE };

static const char *folder;

static const char *place(const char *target, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, target);
  output_folder(path);
  snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
  return path;
}

static double mass_of_one(const struct parameters *p) {
  return p->cosmology.omega_m * RHO_CRITICAL * pow(p->box.size, 3) / COUNT;
}

static struct particles make_particles(const struct parameters *p) {
  struct particles s = particles_create(COUNT, p->box.size, mass_of_one(p));
  for (size_t i = 0; i < COUNT; i++) {
    s.id[i] = i + 1;
    for (size_t c = 0; c < 3; c++) {
      s.position[c * COUNT + i] = (uint32_t)(i >> c & 1) << 31 | (uint32_t)(i * 7919 + c * 104729);
      s.momentum[c * COUNT + i] = (float)i - 3.0F * (float)c;
    }
  }
  return s;
}

static void write_checkpoints(const struct parameters *p) {
  struct particles s = make_particles(p);
  const struct checkpoint_state state = {.a = 0.1,
                                         .start_a = 0.02,
                                         .step = 12,
                                         .mesh_cells = 8,
                                         .next_mesh_cells = 12,
                                         .wall_seconds = 60.0};
  checkpoint_write(place("checkpoint", "one_block.hdf5"), p, &s, &state);
  s.blocks = s.all_blocks = 3;
  checkpoint_write(place("checkpoint", "three_blocks.hdf5"), p, &s, &state);
  particles_free(&s);
}

static herr_t delete_checksum(hid_t file, const char *name, const H5O_info_t *info, void *unused) {
  (void)info;
  (void)unused;
  static const char *const checksums[] = {"xxh3_rows", "xxh3_attributes"};
  for (int i = 0; i < 2; i++)
    if (H5Aexists_by_name(file, name, checksums[i], H5P_DEFAULT) > 0 &&
        H5Adelete_by_name(file, name, checksums[i], H5P_DEFAULT) < 0)
      return -1;
  return 0;
}

/** As other programs write them. */
static void delete_checksums(const char *path) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, delete_checksum, NULL, H5O_INFO_BASIC) < 0 ||
      H5Fclose(file) < 0)
    fail(EXIT_RUN_FAILED, "cannot delete the checksums of %s", path);
}

static void write_snapshots(struct parameters *p) {
  struct particles s = make_particles(p);
  snapshot_write(place("gadget_hdf5", "plain.hdf5"), p, &s, 0.1);
  snapshot_write(place("gadget_hdf5", "no_checksums.hdf5"), p, &s, 0.1);
  delete_checksums(place("gadget_hdf5", "no_checksums.hdf5"));
  p->output.compression = 6;
  p->output.accelerations = true;
  snapshot_write(place("gadget_hdf5", "compressed.hdf5"), p, &s, 0.1);
  p->output.compression = 0;
  p->output.accelerations = false;
  particles_free(&s);
}

/** A kind of Gadget-2 binary file. */
struct variant {
  const char *name;
  bool labels, swapped, doubles, long_ids, masses;
  uint32_t files;
};

struct writer {
  FILE *stream;
  const struct variant *variant;
};

static void put_integer(const struct writer *w, uint64_t value, unsigned width) {
  const uint32_t n4 = w->variant->swapped ? bswap_32((uint32_t)value) : (uint32_t)value;
  const uint64_t n8 = w->variant->swapped ? bswap_64(value) : value;
  fwrite(width == 4 ? (const void *)&n4 : &n8, width, 1, w->stream);
}

static void put_real(const struct writer *w, double value, bool doubles) {
  const float single = (float)value;
  uint32_t n4;
  uint64_t n8;
  memcpy(&n4, &single, 4);
  memcpy(&n8, &value, 8);
  put_integer(w, doubles ? n8 : n4, doubles ? 8 : 4);
}

/** The label of a block in format 2, and the marker before its record. */
static void begin_block(const struct writer *w, const char *label, uint64_t size) {
  if (w->variant->labels) {
    put_integer(w, 8, 4);
    fputs(label, w->stream);
    put_integer(w, size + 8, 4);
    put_integer(w, 8, 4);
  }
  put_integer(w, size, 4);
}

static void write_header(const struct writer *w, const struct parameters *p) {
  const double box = 1000.0 * p->box.size;
  const double cosmology[] = {box, p->cosmology.omega_m, p->cosmology.omega_lambda, p->cosmology.h};
  const uint32_t files = w->variant->files;
  begin_block(w, "HEAD", 256);
  const long begin = ftell(w->stream);
  for (unsigned t = 0; t < 6; t++) put_integer(w, t == 1 ? COUNT : 0, 4);
  for (unsigned t = 0; t < 6; t++)
    put_real(w, t == 1 && !w->variant->masses ? mass_of_one(p) : 0.0, true);
  put_real(w, 0.1, true);
  put_real(w, 9.0, true);
  for (unsigned i = 0; i < 2; i++) put_integer(w, 0, 4);
  for (unsigned t = 0; t < 6; t++) put_integer(w, t == 1 ? COUNT * files : 0, 4);
  put_integer(w, 0, 4);
  put_integer(w, files, 4);
  for (unsigned i = 0; i < 4; i++) put_real(w, cosmology[i], true);
  while (ftell(w->stream) < begin + 256) fputc(0, w->stream);
  put_integer(w, 256, 4);
}

static void write_vectors(const struct writer *w, const char *label, double scale) {
  const uint64_t size = UINT64_C(3) * COUNT * (w->variant->doubles ? 8 : 4);
  begin_block(w, label, size);
  for (size_t i = 0; i < COUNT; i++)
    for (size_t c = 0; c < 3; c++)
      put_real(w, scale * (0.01 + (double)(i >> c & 1)), w->variant->doubles);
  put_integer(w, size, 4);
}

static void write_binary(const struct parameters *p, const struct variant *variant) {
  const struct writer w = {fopen(place("gadget_binary", variant->name), "wb"), variant};
  if (!w.stream) fail(EXIT_RUN_FAILED, "cannot write %s", variant->name);
  write_header(&w, p);
  write_vectors(&w, "POS ", 500.0 * p->box.size);
  if (variant->labels) write_vectors(&w, "ACCE", 1.0); /* a block that the reader passes over */
  write_vectors(&w, "VEL ", 100.0);
  const unsigned id_width = variant->long_ids ? 8 : 4, real_width = variant->doubles ? 8 : 4;
  begin_block(&w, "ID  ", COUNT * id_width);
  for (uint64_t i = 0; i < COUNT; i++) put_integer(&w, i + 1, id_width);
  put_integer(&w, COUNT * id_width, 4);
  if (variant->masses) {
    begin_block(&w, "MASS", COUNT * real_width);
    for (unsigned i = 0; i < COUNT; i++) put_real(&w, mass_of_one(p), variant->doubles);
    put_integer(&w, COUNT * real_width, 4);
  }
  output_close(w.stream, variant->name);
}

static void write_binaries(const struct parameters *p) {
  static const struct variant variants[] = {
      {.name = "format_1", .files = 1},
      {.name = "format_2", .labels = true, .files = 1},
      {.name = "swapped", .swapped = true, .files = 1},
      {.name = "doubles",
       .labels = true,
       .doubles = true,
       .long_ids = true,
       .masses = true,
       .files = 1},
      {.name = "masses", .masses = true, .files = 1},
      {.name = "two_files", .files = 2},
  };
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) write_binary(p, &variants[i]);
}

static void write_tables(const struct parameters *p) {
  struct linear_power *power = linear_power_create(p);
  for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
    FILE *file = output_open(place("power_table", logarithmic ? "logarithms" : "numbers"));
    fputs("# k P\n", file);
    for (double k = 1e-3; k < 20.0; k *= 1.6) {
      const double value = linear_power_at(power, k);
      fprintf(file, "%.4g %.4g\n", logarithmic ? log10(k) : k, logarithmic ? log10(value) : value);
    }
    output_close(file, "a table");
  }
  linear_power_free(power);
}

static void write_configs(const struct parameters *p) {
  FILE *file = output_open(place("config", "all.ini"));
  parameters_print(p, file);
  output_close(file, "all.ini");
  file = output_open(place("config", "defaults.ini"));
  parameters_print_defaults(file);
  output_close(file, "defaults.ini");
  for (size_t i = 0; i < parameter_count; i++) {
    file = output_open(place("config", parameter_table[i].key));
    fprintf(file, "[box]\nsize = 50\nnpart_side = 2\n[%s]\n%s = ", parameter_table[i].section,
            parameter_table[i].key);
    parameter_print(&parameter_table[i], p, file);
    fputc('\n', file);
    output_close(file, parameter_table[i].key);
  }
}

static void put_word(FILE *file, const char *before, const char *word, const char *after) {
  if (*word) fprintf(file, "\"%s%s%s\"\n", before, word, after);
}

static void write_dictionary(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/config.dict", folder);
  FILE *file = output_open(path);
  for (size_t i = 0; i < parameter_count; i++) {
    const struct parameter *row = &parameter_table[i];
    if (i == 0 || strcmp(row->section, row[-1].section) != 0)
      put_word(file, "[", row->section, "]");
    put_word(file, "", row->key, " = ");
    for (size_t w = 0; row->words && row->words[w]; w++) put_word(file, "", row->words[w], "");
  }
  output_close(file, path);
}

/** A few particles of several types and masses, with the units of galaxies. */
static void write_isolated(const struct parameters *p) {
  struct particles s = make_particles(p);
  particles_add_column(&s, COLUMN_type);
  particles_add_column(&s, COLUMN_relative_mass);
  for (size_t i = 0; i < COUNT; i++) {
    s.type[i] = (uint8_t)(1 + i % 4);
    s.relative_mass[i] = 0.5F + (float)(i % 3);
  }
  snapshot_write(place("isolated", "types.hdf5"), p, &s, 0.1);
  snapshot_write(place("isolated", "no_checksums.hdf5"), p, &s, 0.1);
  delete_checksums(place("isolated", "no_checksums.hdf5"));
  particles_free(&s);
}

static void write_gas(void) {
  corpus_gas_file(place("gas_file", "gas.hdf5"), false);
  corpus_gas_file(place("gas_file", "particles.hdf5"), true);
  corpus_gas_array(place("gas_array", "small.hdf5"), H5T_STD_I8LE, false);
  corpus_gas_array(place("gas_array", "floats.hdf5"), H5T_IEEE_F32LE, true);
}

static void write_times(void) {
  static const char *const lists[][2] = {{"redshifts", "9\n5 # a comment\n\n0.5\n0\n"},
                                         {"scale_factors", "# Scale factor\n0.1\n0.5\n1\n"}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    FILE *file = output_open(place("times_file", lists[i][0]));
    fputs(lists[i][1], file);
    output_close(file, lists[i][0]);
  }
}

int main(int argc, char **argv) {
  struct parameters p;
  if (argc != 2) fail(EXIT_BAD_USAGE, "usage: corpus FOLDER");
  folder = argv[1];
  fuzz_parameters(&p);
  write_checkpoints(&p);
  write_snapshots(&p);
  write_binaries(&p);
  write_tables(&p);
  write_configs(&p);
  write_dictionary();
  write_isolated(&p);
  write_gas();
  write_times();
  return 0;
}
