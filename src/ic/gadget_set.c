/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of Gadget files: finds the files, compares their headers, and reads ranges of their
 * particles. */
#include "gadget_set.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ic_check.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"

/** What writers leave open in a header. */
static void complete(struct gadget_header *h) {
  uint64_t total = 0;
  for (unsigned t = 0; t < GADGET_TYPES; t++) total += h->total[t];
  if (h->files > 1 || total > 0) return;
  memcpy(h->total, h->in_file, sizeof h->total);
  h->total_is_32_bit = false;
}

/** A type's mass is that of the files that have particles of it: some writers put 0 into the others.
 */
static void complete_masses(struct gadget_set *set) {
  for (unsigned t = 0; t < GADGET_TYPES; t++) {
    size_t from = 0;
    while (from < set->files && set->headers[from].in_file[t] == 0) from++;
    for (size_t f = 0; f < set->files && from < set->files; f++)
      if (set->headers[f].in_file[t] == 0) set->headers[f].mass[t] = set->headers[from].mass[t];
  }
}

static const struct gadget_format *set_format(const struct gadget_set *set) {
  return set->hdf5 ? &gadget_hdf5 : &gadget_binary;
}

const char *gadget_set_path(const struct gadget_set *set, size_t file,
                            char path[GADGET_PATH_SIZE]) {
  if (set->number == 0) return set->first;
  snprintf(path, GADGET_PATH_SIZE, "%.*s%zu%s", (int)set->number, set->first, file,
           set->first + set->number + 1);
  return path;
}

/** Find the file itself, or the first file of the set with this stem. */
static void find_first(struct gadget_set *set, const char *name) {
  static const char *const endings[] = {"", ".hdf5", ".0", ".0.hdf5"};
  struct stat status;
  for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
    snprintf(set->first, sizeof set->first, "%s%s", name, endings[e]);
    if (stat(set->first, &status) == 0) {
      if (S_ISDIR(status.st_mode))
        fail(EXIT_BAD_INPUT, "cannot read %s: it is a folder", set->first);
      return;
    }
    if (errno != ENOENT) fail(EXIT_BAD_INPUT, "cannot read %s: %s", set->first, strerror(errno));
  }
  fail(EXIT_BAD_INPUT,
       "cannot read %s: there is no such file, nor with .hdf5, .0 or .0.hdf5 after it (ic.file)",
       name);
}

static const struct gadget_format *find_format(const char *path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char begin[8];
  const char *reason;
  FILE *file = input_open(path, &reason);
  if (!file) fail(EXIT_BAD_INPUT, "cannot read %s: %s", path, reason);
  const size_t count = fread(begin, 1, sizeof begin, file);
  fclose(file);
  return count == sizeof begin && memcmp(begin, signature, sizeof begin) == 0 ? &gadget_hdf5
                                                                              : &gadget_binary;
}

/** Position of the file's number in the name of file 0: NAME.0, NAME.0.hdf5, NAME.0.h5. */
static size_t find_number(const char *path, uint64_t files) {
  size_t end = strlen(path);
  static const char *const endings[] = {".hdf5", ".h5"};
  for (size_t e = 0; e < 2; e++) {
    const size_t length = strlen(endings[e]);
    if (end > length && strcmp(path + end - length, endings[e]) == 0) end -= length;
  }
  if (end < 3 || memcmp(path + end - 2, ".0", 2) != 0)
    fail(EXIT_BAD_INPUT,
         "%s: one of %llu files; give the first of them, whose name ends in .0 or .0.hdf5, or what "
         "stands before it",
         path, (unsigned long long)files);
  return end - 1;
}

/** Two NaNs are equal here: NaN is reported as an error of its own, not as a difference. */
static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static bool same_masses(const struct gadget_header *a, const struct gadget_header *b) {
  for (unsigned t = 0; t < GADGET_TYPES; t++)
    if (a->mass[t] != b->mass[t]) return false;
  return true;
}

