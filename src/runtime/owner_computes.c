/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/owner_computes.h"

#include <starpu_scheduler.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "photons/config/scheduler_names.h"
#include "photons/runtime/engine.h"

enum { PRIORITIES = PRIORITY_HIGHEST + 1 };
/** Bytes that a task writes count as so many bytes that it reads: what a task writes stays where the task
 * ran. */
enum { WRITTEN = 16 };
/** Streams of a GPU of which one is left to other tasks while long tasks run. */
enum { STREAMS_LEAST = 3 };

/** The tasks that are ready for a GPU, or for cores. */
struct queue {
  struct starpu_task_list owned[PRIORITIES], free[PRIORITIES], lasting[PRIORITIES];
  atomic_uint waiting, stealable; /* tasks in all lists, and in those of `free` */
  atomic_uint lent, running;      /* tasks in those of `lasting`, and such tasks that run here */
  unsigned node;                  /* the device's memory */
  int device;
  int worker[STARPU_NMAXWORKERS];
  unsigned workers;
  atomic_uint idle; /* of these workers so many have no task */
};

static char lasting_mark;
void *const owner_lasting = &lasting_mark;

/* The home of data is kept in place of a pointer, so that it needs no memory of its own. */
_Static_assert(sizeof(struct data_home) == sizeof(void *), "a home fits into a handle's user data");

static struct {
  bool used;
  starpu_pthread_mutex_t mutex;
  struct queue cores, gpu[STARPU_MAXCUDADEVS];
  uint32_t gpus;
  struct queue *of[STARPU_NMAXWORKERS]; /* by worker */
  /* Tasks that a worker of a GPU has, one that runs and one ahead. The worker alone changes its number. */
  unsigned held[STARPU_NMAXWORKERS];
} policy;

static void make_queue(struct queue *q, unsigned node, int device) {
  *q = (struct queue){.node = node, .device = device};
  for (int k = 0; k < PRIORITIES; k++) {
    starpu_task_list_init(&q->owned[k]);
    starpu_task_list_init(&q->free[k]);
    starpu_task_list_init(&q->lasting[k]);
  }
}

static void start(unsigned context) {
  memset(&policy, 0, sizeof policy);
  make_queue(&policy.cores, STARPU_MAIN_RAM, -1);
  STARPU_PTHREAD_MUTEX_INIT(&policy.mutex, NULL);
  starpu_sched_ctx_set_min_priority(context, PRIORITY_LOWEST);
  starpu_sched_ctx_set_max_priority(context, PRIORITY_HIGHEST);
  policy.used = true;
}

static void stop(unsigned context) {
  (void)context;
  policy.used = false;
  STARPU_PTHREAD_MUTEX_DESTROY(&policy.mutex);
}

static struct queue *queue_of_worker(int worker) {
  if (starpu_worker_get_type(worker) != STARPU_CUDA_WORKER) return &policy.cores;
  const int device = starpu_worker_get_devid(worker);
  for (uint32_t i = 0; i < policy.gpus; i++)
    if (policy.gpu[i].device == device) return &policy.gpu[i];
  make_queue(&policy.gpu[policy.gpus], starpu_worker_get_memory_node((unsigned)worker), device);
  return &policy.gpu[policy.gpus++];
}

static void add_workers(unsigned context, int *worker, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    struct queue *q = queue_of_worker(worker[i]);
    q->worker[q->workers++] = worker[i];
    q->idle++;
    policy.of[worker[i]] = q;
    starpu_sched_ctx_worker_shares_tasks_lists(worker[i], (int)context);
  }
}

static void set_home(starpu_data_handle_t handle, uint32_t part, uint32_t parts, bool shared) {
  const struct data_home home = {.part = part, .parts = parts & INT32_MAX, .shared = shared};
  void *user_data;
  if (!handle) return;
  memcpy(&user_data, &home, sizeof user_data);
  starpu_data_set_user_data(handle, user_data);
}

void owner_set(starpu_data_handle_t handle, uint32_t part, uint32_t parts) {
  set_home(handle, part, parts, false);
}

void owner_share(starpu_data_handle_t handle, uint32_t part, uint32_t parts) {
  set_home(handle, part, parts, true);
}

