/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of isolated systems: bodies are made or read, turned, moved, and put into a frame that
 * is wide enough for them. */
#include "ic_isolated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "photons/ic/ic.h"

#define KPC 1e-3 /* Mpc */
/* The frame is so many times wider than needed, so that particles may move out. */
#define MARGIN 4.0

enum { BODIES = GALAXIES_MAX };

/** Particles of this rank before they are in a frame. */
struct cloud {
  struct particles *s;
  double (*x)[3], (*v)[3]; /* kpc, km/s */
};

double isolated_frame(double largest) {
  double side = 0x1p-20; /* Mpc: powers of two, so that the frame can be doubled without rounding */
  while (side < 4.0 * MARGIN * largest) side *= 2.0;
  return side;
}

/** The largest |coordinate| on all ranks. Particles that are all at one point end the program. */
static double largest_coordinate(const double (*x)[3], size_t count) {
  double most[6]; /* of the coordinates, and of their negatives */
  for (size_t k = 0; k < 6; k++) most[k] = -HUGE_VAL;
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      if (!isfinite(x[i][c])) fail(EXIT_RUN_FAILED, "a position is %g kpc", x[i][c]);
      most[c] = fmax(most[c], x[i][c]);
      most[3 + c] = fmax(most[3 + c], -x[i][c]);
    }
  comm_max_double(most, 6);
  double largest = 0.0;
  bool apart = false;
  for (size_t c = 0; c < 3; c++) {
    largest = fmax(largest, fmax(most[c], most[3 + c]));
    apart = apart || most[c] > -most[3 + c];
  }
  if (!apart)
    fail(EXIT_BAD_INPUT, "all particles are at one point, (%g, %g, %g) kpc", most[0], most[1],
         most[2]);
  return largest;
}

