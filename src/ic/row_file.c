/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "row_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "amuse_file.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/domain/particles.h"
#include "src/io/gadget.h"

static const char blanks[] = " \t,;\r\n";

/* The columns of a text table: places in struct row. */
enum { X, Y, Z, VX, VY, VZ, MASS, ID, TYPE, NAMES };
static const char *const names[NAMES] = {"x", "y", "z", "vx", "vy", "vz", "m", "id", "type"};
/* Without a heading: as agama writes. */
enum { USUAL = MASS + 1 };

/* Tipsy: the time, five numbers, and padding; floats of a particle. */
enum { STARS = 4 }; /* type */
enum {
  TIPSY_HEADER = 32,
  TIPSY_UNPADDED = 28,
  TIPSY_DARK = 9,
  TIPSY_STAR = 11,
  TIPSY_DIMENSIONS = 3
};

static FILE *open_rows(const char *path) {
  const char *reason;
  FILE *file = input_open(path, &reason);
  if (!file) fail(EXIT_BAD_INPUT, "%s: %s", path, reason);
  return file;
}

static uint32_t swap(uint32_t value) { return __builtin_bswap32(value); }

/** What the header of a Tipsy file says. @return whether the file has its size */
static bool look_at_tipsy(FILE *file, struct row_file *f, uint32_t *gas) {
  uint32_t word[TIPSY_HEADER / 4];
  struct stat status;
  if (fread(word, 1, sizeof word, file) < TIPSY_UNPADDED || fstat(fileno(file), &status) != 0)
    return false;
  for (int order = 0; order < 2; order++) {
    const uint32_t all = word[2], dimensions = word[3], sph = word[4], dark = word[5],
                   stars = word[6];
    const uint64_t body = 4 * ((uint64_t)sph * (TIPSY_DARK + 3) + (uint64_t)dark * TIPSY_DARK +
                               (uint64_t)stars * TIPSY_STAR);
    const uint64_t rest = (uint64_t)status.st_size - body;
    if (dimensions == TIPSY_DIMENSIONS && (uint64_t)sph + dark + stars == all && all > 0 &&
        (rest == TIPSY_HEADER || rest == TIPSY_UNPADDED)) {
      *gas = sph;
      f->tipsy = true;
      f->swapped = order == 1;
      f->header = (size_t)rest;
      f->dark = dark;
      f->count = all;
      return true;
    }
    for (size_t k = 0; k < TIPSY_HEADER / 4; k++) word[k] = swap(word[k]);
  }
  return false;
}

/** Whether the beginning of a file is text: no byte that text has not. */
static bool looks_like_text(FILE *file) {
  char begin[512];
  const size_t size = fread(begin, 1, sizeof begin, file);
  for (size_t i = 0; i < size; i++)
    if ((unsigned char)begin[i] < ' ' && !isspace((unsigned char)begin[i])) return false;
  return size > 0;
}

bool row_file_is(const char *path) {
  const char *reason;
  struct row_file unused = {0};
  uint32_t gas;
  FILE *file = input_open(path, &reason);
  if (!file) return false;
  const bool tipsy = look_at_tipsy(file, &unused, &gas);
  rewind(file);
  const bool found = tipsy || looks_like_text(file);
  fclose(file);
  return found || amuse_file_is(path);
}

/** Columns that a comment names; other comments name none.
 * @return whether it names positions */
static bool read_heading(struct row_file *f, char *line) {
  int column[16], columns = 0, seen[NAMES] = {0};
  for (char *word = strtok(line, "# \t,;\r\n"); word; word = strtok(NULL, "# \t,;\r\n")) {
    int name = 0;
    if (strcmp(word, "mass") == 0) word[1] = '\0';
    while (name < NAMES && strcmp(word, names[name]) != 0) name++;
    if (name == NAMES || columns == 16 || seen[name]++) return false;
    column[columns++] = name;
  }
  for (int k = X; k <= MASS; k++)
    if (!seen[k]) return false;
  memcpy(f->column, column, sizeof column);
  f->columns = columns;
  f->ids = seen[ID] > 0;
  return true;
}

static void refuse_line(const struct row_file *f, size_t number) {
  char expected[128] = "";
  for (int k = 0; k < f->columns; k++)
    snprintf(expected + strlen(expected), sizeof expected - strlen(expected), " %s",
             names[f->column[k]]);
  fail(EXIT_BAD_INPUT,
       "%s:%zu: expected %d numbers,%s; a comment before the first row may name other columns: # m "
       "x y z vx vy vz id type",
       f->path, number, f->columns, expected);
}

static void put(struct row *row, int name, double value) {
  if (name <= Z)
    row->x[name] = value;
  else if (name <= VZ)
    row->v[name - VX] = value;
  else if (name == MASS)
    row->mass = value;
  else if (name == TYPE)
    row->type = (int)value;
}

/** Read a line. @return whether it has a row */
static bool read_line(struct row_file *f, char *line, size_t number, struct row *row) {
  const char *text = line + strspn(line, blanks);
  if (!*text) return false;
  if (*text == '#') {
    if (f->count == 0) read_heading(f, line);
    return false;
  }
  *row = (struct row){.type = PARTICLE_HALO};
  for (int k = 0; k < f->columns; k++) {
    char *end;
    const double value = strtod(text, &end);
    if (end == text || !isfinite(value)) refuse_line(f, number);
    if (f->column[k] == ID) row->id = strtoull(text, NULL, 10);
    put(row, f->column[k], value);
    text = end + strspn(end, blanks);
  }
  if (*text) refuse_line(f, number);
  return true;
}

