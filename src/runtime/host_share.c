/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Division of a host's cores and GPUs among its ranks, through STARPU_* environment variables. */
/* for cpu_set_t */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "photons/runtime/host_share.h"

#include <sched.h>
#include <starpu.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/scheduler.h"
#ifdef PHOTONS_CUDA
#include <cuda_runtime_api.h>
#endif

static void set_default(const char *variable, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  if (setenv(variable, text, 0) != 0) fail(EXIT_RUN_FAILED, "cannot set %s", variable);
}

/** Number of cores that this rank may use. A binding to fewer cores than `share` is widened to
 * all. */
static int usable_cores(int all, int share) {
  cpu_set_t *set = CPU_ALLOC((size_t)all);
  const size_t bytes = CPU_ALLOC_SIZE((size_t)all);
  if (!set) fail(EXIT_RUN_FAILED, "not enough memory for a set of cores");
  int usable = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : all;
  if (usable < share) {
    for (int i = 0; i < all; i++) CPU_SET_S((size_t)i, bytes, set);
    /* If this fails, the launcher's binding stays. */
    if (sched_setaffinity(0, bytes, set) == 0) usable = all;
  }
  CPU_FREE(set);
  return usable;
}

/** Whether StarPU respects the launcher's binding; before 1.4 it takes all cores of the host. */
static bool follows_binding(void) {
  int major, minor, release;
  starpu_get_version(&major, &minor, &release);
  return major > 1 || minor >= 4;
}

/** Assign GPUs to this rank and hide the other GPUs from StarPU. Returns the number of this rank's
 * GPUs where it is set here, otherwise 0. */
static int share_gpus(void) {
  int mine = 0;
#ifdef PHOTONS_CUDA
  int gpus;
  if (getenv("STARPU_WORKERS_CUDAID") || getenv("STARPU_NCUDA") ||
      cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0)
    return 0;
  const int size = comm_host_size(), rank = comm_host_rank();
  const int first = gpus >= size ? gpus * rank / size : rank % gpus,
            end = gpus >= size ? gpus * (rank + 1) / size : first + 1;
  char list[512] = "";
  for (int device = first, n = 0; device < end && n < (int)sizeof list - 12; device++)
    n += snprintf(list + n, sizeof list - (size_t)n, "%d ", device);
  if (setenv("STARPU_WORKERS_CUDAID", list, 1) != 0)
    fail(EXIT_RUN_FAILED, "cannot set STARPU_WORKERS_CUDAID");
  mine = end - first;
  set_default("STARPU_NCUDA", mine);
#endif
  return mine;
}

void host_share(const struct parameters *p) {
  if (comm_host_size() == 1) return;
  const int gpus = p->runtime.gpu == GPU_NO ? 0 : share_gpus();
  const int all = (int)sysconf(_SC_NPROCESSORS_ONLN), share = all / comm_host_size();
  if (getenv("STARPU_NCPU") || p->runtime.workers > 0) return;
  const int usable = usable_cores(all, share), cores = usable < all ? usable : share;
  const bool bound = usable < all && follows_binding();
  if (bound && gpus == 0) return;
  /* Besides the CPU workers there are a thread for each stream of a GPU, one for messages, and with
   * a GPU the main thread. The main thread must not wait for a core behind polling workers, because
   * it fetches data from the GPU handle by handle. One more core is left for all other threads. */
  const int workers = cores - scheduler_streams() * gpus - (cores > 3) - 2 * (gpus > 0);
  set_default("STARPU_NCPU", workers > 1 ? workers : 1);
  /* Keep a launcher's binding that has at least an equal part of the cores. */
  if (bound) return;
  set_default("STARPU_WORKERS_NOBIND", 1);
  set_default("STARPU_MPI_NOBIND", 1);
}
