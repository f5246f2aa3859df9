/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/cone.h"

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

void cone_require(const struct parameters *p, const struct particles *s, double start_a) {
  if (p->lightcone.geometry == CONE_NONE || p->box.boundary == BOUNDARY_ISOLATED) return;
  if (particles_have(s, COLUMN_relative_mass))
    fail(EXIT_BAD_USAGE,
         "lightcone.geometry: particles have different masses, and a light cone is of particles of "
         "one mass: set lightcone.geometry = none");
  const double z = 1.0 / start_a - 1.0, rounding = 1e-9 * (1.0 + z);
  if (p->lightcone.z_max > z + rounding)
    fail(EXIT_BAD_USAGE,
         "lightcone.z_max = %g is above the redshift of the initial conditions, %g, where the run "
         "begins: set it lower",
         p->lightcone.z_max, z);
}

static const char *plural(double number) { return number == 1.0 ? "" : "s"; }

void cone_print(FILE *out, const struct parameters *p, size_t particles) {
  const struct light_cone_size s = light_cone_size(p, particles);
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
    light_cone_write_particles(name_of(p, "particles", 6, f->step).path, p, &f->cone, f->mass);
  for (int64_t k = 0; k < f->cone.shells; k++)
    if (f->cone.map[k]) {
      light_cone_write_map(name_of(p, "shell", 4, k).path, p, &f->cone, k, f->mass);
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
    taken.map[k] = passed || ended ? cone->map[k] : NULL;
    if (passed) cone->map[k] = NULL;
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
  f->mass = n->domain.particles.mass;
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
    if (cone->map[k]) state->map_shell = k;
  if (state->map_shell < 0) return;
  state->map = cone->map[state->map_shell];
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
  }
  free(state->map);
  state->map = NULL;
}
