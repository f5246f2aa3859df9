/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of the graph: StarPU-MPI's detached sends and receives, which are ordered by the data like tasks. Both ends know from the
 * table of groups what goes where, so that nobody asks; each datum travels once a step to each process that needs it.
 *
 * Between processes of one host only a token travels. A task there (put) has copied the data to shared memory before, where the token says;
 * one here (get) fetches them: many cores, or the GPUs that have and want the data, copy instead of StarPU-MPI's one thread. */
#include <starpu_mpi.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/host_memory.h"
#include "task.h"

/** What a message holds; with the number of its thing it makes the tag. */
enum kind { POSITION, TREE, MULTIPOLE, PATCH, PIECE = PATCH + 2, BLOCK = PIECE + 2, KINDS };

/** Where in its sender's shared memory a message lies. */
struct token {
  size_t place;
  starpu_data_handle_t handle;
};

static struct {
  struct token **token; /* used again in each step */
  size_t count, used;
} tokens;

static size_t vector_bytes(void *buffer) { return STARPU_VECTOR_GET_NX(buffer) * STARPU_VECTOR_GET_ELEMSIZE(buffer); }

static void put_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  memcpy(host_memory_of(comm_rank()) + a->place, VECTOR(const char, buffers[1]), vector_bytes(buffers[1]));
  *(size_t *)STARPU_VARIABLE_GET_PTR(buffers[0]) = a->place;
}

static void get_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const size_t place = *(const size_t *)STARPU_VARIABLE_GET_PTR(buffers[1]);
  memcpy(VECTOR(char, buffers[0]), host_memory_of(a->process) + place, vector_bytes(buffers[0]));
}

#ifdef PHOTONS_CUDA
/** Between a place in a process's shared memory and a vector, in pieces that lie in one page-locked chunk: CUDA takes no others. */
static void copy_by_gpu(const struct task_argument *a, int process, size_t place, bool put, void *buffer) {
  const size_t bytes = vector_bytes(buffer);
  for (size_t done = 0, n; done < bytes; done += n) {
    n = host_memory_pin(process, place + done, bytes - done);
    char *shared = host_memory_of(process) + place + done, *data = VECTOR(char, buffer) + done;
    gpu_copy(task_worker(a)->gpu, put ? shared : data, put ? data : shared, n);
  }
}

static void put_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  copy_by_gpu(a, comm_rank(), a->place, true, buffers[1]);
  *(size_t *)STARPU_VARIABLE_GET_PTR(
      buffers[0]) = a->place; /* it is sent when the task has ended, and the copy with it */
}

static void get_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  copy_by_gpu(a, a->process, *(const size_t *)STARPU_VARIABLE_GET_PTR(buffers[1]), false, buffers[0]);
}
#endif

PHOTONS_CODELET(put, 0xbbbb55, starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, 1)));
PHOTONS_CODELET(get, 0xdddd77, starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, 0)));

/** Tokens stay with the processor, whoever copies. */
static void keep_token_on_host(struct starpu_codelet *codelet, int token) {
  codelet->specific_nodes = 1;
  for (int i = 0; i < 2; i++) codelet->nodes[i] = i == token ? STARPU_SPECIFIC_NODE_CPU : STARPU_SPECIFIC_NODE_LOCAL;
}

void message_start(const struct parameters *p) {
  if (comm_size() == 1) return;
  keep_token_on_host(&put_codelet, 0);
  keep_token_on_host(&get_codelet, 1);
  if (starpu_mpi_init_comm(NULL, NULL, 0, MPI_COMM_WORLD) != 0) fail(EXIT_RUN_FAILED, "StarPU-MPI does not start");
  if (p->runtime.shared_memory && !host_memory_start() && comm_rank() == 0)
    warn("processes of one host cannot share memory: what they exchange goes through MPI, which is slower");
}

void message_stop(void) {
  if (comm_size() == 1) return;
  for (size_t i = 0; i < tokens.count; i++) {
    starpu_data_unregister(tokens.token[i]->handle);
    free(tokens.token[i]);
  }
  free(tokens.token);
  tokens.token = NULL;
  tokens.count = 0;
  host_memory_stop();
  if (starpu_mpi_shutdown() != 0) fail(EXIT_RUN_FAILED, "StarPU-MPI does not stop");
}

void message_begin(void) {
  if (host_memory_shared()) comm_barrier(); /* readers of the last step's messages are done */
  host_memory_reset();
  tokens.used = 0;
}