static void check_same(const struct gadget_set *set, const char *path,
                       const struct gadget_header *h) {
  const struct gadget_header *first = &set->headers[0];
  const char *differs = !same(h->box, first->box)                     ? "BoxSize"
                        : !same(h->redshift, first->redshift)         ? "Redshift"
                        : !same(h->omega_m, first->omega_m)           ? "Omega0"
                        : !same(h->omega_lambda, first->omega_lambda) ? "OmegaLambda"
                        : !same(h->h, first->h)                       ? "HubbleParam"
                        : h->files != first->files                    ? "the number of files"
                        : memcmp(h->total, first->total, sizeof h->total) != 0
                            ? "the total number of particles"
                        : !same_masses(h, first) ? "the particle mass"
                                                 : NULL;
  if (differs)
    fail(EXIT_BAD_INPUT, "%s: %s in its header differs from that in %s", path, differs, set->first);
}

/** Count the particles of each type, and compare with the headers. */
static void count_particles(struct gadget_set *set) {
  for (unsigned t = 0; t < GADGET_TYPES; t++) {
    const uint64_t promised = set->headers[0].total[t];
    uint64_t found = 0;
    for (size_t f = 0; f < set->files; f++) found += set->headers[f].in_file[t];
    const uint64_t countable = set->headers[0].total_is_32_bit ? (uint32_t)found : found;
    if (countable != promised)
      fail(EXIT_BAD_INPUT, "%s: its %zu files hold %llu particles of type %u, the header says %llu",
           set->first, set->files, (unsigned long long)found, t, (unsigned long long)promised);
    if (found > 0 && t >= PARTICLE_TYPES)
      fail(EXIT_BAD_INPUT, "%s: holds particles of type %u; allowed: 1 to %d", set->first, t,
           PARTICLE_TYPES - 1);
    set->of_type[t] = found;
    set->count += found;
  }
  if (set->count == 0) fail(EXIT_BAD_INPUT, "%s: holds no particles", set->first);
}

/** End the program unless a file of the set is there. */
static void require_file(const struct gadget_set *set, size_t file) {
  char buffer[GADGET_PATH_SIZE];
  const char *path = gadget_set_path(set, file, buffer);
  struct stat status;
  if (stat(path, &status) != 0)
    fail(EXIT_BAD_INPUT, "cannot read %s (file %zu of %zu of a set): %s", path, file + 1,
         set->files, strerror(errno));
}

/** Read the headers, each rank those of some files. Collective. */
static void read_headers(struct gadget_set *set) {
  const size_t size = (size_t)comm_size(), first = comm_first(set->files, comm_rank());
  const size_t end = comm_first(set->files, comm_rank() + 1);
  struct gadget_header *headers = allocate(end - first, sizeof *headers,
                                           "headers of initial conditions");
  for (size_t f = first; f < end; f++) {
    char buffer[GADGET_PATH_SIZE];
    const char *path = gadget_set_path(set, f, buffer);
    require_file(set, f);
    if (find_format(path) != set_format(set))
      fail(EXIT_BAD_INPUT, "%s: not in the format of %s", path, set->first);
    set_format(set)->header(path, &headers[f - first]);
    complete(&headers[f - first]);
    headers[f - first].analysed = set->analysed;
    ic_check_header(path, &headers[f - first], set->isolated);
    headers[f - first].without_ids = set->isolated && set->hdf5 &&
                                     !gadget_hdf5_has_ids(path, &headers[f - first]);
  }
  set->headers = allocate(set->files, sizeof *set->headers, "headers of initial conditions");
  size_t *bytes = allocate(size, sizeof *bytes, "message sizes");
  for (int r = 0; r < comm_size(); r++)
    bytes[r] = (comm_first(set->files, r + 1) - comm_first(set->files, r)) * sizeof *headers;
  comm_gather_all_sizes(headers, bytes, set->headers);
  free(bytes);
  free(headers);
}

