/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between ranks: StarPU-MPI, and the stages put and get for ranks of one host. */
#include "photons/runtime/message.h"

#include <sched.h>
#include <starpu_mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/fair_lock.h"
#include "photons/config/parameters.h"
#include "photons/runtime/gpu_memory.h"
#include "photons/runtime/host_memory.h"
#include "photons/runtime/task_graph.h"
#include "photons/runtime/task_log.h"

/** The place of a message in its sender's memory, that of the host or of a GPU, as data of StarPU. */
struct token {
  size_t place;
  starpu_data_handle_t handle;
};

static struct {
  struct token **token; /* all tokens; they are used again in each step */
  size_t count, used;
} tokens;

static size_t vector_bytes(void *buffer) {
  return STARPU_VECTOR_GET_NX(buffer) * STARPU_VECTOR_GET_ELEMSIZE(buffer);
}

struct put_argument {
  size_t place; /* in this rank's shared memory */
  size_t bytes;
};
enum { PUT_TOKEN, PUT_DATA };

struct get_argument {
  int rank; /* rank whose shared memory holds the message */
  size_t bytes;
};
enum { GET_DATA, GET_TOKEN };

static double put_work(const struct put_argument *a) { return (double)a->bytes; }
static double get_work(const struct get_argument *a) { return (double)a->bytes; }

static size_t *token_place(void *buffer) { return (size_t *)STARPU_VARIABLE_GET_PTR(buffer); }

static void put_cpu(void *buffers[], const struct put_argument *a) {
  memcpy(host_memory_of(comm_rank()) + a->place, VECTOR(const char, buffers[PUT_DATA]),
         vector_bytes(buffers[PUT_DATA]));
  *token_place(buffers[PUT_TOKEN]) = a->place;
}

static void get_cpu(void *buffers[], const struct get_argument *a) {
  memcpy(VECTOR(char, buffers[GET_DATA]),
         host_memory_of(a->rank) + *token_place(buffers[GET_TOKEN]),
         vector_bytes(buffers[GET_DATA]));
}

/** Copy between a rank's shared memory and a vector. Of the host's memory CUDA takes only what is
 * page-locked, so that copy is cut into pieces that each lie in one page-locked chunk. */
static void copy_by_gpu(struct gpu *gpu, int rank, size_t place, bool put, void *buffer) {
  const size_t bytes = vector_bytes(buffer);
  if (gpu_memory_holds(place)) {
    char *shared = gpu_memory_at(rank, place), *data = VECTOR(char, buffer);
    gpu_copy(gpu, put ? shared : data, put ? data : shared, bytes);
    return;
  }
  for (size_t done = 0, n; done < bytes; done += n) {
    n = host_memory_pin(rank, place + done, bytes - done);
    char *shared = host_memory_of(rank) + place + done, *data = VECTOR(char, buffer) + done;
    gpu_copy(gpu, put ? shared : data, put ? data : shared, n);
  }
}

static void put_gpu(struct gpu *gpu, void *buffers[], const struct put_argument *a) {
  copy_by_gpu(gpu, comm_rank(), a->place, true, buffers[PUT_DATA]);
  /* The token is sent after the task, and with it the copy, has ended. */
  *token_place(buffers[PUT_TOKEN]) = a->place;
}

static void get_gpu(struct gpu *gpu, void *buffers[], const struct get_argument *a) {
  copy_by_gpu(gpu, a->rank, *token_place(buffers[GET_TOKEN]), false, buffers[GET_DATA]);
}

STAGE(put, 0xbbbb55, NULL);
STAGE(get, 0xdddd77, NULL);

/** Make StarPU keep tokens in host memory, whichever device copies the data. */
static void keep_token_on_host(struct starpu_codelet *codelet, int token) {
  codelet->specific_nodes = 1;
  for (int i = 0; i < 2; i++)
    codelet->nodes[i] = i == token ? STARPU_SPECIFIC_NODE_CPU : STARPU_SPECIFIC_NODE_LOCAL;
}

static struct sent sent_of[MESSAGE_KINDS];

struct sent message_sent(unsigned kind) {
  return sent_of[kind];
}

static const char *way = "MPI"; /* of messages between ranks of one host */

void message_start(const struct parameters *p) {
  if (comm_size() == 1) return;
  keep_token_on_host(&put_codelet, 0);
  keep_token_on_host(&get_codelet, 1);
  /* StarPU-MPI's thread polls, and on crowded hosts sleeps (comm.c), with the lock held that workers need
   * to hand it a message. */
  fair_locks(true);
  const int status = starpu_mpi_init_comm(NULL, NULL, 0, MPI_COMM_WORLD);
  fair_locks(false);
  if (status != 0) fail(EXIT_RUN_FAILED, "StarPU-MPI does not start");
  const enum shared_memory shared = p->runtime.shared_memory;
  if (shared != SHARED_NOT && !host_memory_start() && comm_rank() == 0)
    warn("ranks of one host cannot share memory (are they in different containers?): their "
         "messages go "
         "through MPI, which is slower");
  if (host_memory_shared()) way = "shared memory";
  if (shared != SHARED_ALL || !gpu_memory_start()) return;
  way = "memory of GPUs";
  put_codelet.where = get_codelet.where = STARPU_CUDA; /* cores cannot read that */
}

