/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU data handles of vectors: registering, resizing, waiting. A handle that is NULL stands for
 * data that this rank does not have. Errors end the program (EXIT_RUN_FAILED). */
#ifndef PHOTONS_RUNTIME_HANDLE_H
#define PHOTONS_RUNTIME_HANDLE_H

#include <starpu.h>
#include <stddef.h>

/** A handle for `count` elements of `size` bytes in host memory. */
starpu_data_handle_t handle_register(void *data, size_t count, size_t size);
/** The same, of which copies on GPUs have the size handle_room(count). */
starpu_data_handle_t handle_register_room(void *data, size_t count, size_t size);
/** A handle for data that StarPU allocates on the device of the first task that writes the data. */
starpu_data_handle_t handle_make(size_t count, size_t size);
/** A handle without data, which tasks read: handle_wait() waits for these tasks. */
starpu_data_handle_t handle_make_empty(void);
/** The size to register for at least n elements. Sizes grow in steps of about an eighth, so that
 * StarPU can reuse freed memory of the same size. The size depends only on n, so that sender and
 * receiver of a message agree. */
size_t handle_room(size_t n);
/** Make the handle fit n elements of four bytes. A handle of size handle_room(n) is kept, with its
 * data. */
void handle_fit(starpu_data_handle_t *handle, size_t n);
/** Unregister a handle and discard its data, after waiting for the tasks that use the handle. */
void handle_drop(starpu_data_handle_t *handle);
/** The same without waiting: StarPU unregisters the handle when the tasks submitted so far have
 * ended. */
void handle_release(starpu_data_handle_t *handle);
/** Unregister a handle of handle_register(), after copying the data back to host memory. */
void handle_unregister(starpu_data_handle_t *handle);

/** Wait until the host may access the data; starpu_data_release() ends the access. */
void handle_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode);
/** Wait for the tasks that use the data. These stay where they are. */
void handle_wait(starpu_data_handle_t handle);
/** Wait for the tasks that write the data; others may go on reading them. */
void handle_wait_written(starpu_data_handle_t handle);

#endif