/** Check a row and count it. */
static void account(struct row_file *f, size_t number, const struct row *row) {
  if (!(row->mass > 0.0))
    fail(EXIT_BAD_INPUT, "%s: particle %zu has mass %g; expected more than 0", f->path, number,
         row->mass);
  if (row->type < 1 || row->type >= PARTICLE_TYPES)
    fail(EXIT_BAD_INPUT, "%s: particle %zu has type %d; expected 1 to %d", f->path, number,
         row->type, PARTICLE_TYPES - 1);
  for (int c = 0; c < 3; c++)
    if (!isfinite(row->x[c]) || !isfinite(row->v[c]))
      fail(EXIT_BAD_INPUT, "%s: particle %zu has no finite position or velocity", f->path, number);
  f->mass_sum += row->mass;
  f->least_mass = number == 1 ? row->mass : fmin(f->least_mass, row->mass);
  f->largest_mass = fmax(f->largest_mass, row->mass);
  f->typed = f->typed || row->type != PARTICLE_HALO;
}

/** A particle of Tipsy: mass, position, velocity, and what is not needed. */
static struct row read_tipsy(const struct row_file *f, FILE *file, size_t i) {
  const int floats = i < f->dark ? TIPSY_DARK : TIPSY_STAR;
  uint32_t word[TIPSY_STAR];
  float value[TIPSY_STAR];
  if (fread(word, 4, (size_t)floats, file) != (size_t)floats)
    fail(EXIT_BAD_INPUT, "%s: truncated at particle %zu", f->path, i + 1);
  for (int k = 0; k < floats && f->swapped; k++) word[k] = swap(word[k]);
  memcpy(value, word, sizeof value);
  struct row row = {.mass = (double)value[0], .type = i < f->dark ? PARTICLE_HALO : STARS};
  for (int c = 0; c < 3; c++) {
    row.x[c] = (double)value[1 + c];
    row.v[c] = (double)value[4 + c];
  }
  return row;
}

/** Call a function for each row. */
static void for_rows(struct row_file *f, FILE *file,
                     void (*take)(void *context, size_t i, const struct row *row), void *context) {
  struct row row;
  char *line = NULL;
  size_t size = 0, number = 0, found = 0;
  if (f->tipsy) {
    if (fseek(file, (long)f->header, SEEK_SET) != 0)
      fail(EXIT_BAD_INPUT, "%s: cannot seek", f->path);
    for (size_t i = 0; i < f->count; i++) {
      row = read_tipsy(f, file, i);
      take(context, i, &row);
    }
    return;
  }
  while (getline(&line, &size, file) > 0) {
    char *text = number++ == 0 ? input_text(line) : line;
    if (read_line(f, text, number, &row)) take(context, found++, &row);
  }
  free(line);
}

static void survey(void *context, size_t i, const struct row *row) {
  struct row_file *f = context;
  account(f, i + 1, row);
  f->count = f->tipsy || f->amuse ? f->count : i + 1;
}

/** Read all rows of a text table or a Tipsy file once. */
static void survey_file(struct row_file *f, const char *path) {
  uint32_t gas = 0;
  FILE *file = open_rows(path);
  if (look_at_tipsy(file, f, &gas) && gas > 0)
    fail(EXIT_BAD_INPUT, "%s: holds %u gas particles; systems of particles have no gas", path, gas);
  rewind(file);
  for_rows(f, file, survey, f);
  fclose(file);
}

struct row_file row_file_open(const char *path) {
  struct row_file f = {.columns = USUAL,
                       .amuse = amuse_file_is(path),
                       .units = {GADGET_ABSENT, GADGET_ABSENT, GADGET_ABSENT}};
  snprintf(f.path, sizeof f.path, "%s", path);
  for (int k = 0; k < USUAL; k++) f.column[k] = k;
  if (f.amuse) {
    f.count = amuse_file_open(path, &f.units);
    amuse_file_read(path, 0, f.count, survey, &f);
  } else {
    survey_file(&f, path);
  }
  if (f.count == 0) fail(EXIT_BAD_INPUT, "%s: has no particles", path);
  return f;
}

/** The rows of a rank. */
struct part {
  size_t first, count;
  void (*take)(void *context, size_t i, const struct row *row);
  void *context;
};

static void take_part(void *context, size_t i, const struct row *row) {
  const struct part *p = context;
  if (i >= p->first && i - p->first < p->count) p->take(p->context, i - p->first, row);
}

void row_file_read(const struct row_file *f, size_t first, size_t count,
                   void (*take)(void *context, size_t i, const struct row *row), void *context) {
  if (f->amuse) {
    amuse_file_read(f->path, first, count, take, context);
    return;
  }
  struct row_file again = *f;
  struct part part = {first, count, take, context};
  FILE *file = open_rows(f->path);
  for_rows(&again, file, take_part, &part);
  fclose(file);
}