const char *message_way(void) { return way; }

void message_stop(void) {
  if (comm_size() == 1) return;
  for (size_t i = 0; i < tokens.count; i++) {
    starpu_data_unregister(tokens.token[i]->handle);
    free(tokens.token[i]);
  }
  free(tokens.token);
  tokens.token = NULL;
  tokens.count = 0;
  gpu_memory_stop();
  host_memory_stop();
  if (starpu_mpi_shutdown() != 0) fail(EXIT_RUN_FAILED, "StarPU-MPI does not stop");
}

void message_begin(void) {
  /* After the barrier all ranks have read the last step's messages. */
  if (host_memory_shared()) comm_barrier();
  host_memory_reset();
  gpu_memory_reset();
  tokens.used = 0;
}

static struct token *next_token(void) {
  if (tokens.used == tokens.count) {
    struct token *new = allocate(1, sizeof *new, "tokens of messages");
    starpu_variable_data_register(&new->handle, STARPU_MAIN_RAM, (uintptr_t)(&new->place),
                                  sizeof new->place);
    tokens.token = reallocate(tokens.token, ++tokens.count, sizeof *tokens.token,
                              "tokens of messages");
    tokens.token[tokens.count - 1] = new;
  }
  return tokens.token[tokens.used++];
}

static void put_submit(struct token *token, starpu_data_handle_t data, enum priority priority) {
  const size_t bytes = starpu_data_get_size(data);
  const struct starpu_data_descr slots[] = {
      [PUT_TOKEN] = {token->handle, STARPU_W}, [PUT_DATA] = {data, STARPU_R}};
  const size_t on_gpu = gpu_memory_take(bytes),
               place = on_gpu == GPU_MEMORY_NONE ? host_memory_take(bytes) : on_gpu;
  put_insert((struct put_argument){place, bytes},
             (struct task){.data = slots, .count = 2, .priority = priority});
}

static void get_submit(struct token *token, starpu_data_handle_t data, int from,
                       enum priority priority) {
  const struct starpu_data_descr slots[] = {
      [GET_DATA] = {data, STARPU_W}, [GET_TOKEN] = {token->handle, STARPU_R}};
  get_insert((struct get_argument){from, starpu_data_get_size(data)},
             (struct task){.data = slots, .count = 2, .priority = priority});
}

/* A thread that sleeps is woken some 0.1 ms late, a tenth of a short sub-step on GPUs; microseconds. */
enum { WATCH_MOST = 2000, WATCH_EACH = 2 };

/** Watch the number of tasks for a while. Each look takes a lock that ending tasks take, too. */
static void watch_tasks(void) {
  const double begin = starpu_timing_now();
  for (double look = begin; look < begin + WATCH_MOST && starpu_task_nsubmitted() > 0;
       look += WATCH_EACH)
    while (starpu_timing_now() < look + WATCH_EACH) sched_yield();
}

void message_wait(void) {
  const struct job job = job_begin();
  if (engine_gpu()) watch_tasks();
  if (comm_size() == 1)
    starpu_task_wait_for_all();
  else if (starpu_mpi_wait_for_all(MPI_COMM_WORLD) != 0)
    fail(EXIT_RUN_FAILED, "StarPU-MPI lost a message");
  job_end(job, JOB_WAIT, "", NO_OWNER, 0, NULL, 0);
}

static void record_message(struct job job, enum job_kind kind, starpu_data_handle_t data, int other,
                           starpu_mpi_tag_t tag) {
  const struct starpu_data_descr one = {data, kind == JOB_SEND ? STARPU_R : STARPU_W};
  job_end(job, kind, "message", (uint32_t)other, tag, &one, 1);
}

void message_transfer(starpu_data_handle_t data, unsigned kind, size_t thing, int from, int to,
                      enum priority priority) {
  const starpu_mpi_tag_t tag = (starpu_mpi_tag_t)(thing * MESSAGE_KINDS + kind);
  const int me = comm_rank();
  if (from == to || (from != me && to != me)) return;
  struct token *token = host_memory_with(from == me ? to : from) ? next_token() : NULL;
  starpu_data_handle_t sent = token ? token->handle : data;
  int status;
  if (from == me) {
    sent_of[kind].messages++;
    sent_of[kind].bytes += starpu_data_get_size(data);
    if (token) put_submit(token, data, priority);
    const struct job job = job_begin();
    status = starpu_mpi_isend_detached(sent, to, tag, MPI_COMM_WORLD, NULL, NULL);
    record_message(job, JOB_SEND, sent, to, tag);
  } else {
    const struct job job = job_begin();
    status = starpu_mpi_irecv_detached(sent, from, tag, MPI_COMM_WORLD, NULL, NULL);
    record_message(job, JOB_RECEIVE, sent, from, tag);
    if (token) get_submit(token, data, from, priority);
  }
  if (status != 0)
    fail(EXIT_RUN_FAILED, "StarPU-MPI refused a message from rank %d to rank %d", from, to);
}