/** Ids are made where no file has any. Where some have, the others lack them. */
static void settle_ids(struct gadget_set *set) {
  set->without_ids = true;
  for (size_t f = 0; f < set->files; f++)
    set->without_ids = set->without_ids && set->headers[f].without_ids;
  for (size_t f = 0; f < set->files; f++) set->headers[f].without_ids = set->without_ids;
  if (set->without_ids && comm_rank() == 0)
    warn("%s: no %s: particles get ids from 1 on", set->first, gadget_block_name[0]);
}

/** Find the first file of a set and read its header. Local. */
static void find_header(struct gadget_set *set, const char *name, struct gadget_header *first) {
  find_first(set, name);
  set->hdf5 = find_format(set->first) == &gadget_hdf5;
  set_format(set)->header(set->first, first);
}

double gadget_set_box(const char *name) {
  double box = 0.0;
  if (comm_rank() == 0) {
    struct gadget_set set = {.files = 1};
    struct gadget_header first;
    find_header(&set, name, &first);
    box = first.box;
  }
  comm_broadcast(&box, sizeof box, 0);
  return box;
}

struct gadget_set gadget_set_open(const char *name, bool isolated, bool analysed) {
  struct gadget_set set = {.files = 1, .isolated = isolated, .analysed = analysed};
  if (comm_rank() == 0) {
    struct gadget_header first;
    find_header(&set, name, &first);
    if (first.files > 1) {
      if (first.files > 1000000)
        fail(EXIT_BAD_INPUT, "%s: the header says that the set has %llu files", set.first,
             (unsigned long long)first.files);
      set.files = first.files;
      set.number = find_number(set.first, first.files);
      require_file(&set, set.files - 1); /* before there is memory for so many headers */
    }
  }
  comm_broadcast(&set, sizeof set, 0);
  read_headers(&set);
  settle_ids(&set);
  complete_masses(&set);
  char buffer[GADGET_PATH_SIZE];
  for (size_t f = 0; f < set.files; f++)
    check_same(&set, gadget_set_path(&set, f, buffer), &set.headers[f]);
  count_particles(&set);
  for (size_t f = comm_first(set.files, comm_rank()); f < comm_first(set.files, comm_rank() + 1);
       f++)
    set_format(&set)->check(gadget_set_path(&set, f, buffer), &set.headers[f]);
  return set;
}

/** Read what particles [first, first + count) of the set need from one type of one file.
 * @param begin  number of the type's first particle in the file among those of the set */
static void read_type(const struct gadget_set *set, size_t file, size_t begin, size_t first,
                      size_t count, struct gadget_sink sink) {
  const struct gadget_header *h = &set->headers[file];
  const size_t end = begin + h->in_file[sink.type];
  const size_t from = first > begin ? first : begin,
               stop = first + count < end ? first + count : end;
  if (from >= stop) return;
  sink.place += from - first;
  sink.row = from - begin;
  sink.rows = stop - from;
  struct particles *s = sink.particles;
  for (size_t i = 0; i < sink.rows && !sink.masses; i++) {
    if (particles_have(s, COLUMN_type)) s->type[sink.place + i] = (uint8_t)sink.type;
    if (particles_have(s, COLUMN_relative_mass))
      s->relative_mass[sink.place + i] = (float)(sink.mass_factor * h->mass[sink.type] / s->mass);
  }
  set_format(set)->read(sink.path, h, &sink);
}

/** Compare the sum of the checksums of all ranks with the checksums in the files. Collective. */
static void check_checksums(const struct gadget_set *set, uint64_t *checksum) {
  const size_t a_file = GADGET_TYPES * GADGET_BLOCKS;
  comm_sum_u64(checksum, set->files * a_file);
  for (size_t i = 0; i < set->files * a_file; i++) {
    if (checksum[i] == 0) continue;
    char buffer[GADGET_PATH_SIZE];
    fail(EXIT_BAD_INPUT, "%s: block %s is not what was written (checksum)",
         gadget_set_path(set, i / a_file, buffer), gadget_block_name[i % GADGET_BLOCKS]);
  }
}

