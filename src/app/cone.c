/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/cone.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/io/light_cone_file.h"
#include "photons/runtime/background.h"
#include "photons/step/light_cone.h"
#include "photons/step/light_cone_size.h"

#define PI 3.14159265358979323846

struct name {
  char path[PARAMETER_PATH_MAX + 64];
};

static struct name name_of(const struct parameters *p, const char *stem, int digits,
                           int64_t number) {
  struct name n;
  snprintf(n.path, sizeof n.path, "%s/lightcone/%s_%0*" PRId64 ".hdf5", p->output.dir, stem, digits,
           number);
  return n;
}

/** The masses of particles, of which there are some. All are whole multiples of the unit in the last place of the
 * least one. */
static struct cone_masses masses_of(const struct particles *s, const struct type_masses *m) {
  struct cone_masses c = {.mean = s->mass, .differ = particles_have(s, COLUMN_relative_mass)};
  double least = HUGE_VAL;
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    if (m->count[t] == 0) continue;
    c.of_type[t] = m->least[t] == m->largest[t] ? m->least[t] : 0.0;
    least = fmin(least, m->least[t]);
  }
  if (c.differ) c.bits = FLT_MANT_DIG - 1 - ilogb((double)(float)(least / s->mass));
  return c;
}

/** End the run where masses of particles, or of pixels at the mean density, do not fit into whole numbers. The least mass
 * has up to 2^24 units: others have less than 2^56, and pixels less than 2^60 in the mean. */
static void require_room(const struct parameters *p, const struct particles *s,
                         const struct type_masses *m) {
  const double most_of_particle = ldexp(1.0, 56 - FLT_MANT_DIG),
               most_of_pixel = ldexp(1.0, 60 - FLT_MANT_DIG);
  const struct light_cone_size size = light_cone_size(p, s->all, s->columns);
  double least = HUGE_VAL, largest = 0.0;
  if (!particles_have(s, COLUMN_relative_mass)) return;
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    if (m->count[t] == 0) continue;
    least = fmin(least, m->least[t] / s->mass);
    largest = fmax(largest, m->largest[t] / s->mass);
  }
  if (least < FLT_MIN)
    fail(EXIT_BAD_INPUT,
         "light cones have no room for the least mass of a particle, which is %g times the mean "
         "one: "
         "it must be %g times or more",
         least, (double)FLT_MIN);
  if (p->lightcone.nside == 0) return;
  if (largest / least >= most_of_particle)
    fail(EXIT_BAD_USAGE,
         "%s: the largest mass of a particle is %.3g times the least one, and maps have room for "
         "less than %.3g: set lightcone.nside = 0",
         parameter_origin(p, "lightcone", "nside").text, largest / least, most_of_particle);
  const double inner = fmax(size.reach - p->lightcone.shell_width, 0.0),
               volume = 4.0 / 3.0 * PI * (pow(size.reach, 3.0) - pow(inner, 3.0)),
               pixels = 12.0 * (double)p->lightcone.nside * (double)p->lightcone.nside,
               mean = (double)s->all * volume / pow(p->box.size, 3.0) / pixels;
  if (mean / least >= most_of_pixel)
    fail(EXIT_BAD_USAGE,
         "%s = %" PRId64 ": a pixel of the farthest shell has %.3g times the least mass of a "
         "particle, and maps have "
         "room for less than %.3g: set lightcone.nside higher",
         parameter_origin(p, "lightcone", "nside").text, p->lightcone.nside, mean / least,
         most_of_pixel);
}

void cone_require(const struct parameters *p, const struct particles *s,
                  const struct type_masses *masses, double start_a) {
  if (p->lightcone.geometry == CONE_NONE || p->box.boundary == BOUNDARY_ISOLATED) return;
  uint64_t count = 0;
  for (int t = 0; t < PARTICLE_TYPES; t++) count += masses->count[t];
  if (count > 0) require_room(p, s, masses);
  const double z = 1.0 / start_a - 1.0, rounding = 1e-9 * (1.0 + z);
  if (p->lightcone.z_max > z + rounding)
    fail(EXIT_BAD_USAGE,
         "lightcone.z_max = %g is above the redshift of the initial conditions, %g, where the run "
         "begins: set it lower",
         p->lightcone.z_max, z);
}

struct light_cone *cone_create(const struct parameters *p, const struct cosmology *c,
                               const struct particles *s, const struct type_masses *masses) {
  struct light_cone *cone = light_cone_create(p, c, s->box);
  if (cone) cone->masses = masses_of(s, masses);
  return cone;
}

static const char *plural(double number) { return number == 1.0 ? "" : "s"; }

