/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial conditions from Gadget files: finds the files of a set, and checks that their headers
 * agree with each other and with config.ini. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ic_check.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/config/parameters.h"
#include "photons/ic/ic.h"
#include "src/io/gadget.h"

enum { PATH_SIZE = PARAMETER_PATH_MAX + 32 };

struct gadget_set {
  char first[PATH_SIZE]; /* file 0 */
  size_t number;         /* position of "0" in the name of file 0; 0: a single file */
  bool hdf5;
  struct gadget_header *headers; /* [file] */
  size_t files;
  uint64_t count; /* particles of the set */
  unsigned type;  /* type of the particles */
};

static const struct gadget_format *set_format(const struct gadget_set *set) {
  return set->hdf5 ? &gadget_hdf5 : &gadget_binary;
}

static const char *set_path(const struct gadget_set *set, size_t file, char path[PATH_SIZE]) {
  if (set->number == 0) return set->first;
  snprintf(path, PATH_SIZE, "%.*s%zu%s", (int)set->number, set->first, file,
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

/** Find the one particle type of the set, and check its count against the headers. */
static void count_particles(struct gadget_set *set) {
  set->type = GADGET_TYPES;
  for (unsigned t = 0; t < GADGET_TYPES; t++) {
    const uint64_t promised = set->headers[0].total[t];
    uint64_t found = 0;
    for (size_t f = 0; f < set->files; f++) found += set->headers[f].in_file[t];
    const uint64_t countable = set->headers[0].total_is_32_bit ? (uint32_t)found : found;
    if (countable != promised)
      fail(EXIT_BAD_INPUT, "%s: its %zu files hold %llu particles of type %u, the header says %llu",
           set->first, set->files, (unsigned long long)found, t, (unsigned long long)promised);
    if (found == 0) continue;
    if (set->type != GADGET_TYPES)
      fail(EXIT_BAD_INPUT,
           "%s: holds particles of types %u and %u; only particles of one type and one mass can be "
           "run",
           set->first, set->type, t);
    set->type = t;
    set->count = found;
  }
  if (set->type == GADGET_TYPES) fail(EXIT_BAD_INPUT, "%s: holds no particles", set->first);
}

/** End the program unless a file of the set is there. */
static void require_file(const struct gadget_set *set, size_t file) {
  char buffer[PATH_SIZE];
  const char *path = set_path(set, file, buffer);
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
    char buffer[PATH_SIZE];
    const char *path = set_path(set, f, buffer);
    require_file(set, f);
    if (find_format(path) != set_format(set))
      fail(EXIT_BAD_INPUT, "%s: not in the format of %s", path, set->first);
    set_format(set)->header(path, &headers[f - first]);
    ic_check_header(path, &headers[f - first]);
  }
  set->headers = allocate(set->files, sizeof *set->headers, "headers of initial conditions");
  size_t *bytes = allocate(size, sizeof *bytes, "message sizes");
  for (int r = 0; r < comm_size(); r++)
    bytes[r] = (comm_first(set->files, r + 1) - comm_first(set->files, r)) * sizeof *headers;
  comm_gather_all_sizes(headers, bytes, set->headers);
  free(bytes);
  free(headers);
}

static struct gadget_set open_set(const char *name) {
  struct gadget_set set = {.files = 1};
  if (comm_rank() == 0) {
    find_first(&set, name);
    set.hdf5 = find_format(set.first) == &gadget_hdf5;
    struct gadget_header first;
    set_format(&set)->header(set.first, &first);
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
  char buffer[PATH_SIZE];
  for (size_t f = 0; f < set.files; f++)
    check_same(&set, set_path(&set, f, buffer), &set.headers[f]);
  count_particles(&set);
  for (size_t f = comm_first(set.files, comm_rank()); f < comm_first(set.files, comm_rank() + 1);
       f++)
    set_format(&set)->check(set_path(&set, f, buffer), &set.headers[f]);
  return set;
}

/** Box size in Mpc/h: N masses must be Omega_m rho_crit L^3, where taking kpc for Mpc makes a
 * factor of 10^9. */
static double box_from_mass(const struct parameters *p, const struct gadget_set *set, double mass) {
  const double box = set->headers[0].box, omega_m = p->cosmology.omega_m;
  const double ratio_mpc = mass * (double)set->count / (omega_m * RHO_CRITICAL * pow(box, 3));
  const double ratio_kpc = ratio_mpc * 1e9;
  const bool kpc = fabs(ratio_kpc - 1.0) <= 0.01, mpc = fabs(ratio_mpc - 1.0) <= 0.01;
  const enum length_unit wanted = p->ic.unit_length;
  if (kpc && wanted != LENGTH_MPC_H) return box / 1000.0;
  if (mpc && wanted != LENGTH_KPC_H) return box;
  fail(EXIT_BAD_INPUT,
       "%s: %llu particles of mass %g (10^10 Msun/h) in a box of %g are %.4g times Omega_m "
       "rho_crit L^3 if lengths are "
       "in kpc/h, "
       "%.4g times if in Mpc/h (Omega_m = %g)%s",
       set->first, (unsigned long long)set->count, mass, box, ratio_kpc, ratio_mpc, omega_m,
       kpc || mpc ? "; set ic.unit_length = auto or the other unit"
                  : "; expected 1 within 1 %: check Omega0, BoxSize and the masses");
}

struct complaints {
  char text[1024];
  size_t used;
};

__attribute__((format(printf, 2, 3))) static void complain(struct complaints *c, const char *format,
                                                           ...) {
  va_list arguments;
  va_start(arguments, format);
  if (c->used > 0) c->used += (size_t)snprintf(c->text + c->used, sizeof c->text - c->used, "; ");
  c->used += (size_t)vsnprintf(c->text + c->used, sizeof c->text - c->used, format, arguments);
  va_end(arguments);
}

/** Compare a value of the file with the same value in config.ini, if given there. */
static void agree(const struct parameters *p, const char *section, const char *key, double *value,
                  double in_file, double tolerance, struct complaints *c) {
  if (parameter_given(p, section, key) && !(fabs(*value - in_file) <= tolerance))
    complain(c, "%s.%s is %.9g in config.ini and %.9g in the file", section, key, *value, in_file);
  *value = in_file;
}

/** Store the file's values in @p p. Contradictions with config.ini end the program.
 * @return the box size in Mpc/h */
static double settle(struct parameters *p, const struct gadget_set *set, double mass) {
  const struct gadget_header *h = &set->headers[0];
  const double rounding = 1e-5; /* float headers, and values printed with six digits */
  struct complaints c = {.used = 0};
  if (gadget_gives(h->omega_m)) {
    agree(p, "cosmology", "Omega_m", &p->cosmology.omega_m, h->omega_m, rounding, &c);
    if (h->omega_lambda != GADGET_ABSENT)
      agree(p, "cosmology", "Omega_lambda", &p->cosmology.omega_lambda, h->omega_lambda, rounding,
            &c);
  }
  if (gadget_gives(h->h)) agree(p, "cosmology", "h", &p->cosmology.h, h->h, rounding, &c);
  agree(p, "ic", "z_init", &p->ic.z_init, h->redshift, rounding * (1.0 + h->redshift), &c);
  char reason[160];
  if (!cosmology_possible(p, reason, sizeof reason))
    fail(EXIT_BAD_INPUT, "%s: %s", set->first, reason);
  const double box = box_from_mass(p, set, mass);
  ic_check_range(set->first, "BoxSize [Mpc/h]", "box", "size", box);
  agree(p, "box", "size", &p->box.size, box, rounding * box, &c);
  const uint64_t side = (uint64_t)p->box.npart_side;
  if (parameter_given(p, "box", "npart_side") && side * side * side != set->count)
    complain(&c, "box.npart_side is %llu in config.ini and the file has %llu particles",
             (unsigned long long)side, (unsigned long long)set->count);
  if (c.used > 0) fail(EXIT_BAD_INPUT, "%s: %s", set->first, c.text);
  return box;
}

/** Read particles [first, first + s->count) of an open set. Positions become fractions of the box.
 * @param checksum  see gadget_sink, [file][block]; may be NULL */
static void read_range(const struct gadget_set *set, size_t first, struct particles *s,
                       uint64_t *checksum) {
  const struct gadget_header *h = &set->headers[0];
  struct gadget_sink sink = {.particles = s,
                             .box = h->box,
                             .momentum_factor = pow(1.0 + h->redshift, -1.5),
                             .velocity_factor = pow(1.0 + h->redshift, -0.5)};
  size_t before = 0; /* particles in earlier files */
  for (size_t f = 0; f < set->files; f++) {
    const size_t count = set->headers[f].in_file[set->type], end = before + count;
    const size_t begin = first > before ? first : before,
                 stop = first + s->count < end ? first + s->count : end;
    if (begin < stop) {
      char buffer[PATH_SIZE];
      sink.path = set_path(set, f, buffer);
      sink.place = begin - first;
      sink.row = begin - before;
      sink.rows = stop - begin;
      sink.checksum = checksum ? checksum + f * GADGET_BLOCKS : NULL;
      set_format(set)->read(sink.path, &set->headers[f], &sink);
    }
    before = end;
  }
}

/** Compare the sum of the checksums of all ranks with the checksums in the files. Collective. */
static void check_checksums(const struct gadget_set *set, uint64_t *checksum) {
  comm_sum_u64(checksum, set->files * GADGET_BLOCKS);
  for (size_t i = 0; i < set->files * GADGET_BLOCKS; i++) {
    if (checksum[i] == 0) continue;
    char buffer[PATH_SIZE];
    fail(EXIT_BAD_INPUT, "%s: block %s is not what was written (checksum)",
         set_path(set, i / GADGET_BLOCKS, buffer), gadget_block_name[i % GADGET_BLOCKS]);
  }
}

/** Read this rank's particles of the set. */
static struct particles read_share(const struct gadget_set *set, double box, double mass) {
  struct particles s = particles_create_share(set->count, box, mass);
  uint64_t *checksum = allocate(set->files * GADGET_BLOCKS, sizeof *checksum, "checksums");
  read_range(set, particles_first(&s), &s, checksum);
  check_checksums(set, checksum);
  free(checksum);
  gadget_check_ids(&s, set->first);
  return s;
}

/** The mass that all particles must have: from the header, else the mass of the set's first
 * particle. */
static double read_mass(const struct gadget_set *set) {
  double mass = set->headers[0].mass[set->type];
  if (mass > 0.0) return mass;
  if (comm_rank() == 0) {
    struct particles first = particles_create(1, 1.0, 0.0);
    read_range(set, 0, &first, NULL);
    mass = first.mass;
    particles_free(&first);
  }
  comm_broadcast(&mass, sizeof mass, 0);
  return mass;
}

struct particles ic_read_gadget(struct parameters *p) {
  struct gadget_set set = open_set(p->ic.file);
  for (size_t f = 0; f < set.files; f++) {
    char buffer[PATH_SIZE];
    ic_check_universe(set_path(&set, f, buffer), &set.headers[f]);
  }
  const double mass = read_mass(&set);
  const double size = settle(p, &set, mass);
  struct particles s = read_share(&set, size, mass);
  ic_warn(&s, 1.0 - p->cosmology.omega_m - p->cosmology.omega_lambda - p->cosmology.omega_r,
          set.first);
  free(set.headers);
  return s;
}

struct particles ic_read_glass(const char *path) {
  struct gadget_set set = open_set(path);
  set.headers[0].redshift = 0.0; /* velocities of a glass are not used */
  struct particles s = read_share(&set, set.headers[0].box, read_mass(&set));
  free(set.headers);
  return s;
}