void gadget_set_read(const struct gadget_set *set, size_t first, size_t count,
                     const struct gadget_sink *to) {
  struct gadget_sink sink = *to;
  uint64_t *checksum = allocate(set->files * GADGET_TYPES * GADGET_BLOCKS, sizeof *checksum,
                                "checksums");
  size_t begin = 0;
  for (unsigned t = 0; t < GADGET_TYPES; t++)
    for (size_t f = 0; f < set->files && !set->left_out[t]; begin += set->headers[f++].in_file[t]) {
      char buffer[GADGET_PATH_SIZE];
      if (sink.masses && set->headers[f].mass[t] > 0.0) continue;
      sink.path = gadget_set_path(set, f, buffer);
      sink.type = t;
      sink.checksum = checksum + (f * GADGET_TYPES + t) * GADGET_BLOCKS;
      read_type(set, f, begin, first, count, sink);
    }
  check_checksums(set, checksum);
  free(checksum);
}

/** Add the particles of a type whose mass is in the header. */
static void gather_type(struct gadget_masses *all, double mass, uint64_t count) {
  if (all->count == 0) *all = (struct gadget_masses){.least = mass, .first = mass};
  all->count += count;
  all->sum += mass * (double)count;
  all->least = fmin(all->least, mass);
  all->largest = fmax(all->largest, mass);
}

struct gadget_masses gadget_set_masses(const struct gadget_set *set, double factor) {
  const struct gadget_header *h = &set->headers[0];
  struct gadget_masses individual = {.least = HUGE_VAL}, all = {.count = 0};
  const size_t first = block_first(set->count, (size_t)comm_size(), (size_t)comm_rank()),
               end = block_first(set->count, (size_t)comm_size(), (size_t)comm_rank() + 1);
  struct gadget_masses here = {.count = 0};
  struct particles none = {.count = 0};
  gadget_set_read(
      set, first, end - first,
      &(const struct gadget_sink){.particles = &none, .masses = &here, .mass_factor = factor});
  if (here.count > 0) individual = here;
  comm_sum_u64(&individual.count, 1);
  comm_sum_double(&individual.sum, 1);
  individual.least *= -1.0;
  comm_max_double(&individual.least, 1);
  individual.least *= -1.0;
  comm_max_double(&individual.largest, 1);
  comm_broadcast(&individual.first, sizeof individual.first, 0);
  for (unsigned t = 0; t < GADGET_TYPES; t++)
    if (set->of_type[t] > 0 && h->mass[t] > 0.0)
      gather_type(&all, factor * h->mass[t], set->of_type[t]);
  if (individual.count == 0) return all;
  if (all.count == 0) return individual;
  all.count += individual.count;
  all.sum += individual.sum;
  all.least = fmin(all.least, individual.least);
  all.largest = fmax(all.largest, individual.largest);
  return all;
}

bool gadget_masses_differ(const struct gadget_masses *m) {
  const double rounding = 1e-5; /* float masses written by different codes agree to 1e-7 */
  return m->largest - m->first > rounding * m->first || m->first - m->least > rounding * m->first;
}

double gadget_mean_mass(const struct gadget_masses *m) {
  if (!gadget_masses_differ(m)) return m->first;
  return (double)(float)(m->sum / (double)m->count);
}

bool gadget_set_typed(const struct gadget_set *set) {
  return set->of_type[PARTICLE_HALO] != set->count;
}

void gadget_set_keep(struct gadget_set *set, unsigned type) {
  for (unsigned t = 0; t < GADGET_TYPES; t++)
    if (t != type) {
      set->left_out[t] = true;
      set->count -= set->of_type[t];
      set->of_type[t] = 0;
    }
}

void gadget_set_free(struct gadget_set *set) { free(set->headers); }
