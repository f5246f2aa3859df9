/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded (LD_PRELOAD), this library lets one call of a function of the C library fail.
 *
 *   INJECT=FUNCTION:N[:always]   the N-th call fails, or the N-th and all that follow
 *   INJECT_FROM=program          only calls from the program itself count, none from libraries
 *   INJECT_COUNT=FILE            nothing fails; at the end FILE gets the number of calls of each
 *                                function, from anywhere and from the program
 *
 * The functions are groups: `malloc` is every function that allocates memory, `write` every one
 * that writes to a file (not to the terminal or a pipe). `cuda_memory` is every function that
 * allocates memory of a GPU. `cuda_device` is every function that uses a GPU; with `always` the GPU
 * is lost. Calls before main() do not count. */
#define _GNU_SOURCE /* RTLD_NEXT; NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum function {
  MALLOC,
  WRITE,
  FSYNC,
  RENAME,
  LINK,
  OPEN,
  PTHREAD_CREATE,
  CUDA_MEMORY,
  CUDA_DEVICE,
  FUNCTIONS
};
/* Errors of CUDA: the library does not need CUDA. */
enum { CUDA_NO_MEMORY = 2, CUDA_LOST = 719 };
static const struct {
  const char *name;
  int error;
} functions[FUNCTIONS] = {[MALLOC] = {"malloc", ENOMEM},
                          [WRITE] = {"write", ENOSPC},
                          [FSYNC] = {"fsync", EIO},
                          [RENAME] = {"rename", EIO},
                          [LINK] = {"link", EMLINK},
                          [OPEN] = {"open", EMFILE},
                          [PTHREAD_CREATE] = {"pthread_create", EAGAIN},
                          [CUDA_MEMORY] = {"cuda_memory", CUDA_NO_MEMORY},
                          [CUDA_DEVICE] = {"cuda_device", CUDA_LOST}};

static struct {
  bool ready, always, from_program;
  int function; /* -1: none */
  long number;
  const char *count_file;
  uintptr_t program, program_end; /* addresses of the program's code */
  atomic_long calls[FUNCTIONS], program_calls[FUNCTIONS];
  atomic_int cuda_error; /* the last one, for cudaGetLastError() */
} inject = {.function = -1};

static int find_program(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  inject.program = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD) continue;
    if (begin < inject.program) inject.program = begin;
    if (begin + part->p_memsz > inject.program_end) inject.program_end = begin + part->p_memsz;
  }
  return 1; /* the first one is the program */
}

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("INJECT"), *from = getenv("INJECT_FROM");
  inject.count_file = getenv("INJECT_COUNT");
  inject.from_program = from && strcmp(from, "program") == 0;
  dl_iterate_phdr(find_program, NULL);
  for (int f = 0; text && f < FUNCTIONS; f++) {
    const size_t length = strlen(functions[f].name);
    if (strncmp(text, functions[f].name, length) != 0 || text[length] != ':') continue;
    char *end;
    inject.number = strtol(text + length + 1, &end, 10);
    inject.always = strcmp(end, ":always") == 0;
    inject.function = f;
  }
  inject.ready = true;
}

__attribute__((destructor)) static void end(void) {
  if (!inject.ready || !inject.count_file) return;
  inject.ready = false;
  FILE *file = fopen(inject.count_file, "w");
  if (!file) return;
  for (int f = 0; f < FUNCTIONS; f++)
    fprintf(file, "%s %ld %ld\n", functions[f].name, atomic_load(&inject.calls[f]),
            atomic_load(&inject.program_calls[f]));
  fclose(file);
}

/** Whether this call fails. */
static bool fails(enum function f, const void *caller) {
  if (!inject.ready) return false;
  const uintptr_t address = (uintptr_t)caller;
  const bool ours = address >= inject.program && address < inject.program_end;
  const long any = atomic_fetch_add(&inject.calls[f], 1) + 1;
  const long own = ours ? atomic_fetch_add(&inject.program_calls[f], 1) + 1 : 0;
  if (inject.function != (int)f || (inject.from_program && !ours)) return false;
  const long number = inject.from_program ? own : any;
  return number == inject.number || (inject.always && number > inject.number);
}

#define FAILS(f) (fails((f), __builtin_return_address(0)) && (errno = functions[f].error))
#define NEXT(type, name, ...)       \
  static type (*next)(__VA_ARGS__); \
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name)

static bool is_file(int descriptor) {
  struct stat status;
  const int before = errno;
  const bool file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  errno = before;
  return file;
}

