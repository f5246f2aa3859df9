/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What StarPU does with tasks of GPUs. */
#include <stdio.h>
#include <stdlib.h>

#include "photons/config/parameters.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/scheduler.h"
#include "support/force_set.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"

static void count_tasks(void *buffers[], void *count) {
  (void)buffers;
  (*(unsigned *)count)++;
}

void check_buffers(void) {
  enum { BUFFERS = 200 };
  static struct starpu_codelet codelet = {.cuda_funcs = {count_tasks},
                                          .nbuffers = STARPU_VARIABLE_NBUFFERS};
  struct parameters p;
  float numbers[BUFFERS] = {0.0f};
  unsigned tasks = 0;
  struct starpu_data_descr data[BUFFERS];
  parameters_from_text(&p, "[box]\nsize = 1\nnpart_side = 2\n", NULL, 0);
  if (ON_CORES) setenv("CORES_GPUS", "2", 1);
  start_engine(&p, true);
  for (int i = 0; i < BUFFERS; i++) {
    data[i].mode = i == 0 ? STARPU_RW : STARPU_R;
    starpu_variable_data_register(&data[i].handle, STARPU_MAIN_RAM, (uintptr_t)&numbers[i],
                                  sizeof numbers[i]);
  }
  const int status = starpu_task_insert(&codelet, STARPU_DATA_MODE_ARRAY, data, BUFFERS,
                                        STARPU_CL_ARGS_NFREE, &tasks, sizeof tasks, STARPU_PRIORITY,
                                        engine_priority(PRIORITY_LOW, false), 0);
  starpu_task_wait_for_all();
  for (int i = 0; i < BUFFERS; i++) starpu_data_unregister(data[i].handle);
  engine_stop();
  if (ON_CORES) unsetenv("CORES_GPUS");
  const bool good = status == 0 && tasks == 1;
  printf("a task with %d buffers  %s\n", BUFFERS, good ? "ok" : "WRONG");
  failures += !good;
}

/** The GPU on which a task runs. */
static void note_device(void *buffers[], void *device) {
  (void)buffers;
  *(int *)device = starpu_worker_get_devid((int)worker_number());
}

void check_owners(void) {
  enum { PARTS = 8, TURNS = 50 };
  static struct starpu_codelet codelet = {.cuda_funcs = {note_device},
                                          .nbuffers = STARPU_VARIABLE_NBUFFERS};
  struct parameters p;
  starpu_data_handle_t part[PARTS], loose;
  int device[TURNS][PARTS + 1], numbers[STARPU_NMAXWORKERS], wrong = 0;
  parameters_from_text(
      &p, "[box]\nsize = 1\nnpart_side = 2\n[runtime]\nscheduler = owner-computes\n", NULL, 0);
  if (ON_CORES) setenv("CORES_GPUS", "2", 1);
  start_engine(&p, true);
  const int gpus = (int)scheduler_gpus(numbers);
  loose = handle_make(1, 1);
  for (int i = 0; i < PARTS; i++)
    (i % 2 ? owner_share : owner_set)(part[i] = handle_make(1000, 4), (uint32_t)i, PARTS);
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i <= PARTS; i++) {
      int *to = &device[turn][i];
      *to = -1;
      struct starpu_data_descr data[2] = {{i < PARTS ? part[i] : loose, STARPU_W},
                                          {part[(i + PARTS / 2) % PARTS], STARPU_R}};
      starpu_task_insert(&codelet, STARPU_DATA_MODE_ARRAY, data, turn > 0 ? 2 : 1,
                         STARPU_CL_ARGS_NFREE, to, sizeof *to, STARPU_PRIORITY,
                         engine_priority(PRIORITY_LOW, false), 0);
    }
  starpu_task_wait_for_all();
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i <= PARTS; i++)
      wrong += i < PARTS ? device[turn][i] != numbers[i * gpus / PARTS] : device[turn][i] < 0;
  for (int i = 0; i < PARTS; i++) starpu_data_unregister_no_coherency(part[i]);
  starpu_data_unregister_no_coherency(loose);
  engine_stop();
  if (ON_CORES) unsetenv("CORES_GPUS");
  printf("owners of data: %d GPUs, %d of %d tasks on another one  %s\n", gpus, wrong,
         TURNS * (PARTS + 1), wrong == 0 ? "ok" : "WRONG");
  failures += wrong > 0;
}
