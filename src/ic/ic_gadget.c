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

#define SOLAR_MASSES_CGS 1.98841e43 /* 10^10 of them */
#define MPC_CGS 3.08567758e24

/** What the numbers of a set stand for. */
struct units {
  double length;         /**< Mpc/h; 0: Mpc/h or kpc/h */
  double mass;           /**< 10^10 Msun/h */
  double velocity;       /**< km/s */
  double velocity_power; /**< of a, which velocities are to be multiplied by */
};

/** Codes round Mpc and the mass of the sun differently. */
static double rounded(double unit) { return fabs(unit - 1.0) < 1e-4 ? 1.0 : unit; }

/** Files of SWIFT have h in their group Cosmology. Initial conditions for SWIFT have no such group, and h is that of config.ini. */
static double hubble_of(const struct parameters *p, const struct gadget_set *set) {
  if (gadget_gives(set->headers[0].h)) return set->headers[0].h;
  if (!parameter_given(p, "cosmology", "h"))
    fail(EXIT_BAD_INPUT,
         "%s: has units of SWIFT, but no h in a group Cosmology: not a cosmological volume, or "
         "initial conditions, which need cosmology.h and cosmology.Omega_m in config.ini",
         set->first);
  return p->cosmology.h;
}

static struct units units_of(const struct parameters *p, const struct gadget_set *set) {
  const struct gadget_header *h = &set->headers[0];
  if (!h->swift) return (struct units){.mass = 1.0, .velocity = 1.0, .velocity_power = 0.5};
  const double hubble = hubble_of(p, set);
  const struct units u = {.length = hubble * rounded(h->unit_length / MPC_CGS),
                          .mass = hubble * rounded(h->unit_mass / SOLAR_MASSES_CGS),
                          .velocity = rounded(h->unit_velocity / 1e5),
                          .velocity_power = h->velocity_power};
  if (!(u.length > 0.0 && u.mass > 0.0 && u.velocity > 0.0) ||
      !isfinite(u.length + u.mass + u.velocity) || !(fabs(u.velocity_power) <= 3.0))
    fail(EXIT_BAD_INPUT,
         "%s: its units are %g cm, %g g and %g cm/s, and velocities are to be multiplied by a^%g",
         set->first, h->unit_length, h->unit_mass, h->unit_velocity, u.velocity_power);
  return u;
}

/** Box size in Mpc/h of a set whose unit of length is known. */
static double box_of_unit(const struct parameters *p, const struct gadget_set *set, double unit,
                          double mass) {
  const double box = unit * set->headers[0].box, omega_m = cosmology_from(p).omega_m;
  const double ratio = mass * (double)set->count / (omega_m * RHO_CRITICAL * pow(box, 3));
  if (!(fabs(ratio - 1.0) <= 0.01))
    fail(EXIT_BAD_INPUT,
         "%s: %llu particles of mass %g (10^10 Msun/h) in a box of %g Mpc/h are %.4g times Omega_m "
         "rho_crit L^3 (Omega_m = %g); expected 1 within 1 %%: check its units, BoxSize and masses",
         set->first, (unsigned long long)set->count, mass, box, ratio, omega_m);
  return box;
}

/** Box size in Mpc/h: N masses must be Omega_m rho_crit L^3, where taking kpc for Mpc makes a
 * factor of 10^9. */
