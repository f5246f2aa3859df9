/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/softening.h"

#include <math.h>
#include <stdio.h>

#include "photons/app/type_masses.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/tree/p2p.h"

/* Beyond these many softening lengths the program takes a force for Newton's. The spline is Newton's law from 2.8 on.
 * Plummer's law differs from Newton's by 3/2 (softening/distance)^2: forces on 32^3 particles at z = 9 are
 * wrong by 0.4 (softening/r_cut)^2 (rms), which is 1e-3 at 20 and 1 % at 6. */
#define SPLINE_REACH 2.8
#define PLUMMER_EXACT 20.0
#define PLUMMER_LEAST 6.0
/* Of the mean spacing: whoever gives less has probably mistaken a unit. */
#define SUSPICIOUS 1e-4

static bool isolated(const struct parameters *p) { return p->box.boundary == BOUNDARY_ISOLATED; }

static struct softening_types look(const struct parameters *p, const struct particles *s) {
  struct softening_types types = {0};
  struct type_masses m = type_masses_of(s);
  uint64_t all = 0;
  for (int t = 0; t < PARTICLE_TYPES; t++) all += m.count[t];
  if (all == 0) m.count[PARTICLE_HALO] = s->all;
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    types.present[t] = m.count[t] > 0;
    if (!types.present[t] || isolated(p)) continue;
    types.spacing[t] = particles_have(s, COLUMN_relative_mass)
                           ? cbrt(m.mass[t] / (double)m.count[t] / (s->mass * (double)s->all))
                           : 1.0 / cbrt((double)s->all);
  }
  return types;
}

/** Types of particles of isolated systems need a softening length. */
static void require_softening(const struct parameters *p, const struct softening_types *types) {
  for (unsigned t = 0; t < PARTICLE_TYPES; t++)
    if (types->present[t] && softening_of_type(p, t) < 0.0)
      fail(EXIT_BAD_USAGE,
           "particles of type %u have no softening length: give gravity.softening_type_%u or "
           "gravity.softening",
           t, t);
}

/** Softening of a thirtieth of the spacing where the parameters ask for it. */
static void choose(struct parameters *p, const struct particles *s,
                   const struct softening_types *types) {
  const double thirtieth = 1e3 * p->box.size / 30.0;
  if (p->gravity.softening >= 0.0) return;
  p->gravity.softening = thirtieth / cbrt((double)s->all);
  for (unsigned t = 1; particles_have(s, COLUMN_relative_mass) && t < PARTICLE_TYPES; t++)
    if (types->present[t] && p->gravity.softening_type[t] == 0.0)
      p->gravity.softening_type[t] = (double)(float)(thirtieth *
                                                     types->spacing[t]); /* on any ranks */
}

struct softening_types softening_resolve(struct parameters *p, const struct particles *s) {
  const struct softening_types types = look(p, s);
  if (isolated(p))
    require_softening(p, &types);
  else
    choose(p, s, &types);
  return types;
}

/** The softening length of a type at a scale factor, kpc/h comoving. */
static double softening_of(const struct parameters *p, unsigned type, double a) {
  const double comoving = softening_of_type(p, type), most = p->gravity.softening_max_physical;
  return most > 0.0 ? fmin(comoving, most / a) : comoving;
}

/** The type with the longest softening length; PARTICLE_TYPES: there are no particles. */
static unsigned longest(const struct parameters *p, const struct softening_types *types, double a) {
  unsigned found = PARTICLE_TYPES;
  for (unsigned t = 0; t < PARTICLE_TYPES; t++)
    if (types->present[t] &&
        (found == PARTICLE_TYPES || softening_of(p, t, a) > softening_of(p, found, a)))
      found = t;
  return found;
}

static double longest_softening(const struct parameters *p, const struct softening_types *types,
                                double a) {
  const unsigned type = longest(p, types, a);
  return type < PARTICLE_TYPES ? softening_of(p, type, a) : 0.0;
}

/** The cutoff must be at so many softening lengths. */
static double least_reach(const struct parameters *p) {
  return p->gravity.softening_kernel == SOFTENING_SPLINE ? SPLINE_REACH : PLUMMER_LEAST;
}

/** Cells a side of the finest mesh whose cutoff is at so many softening lengths. */
static double finest(const struct parameters *p, double softening, double reach) {
  return 1e3 * p->box.size * p->gravity.r_cut / (reach * softening);
}

double softening_finest_mesh(const struct parameters *p, const struct softening_types *types,
                             double a) {
  const bool spline = p->gravity.softening_kernel == SOFTENING_SPLINE;
  return finest(p, longest_softening(p, types, a), spline ? SPLINE_REACH : PLUMMER_EXACT);
}

struct name {
  char text[48];
};

/** The parameter that a softening length is from. */
static struct name name_of(const struct parameters *p, unsigned type, double a) {
  struct name name;
  if (softening_of(p, type, a) < softening_of_type(p, type))
    snprintf(name.text, sizeof name.text, "gravity.softening_max_physical (comoving)");
  else if (type > 0 && type < PARTICLE_TYPES && p->gravity.softening_type[type] > 0.0)
    snprintf(name.text, sizeof name.text, "gravity.softening_type_%u", type);
  else
    snprintf(name.text, sizeof name.text, "gravity.softening");
  return name;
}

