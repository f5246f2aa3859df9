/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_leave: lists the particles of a batch that have left their groups, or may have. The batch is one of
 * particle_level, whose groups are those of the last gas_particles_settle().
 *
 * reads  particles of the batch
 * writes gas_leaving.leaver and leavers */
#include "codelets/pm/leave.h"

enum { PARTICLES = LEAVE_PARTICLES, READERS, SLOTS };

static double gas_leave_work(const struct gas_leave_argument *a) { return leave_range_of(a).count; }

STAGE(gas_leave, 0x776655, "gas");

void gas_leave_submit(const struct gas_leaving *leaving, uint32_t batch) {
  const struct starpu_data_descr data[SLOTS] = {
      [PARTICLES] = {particle_handle(leaving->from, batch), STARPU_R},
      [READERS] = {leaving->from->readers, STARPU_R}};
  gas_leave_insert((struct gas_leave_argument){leaving, batch},
                   (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_HIGH});
}