void cone_print(FILE *out, const struct parameters *p, const struct particles *particles) {
  const struct light_cone_size s = light_cone_size(p, particles->all, particles->columns);
  if (s.reach == 0.0) return;
  fprintf(out,
          "  light cone  %.4g %% of the sky to z = %g (%.5g Mpc/h), %" PRIu64
          " cop%s of the box, about %.4g particle%s",
          100.0 * light_cone_sky(p), p->lightcone.z_max, s.reach, s.copies,
          s.copies == 1 ? "y" : "ies", s.particles, plural(s.particles));
  if (s.particle_bytes > 0.0) fprintf(out, " (%.1f MB)", 1e-6 * s.particle_bytes);
  fprintf(out, ",\n              ");
  if (s.maps > 0)
    fprintf(out, "%" PRId64 " map%s of %" PRId64 " pixels (%.1f MB), ", s.maps,
            plural((double)s.maps), 12 * p->lightcone.nside * p->lightcone.nside,
            1e-6 * s.map_bytes);
  fprintf(out, "at most %.1f MB of the memory above\n", 1e-6 * s.memory);
}

/** On either thread. */
static void write_files(void *context) {
  struct cone_files *f = context;
  const struct parameters *p = &f->parameters;
  const double start = wall_clock();
  f->count = f->cone.particles;
  if (f->cone.particles)
    light_cone_write_particles(name_of(p, "particles", 6, f->step).path, p, &f->cone);
  for (int64_t k = 0; k < f->cone.shells; k++)
    if (f->cone.map[k].pixel) {
      light_cone_write_map(name_of(p, "shell", 4, k).path, p, &f->cone, k);
      f->count++;
    }
  f->seconds = wall_clock() - start;
}

/** Give up what was written since a moment. Maps that the light cone has not passed are its own still. */
static void give_up(struct cone_files *f, double start) {
  f->waited += wall_clock() - start;
  f->written += f->seconds;
  f->files += f->count;
  if (f->begun) f->beside += f->count;
  light_cone_forget_step(&f->cone);
  for (int64_t k = 0; k < f->cone.shells; k++)
    if (light_cone_passed(&f->cone, k)) light_cone_close_map(&f->cone, k);
  free(f->cone.map);
  f->cone = (struct light_cone){0};
  f->begun = false;
}

/** What the files hold: the crossings of the step, and the maps of shells that were passed, which the light cone
 * gives up; at the end all maps. */
static struct light_cone take(struct light_cone *cone, bool ended) {
  struct light_cone taken = *cone;
  taken.copy = NULL;
  taken.map = allocate((size_t)cone->shells, sizeof *taken.map, "maps of the light cone");
  for (int64_t k = 0; k < cone->shells; k++) {
    const bool passed = light_cone_passed(cone, k);
    taken.map[k] = passed || ended ? cone->map[k] : (struct cone_map){0};
    if (passed) cone->map[k] = (struct cone_map){0};
  }
  cone->part = NULL;
  cone->parts = 0;
  return taken;
}

void cone_settle(struct cone_files *f) {
  const double start = wall_clock();
  if (!f->begun) return;
  background_wait();
  give_up(f, start);
}

void cone_write(struct cone_files *f, struct nbody *n, const struct parameters *p, int64_t step,
                bool ended) {
  struct light_cone *cone = n->cone;
  cone_settle(f);
  if (!cone || cone->copies == 0) return;
  const double start = wall_clock();
  light_cone_exchange_counts(cone);
  f->cone = take(cone, ended);
  f->parameters = *p;
  f->step = step;
  f->begun = light_cone_beside(p) && background_possible() && !ended && !background_begun();
  if (f->begun) {
    background_begin(write_files, f);
    return;
  }
  write_files(f);
  give_up(f, start);
}

void cone_save(struct nbody *n, struct checkpoint_state *state) {
  struct light_cone *cone = n->cone;
  state->map_shell = -1;
  for (int64_t k = 0; cone && k < cone->shells; k++)
    if (cone->map[k].pixel) state->map_shell = k;
  if (state->map_shell < 0) return;
  state->map = cone->map[state->map_shell].pixel;
  light_cone_squares(&cone->map[state->map_shell], state->map_squares);
  state->map_pixels = light_cone_pixels(cone);
}

void cone_restore(struct nbody *n, struct checkpoint_state *state) {
  struct light_cone *cone = n->cone;
  if (cone && state->map) {
    if (state->map_shell < 0 || state->map_shell >= cone->shells ||
        state->map_pixels != light_cone_pixels(cone))
      fail(EXIT_BAD_INPUT,
           "corrupt checkpoint: a map of %zu pixels of shell %" PRId64
           " of the light cone, which has %" PRId64 " shells of %zu pixels",
           state->map_pixels, state->map_shell, cone->shells, light_cone_pixels(cone));
    uint64_t *map = light_cone_open_map(cone, state->map_shell);
    memcpy(map, state->map, light_cone_own_pixels(cone) * sizeof *map);
    if (comm_rank() == 0) /* the sum of all ranks */
      memcpy(cone->map[state->map_shell].squares, state->map_squares, sizeof state->map_squares);
  }
  free(state->map);
  state->map = NULL;
}