static double box_from_mass(const struct parameters *p, const struct gadget_set *set, double mass) {
  const double box = set->headers[0].box, omega_m = cosmology_from(p).omega_m;
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

/** Numbers that headers of Gadget do not have. */
static void agree_beyond_gadget(struct parameters *p, const struct gadget_header *h,
                                double tolerance, struct complaints *c) {
  if (h->w0 != GADGET_ABSENT) agree(p, "cosmology", "w0", &p->cosmology.w0, h->w0, tolerance, c);
  if (h->wa != GADGET_ABSENT) agree(p, "cosmology", "wa", &p->cosmology.wa, h->wa, tolerance, c);
  if (h->omega_r != GADGET_ABSENT)
    agree(p, "cosmology", "Omega_r", &p->cosmology.omega_r, h->omega_r, tolerance, c);
}

/** Store the file's values in @p p. Contradictions with config.ini end the program.
 * @return the box size in Mpc/h */
static double settle(struct parameters *p, const struct gadget_set *set, const struct units *u,
                     double mass) {
  const struct gadget_header *h = &set->headers[0];
  const double rounding = 1e-5; /* float headers, and values printed with six digits */
  struct complaints c = {.used = 0};
  if (gadget_gives(h->omega_m)) {
    agree(p, "cosmology", "Omega_m", &p->cosmology.omega_m, h->omega_m, rounding, &c);
    if (h->omega_lambda != GADGET_ABSENT)
      agree(p, "cosmology", "Omega_lambda", &p->cosmology.omega_lambda, h->omega_lambda, rounding,
            &c);
    else if (!parameter_given(p, "cosmology", "Omega_lambda")) /* as its default: flat */
      p->cosmology.omega_lambda = 1.0 - p->cosmology.omega_m - p->cosmology.omega_r;
  }
  if (gadget_gives(h->h)) agree(p, "cosmology", "h", &p->cosmology.h, h->h, rounding, &c);
  if (h->swift) agree_beyond_gadget(p, h, rounding, &c);
  agree(p, "ic", "z_init", &p->ic.z_init, h->redshift, rounding * (1.0 + h->redshift), &c);
  char reason[160];
  if (!cosmology_possible(p, reason, sizeof reason))
    fail(EXIT_BAD_INPUT, "%s: %s", set->first, reason);
  const double box = u->length > 0.0 ? box_of_unit(p, set, u->length, mass)
                                     : box_from_mass(p, set, mass);
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
static struct particles read_share(const struct gadget_set *set, const struct units *u, double box,
                                   const struct gadget_masses *masses) {
  const struct gadget_header *h = &set->headers[0];
  struct particles s = particles_create_share(set->count, box,
                                              masses ? gadget_mean_mass(masses) : 1.0);
  if (masses && gadget_masses_differ(masses)) particles_add_column(&s, COLUMN_relative_mass);
  if (masses && gadget_set_typed(set)) particles_add_column(&s, COLUMN_type);
  gadget_set_read(
      set, particles_first(&s), s.count,
      &(const struct gadget_sink){
          .particles = &s,
          .mass_factor = u->mass,
          .box = h->box,
          .momentum_factor = u->velocity * pow(1.0 + h->redshift, -1.0 - u->velocity_power),
          .velocity_factor = u->velocity * pow(1.0 + h->redshift, -u->velocity_power)});
  gadget_check_ids(&s, set->first);
  return s;
}

/** Leave out all but the dark matter of a set with gas: it then stands for all matter.
 * @param[out] factor  from the masses of the file to those of all matter, where masses differ */
static struct gadget_masses keep_dark_matter(struct gadget_set *set, const struct units *u,
                                             const struct gadget_masses *all, double *factor) {
  const uint64_t gas = set->of_type[0], others = set->count - set->of_type[PARTICLE_HALO];
  if (others == set->count)
    fail(EXIT_BAD_INPUT, "%s: holds %llu gas particles, and none of dark matter (type %d)",
         set->first, (unsigned long long)gas, PARTICLE_HALO);
  gadget_set_keep(set, PARTICLE_HALO);
  struct gadget_masses dark = gadget_set_masses(set, u->mass);
  if (comm_rank() == 0)
    warn("%s: has %llu particles of gas and other kinds: they are left out, and each particle of "
         "dark matter has %.4g times its mass, so that dark matter stands for all matter",
         set->first, (unsigned long long)others, all->sum / dark.sum);
  if (gadget_masses_differ(&dark))
    *factor = (double)(float)(all->sum / dark.sum);
  else
    dark.first = dark.least = dark.largest = (double)(float)(all->sum / (double)dark.count);
  return dark;
}

/** Whether the dark matter of a set with gas is of types 2 and 3, too: that of type 1 then fills a
 * part of the box only, the region of high resolution. */
static bool zoom_of_gas(const struct gadget_set *set) {
  return set->of_type[0] > 0 && set->of_type[2] + set->of_type[3] > 0;
}

static struct particles read_set(struct parameters *p, bool analysed) {
  struct gadget_set set = gadget_set_open(p->ic.file, false, analysed);
  for (size_t f = 0; f < set.files; f++) {
    char buffer[GADGET_PATH_SIZE];
    ic_check_universe(gadget_set_path(&set, f, buffer), &set.headers[f]);
  }
  const struct units u = units_of(p, &set);
  struct gadget_masses masses = gadget_set_masses(&set, u.mass);
  const double size = settle(p, &set, &u, gadget_mean_mass(&masses));
  double factor = 1.0;
  if (set.of_type[0] > 0 && !zoom_of_gas(&set))
    masses = keep_dark_matter(&set, &u, &masses, &factor);
  struct particles s = read_share(&set, &u, size, &masses);
  s.mass *= factor;
  ic_warn(&s, 1.0 - p->cosmology.omega_m - p->cosmology.omega_lambda - p->cosmology.omega_r,
          set.first);
  gadget_set_free(&set);
  return s;
}

struct particles ic_read_gadget(struct parameters *p) {
  return read_set(p, false);
}

struct particles ic_read_snapshot(struct parameters *p) {
  return read_set(p, true);
}

struct particles ic_read_glass(const char *path) {
  struct gadget_set set = gadget_set_open(path, false, false);
  const struct units plain = {.mass = 1.0, .velocity = 1.0, .velocity_power = 0.5};
  set.headers[0].redshift = 0.0; /* velocities of a glass are not used */
  struct particles s = read_share(&set, &plain, set.headers[0].box, NULL);
  gadget_set_free(&set);
  return s;
}
