/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potentials of a run: read, turned, and registered with StarPU. */
#include "photons/step/external.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/handle.h"
#include "photons/step/nbody.h"

_Static_assert(EXTERNAL_TERMS >= EXTERNAL_POTENTIALS_MAX, "all potentials of config.ini fit");

bool external_wanted(const struct parameters *p) {
  for (size_t i = 0; i < EXTERNAL_POTENTIALS_MAX; i++)
    if (*p->external.potential[i]) return true;
  return false;
}

/** A row of the table: a radius and a second number. @return whether the line has them */
static bool read_row(const char *path, size_t number, const char *line, double row[2]) {
  const char *text = line + strspn(line, " \t\r\n");
  char *end, *rest;
  if (!*text || *text == '#') return false;
  row[0] = strtod(text, &end);
  row[1] = strtod(end, &rest);
  if (end == text || rest == end || rest[strspn(rest, " \t\r\n")] != '\0' ||
      !(row[0] > 0.0 && row[1] > 0.0 && isfinite(row[0]) && isfinite(row[1])))
    fail(EXIT_BAD_INPUT,
         "%s:%zu: expected a radius in kpc and a mass in Msun or an acceleration in (km/s)^2/kpc, "
         "both above 0",
         path, number);
  return true;
}

/** Rows of radii, kpc, and masses, 1e10 Msun. */
struct rows {
  size_t count, room;
  double *radius, *mass;
};

static void add_row(struct rows *r, const char *path, size_t number, const double row[2],
                    bool acceleration) {
  if (r->count == r->room) {
    r->room = 2 * r->room + 64;
    r->radius = reallocate(r->radius, r->room, sizeof *r->radius, "a table of a potential");
    r->mass = reallocate(r->mass, r->room, sizeof *r->mass, "a table of a potential");
  }
  r->radius[r->count] = row[0];
  r->mass[r->count] = acceleration ? row[1] * row[0] * row[0] / (1e3 * GRAVITY) : 1e-10 * row[1];
  if (r->count > 0 && !(row[0] > r->radius[r->count - 1]))
    fail(EXIT_BAD_INPUT, "%s:%zu: the radius %g kpc is not above that of the row before", path,
         number, row[0]);
  if (r->count > 0 && r->mass[r->count] < r->mass[r->count - 1] * (1.0 - 1e-9))
    fail(EXIT_BAD_INPUT, "%s:%zu: the mass within %g kpc is below that within %g kpc", path, number,
         row[0], r->radius[r->count - 1]);
  r->count++;
}

static double *read_table(const struct parameters *p, struct external_table *t) {
  const char *path = p->external.table, *reason = NULL;
  struct rows rows = {0};
  char *line = NULL;
  size_t size = 0, number = 0;
  FILE *file = input_open(path, &reason);
  if (!file) fail(EXIT_BAD_INPUT, "%s: %s (external.table)", path, reason);
  while (getline(&line, &size, file) > 0) {
    double row[2];
    const char *text = number++ == 0 ? input_text(line) : line;
    if (read_row(path, number, text, row))
      add_row(&rows, path, number, row, p->external.table_column == EXTERNAL_ACCELERATION);
  }
  fclose(file);
  free(line);
  if (rows.count < 2)
    fail(EXIT_BAD_INPUT, "%s: has %zu rows; at least 2 are needed", path, rows.count);
  double *values = external_tabulate(t, rows.count, rows.radius, rows.mass);
  free(rows.radius);
  free(rows.mass);
  return values;
}

/** The table belongs to one potential. */
static void require_table(const struct parameters *p, const struct external_field *f) {
  uint32_t tables = 0;
  for (uint32_t i = 0; i < f->terms; i++) tables += f->term[i].kind == EXTERNAL_TABLE;
  if (tables > 1)
    fail(EXIT_BAD_USAGE, "[external] has %u potentials 'table'; there is one table", tables);
  if (tables == 1 && !*p->external.table)
    fail(EXIT_BAD_USAGE, "a potential of [external] is 'table': give external.table, its file");
  if (tables == 0 && *p->external.table)
    fail(EXIT_BAD_USAGE, "%s: no potential of [external] is 'table'",
         parameter_origin(p, "external", "table").text);
}

struct external_field external_read(const struct parameters *p, double **values) {
  struct external_field f = {0};
  char reason[256], key[16];
  for (size_t i = 0; i < EXTERNAL_POTENTIALS_MAX; i++) {
    const char *text = p->external.potential[i];
    if (!*text) continue;
    snprintf(key, sizeof key, "potential_%zu", i + 1);
    if (!external_parse(text, &f.term[f.terms++], reason, sizeof reason))
      fail(EXIT_BAD_USAGE, "%s = %s: %s", parameter_origin(p, "external", key).text, text, reason);
  }
  require_table(p, &f);
  *values = *p->external.table ? read_table(p, &f.table) : NULL;
  external_turn(&f, 0.0);
  return f;
}

void external_turn(struct external_field *field, double time) {
  for (uint32_t i = 0; i < field->terms; i++) {
    struct external_term *t = &field->term[i];
    t->cosine = cos(t->angle + t->pattern * time);
    t->sine = sin(t->angle + t->pattern * time);
  }
}

static bool is_round(const struct external_term *t) {
  if (t->kind == EXTERNAL_LOGARITHMIC) return t->per_q2 == 1.0;
  return t->kind != EXTERNAL_MIYAMOTO && t->kind != EXTERNAL_BAR;
}

struct external_symmetry external_symmetry(const struct external_field *field) {
  struct external_symmetry s = {.round = true, .jacobi = true};
  for (uint32_t i = 0; i < field->terms; i++) {
    const struct external_term *t = &field->term[i];
    s.round = s.round && is_round(t);
    if (t->kind != EXTERNAL_BAR) continue;
    if (s.bars && t->pattern != s.pattern) s.jacobi = false;
    s.rotates = s.rotates || t->pattern != 0.0;
    s.pattern = t->pattern;
    s.bars = true;
  }
  return s;
}

struct external *external_start(const struct parameters *p) {
  if (!external_wanted(p)) return NULL;
  struct external *e = allocate(1, sizeof *e, "external potentials");
  e->field = external_read(p, &e->values);
  if (e->values)
    starpu_vector_data_register(&e->table, STARPU_MAIN_RAM, (uintptr_t)e->values,
                                2 * e->field.table.nodes, sizeof *e->values);
  return e;
}

void external_free(struct external *e) {
  if (!e) return;
  if (e->values) starpu_data_unregister(e->table);
  free(e->values);
  free(e);
}

#define KPC_IN_MPC 1e3

double external_time(const struct nbody *n) { return KPC_IN_MPC * MYR * cosmology_myr(n->a); }
