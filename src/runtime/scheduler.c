/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU's configuration: the choice of workers and scheduler, and defaults for STARPU_*
 * variables. */
/* for cpu_set_t */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "photons/runtime/scheduler.h"

#include <math.h>
#include <sched.h>
#include <starpu.h>
#include <starpu_heteroprio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/config/scheduler_names.h"
#include "photons/runtime/idle_workers.h"
#include "photons/runtime/owner_computes.h"
#ifdef PHOTONS_CUDA
#include <cuda_runtime_api.h>
#endif

#if STARPU_MAJOR_VERSION > 1 || STARPU_MINOR_VERSION >= 4
enum { CPU_TYPE = STARPU_CPU_WORKER, CUDA_TYPE = STARPU_CUDA_WORKER };
typedef enum starpu_worker_archtype worker_type;
#else
enum { CPU_TYPE = STARPU_CPU_IDX, CUDA_TYPE = STARPU_CUDA_IDX };
typedef enum starpu_heteroprio_types worker_type;
#endif

enum { AWAKE = 4 };        /* CPU workers that poll for tasks without pause */
enum { SPARE_CORES = 16 }; /* so many cores leave one to the main thread also without GPUs */
enum { BUCKETS = 8 };      /* at least one for each priority, and bucket 0 */

#define USABLE 0.9 /* of a GPU's memory; StarPU, CUDA's libraries and kernels take the rest */

/** Number of GPUs that StarPU will find. */
static int gpus_present(void) {
#ifdef PHOTONS_CUDA
  const char *limit = getenv("STARPU_NCUDA");
  int gpus;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess) return 0;
  return limit && atoi(limit) >= 0 && atoi(limit) < gpus ? atoi(limit) : gpus;
#else
  return 0;
#endif
}

/** Map heteroprio's buckets to devices. CPUs take tasks from bucket 0. With GPUs, the GPUs take all
 * other buckets, and CPUs none of them: a task that takes a GPU one millisecond takes a core a
 * hundred. */
static void map_buckets(unsigned context) {
  const bool gpu = starpu_cuda_worker_get_count() > 0;
  starpu_heteroprio_set_nb_prios(context, (worker_type)CPU_TYPE, gpu ? 1 : BUCKETS);
  for (unsigned i = 0; i < (gpu ? 1 : BUCKETS); i++)
    starpu_heteroprio_set_mapping(context, (worker_type)CPU_TYPE, i, i);
  if (!gpu) return;
  starpu_heteroprio_set_nb_prios(context, (worker_type)CUDA_TYPE, BUCKETS - 1);
  for (unsigned i = 1; i < BUCKETS; i++)
    starpu_heteroprio_set_mapping(context, (worker_type)CUDA_TYPE, i - 1, i);
}

/** The number of processor cores that are to work, by environment or parameters; 0: StarPU chooses.
 */
static long workers_asked(const struct parameters *p, const char **by) {
  const char *text = getenv("STARPU_NCPU");
  char *end;
  *by = "runtime.workers";
  if (!text) return (long)p->runtime.workers;
  *by = "STARPU_NCPU";
  const long asked = strtol(text, &end, 10);
  if (end == text || *end || asked < 0)
    fail(EXIT_BAD_USAGE, "STARPU_NCPU=%s: not a number of processor cores", text);
  if (asked == 0)
    fail(EXIT_RUN_FAILED, "STARPU_NCPU=0: StarPU needs one processor core at least to work with");
  return asked;
}

long scheduler_check(const struct parameters *p) {
  const char *scheduler = getenv("STARPU_SCHED"), *by;
  char names[1024] = "";
  if (scheduler && !scheduler_allowed(scheduler, names, sizeof names))
    fail(EXIT_BAD_USAGE, "STARPU_SCHED=%s: not a scheduler of this StarPU; allowed:%s", scheduler,
         names);
  const long asked = workers_asked(p, &by), cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (asked > STARPU_MAXCPUS)
    fail(EXIT_BAD_USAGE, "%s = %ld: this StarPU is built for %d processor cores at most", by, asked,
         STARPU_MAXCPUS);
  if (asked > cores && comm_rank() == 0)
    warn("%s = %ld: this machine has %ld processor cores, which more workers make slower", by,
         asked, cores);
  if (asked > 0) return asked;
  return cores < STARPU_MAXCPUS ? cores : STARPU_MAXCPUS;
}

double scheduler_workers_foreseen(const struct parameters *p) {
  const char *by;
  const long asked = workers_asked(p, &by), cores = sysconf(_SC_NPROCESSORS_ONLN),
             most = cores < STARPU_MAXCPUS ? cores : STARPU_MAXCPUS,
             share = most > comm_host_size() ? most / comm_host_size() : 1;
  return (double)comm_size() * (double)(asked > 0 ? asked : share);
}

