/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ranks own which groups. */
#include "photons/base/comm.h"
#include "photons/domain/domain.h"

uint32_t group_first(const struct domain *d, int rank) {
  return d->owner_first ? d->owner_first[rank] : (uint32_t)comm_first(d->group_count, rank);
}

int group_owner(const struct domain *d, uint32_t group) {
  int low = 0, high = comm_size(); /* group_first(low) <= group < group_first(high) */
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (group_first(d, middle) <= group)
      low = middle;
    else
      high = middle;
  }
  return low;
}