static struct token *next_token(void) {
  if (tokens.used == tokens.count) {
    struct token *new = allocate(1, sizeof *new, "tokens of messages");
    starpu_variable_data_register(&new->handle, STARPU_MAIN_RAM, (uintptr_t)(&new->place), sizeof new->place);
    tokens.token = reallocate(tokens.token, ++tokens.count, sizeof *tokens.token, "tokens of messages");
    tokens.token[tokens.count - 1] = new;
  }
  return tokens.token[tokens.used++];
}

static void put_submit(struct simulation *s, struct token *token, starpu_data_handle_t data, enum priority priority) {
  const size_t place = host_memory_take(starpu_data_get_size(data));
  task_submit(&put_codelet, (struct task_argument){.simulation = s, .place = place},
              (struct starpu_data_descr[]){{token->handle, STARPU_W}, {data, STARPU_R}}, 2, priority);
}

static void get_submit(struct simulation *s, struct token *token, starpu_data_handle_t data, int from,
                       enum priority priority) {
  task_submit(&get_codelet, (struct task_argument){.simulation = s, .process = from},
              (struct starpu_data_descr[]){{data, STARPU_W}, {token->handle, STARPU_R}}, 2, priority);
}

void message_wait(void) {
  if (comm_size() == 1)
    starpu_task_wait_for_all();
  else if (starpu_mpi_wait_for_all(MPI_COMM_WORLD) != 0)
    fail(EXIT_RUN_FAILED, "StarPU-MPI lost a message");
}

/** One message, on the process that sends and on the one that receives; others pass. */
static void transfer(struct simulation *s, starpu_data_handle_t data, enum kind kind, size_t thing, int from, int to) {
  const starpu_mpi_tag_t tag = (starpu_mpi_tag_t)(thing * KINDS + kind);
  const int me = comm_rank();
  if (from == to || (from != me && to != me)) return;
  const enum priority priority = kind == POSITION || kind == TREE ? PRIORITY_REFIT
                                                                  : PRIORITY_MESH; /* walks wait for ghosts */
  struct token *token = host_memory_with(from == me ? to : from) ? next_token() : NULL;
  starpu_data_handle_t sent = token ? token->handle : data;
  int status;
  if (from == me) {
    if (token) put_submit(s, token, data, priority);
    status = starpu_mpi_isend_detached(sent, to, tag, MPI_COMM_WORLD, NULL, NULL);
  } else {
    status = starpu_mpi_irecv_detached(sent, from, tag, MPI_COMM_WORLD, NULL, NULL);
    if (token) get_submit(s, token, data, from, priority);
  }
  if (status != 0) fail(EXIT_RUN_FAILED, "StarPU-MPI could not take a message between processes %d and %d", from, to);
}

/** One datum of every ghost, sent to those who get it. */
static void transfer_ghosts(struct simulation *s, const struct ghosts *ghosts, enum kind kind) {
  const int me = comm_rank();
  for (const struct ghost *ghost = ghosts->ghost; ghost < ghosts->ghost + ghosts->count; ghost++) {
    const struct group *g = &s->groups[ghost->group];
    const starpu_data_handle_t data = kind == POSITION ? ghost->handle
                                      : kind == TREE   ? g->tree_handle
                                                       : g->multipole_handle;
    const bool sent = g->owner == me;
    transfer(s, data, kind, g->index, sent ? me : ghost->process, sent ? ghost->process : me);
  }
}

void share_trees(struct simulation *s) {
  transfer_ghosts(s, &s->sent, POSITION);
  transfer_ghosts(s, &s->sent, TREE);
  transfer_ghosts(s, &s->received, POSITION);
  transfer_ghosts(s, &s->received, TREE);
}
void share_multipoles(struct simulation *s) {
  transfer_ghosts(s, &s->sent, MULTIPOLE);
  transfer_ghosts(s, &s->received, MULTIPOLE);
}

void share_patches(struct simulation *s, uint32_t set) {
  for (uint32_t i = 0; i < s->group_count; i++) {
    const struct group *g = &s->groups[i];
    for (uint32_t k = 0; k < g->sent.count; k++)
      transfer(s, g->sent.piece[k].handle[set], PATCH + set, i * (size_t)s->mesh->cells + k, g->owner,
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
            transfer(s, s->block_handle[row], BLOCK, row, of_column, of_slab);
          else
            transfer(s, s->block_handle[row], BLOCK, row, of_slab, of_column);
        }
}

void share_pieces(struct simulation *s) {
  for (uint32_t i = 0; i < s->group_count; i++) {
    const struct group *g = &s->groups[i];
    for (uint32_t k = 0; k < g->read.count; k++)
      for (uint32_t set = 0; set < s->sets; set++)
        transfer(s, g->read.piece[k].handle[set], PIECE + set, i * (size_t)s->mesh->cells + k, g->read.piece[k].process,
                 g->owner);
  }
}
