/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the bytes that this program has allocated: included once, in the program's main file, it
 * takes the place of the C library's functions. Sanitizers have functions of their own, so that
 * nothing is counted with them. */
#ifndef PHOTONS_TESTS_ALLOCATED_H
#define PHOTONS_TESTS_ALLOCATED_H

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#if defined __SANITIZE_ADDRESS__ || !defined __GLIBC__
static bool allocated_is_counted(void) { return false; }
static double allocated_now(void) { return 0.0; }
static double allocated_most(void) { return 0.0; }
static double allocated_begin(void) { return 0.0; }
#else
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): names of the C library */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static atomic_long allocated, allocated_peak;

static bool allocated_is_counted(void) { return true; }
/** Bytes at present, and at most since allocated_begin(). */
static double allocated_now(void) { return (double)atomic_load(&allocated); }
static double allocated_most(void) { return (double)atomic_load(&allocated_peak); }
/** @return allocated_now() */
static double allocated_begin(void) {
  atomic_store(&allocated_peak, atomic_load(&allocated));
  return allocated_now();
}

static void *allocated_add(void *block) {
  const long size = block ? (long)malloc_usable_size(block) : 0,
             sum = atomic_fetch_add(&allocated, size) + size;
  long peak = atomic_load(&allocated_peak);
  while (sum > peak && !atomic_compare_exchange_weak(&allocated_peak, &peak, sum)) continue;
  return block;
}

static void allocated_remove(void *block) {
  if (block) atomic_fetch_sub(&allocated, (long)malloc_usable_size(block));
}

void *malloc(size_t size) { return allocated_add(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return allocated_add(__libc_calloc(count, size)); }
void *realloc(void *block, size_t size) {
  allocated_remove(block);
  void *moved = __libc_realloc(block, size);
  allocated_add(moved || size == 0 ? moved : block);
  return moved;
}
void *memalign(size_t alignment, size_t size) {
  return allocated_add(__libc_memalign(alignment, size));
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
void free(void *block) {
  allocated_remove(block);
  __libc_free(block);
}
#endif

#endif