struct data_home owner_home(starpu_data_handle_t handle) {
  struct data_home home;
  void *const user_data = starpu_data_get_user_data(handle);
  memcpy(&home, &user_data, sizeof home);
  return home;
}

/** The GPU of a home; NULL: it is none. */
static struct queue *queue_of(struct data_home home) {
  return home.parts ? &policy.gpu[(uint64_t)home.part * policy.gpus / home.parts] : NULL;
}

uint32_t owner_count(void) { return policy.used ? policy.gpus : 0; }

/** The GPU that owns a task's data; NULL: none does. */
static struct queue *owner_of(struct starpu_task *task) {
  struct queue *reads = NULL;
  const unsigned count = STARPU_TASK_GET_NBUFFERS(task);
  for (unsigned i = 0; i < count; i++) {
    struct queue *queue = queue_of(owner_home(STARPU_TASK_GET_HANDLE(task, i)));
    if (!queue) continue;
    if (STARPU_TASK_GET_MODE(task, i) & STARPU_W) return queue;
    if (!reads) reads = queue;
  }
  return reads;
}

/** The GPU that has most of a task's data; of equal ones that with fewer tasks. */
static struct queue *nearest(struct starpu_task *task) {
  struct queue *best = &policy.gpu[0];
  double most = -1.0;
  const unsigned count = STARPU_TASK_GET_NBUFFERS(task);
  for (uint32_t g = 0; g < policy.gpus; g++) {
    struct queue *q = &policy.gpu[g];
    double bytes = 0.0;
    for (unsigned i = 0; i < count; i++) {
      const starpu_data_handle_t handle = STARPU_TASK_GET_HANDLE(task, i);
      if (!starpu_data_is_on_node(handle, q->node)) continue;
      const bool written = STARPU_TASK_GET_MODE(task, i) & STARPU_W;
      bytes += (written ? WRITTEN : 1.0) * (double)starpu_data_get_size(handle);
    }
    if (bytes < most || (bytes == most && q->waiting >= best->waiting)) continue;
    most = bytes;
    best = q;
  }
  return best;
}

static int priority_of(const struct starpu_task *task) {
  if (task->priority < PRIORITY_LOWEST) return PRIORITY_LOWEST;
  return task->priority > PRIORITY_HIGHEST ? PRIORITY_HIGHEST : task->priority;
}

static int push_task(struct starpu_task *task) {
  unsigned variant;
  const bool for_gpu = policy.gpus > 0 && starpu_worker_can_execute_task_first_impl(
                                              (unsigned)policy.gpu[0].worker[0], task, &variant);
  struct queue *owner = for_gpu ? owner_of(task) : NULL, *q = owner     ? owner
                                                              : for_gpu ? nearest(task)
                                                                        : &policy.cores;
  if (owner)
    (void)starpu_prefetch_task_input_on_node(task, q->node); /* else the task's start fetches */
  starpu_worker_relax_on();
  STARPU_PTHREAD_MUTEX_LOCK(&policy.mutex);
  starpu_worker_relax_off();
  const bool lasts = owner && task->sched_data == owner_lasting;
  if (task->sched_data == owner_lasting && !lasts)
    task->sched_data = NULL; /* ended() counts long tasks */
  starpu_task_list_push_back(&(lasts   ? q->lasting
                               : owner ? q->owned
                                       : q->free)[priority_of(task)],
                             task);
  q->waiting++;
  if (!owner) q->stealable++;
  if (lasts) q->lent++;
  starpu_push_task_end(task);
  STARPU_PTHREAD_MUTEX_UNLOCK(&policy.mutex);
  for (unsigned i = 0; i < q->workers; i++)
    if (starpu_wake_worker_relax_light(q->worker[i])) break;
  return 0;
}

/** Whether a GPU may begin a long task: one stream is left to what is urgent. */
static bool may_last(const struct queue *q) {
  return q->workers < STREAMS_LEAST || q->running + 1 < q->workers;
}

static struct starpu_task *take_lasting(struct queue *q, struct queue *own, int k) {
  q->waiting--;
  q->lent--;
  own->running++;
  return starpu_task_list_pop_front(&q->lasting[k]);
}

