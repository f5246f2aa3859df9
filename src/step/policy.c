/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The policy when to sort and when to rebuild. */
#include "photons/step/policy.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/mesh/long_range.h"
#include "photons/runtime/scheduler.h"
#include "photons/step/rungs.h"

/* Rough costs in nanoseconds on one core or on a GPU. They are constants, so that results depend
 * neither on the noise of measured times nor on the number of workers. */
static const struct cost {
  double pair, interaction, visit, sort, rebuild; /* the last two: per particle */
  double cell, deposit; /* of the mesh, in a force on all particles: per cell, per particle */
} core_cost = {0.5, 25.0, 6.0, 100.0, 500.0, 57.0, 240.0},
  gpu_cost = {0.001, 0.03, 0.05, 0.5, 2.0, 0.2, 0.4};

static const struct cost *cost(void) { return scheduler_any_gpu() ? &gpu_cost : &core_cost; }

/* Groups interpenetrate more and more, however well each is sorted. The domain is rebuilt when
 * their reach has grown by this factor. */
#define SPREAD_MOST 1.5
/* If every step sorts, the estimate of the growth of work is reduced by this factor each time, so
 * that the policy eventually tries a step without a sort again. */
#define FORGET 0.97
/** Steps between sorts where no pairs tell how loose the trees are: deposits on the mesh and read-outs touch
 * cells in the order of the particles. On a GPU a sort takes as long as it saves in twelve steps. */
static int64_t mesh_alone_interval(void) { return scheduler_any_gpu() ? 12 : 4; }

/** Sort when the extra work since the last sort, plus the extra work expected in the next step,
 * equals the cost of a sort. If the extra work grows with the age of the trees, this minimises the
 * total. */
static bool sort_due(const struct sort_policy *s, const struct parameters *p, size_t particles) {
  int64_t interval = p->runtime.sort_interval;
  if (interval == 0 && p->time.step == STEP_PM) interval = mesh_alone_interval();
  if (interval > 0) return s->steps_since_sort >= interval;
  const double loss = s->loosening * (double)s->steps_since_sort;
  return s->sort_debt + loss >= cost()->sort * (double)particles;
}

/** Rebuild instead of a sort if the groups' reach has grown by SPREAD_MOST. */
static bool rebuild_due(const struct sort_policy *s, const struct parameters *p, size_t particles) {
  const int64_t interval = p->runtime.rebuild_interval;
  if (interval > 0) return s->steps_since_rebuild >= interval;
  return sort_due(s, p, particles) && s->spread >= SPREAD_MOST * s->fresh_spread;
}

struct sort_choice sort_policy_choose(const struct sort_policy *s, const struct parameters *p,
                                      size_t particles) {
  const bool rebuild = rebuild_due(s, p, particles);
  return (struct sort_choice){.rebuild = rebuild, .sort = !rebuild && sort_due(s, p, particles)};
}

void sort_policy_done(struct sort_policy *s, struct sort_choice choice) {
  if (choice.rebuild) s->steps_since_rebuild = 0;
  if (choice.rebuild || choice.sort) s->steps_since_sort = 0;
}

static double spread(const struct domain *d) {
  double sum, *volume = allocate(d->particles.blocks, sizeof *volume, "volumes of groups");
  FOR_GROUPS(d, g) {
    double *v = &volume[group_place(d, g)];
    *v = 1.0;
    for (int c = 0; c < 3; c++) *v *= 1.0 + (double)g->root.half[c];
  }
  group_sums(&d->particles, volume, 1, &sum);
  free(volume);
  return sum;
}

void sort_policy_rescale(struct sort_policy *s, const struct domain *d) {
  const double before = s->spread;
  s->spread = spread(d);
  if (before > 0.0) s->fresh_spread *= s->spread / before;
}

/** km/s, of matter in the halos in which most pairs are. */
#define HALO_SPEED 300.0
/** Forces for each time that a mesh is finer, at most: matter is slower in boxes of a few Mpc/h. */
#define MOST_FOR_FINER 4.0

/** Cells that matter in halos crosses in a base step. */
static double cells_crossed(const struct parameters *p, const struct cosmology *c, double a,
                            uint32_t cells) {
  const double distance = HALO_SPEED * p->time.max_dlna / (a * cosmology_hubble(c, a)); /* Mpc/h */
  return distance * cells / p->box.size;
}

uint32_t mesh_policy_forces(const struct parameters *p, const struct cosmology *c, double a,
                            size_t particles, uint32_t cells) {
  uint32_t forces = 1;
  if (cells == 0 || p->time.step != STEP_BLOCK) return forces;
  const uint32_t first = mesh_layout_choose(p, particles).cells;
  if (cells <= first) return forces;
  const double finer = (double)cells / first,
               least = cells_crossed(p, c, a, cells) / p->time.mesh_crossing;
  while (forces < fmax(finer, fmin(least, MOST_FOR_FINER * finer))) forces *= 2;
  return forces;
}