/** The scheduler's name. */
static const char *choose_scheduler(const struct parameters *p, int gpus) {
  const char *asked = getenv("STARPU_SCHED");
  if (asked) return asked;
  if (p->runtime.scheduler[0]) return p->runtime.scheduler;
  /* Groups, slabs of the mesh and patches of gas are divided among GPUs, and only what different GPUs need of each
   * other travels. */
  if (gpus > 1) return OWNER_COMPUTES;
  return gpus > 0 ? "heteroprio" : "lws";
}

/** The policy of a name that scheduler_allowed() has allowed. */
static const struct starpu_sched_policy *policy_named(const char *name) {
  if (strcmp(name, OWNER_COMPUTES) == 0) return &owner_computes;
  struct starpu_sched_policy **policy = starpu_sched_get_predefined_policies();
  while (strcmp((*policy)->policy_name, name) != 0) policy++;
  return *policy;
}

/** Whether threads that poll outnumber the cores of this host: CPU workers, and a thread for each stream
 * of a GPU. Where no number of workers is given, StarPU takes as many as fit. */
static bool crowded(const struct parameters *p, int gpus) {
  const char *by;
  const long workers = workers_asked(p, &by), threads = workers + (long)gpus * scheduler_streams();
  return comm_crowded() ||
         (workers > 0 && threads * comm_host_size() > sysconf(_SC_NPROCESSORS_ONLN));
}

/** Cores of which StarPU makes workers: those that this process is bound to; before 1.4 all of the host. */
static long cores_of_process(void) {
#if STARPU_MAJOR_VERSION > 1 || STARPU_MINOR_VERSION >= 4
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return sysconf(_SC_NPROCESSORS_ONLN);
}

void scheduler_configure(struct starpu_conf *conf, const struct parameters *p) {
  const int gpus = p->runtime.gpu == GPU_NO ? 0 : gpus_present();
  if (p->runtime.gpu == GPU_REQUIRE && gpus == 0) {
#ifdef PHOTONS_CUDA
    fail(EXIT_BAD_USAGE,
         "runtime.gpu = require, but CUDA and STARPU_NCUDA make no GPU available: try "
         "nvidia-smi, or gpu = auto");
#else
    fail(EXIT_BAD_USAGE, "runtime.gpu = require, but this build has no CUDA codelets: configure "
                         "--with-cuda, or use gpu = auto");
#endif
  }
  if (gpus == 0) conf->ncuda = 0;
  const char *name = choose_scheduler(p, gpus);
  const struct starpu_sched_policy *policy = policy_named(name);
  conf->sched_policy_name = NULL;
  conf->sched_policy = idle_workers_policy(policy, AWAKE, crowded(p, gpus));
  unsetenv("STARPU_SCHED"); /* StarPU would take its own policy of that name */
#if STARPU_MAJOR_VERSION > 1 || STARPU_MINOR_VERSION >= 4
  conf->sched_policy_callback = map_buckets;
#else
  conf->sched_policy_init = map_buckets;
#endif
  if (p->runtime.workers > 0) conf->ncpus = (int)p->runtime.workers;
  /* Reserve a core for the main thread. Workers poll without pause; while the main thread waits
   * behind one of them for the kernel's time slice (8 ms), no task is submitted. Also, copying data
   * back from a GPU needs the main thread once for every handle. On few cores without GPUs a worker
   * more is worth more. StarPU subtracts the core from a number of workers that is given, too, which
   * would leave none of one. */
  const bool given = p->runtime.workers > 0 || getenv("STARPU_NCPU");
  const bool spare = gpus > 0 || cores_of_process() >= SPARE_CORES;
  if (spare && !given && conf->reserve_ncpus < 1) conf->reserve_ncpus = 1;
  /* Without overwriting (0): variables that the user has set are kept. */
  setenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", "0", 0);
  /* Where heteroprio is asked for with several GPUs, tasks run on the GPU that has their data, first of all those
   * that they write. StarPU's default rule aborts the program at a task with more than 128 pieces of data. */
  if (gpus > 1) {
    setenv("STARPU_HETEROPRIO_USE_LA", "1", 0);
    setenv("STARPU_LAHETEROPRIO_PUSH", "LS_SDH2", 0);
  }
  const bool by_models = strncmp(name, "dm", 2) == 0;
  /* Several streams per GPU: kernels of one stream run while another stream is idle or waits for
   * data of other ranks. But then the time of a task depends on its neighbour's, which performance
   * models cannot predict, so schedulers with models (dm*) get one stream. */
  char streams[16];
  snprintf(streams, sizeof streams, "%d", by_models ? 1 : scheduler_streams());
  setenv("STARPU_NWORKER_PER_CUDA", streams, 0);
  setenv("STARPU_CUDA_THREAD_PER_WORKER", "1", 0); /* starting a task takes a core some 20 us */
  /* Runs of each amount of work on each kind of worker before a model predicts (StarPU's default is
   * 10, and a p2p task of the size for GPUs takes a core 0.1 s). A model is kept although one of
   * its tasks was interrupted. */
  setenv("STARPU_CALIBRATE_MINIMUM", "3", 0);
  setenv("STARPU_HISTORY_MAX_ERROR", "1000", 0);
}

