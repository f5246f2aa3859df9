/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU's data handles. A handle that is NULL stands for data that is not here. */
#ifndef PHOTONS_RUNTIME_HANDLE_H
#define PHOTONS_RUNTIME_HANDLE_H

#include <starpu.h>
#include <stddef.h>

/** A handle for memory of the host. */
starpu_data_handle_t handle_register(void *data, size_t count, size_t size);
/** A handle for data that StarPU allocates where a task first writes it. */
starpu_data_handle_t handle_make(size_t count, size_t size);
/** The size, in numbers, of a handle for at least n: in steps of an eighth, so that StarPU finds freed
 * memory of the same size, and so that the two ends of a message, which do not know each other's
 * past, agree. */
size_t handle_room(size_t n);
/** Make the handle fit n numbers of four bytes: it stays where its size is handle_room(n). */
void handle_fit(starpu_data_handle_t *handle, size_t n);
/** Forget a handle and what it holds, once its tasks have ended. */
void handle_drop(starpu_data_handle_t *handle);
/** The same, but at once: StarPU forgets it when the tasks submitted so far have ended. */
void handle_release(starpu_data_handle_t *handle);
/** Give what tasks wrote back to the host memory that it was registered for, and forget it. */
void handle_unregister(starpu_data_handle_t *handle);

/** Wait until the host may touch the data, and give it back. */
void handle_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode);

#endif
