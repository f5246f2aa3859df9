/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of the graph: StarPU-MPI's detached sends and receives, which are ordered by the data like tasks. Both ends know from the
 * table of groups what goes where, so that nobody asks; each datum travels once a step to each process that needs it. */
#include <starpu_mpi.h>
#include <stdlib.h>

#include "photons/codelets.h"
#include "photons/comm.h"
#include "photons/error.h"
#include "photons/simulation.h"

/** What a message holds; with the number of its thing it makes the tag. */
enum kind { POSITION, TREE, MULTIPOLE, PATCH, PIECE = PATCH + 2, BLOCK = PIECE + 2, KINDS };

void message_start(void) {
  if (comm_size() > 1 && starpu_mpi_init_comm(NULL, NULL, 0, MPI_COMM_WORLD) != 0)
    fail(EXIT_RUN_FAILED, "StarPU-MPI does not start");
}

void message_stop(void) {
  if (comm_size() > 1 && starpu_mpi_shutdown() != 0) fail(EXIT_RUN_FAILED, "StarPU-MPI does not stop");
}

void message_wait(void) {
  if (comm_size() == 1)
    starpu_task_wait_for_all();
  else if (starpu_mpi_wait_for_all(MPI_COMM_WORLD) != 0)
    fail(EXIT_RUN_FAILED, "StarPU-MPI lost a message");
}

/** One message, on the process that sends and on the one that receives; others pass. */
static void transfer(starpu_data_handle_t handle, enum kind kind, size_t thing, int from, int to) {
  const starpu_mpi_tag_t tag = (starpu_mpi_tag_t)(thing * KINDS + kind);
  const int me = comm_rank();
  int status = 0;
  if (from == to) return;
  if (from == me) status = starpu_mpi_isend_detached(handle, to, tag, MPI_COMM_WORLD, NULL, NULL);
  if (to == me) status = starpu_mpi_irecv_detached(handle, from, tag, MPI_COMM_WORLD, NULL, NULL);
  if (status != 0) fail(EXIT_RUN_FAILED, "StarPU-MPI could not take a message between processes %d and %d", from, to);
}

/** Function(s, own group, other process) once for each process that has neighbours of it, and function for the groups that come from there.
 * Neighbourhood is mutual, so that both ends see it. */
static void for_neighbours(struct simulation *s, void (*function)(const struct group *g, int from, int to)) {
  const int me = comm_rank();
  if (comm_size() == 1) return;
  bool *sent = allocate((size_t)comm_size(), sizeof *sent, "neighbouring processes"),
       *received = allocate(s->group_count, sizeof *received, "neighbouring groups");
  for (uint32_t i = group_first(s, me); i < group_first(s, me + 1); i++) {
    const struct group *g = &s->groups[i];
    for (int r = 0; r < comm_size(); r++) sent[r] = false;
    for (uint32_t k = 1; k < g->neighbours; k++) {
      const struct group *other = &s->groups[g->neighbour[k]];
      if (other->owner == me) continue;
      if (!sent[other->owner]) function(g, me, other->owner);
      if (!received[other->index]) function(other, other->owner, me);
      sent[other->owner] = received[other->index] = true;
    }
  }
  free(sent);
  free(received);
}

static void transfer_tree(const struct group *g, int from, int to) {
  transfer(g->position_handle, POSITION, g->index, from, to);
  transfer(g->tree_handle, TREE, g->index, from, to);
}
static void transfer_multipole(const struct group *g, int from, int to) {
  transfer(g->multipole_handle, MULTIPOLE, g->index, from, to);
}
void share_trees(struct simulation *s) { for_neighbours(s, transfer_tree); }
void share_multipoles(struct simulation *s) { for_neighbours(s, transfer_multipole); }

void share_patches(struct simulation *s, uint32_t set) {
  for (uint32_t i = 0; i < s->group_count; i++) {
    const struct group *g = &s->groups[i];
    for (uint32_t k = 0; k < g->sent.count; k++)
      transfer(g->sent.piece[k].handle[set], PATCH + set, i * (size_t)s->mesh->cells + k, g->owner,
               g->sent.piece[k].process);
  }
}

void share_spectra(struct simulation *s, bool back) {
  const struct mesh *m = s->mesh;
  if (comm_size() == 1) return;
  for (uint32_t set = 0; set < s->sets; set++)
    for (uint32_t spectrum = 0; spectrum < (back ? m->spectra : 1); spectrum++)
      for (uint32_t column = 0; column < m->columns; column++)
        for (uint32_t slab = 0; slab < m->slabs; slab++) {
          const size_t row = block_index(s, set, spectrum, slab, column);
          const int of_slab = slab_owner(s, slab), of_column = column_owner(s, column);
          if (back)
            transfer(s->block_handle[row], BLOCK, row, of_column, of_slab);
          else
            transfer(s->block_handle[row], BLOCK, row, of_slab, of_column);
        }
}

void share_pieces(struct simulation *s) {
  for (uint32_t i = 0; i < s->group_count; i++) {
    const struct group *g = &s->groups[i];
    for (uint32_t k = 0; k < g->read.count; k++)
      for (uint32_t set = 0; set < s->sets; set++)
        transfer(g->read.piece[k].handle[set], PIECE + set, i * (size_t)s->mesh->cells + k, g->read.piece[k].process,
                 g->owner);
  }
}