/** Take a task of the highest priority for a GPU, or for cores, from its own queue or another's, where owned
 * ones stay. */
static struct starpu_task *take(struct queue *q, struct queue *own) {
  const bool owned = q == own, lasting = may_last(own);
  for (int k = PRIORITIES - 1; k >= 0; k--) {
    const bool is_owned = owned && !starpu_task_list_empty(&q->owned[k]);
    if (is_owned || !starpu_task_list_empty(&q->free[k])) {
      q->waiting--;
      if (!is_owned) q->stealable--;
      return starpu_task_list_pop_front(&(is_owned ? q->owned : q->free)[k]);
    }
    if (lasting && !starpu_task_list_empty(&q->lasting[k])) return take_lasting(q, own, k);
  }
  return NULL;
}

/** The GPU with most tasks that a GPU without work may take; NULL: there are none. A long task is lent
 * where it would be the second one to wait. */
static struct queue *victim(const struct queue *own) {
  struct queue *most = NULL;
  unsigned best = 0;
  for (uint32_t g = 0; g < policy.gpus; g++) {
    struct queue *q = &policy.gpu[g];
    const unsigned lent = may_last(own) && q->lent > 1 ? q->lent : 0, tasks = q->stealable + lent;
    if (q == own || tasks <= best) continue;
    best = tasks;
    most = q;
  }
  return most;
}

/** A stream with a task takes the next one ahead, but leaves tasks to streams that have none. */
static struct starpu_task *take_for_gpu(unsigned worker, struct queue *own) {
  if (policy.held[worker] > 0 && own->waiting <= own->idle) return NULL;
  struct starpu_task *task = take(own, own);
  if (!task && own->waiting == 0 && victim(own)) task = take(victim(own), own);
  if (task && policy.held[worker]++ == 0) own->idle--;
  return task;
}

static struct starpu_task *pop_task(unsigned context) {
  (void)context;
  const unsigned worker = starpu_worker_get_id_check();
  struct queue *own = policy.of[worker];
  const bool gpu = own != &policy.cores;
  if (own->waiting == 0 && !(gpu && victim(own))) return NULL;
  starpu_worker_relax_on();
  STARPU_PTHREAD_MUTEX_LOCK(&policy.mutex);
  starpu_worker_relax_off();
  struct starpu_task *task = gpu ? take_for_gpu(worker, own) : take(own, own);
  STARPU_PTHREAD_MUTEX_UNLOCK(&policy.mutex);
  return task;
}

/** Data that a task has written go to all GPUs if all need them, before tasks there ask for them. */
static void send_shared(struct starpu_task *task) {
  const unsigned count = policy.gpus > 1 ? STARPU_TASK_GET_NBUFFERS(task) : 0;
  for (unsigned i = 0; i < count; i++) {
    const starpu_data_handle_t handle = STARPU_TASK_GET_HANDLE(task, i);
    const struct data_home home = owner_home(handle);
    if (!home.shared || !(STARPU_TASK_GET_MODE(task, i) & STARPU_W)) continue;
    for (uint32_t g = 0; g < policy.gpus; g++)
      if (&policy.gpu[g] != queue_of(home))
        (void)starpu_data_prefetch_on_node(handle, policy.gpu[g].node, 1); /* else tasks fetch */
  }
}

static void ended(struct starpu_task *task, unsigned context) {
  (void)context;
  const unsigned worker = starpu_worker_get_id_check();
  if (task->sched_data == owner_lasting) policy.of[worker]->running--;
  /* cores count no tasks, and tasks that StarPU itself gives to a stream were not counted */
  if (policy.held[worker] > 0 && --policy.held[worker] == 0) policy.of[worker]->idle++;
  send_shared(task);
}

struct starpu_sched_policy owner_computes = {
    .init_sched = start,
    .deinit_sched = stop,
    .add_workers = add_workers,
    .push_task = push_task,
    .pop_task = pop_task,
    .post_exec_hook = ended,
#if STARPU_MAJOR_VERSION > 1 || STARPU_MINOR_VERSION >= 4
    .prefetches = 1,
#endif
    .policy_name = OWNER_COMPUTES,
    .policy_description = "tasks run on the GPU that owns what they write",
    .worker_type = STARPU_WORKER_LIST,
};
