/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial conditions of periodic boxes from Gadget files, which must agree with config.ini. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "gadget_set.h"
#include "ic_check.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/ic/ic.h"

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

/** Read this rank's particles of the set. @param masses  NULL: they do not matter */
static struct particles read_share(const struct gadget_set *set, double box,
                                   const struct gadget_masses *masses) {
  const struct gadget_header *h = &set->headers[0];
  struct particles s = particles_create_share(set->count, box,
                                              masses ? gadget_mean_mass(masses) : 1.0);
  if (masses && gadget_masses_differ(masses)) particles_add_column(&s, COLUMN_relative_mass);
  if (masses && gadget_set_typed(set)) particles_add_column(&s, COLUMN_type);
  gadget_set_read(set, particles_first(&s), s.count,
                  &(const struct gadget_sink){.particles = &s,
                                              .mass_factor = 1.0,
                                              .box = h->box,
                                              .momentum_factor = pow(1.0 + h->redshift, -1.5),
                                              .velocity_factor = pow(1.0 + h->redshift, -0.5)});
  gadget_check_ids(&s, set->first);
  return s;
}

struct particles ic_read_gadget(struct parameters *p) {
  struct gadget_set set = gadget_set_open(p->ic.file, false);
  for (size_t f = 0; f < set.files; f++) {
    char buffer[GADGET_PATH_SIZE];
    ic_check_universe(gadget_set_path(&set, f, buffer), &set.headers[f]);
  }
  const struct gadget_masses masses = gadget_set_masses(&set, 1.0);
  const double size = settle(p, &set, gadget_mean_mass(&masses));
  struct particles s = read_share(&set, size, &masses);
  ic_warn(&s, 1.0 - p->cosmology.omega_m - p->cosmology.omega_lambda - p->cosmology.omega_r,
          set.first);
  gadget_set_free(&set);
  return s;
}

struct particles ic_read_glass(const char *path) {
  struct gadget_set set = gadget_set_open(path, false);
  set.headers[0].redshift = 0.0; /* velocities of a glass are not used */
  struct particles s = read_share(&set, set.headers[0].box, NULL);
  gadget_set_free(&set);
  return s;
}