static void check_speeds(const double (*v)[3], size_t count) {
  for (size_t i = 0; i < count; i++) {
    const double speed = sqrt(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    if (!(speed < SPEED_OF_LIGHT)) /* nor NaN */
      fail(EXIT_BAD_USAGE,
           "a particle has a speed of %g km/s, not below that of light: a galaxy's mass is too "
           "large for its size, or ic.unit_velocity_kms is wrong",
           speed);
  }
}

/** A unit of a file: the header's, which config.ini must not contradict, or that of config.ini.
 * Codes round the units of Gadget differently.
 * @param header  cgs; or GADGET_ABSENT
 * @param cgs     of the unit of @p given */
static double unit_of(const struct parameters *p, const char *path, const char *key, double given,
                      double header, double cgs) {
  enum { ROUNDED = 10000 };
  if (header == GADGET_ABSENT) return given;
  if (!(header > 0.0) || !isfinite(header))
    fail(EXIT_BAD_INPUT, "%s: a unit in its header is %g (ic.%s)", path, header, key);
  const double named = header / cgs;
  const bool same = fabs(named / given - 1.0) < 1.0 / ROUNDED;
  if (parameter_given(p, "ic", key) && !same)
    fail(EXIT_BAD_INPUT, "%s: ic.%s is %g in config.ini and %g in the file", path, key, given,
         named);
  return same ? given : named;
}

/** The units of a file, in kpc, 1e10 Msun, km/s. @param units  those that it names */
static void take_units(struct body *b, const struct parameters *p, const char *path,
                       const struct row_units *units) {
  b->length = unit_of(p, path, "unit_length_kpc", p->ic.unit_length_kpc, units->length,
                      3.085678e21);
  b->mass = 1e-10 * unit_of(p, path, "unit_mass_msun", p->ic.unit_mass_msun, units->mass, 1.989e33);
  b->velocity = unit_of(p, path, "unit_velocity_kms", p->ic.unit_velocity_kms, units->velocity,
                        1e5);
}

static void body_from_rows(struct body *b, const struct parameters *p, const char *file) {
  b->has_rows = true;
  b->rows = row_file_open(file);
  take_units(b, p, b->rows.path, &b->rows.units);
  b->count = b->rows.count;
  b->mean_mass = b->mass * b->rows.mass_sum / (double)b->count;
  b->has_masses = b->rows.largest_mass > b->rows.least_mass * (1.0 + 1e-6);
  if (!b->has_masses) b->mean_mass = b->mass * b->rows.least_mass;
  b->has_types = b->rows.typed;
}

/** @param b  whether the particles are analysed; the rest is stored here */
static void body_from_file(struct body *b, const struct parameters *p, const char *file) {
  if (row_file_is(file)) {
    body_from_rows(b, p, file);
    return;
  }
  b->set = gadget_set_open(file, true, b->analysed);
  const struct gadget_header *h = &b->set.headers[0];
  take_units(b, p, b->set.first,
             &(struct row_units){h->unit_length, h->unit_mass, h->unit_velocity});
  if (gadget_gives(h->h) && fabs(h->h - 1.0) > 1e-5 && comm_rank() == 0)
    warn("%s: HubbleParam is %g: its numbers are taken as they are, without h", b->set.first, h->h);
  const struct gadget_masses masses = gadget_set_masses(&b->set, b->mass);
  b->count = b->set.count;
  b->mean_mass = gadget_mean_mass(&masses);
  b->has_masses = gadget_masses_differ(&masses);
  b->has_types = gadget_set_typed(&b->set);
}

/** @param k  its number; that of section [galaxy] is 0
 * @param first  the number of particles before it */
static void add_companion(struct body *b, const struct parameters *p, int k, size_t first) {
  const struct companion *c = &p->companion[k - 1];
  const char *section = galaxy_sections[k];
  if (*c->model && *c->file)
    fail(EXIT_BAD_USAGE, "%s.model and %s.file are given: give one of both", section, section);
  *b = (struct body){.placing = &c->placing, .section = section, .first = first};
  if (*c->file)
    body_from_file(b, p, c->file);
  else
    body_from_model(b, p, k);
}

/** @return number of bodies */
static int find_bodies(const struct parameters *p, struct body body[BODIES]) {
  body[0] = (struct body){.placing = &p->galaxy.placing, .section = galaxy_sections[0]};
  if (p->ic.source == IC_GADGET)
    body_from_file(&body[0], p, p->ic.file);
  else
    body_from_model(&body[0], p, 0);
  int bodies = 1;
  while (bodies < BODIES && companion_exists(&p->companion[bodies - 1])) {
    add_companion(&body[bodies], p, bodies, body[bodies - 1].first + body[bodies - 1].count);
    bodies++;
  }
  return bodies;
}

/** Turn by an angle about an axis, from axis (axis + 1) % 3 to (axis + 2) % 3. */
static void turn(double r[3], int axis, double angle) {
  const int from = (axis + 1) % 3, to = (axis + 2) % 3;
  const double a = r[from], b = r[to];
  r[from] = a * cos(angle) - b * sin(angle);
  r[to] = a * sin(angle) + b * cos(angle);
}

static void require_apart(const struct parameters *p, const struct body *a, const struct body *b) {
  if (!a->tables || !b->tables) return;
  const double *position = a->place.position;
  for (int c = 0; c < 3; c++)
    if (position[c] != b->place.position[c]) return;
  fail(EXIT_BAD_USAGE,
       "%s: the galaxies of sections [%s] and [%s] are both at (%g, %g, %g) kpc; give them "
       "different positions, or one galaxy the components of both",
       parameter_origin(p, b->section, "position").text, a->section, b->section, position[0],
       position[1], position[2]);
}

/** Models have their centres at the origin, so that any two of them need different positions. */
static void require_all_apart(const struct parameters *p, const struct body *body, int bodies) {
  for (int k = 1; k < bodies; k++)
    for (int j = 0; j < k; j++) require_apart(p, &body[j], &body[k]);
}

/** Decide where bodies are put. */
static void choose_places(const struct parameters *p, struct body *body, int bodies) {
  struct place place[BODIES];
  double mass[BODIES] = {0.0};
  for (int k = 0; k < bodies; k++) {
    place[k] = place_given(p, body[k].section, body[k].placing);
    mass[k] = body[k].mean_mass * (double)body[k].count;
  }
  place_on_orbits(p, bodies, mass, place);
  for (int k = 0; k < bodies; k++) body[k].place = place[k];
}

static void place(const struct body *b, size_t count, double (*x)[3], double (*v)[3]) {
  const double degree = M_PI / 180.0, *angle = b->place.angle;
  for (size_t i = 0; i < count; i++) {
    if (angle[0] != 0.0 || angle[1] != 0.0)
      for (int k = 0; k < 2; k++) {
        turn(k ? v[i] : x[i], 0, degree * angle[0]);
        turn(k ? v[i] : x[i], 2, degree * angle[1]);
      }
    for (int c = 0; c < 3; c++) {
      x[i][c] += b->place.position[c];
      v[i][c] += b->place.velocity[c];
    }
  }
}

/** Masses of particles first .. first + count - 1 of a model in units of @p unit. */
static void weigh(const struct body *b, size_t first, size_t count, double unit, float *mass) {
  for (size_t c = 0; c < b->components; c++) {
    const struct range part = body_component(b, c, first, count);
    const double one = b->has_masses ? galaxy_particle_mass(b->tables, c) : b->mean_mass;
    for (size_t i = 0; i < part.count; i++) mass[part.first + i] = (float)(one / unit);
  }
}

/** Where rows of a file go. */
struct row_sink {
  const struct body *body;
  const struct cloud *cloud;
  size_t here; /* place of the first */
};

static void take_row(void *context, size_t i, const struct row *row) {
  const struct row_sink *to = context;
  struct particles *s = to->cloud->s;
  const size_t k = to->here + i;
  for (int c = 0; c < 3; c++) {
    to->cloud->x[k][c] = to->body->length * row->x[c];
    to->cloud->v[k][c] = to->body->velocity * row->v[c];
  }
  s->id[k] = row->id;
  if (particles_have(s, COLUMN_type)) s->type[k] = (uint8_t)row->type;
  if (particles_have(s, COLUMN_relative_mass))
    s->relative_mass[k] = (float)(to->body->mass * row->mass / s->mass);
}

/** Which of the particles of this rank are of a body. */
static struct range part_of(const struct body *b, const struct particles *s) {
  const size_t begin = particles_first(s), end = begin + s->count;
  const size_t from = begin > b->first ? begin : b->first;
  const size_t stop = end < b->first + b->count ? end : b->first + b->count;
  return stop > from ? (struct range){from - begin, stop - from} : (struct range){0};
}

/** Make or read the particles of a body that are on this rank. Collective. */
static void fill(const struct body *b, const struct cloud *c, bool own_ids) {
  struct particles *s = c->s;
  const struct range part = part_of(b, s);
  const size_t begin = particles_first(s), here = part.first, count = part.count;
  const size_t from = count > 0 ? begin + here : b->first;
  if (b->tables)
    body_sample(b, from - b->first, count, c->x + here, c->v + here,
                particles_have(s, COLUMN_type) ? s->type + here : NULL);
  else if (b->has_rows)
    row_file_read(&b->rows, from - b->first, count, take_row,
                  &(struct row_sink){.body = b, .cloud = c, .here = here});
  else
    gadget_set_read(&b->set, from - b->first, count,
                    &(const struct gadget_sink){.particles = s,
                                                .place = here,
                                                .mass_factor = b->mass,
                                                .x = c->x,
                                                .v = c->v,
                                                .length_factor = b->length,
                                                .velocity_factor = b->velocity});
  if (b->tables && particles_have(s, COLUMN_relative_mass))
    weigh(b, from - b->first, count, s->mass, s->relative_mass + here);
  for (size_t i = here; i < here + count && !own_ids; i++) s->id[i] = begin + i + 1;
  place(b, count, c->x + here, c->v + here);
}

/** Make this rank's share of all particles, without values. */
static struct particles create_share(const struct body *body, int bodies) {
  size_t all = 0;
  double mass = 0.0;
  bool masses = false, types = false;
  for (int k = 0; k < bodies; k++) {
    all += body[k].count;
    mass += body[k].mean_mass * (double)body[k].count;
    masses = masses || body[k].has_masses ||
             fabs(body[k].mean_mass - body[0].mean_mass) > 1e-5 * body[0].mean_mass;
    types = types || body[k].has_types;
  }
  if (all < 2) fail(EXIT_BAD_INPUT, "one particle alone: there is no force to follow it by");
  struct particles s = particles_create_share(all, 1.0,
                                              masses ? mass / (double)all : body[0].mean_mass);
  if (masses) particles_add_column(&s, COLUMN_relative_mass);
  if (types) particles_add_column(&s, COLUMN_type);
  return s;
}

/** Positions and momenta in a frame. */
static void enter_frame(const struct cloud *c) {
  struct particles *s = c->s;
  const double largest = largest_coordinate((const double(*)[3])c->x, s->count);
  s->box = isolated_frame(KPC * largest);
  check_speeds((const double(*)[3])c->v, s->count);
  for (size_t i = 0; i < s->count; i++)
    for (size_t k = 0; k < 3; k++) {
      s->position[k * s->count + i] = position_to_integer(0.5 * s->box + KPC * c->x[i][k], s->box);
      s->momentum[k * s->count + i] = (float)c->v[i][k];
    }
}

static struct galaxy_summary summarise(const struct body *b, const struct cloud *c) {
  const struct range part = part_of(b, c->s);
  if (b->tables) return body_summary(b);
  return body_measure(&(const struct cloud_part){.s = c->s,
                                                 .first = part.first,
                                                 .count = part.count,
                                                 .x = (const double(*)[3])c->x + part.first});
}

/** Make the particles of bodies in a frame. The bodies are freed.
 * @param summary  of the bodies, or NULL */
static struct particles make_particles(struct body *body, int bodies,
                                       struct galaxy_summary *summary) {
  struct particles s = create_share(body, bodies);
  struct cloud c = {.s = &s,
                    .x = allocate(s.count, sizeof *c.x, "initial conditions"),
                    .v = allocate(s.count, sizeof *c.v, "initial conditions")};
  const bool own_ids = bodies == 1 && !body[0].tables &&
                       (body[0].has_rows ? body[0].rows.ids : !body[0].set.without_ids);
  for (int k = 0; k < bodies; k++) fill(&body[k], &c, own_ids);
  for (int k = 0; summary && k < bodies; k++) summary[k] = summarise(&body[k], &c);
  if (own_ids) gadget_check_ids(&s, body[0].has_rows ? body[0].rows.path : body[0].set.first);
  enter_frame(&c);
  free(c.x);
  free(c.v);
  for (int k = 0; k < bodies; k++)
    if (body[k].tables)
      galaxy_tables_free(body[k].tables);
    else if (!body[k].has_rows)
      gadget_set_free(&body[k].set);
  return s;
}

struct particles ic_isolated(const struct parameters *p) {
  struct isolated_summary unused;
  return ic_isolated_with(p, &unused);
}

struct particles ic_isolated_with(const struct parameters *p, struct isolated_summary *summary) {
  struct body body[BODIES];
  const int bodies = find_bodies(p, body);
  choose_places(p, body, bodies);
  require_all_apart(p, body, bodies);
  summary->ids.count = (size_t)bodies;
  for (int k = 0; k < bodies; k++) summary->ids.last[k] = body[k].first + body[k].count;
  return make_particles(body, bodies, summary->galaxy);
}

bool ic_snapshot_is_isolated(const char *path) {
  return row_file_is(path) || gadget_set_box(path) == 0.0;
}

struct particles ic_isolated_snapshot(const struct parameters *p, double *time_myr) {
  struct body body = {.placing = &p->galaxy.placing, .section = "galaxy", .analysed = true};
  body_from_file(&body, p, p->ic.file);
  const double time = body.has_rows ? GADGET_ABSENT : body.set.headers[0].time;
  *time_myr = time == GADGET_ABSENT ? 0.0 : KPC / MYR * time * body.length / body.velocity;
  choose_places(p, &body, 1);
  return make_particles(&body, 1, NULL);
}
