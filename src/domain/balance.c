/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load balance between ranks. Groups keep their order and each rank has consecutive groups, so that
 * neighbours stay together and a table of first groups describes the ownership of all groups. All ranks
 * know the costs of units of groups, of which there are at most so many a rank. */
#include "photons/domain/balance.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"

/* MOVE_COST: seconds per particle that the rank with the largest change gains or loses (packing,
 * sending, registering). PAYBACK_STEPS: steps within which the move must have paid. LEAST_GAIN:
 * smallest relative gain; below it, noise of the measurement would move groups back and forth. */
#define MOVE_COST 1e-7
enum { PAYBACK_STEPS = 8 };
enum { BALANCE_UNITS = 64 }; /* a rank: more groups than that are given out several at a time */
#define LEAST_GAIN 0.03

/** Number of consecutive parts needed if none may cost more than `most`. */
static uint32_t runs_needed(const double *cost, uint32_t n, double most, uint32_t *first,
                            uint32_t parts) {
  uint32_t runs = 0;
  double sum = 0.0;
  first[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (i > first[runs] && sum + cost[i] > most) {
      if (++runs == parts) return runs + 1;
      first[runs] = i;
      sum = 0.0;
    }
    sum += cost[i];
  }
  for (uint32_t p = runs + 1; p <= parts; p++) first[p] = n;
  return runs + 1;
}

double balance_cut(const double *cost, uint32_t n, uint32_t parts, uint32_t *first) {
  double low = 0.0, high = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    low = cost[i] > low ? cost[i] : low;
    high += cost[i];
  }
  for (int bits = 0; bits < 50 && high - low > 1e-9 * high; bits++) {
    const double middle = 0.5 * (low + high);
    if (runs_needed(cost, n, middle, first, parts) <= parts)
      high = middle;
    else
      low = middle;
  }
  (void)runs_needed(cost, n, high, first, parts);
  return high;
}

/** Groups of a unit: a power of two, one where ranks have few groups. */
static uint32_t unit_of(const struct domain *d) {
  uint32_t unit = 1;
  while (d->group_count / unit > BALANCE_UNITS * (uint64_t)comm_size()) unit *= 2;
  return unit;
}

/** The cost of groups first .. end - 1, where the groups of a unit cost the same. */
static double cost_of(const double *cost, uint32_t unit, uint32_t first, uint32_t end) {
  double sum = 0.0;
  for (uint32_t i = first, next; i < end; i = next) {
    next = (i / unit + 1) * unit < end ? (i / unit + 1) * unit : end;
    sum += cost[i / unit] * (double)(next - i) / unit;
  }
  return sum;
}

/** The cost of the rank that has most work. */
static double most_expensive(const struct domain *d, const double *cost, uint32_t unit) {
  double most = 0.0;
  for (int r = 0; r < comm_size(); r++) {
    const double sum = cost_of(cost, unit, group_first(d, r), group_first(d, r + 1));
    most = sum > most ? sum : most;
  }
  return most;
}

/** Measure the costs of the last steps. The running mean of a cost keeps half of its old value, so that one
 * interrupted worker does not move groups. The order of groups follows space, so a past cost applies to nearly
 * the same region even after a rebuild. */
static void measure(struct domain *d, uint32_t unit) {
  const uint32_t units = d->group_count / unit;
  double *cost = allocate(units, sizeof *cost, "costs of groups");
  FOR_GROUPS(d, g) {
    double *seconds = &d->group_seconds[group_place(d, g)];
    cost[g->index / unit] += *seconds;
    *seconds = 0.0;
  }
  kept_set(KEPT_COSTS, units * (sizeof *cost + sizeof *d->unit_cost));
  comm_sum_double(cost, units);
  if (d->unit_cost) {
    for (uint32_t i = 0; i < units; i++) d->unit_cost[i] = 0.5 * (d->unit_cost[i] + cost[i]);
    free(cost);
  } else {
    d->unit_cost = cost;
  }
}

bool balance_wanted(struct domain *d, uint32_t *first) {
  const uint32_t unit = unit_of(d), parts = (uint32_t)comm_size();
  measure(d, unit);
  const double before = most_expensive(d, d->unit_cost, unit),
               after = balance_cut(d->unit_cost, d->group_count / unit, parts, first);
  uint32_t moved = 0;
  for (uint32_t p = 0; p <= parts; p++) {
    first[p] *= unit;
    const uint32_t now = group_first(d, (int)p),
                   shift = now > first[p] ? now - first[p] : first[p] - now;
    moved = shift > moved ? shift : moved;
  }
  const double price = MOVE_COST * (double)moved * (double)d->particles.all / d->group_count,
               workers = (double)starpu_cpu_worker_get_count(),
               gain = (before - after) / (workers > 0.0 ? workers : 1.0);
  bool wanted = moved > 0 && before - after > LEAST_GAIN * before &&
                gain * PAYBACK_STEPS > BALANCE_STEPS * price;
  comm_broadcast(&wanted, sizeof wanted, 0); /* ranks may have different numbers of workers */
  return wanted;
}