/** Nanoseconds of a step's forces by a mesh. */
static double mesh_work(const struct parameters *p, const struct cosmology *c, double a,
                        size_t particles, uint32_t cells) {
  return mesh_policy_forces(p, c, a, particles, cells) *
         (cost()->cell * pow(cells, 3.0) + cost()->deposit * (double)particles);
}

/** The least factor by which a mesh gets finer. On GPUs smaller changes gain nothing. */
static double least_refinement(void) { return scheduler_any_gpu() ? 1.5 : 1.25; }

uint32_t mesh_policy_choose(const struct parameters *p, const struct cosmology *c, double a,
                            size_t particles, uint32_t cells, double pairs) {
  uint32_t best = cells;
  double most = 0.0;
  for (double factor = least_refinement(); cells > 0 && factor <= 2.0; factor += 0.25) {
    uint32_t finer = mesh_good_size((uint32_t)ceil(factor * cells));
    if (finer > p->gravity.pm_grid_most) finer = (uint32_t)p->gravity.pm_grid_most;
    if (finer <= cells) break;
    const double saved = cost()->pair * pairs * (1.0 - (double)cells / finer);
    const double gain = saved - mesh_work(p, c, a, particles, finer) +
                        mesh_work(p, c, a, particles, cells);
    if (gain > most) best = finer;
    most = fmax(most, gain);
  }
  return best;
}

static double nanoseconds(const struct work_counts *w) {
  return cost()->pair * (double)w->pairs + cost()->interaction * (double)w->interactions +
         cost()->visit * (double)w->visits;
}

void sort_policy_account(struct sort_policy *s, const struct domain *d, const struct work_counts *w,
                         double forces) {
  const double work = nanoseconds(w);
  if (s->steps_since_sort == 0) {
    /* It grows with the work: halos get denser. */
    s->loosening *= FORGET * (s->fresh_work > 0.0 ? work / s->fresh_work : 1.0);
    s->fresh_work = work;
    s->sort_debt = 0.0;
  } else {
    const double loss = forces * fmax(work - s->fresh_work, 0.0);
    s->sort_debt += loss;
    s->loosening = loss / (double)s->steps_since_sort;
  }
  s->spread = spread(d);
  if (s->steps_since_rebuild == 0) s->fresh_spread = s->spread;
  s->steps_since_sort++;
  s->steps_since_rebuild++;
}

static double renewal_cost(enum renewal renewal, size_t particles) {
  return (renewal == RENEW_TREES ? cost()->sort : cost()->rebuild) * (double)particles;
}

/** Whether the extra work pays for the renewal. */
static bool renewal_due(const struct renewal_state *s, const double *fresh, int top,
                        uint64_t active, double price) {
  const double expected = top == 0 && s->fresh_work > 0.0 ? s->fresh_work
                                                          : fresh[top] * (double)active;
  return s->debt + s->looseness * expected >= price;
}

enum renewal renewal_policy_choose(const struct renewal_policy *s, const struct fresh_work *fresh,
                                   int top, uint64_t active, size_t particles) {
  for (int k = RENEWALS; k-- > 0;) /* new groups have new trees, too */
    if (renewal_due(&s->of[k], fresh->of[k], top, active, renewal_cost((enum renewal)k, particles)))
      return (enum renewal)k;
  return RENEW_NOTHING;
}

void renewal_policy_done(struct renewal_policy *s, struct fresh_work *fresh, enum renewal renewed) {
  for (int k = 0; k <= (int)renewed; k++) {
    s->of[k] = (struct renewal_state){0};
    for (int rung = 0; rung < RUNGS; rung++) fresh->of[k][rung] = 0.0;
  }
}

/** Record work. @return what the work would have been after a renewal */
static double account(struct renewal_state *s, double *fresh, int top, double work, uint64_t active,
                      double price) {
  double new_work = top == 0 ? s->fresh_work : fresh[top] * (double)active;
  if (new_work > 0.0) {
    /* Few particles say little about the trees. */
    const double weight = work / (work + price);
    s->looseness += weight * (work / new_work - 1.0 - s->looseness);
    s->looseness = fmax(s->looseness, 0.0);
  } else {
    new_work = work / (1.0 + s->looseness);
    fresh[top] = new_work / (double)active;
    if (top == 0) s->fresh_work = new_work;
  }
  s->debt = fmax(s->debt + work - new_work, 0.0);
  return new_work;
}

void renewal_policy_account(struct renewal_policy *s, struct fresh_work *fresh, int top,
                            const struct work_counts *w, uint64_t active, size_t particles) {
  double work = nanoseconds(w);
  for (int k = 0; k < RENEWALS; k++)
    work = account(&s->of[k], fresh->of[k], top, work, active,
                   renewal_cost((enum renewal)k, particles));
}