/** What helps where the force is softened too far for a mesh. */
static const char *remedy(const struct parameters *p, double cutoff, double softening,
                          double reach) {
  static char text[160];
  const double cells = 2.0 * floor(finest(p, softening, reach) / 2.0);
  int length = snprintf(text, sizeof text, "take at most %.4g kpc/h", cutoff / reach);
  if (cells >= 8.0)
    snprintf(text + length, sizeof text - (size_t)length,
             ", or a mesh of at most %.0f cells a side (gravity.pm_grid, pm_grid_most)", cells);
  return text;
}

/** End the program where the force of some type is softened beyond the cutoff of a mesh.
 * @param key  the parameter that made the mesh so fine */
static void require_mesh(const struct parameters *p, const struct softening_types *types, double a,
                         int64_t cells, const char *key) {
  const double softening = longest_softening(p, types, a), reach = least_reach(p);
  const double cutoff = 1e3 * p->box.size * p->gravity.r_cut / (double)cells;
  if (reach * softening > cutoff)
    fail(
        EXIT_BAD_USAGE,
        "%s = %.6g kpc/h is too long for the mesh: the force is softened up to %g times that, %.6g "
        "kpc/h, but direct sums end at gravity.r_cut = %g cells = %.6g kpc/h (%s = %lld): %s",
        name_of(p, longest(p, types, a), a).text, softening, reach, reach * softening,
        p->gravity.r_cut, cutoff, key, (long long)cells, remedy(p, cutoff, softening, reach));
}

/** In an isolated system. */
static void require_resolved_in_frame(const struct parameters *p, double side) {
  const double least = 1e3 * SOFTENING_LEAST * side;
  if (softening_shortest(p) < least)
    fail(EXIT_BAD_USAGE,
         "gravity.softening = %g kpc is below a millionth of the frame's side of %g kpc, %g kpc: "
         "take a longer softening length, or leave out the farthest particles (a cutoff of the "
         "outermost component)",
         softening_shortest(p), 1e3 * side, least);
}

/** In a box, where a softening length of 0 means none. */
static void require_resolved(const struct parameters *p, unsigned type, uint32_t cells) {
  const double end = 1.0 / (1.0 + p->time.z_end), softening = softening_of(p, type, end);
  const double least = SOFTENING_LEAST * 1e3 * p->box.size * p->gravity.r_cut / cells;
  if (softening > 0.0 && softening < least)
    fail(EXIT_BAD_USAGE,
         "%s: %.3g kpc/h at the end of the run are below a millionth of gravity.r_cut, %.3g kpc/h, "
         "which floats do not resolve: take a longer softening length or a finer gravity.pm_grid",
         name_of(p, type, end).text, softening, least);
}

void softening_require(const struct parameters *p, const struct softening_types *types, double a,
                       uint32_t cells) {
  if (isolated(p)) {
    require_resolved_in_frame(p, p->box.size);
    return;
  }
  for (unsigned t = 0; t < PARTICLE_TYPES; t++)
    if (types->present[t]) require_resolved(p, t, cells);
  require_mesh(p, types, a, cells, "gravity.pm_grid");
  if (p->gravity.pm_grid_most > cells)
    require_mesh(p, types, a, p->gravity.pm_grid_most, "gravity.pm_grid_most");
}

/** Where Plummer's law is not yet Newton's at the cutoff. */
static void warn_of_mesh(const struct parameters *p, const struct softening_types *types, double a,
                         uint32_t first) {
  const int64_t cells = p->gravity.pm_grid_most > first ? p->gravity.pm_grid_most : first;
  const double softening = longest_softening(p, types, a);
  const double cutoff = 1e3 * p->box.size * p->gravity.r_cut / (double)cells;
  if (p->gravity.softening_kernel == SOFTENING_SPLINE || PLUMMER_EXACT * softening <= cutoff)
    return;
  warn("%s = %.6g kpc/h is long for the mesh: at gravity.r_cut = %g cells = %.6g kpc/h (a mesh of "
       "%lld "
       "cells a side) Plummer's law still differs from Newton's by %.2g, which the mesh leaves "
       "out: %s",
       name_of(p, longest(p, types, a), a).text, softening, p->gravity.r_cut, cutoff,
       (long long)cells, 1.5 * softening * softening / (cutoff * cutoff),
       remedy(p, cutoff, softening, PLUMMER_EXACT));
}

/** Where a softening length is so short that a unit was probably mistaken. */
static void warn_of_short(const struct parameters *p, const struct softening_types *types,
                          unsigned type) {
  const double end = 1.0 / (1.0 + p->time.z_end), softening = softening_of(p, type, end);
  const double spacing = 1e3 * p->box.size * types->spacing[type];
  if (softening > 0.0 && softening < SUSPICIOUS * spacing)
    warn(
        "%s: %.3g kpc/h at the end of the run are %.2g of the mean spacing of such particles, %.4g "
        "kpc/h; usual is 1/50 to 1/20 of the spacing, and steps are proportional to the root of "
        "the "
        "softening length",
        name_of(p, type, end).text, softening, softening / spacing, spacing);
}

void softening_warn(const struct parameters *p, const struct softening_types *types, double a,
                    uint32_t cells) {
  if (isolated(p) || comm_rank() > 0) return;
  warn_of_mesh(p, types, a, cells);
  for (unsigned t = 0; t < PARTICLE_TYPES; t++)
    if (types->present[t]) warn_of_short(p, types, t);
}