/* The names under which glibc has its allocator besides.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

void *malloc(size_t size) { return FAILS(MALLOC) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return FAILS(MALLOC) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) {
  return size > 0 && FAILS(MALLOC) ? NULL : __libc_realloc(old, size);
}
void *reallocarray(void *old, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || FAILS(MALLOC)) return NULL;
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return FAILS(MALLOC) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **block, size_t alignment, size_t size) {
  if (FAILS(MALLOC)) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
ssize_t write(int descriptor, const void *data, size_t size) {
  NEXT(ssize_t, write, int, const void *, size_t);
  return is_file(descriptor) && FAILS(WRITE) ? -1 : next(descriptor, data, size);
}
ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset) {
  NEXT(ssize_t, pwrite, int, const void *, size_t, off_t);
  return is_file(descriptor) && FAILS(WRITE) ? -1 : next(descriptor, data, size, offset);
}

/** What the C library notes of a failure, and ferror() tells. */
static bool set_error(FILE *file) {
  enum { ERROR_SEEN = 0x20 };
  file->_flags |= ERROR_SEEN;
  return true;
}

size_t fwrite(const void *data, size_t size, size_t n, FILE *file) {
  NEXT(size_t, fwrite, const void *, size_t, size_t, FILE *);
  return is_file(fileno(file)) && FAILS(WRITE) && set_error(file) ? 0 : next(data, size, n, file);
}
int fflush(FILE *file) {
  NEXT(int, fflush, FILE *);
  return file && is_file(fileno(file)) && FAILS(WRITE) && set_error(file) ? EOF : next(file);
}
int fclose(FILE *file) {
  NEXT(int, fclose, FILE *);
  const bool failing = is_file(fileno(file)) && FAILS(WRITE);
  const int reason = errno;
  const int status = next(file);
  if (failing) errno = reason;
  return failing ? EOF : status;
}
int ftruncate(int descriptor, off_t size) {
  NEXT(int, ftruncate, int, off_t);
  return is_file(descriptor) && FAILS(WRITE) ? -1 : next(descriptor, size);
}

int fsync(int descriptor) {
  NEXT(int, fsync, int);
  return FAILS(FSYNC) ? -1 : next(descriptor);
}
int rename(const char *from, const char *to) {
  NEXT(int, rename, const char *, const char *);
  return FAILS(RENAME) ? -1 : next(from, to);
}
int link(const char *from, const char *to) {
  NEXT(int, link, const char *, const char *);
  return FAILS(LINK) ? -1 : next(from, to);
}
int open(const char *path, int flags, ...) {
  NEXT(int, open, const char *, int, ...);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return FAILS(OPEN) ? -1 : next(path, flags, mode);
}
FILE *fopen(const char *path, const char *mode) {
  NEXT(FILE *, fopen, const char *, const char *);
  return FAILS(OPEN) ? NULL : next(path, mode);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
  NEXT(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  return FAILS(PTHREAD_CREATE) ? EAGAIN : next(thread, attributes, start, argument);
}

/* CUDA's runtime library. Its functions return 0 or an error. */

/** The error with which this call of CUDA fails, or 0. Unlike those of the C library it leaves
 * errno. */
static int cuda_failure(enum function f, const void *caller) {
  if (!fails(f, caller)) return 0;
  atomic_store(&inject.cuda_error, functions[f].error);
  return functions[f].error;
}
#define CUDA(f, name, types, arguments)                               \
  int name types {                                                    \
    static int(*next) types;                                          \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name);             \
    const int error = cuda_failure((f), __builtin_return_address(0)); \
    return error ? error : next arguments;                            \
  }
struct dim3 {
  unsigned x, y, z;
};

CUDA(CUDA_MEMORY, cudaMalloc, (void **to, size_t bytes), (to, bytes))
CUDA(CUDA_MEMORY, cudaMallocAsync, (void **to, size_t bytes, void *stream), (to, bytes, stream))
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): CUDA's name */
CUDA(CUDA_DEVICE, __cudaLaunchKernel,
     (void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
      void *stream),
     (kernel, grid, block, arguments, shared, stream))
CUDA(CUDA_DEVICE, cudaMemcpyAsync,
     (void *to, const void *from, size_t bytes, int kind, void *stream),
     (to, from, bytes, kind, stream))
CUDA(CUDA_DEVICE, cudaMemsetAsync, (void *to, int value, size_t bytes, void *stream),
     (to, value, bytes, stream))
CUDA(CUDA_DEVICE, cudaStreamSynchronize, (void *stream), (stream))
CUDA(CUDA_DEVICE, cudaEventQuery, (void *event), (event))
CUDA(CUDA_DEVICE, cudaEventRecord, (void *event, void *stream), (event, stream))

int cudaGetLastError(void) {
  NEXT(int, cudaGetLastError, void);
  const int error = atomic_exchange(&inject.cuda_error, 0);
  return error ? error : next();
}
int cudaPeekAtLastError(void) {
  NEXT(int, cudaPeekAtLastError, void);
  const int error = atomic_load(&inject.cuda_error);
  return error ? error : next();
}
