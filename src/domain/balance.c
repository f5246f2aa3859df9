/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load balance between ranks. Groups keep their order and each rank has consecutive groups, so that
 * neighbours stay together and a table of first groups describes the ownership of all groups. */
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

static double most_expensive(const double *cost, uint32_t parts, const uint32_t *first) {
  double most = 0.0;
  for (uint32_t p = 0; p < parts; p++) {
    double sum = 0.0;
    for (uint32_t i = first[p]; i < first[p + 1]; i++) sum += cost[i];
    most = sum > most ? sum : most;
  }
  return most;
}

bool balance_wanted(struct domain *d, uint32_t *first) {
  const uint32_t groups = d->group_count, parts = (uint32_t)comm_size();
  uint32_t *now = allocate((size_t)parts + 1, sizeof *now, "owners of groups");
  double *cost = allocate(groups, sizeof *cost, "costs of groups");
  for (uint32_t i = group_first(d, comm_rank()); i < group_first(d, comm_rank() + 1); i++) {
    cost[i] = d->group_seconds[i];
    d->group_seconds[i] = 0.0;
  }
  kept_set(KEPT_COSTS, groups * (sizeof *cost + sizeof *d->group_cost + sizeof *d->group_seconds));
  comm_sum_double(cost, groups);
  /* The running mean of the cost keeps half of its old value, so that one interrupted worker does
   * not move groups. The order of groups follows space, so a group's past cost applies to nearly
   * the same region even after a rebuild. */
  if (!d->group_cost) {
    d->group_cost = allocate(groups, sizeof *d->group_cost, "costs of groups");
    for (uint32_t i = 0; i < groups; i++) d->group_cost[i] = cost[i];
  }
  for (uint32_t i = 0; i < groups; i++)
    cost[i] = d->group_cost[i] = 0.5 * (d->group_cost[i] + cost[i]);
  for (uint32_t p = 0; p <= parts; p++) now[p] = group_first(d, (int)p);
  const double before = most_expensive(cost, parts, now),
               after = balance_cut(cost, groups, parts, first);
  int moved = 0;
  for (uint32_t p = 1; p < parts; p++) {
    const int shift = abs((int)(now[p] - first[p]));
    moved = shift > moved ? shift : moved;
  }
  const double price = MOVE_COST * (double)moved * (double)d->particles.all / groups,
               workers = (double)starpu_cpu_worker_get_count(),
               gain = (before - after) / (workers > 0.0 ? workers : 1.0);
  free(now);
  free(cost);
  bool wanted = moved > 0 && before - after > LEAST_GAIN * before &&
                gain * PAYBACK_STEPS > BALANCE_STEPS * price;
  comm_broadcast(&wanted, sizeof wanted, 0); /* ranks may have different numbers of workers */
  return wanted;
}