int scheduler_streams(void) {
  /* Cores of this rank; each stream's thread takes one of them. */
  const long cores = sysconf(_SC_NPROCESSORS_ONLN) / comm_host_size();
  const int gpus = gpus_present();
  return cores >= 8 * (gpus > 1 ? gpus : 1) ? 4 : 2;
}

static bool gpu_anywhere; /* on any rank */

static void note_gpus(uint32_t gpus) {
  comm_max_u32(&gpus, 1);
  gpu_anywhere = gpus > 0;
}

void scheduler_started(void) { note_gpus(starpu_cuda_worker_get_count()); }

void scheduler_foresee(const struct parameters *p) {
  note_gpus(p->runtime.gpu == GPU_NO ? 0 : (uint32_t)gpus_present());
}

bool scheduler_any_gpu(void) {
  return gpu_anywhere || (starpu_is_initialized() && starpu_cuda_worker_get_count() > 0);
}

bool scheduler_is_heteroprio(void) {
  const struct starpu_sched_policy *policy = starpu_sched_ctx_get_sched_policy(0);
  return policy && policy->policy_name && strcmp(policy->policy_name, "heteroprio") == 0;
}

uint32_t scheduler_gpus(int *device) {
  uint32_t gpus = 0;
#ifdef PHOTONS_CUDA
  if (!starpu_is_initialized()) {
    int present;
    if (cudaGetDeviceCount(&present) != cudaSuccess) return 0;
    for (; gpus < (uint32_t)present && gpus < STARPU_NMAXWORKERS; gpus++) device[gpus] = (int)gpus;
    return gpus;
  }
#endif
  for (int w = 0; w < (int)starpu_worker_get_count(); w++) {
    if (starpu_worker_get_type(w) != STARPU_CUDA_WORKER) continue;
    uint32_t i = 0; /* a GPU has one worker for each stream */
    while (i < gpus && device[i] != starpu_worker_get_devid(w)) i++;
    if (i == gpus) device[gpus++] = starpu_worker_get_devid(w);
  }
  return gpus;
}

double scheduler_gpu_memory(void) {
  double bytes = 0.0;
  if (!scheduler_any_gpu()) return bytes;
#ifdef PHOTONS_CUDA
  int device[STARPU_NMAXWORKERS];
  const uint32_t gpus = scheduler_gpus(device);
  const char *text = getenv("STARPU_LIMIT_CUDA_MEM"); /* MB */
  const double limit = text && atof(text) > 0.0 ? 1048576.0 * atof(text) : INFINITY;
  for (uint32_t i = 0; i < gpus; i++) {
    struct cudaDeviceProp gpu;
    if (cudaGetDeviceProperties(&gpu, device[i]) != cudaSuccess)
      fail(EXIT_RUN_FAILED, "cannot read the memory of GPU %d", device[i]);
    bytes += fmin(USABLE * (double)gpu.totalGlobalMem, limit);
  }
  /* ranks of this host share its GPUs where there are not enough */
  int present;
  if (gpus > 0 && cudaGetDeviceCount(&present) == cudaSuccess)
    bytes *= fmin((double)present / ((double)gpus * comm_host_size()), 1.0);
#endif
  return bytes;
}

void scheduler_print_gpus(FILE *out) {
  int device[STARPU_NMAXWORKERS];
  const uint32_t gpus = scheduler_gpus(device);
  if (gpus == 0) fprintf(out, "none");
#ifdef PHOTONS_CUDA
  struct cudaDeviceProp gpu, next;
  for (uint32_t i = 0, equal = 1; i < gpus; i++, equal++) {
    if (cudaGetDeviceProperties(&gpu, device[i]) != cudaSuccess)
      fail(EXIT_RUN_FAILED, "cannot read the name of GPU %d", device[i]);
    if (i + 1 < gpus && cudaGetDeviceProperties(&next, device[i + 1]) == cudaSuccess &&
        strcmp(gpu.name, next.name) == 0)
      continue;
    fprintf(out, "%s%u %s (%.0f GB)", i >= equal ? ", " : "", equal, gpu.name,
            1e-9 * (double)gpu.totalGlobalMem);
    equal = 0;
  }
#endif
}

int scheduler_bucket(int priority, int most_urgent, bool host_only) {
  return host_only ? 0 : 1 + most_urgent - priority;
}
