/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU data handles of vectors. */
#include "photons/runtime/handle.h"

#include <stdint.h>

#include "photons/base/error.h"
#include "photons/runtime/task_graph.h"

static uint32_t checked(size_t count) {
  if (count > UINT32_MAX)
    fail(EXIT_RUN_FAILED,
         "%zu elements in one piece are more than StarPU's 2^32: use more ranks or a smaller "
         "runtime.group_size",
         count);
  return (uint32_t)count;
}

starpu_data_handle_t handle_register(void *data, size_t count, size_t size) {
  starpu_data_handle_t handle;
  starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)data, checked(count), size);
  return handle;
}

starpu_data_handle_t handle_register_room(void *data, size_t count, size_t size) {
  starpu_data_handle_t handle;
  starpu_vector_data_register_allocsize(&handle, STARPU_MAIN_RAM, (uintptr_t)data, checked(count),
                                        size, handle_room(count) * size);
  return handle;
}

starpu_data_handle_t handle_make(size_t count, size_t size) {
  starpu_data_handle_t handle;
  starpu_vector_data_register(&handle, -1, 0, checked(count), size);
  return handle;
}

starpu_data_handle_t handle_make_empty(void) {
  starpu_data_handle_t handle;
  starpu_void_data_register(&handle);
  handle_acquire(handle, STARPU_W); /* StarPU lets tasks read what has been written */
  starpu_data_release(handle);
  return handle;
}

size_t handle_room(size_t n) {
  size_t step = 1;
  while (n / step >= 16) step *= 2;
  return (n + step - 1) / step * step;
}

void handle_fit(starpu_data_handle_t *handle, size_t n) {
  const size_t room = handle_room(n);
  if (*handle && starpu_vector_get_nx(*handle) == room) return;
  handle_drop(handle);
  *handle = handle_make(room, sizeof(float));
}

static void record_free(starpu_data_handle_t handle) {
  if (handle) job_end_data(job_begin(), JOB_FREE, handle, STARPU_RW);
}

void handle_drop(starpu_data_handle_t *handle) {
  record_free(*handle);
  if (*handle) starpu_data_unregister_no_coherency(*handle);
  *handle = NULL;
}

void handle_release(starpu_data_handle_t *handle) {
  record_free(*handle);
  if (*handle) starpu_data_unregister_submit(*handle);
  *handle = NULL;
}

void handle_unregister(starpu_data_handle_t *handle) {
  record_free(*handle);
  if (*handle) starpu_data_unregister(*handle);
  *handle = NULL;
}

void handle_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode) {
  const struct job job = job_begin();
  if (starpu_data_acquire(handle, mode) != 0)
    fail(EXIT_RUN_FAILED, "StarPU could not bring data back to the host");
  job_end_data(job, JOB_ACQUIRE, handle, mode);
}

static void wait_for(starpu_data_handle_t handle, enum starpu_data_access_mode mode) {
  const struct job job = job_begin();
  if (starpu_data_acquire_on_node(handle, STARPU_ACQUIRE_NO_NODE, mode) != 0)
    fail(EXIT_RUN_FAILED, "StarPU could not wait for the tasks of data");
  starpu_data_release_on_node(handle, STARPU_ACQUIRE_NO_NODE);
  job_end_data(job, JOB_ACQUIRE, handle, mode);
}

void handle_wait(starpu_data_handle_t handle) {
  if (handle) wait_for(handle, STARPU_RW);
}

void handle_wait_written(starpu_data_handle_t handle) {
  if (handle) wait_for(handle, STARPU_R);
}
