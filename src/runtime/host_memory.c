/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory shared among the ranks of a host. Segments are files without a name (memfd_create()): they
 * vanish when the processes that map them end, however these end. */
#include "photons/runtime/host_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/pinned.h"

enum { ALIGNMENT = 256 };
/* Bytes page-locked at a time, once in a run, since page-locking is slow. */
#define PIN_CHUNK ((size_t)64 << 20)

/** How the other ranks of a host find a segment. A segment begins with a copy of its address, so
 * that a reader can check that it has mapped the right one. */
struct address {
  uint64_t process, descriptor, bytes, time;
  int host;
};

static struct {
  char **segment; /* [rank], NULL for a rank of another host; NULL: nothing is shared */
  size_t *bytes;  /* [rank] */
  size_t *pinned; /* [rank] page-locked chunks, from the start on */
  size_t used;    /* bytes of this rank's segment */
  size_t kept;    /* of these, what stays when the segment is emptied */
} memory;
static pthread_mutex_t pin_lock = PTHREAD_MUTEX_INITIALIZER;

/** Make this rank's segment. Its size is that of the host's memory, but only pages that are written
 * take up memory. On failure bytes == 0. */
static struct address make_segment(void) {
  struct address own = {.host = comm_host(), .process = (uint64_t)getpid()};
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  own.time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  const int descriptor = (int)syscall(SYS_memfd_create, "photons-starpu", 1u /* MFD_CLOEXEC */);
  own.descriptor = (uint64_t)descriptor;
  own.bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  if (descriptor < 0 || ftruncate(descriptor, (off_t)own.bytes) != 0 ||
      pwrite(descriptor, &own, sizeof own, 0) != (ssize_t)sizeof own)
    own.bytes = 0;
  return own;
}

/** Map a rank's segment; NULL if that fails. */
static char *map_segment(const struct address *of) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%llu/fd/%llu", (unsigned long long)of->process,
           (unsigned long long)of->descriptor);
  const int descriptor = of->bytes > 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (descriptor < 0) return NULL;
  char *segment = mmap(NULL, of->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                       descriptor, 0);
  close(descriptor);
  if (segment == MAP_FAILED) return NULL;
  const struct address *found = (const struct address *)segment;
  if (found->process == of->process && found->time == of->time) return segment;
  /* The process number means another process here: the rank is in another container. */
  munmap(segment, of->bytes);
  return NULL;
}

bool host_memory_start(void) {
  const size_t processes = (size_t)comm_size();
  const struct address own = make_segment();
  struct address *all = allocate(processes, sizeof *all, "addresses of shared memory");
  comm_gather_all(&own, sizeof own, all);
  memory.segment = allocate(processes, sizeof *memory.segment, "shared memory");
  memory.bytes = allocate(processes, sizeof *memory.bytes, "shared memory");
  memory.pinned = allocate(processes, sizeof *memory.pinned, "shared memory");
  uint32_t missing = 0;
  for (size_t r = 0; r < processes; r++) {
    if (all[r].host != own.host) continue;
    memory.segment[r] = map_segment(&all[r]);
    memory.bytes[r] = all[r].bytes;
    if (!memory.segment[r]) missing = 1;
  }
  free(all);
  comm_max_u32(&missing, 1); /* all ranks have mapped this rank's segment by now */
  if ((int)own.descriptor >= 0) close((int)own.descriptor);
  memory.kept = (sizeof(struct address) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  host_memory_reset();
  if (missing) host_memory_stop();
  return !missing;
}

/** Offset of a chunk's start, or the segment's size if the chunk lies beyond it. */
static size_t chunk_start(int rank, size_t chunk) {
  return chunk * PIN_CHUNK < memory.bytes[rank] ? chunk * PIN_CHUNK : memory.bytes[rank];
}

static size_t chunk_bytes(int rank, size_t chunk) {
  return chunk_start(rank, chunk + 1) - chunk_start(rank, chunk);
}

size_t host_memory_pin(int rank, size_t place, size_t bytes) {
  const size_t rest = PIN_CHUNK - place % PIN_CHUNK;
  pthread_mutex_lock(&pin_lock);
  for (size_t *chunk = &memory.pinned[rank]; *chunk <= place / PIN_CHUNK; (*chunk)++)
    pin_memory(memory.segment[rank] + chunk_start(rank, *chunk), chunk_bytes(rank, *chunk));
  pthread_mutex_unlock(&pin_lock);
  return bytes < rest ? bytes : rest;
}

void host_memory_stop(void) {
  for (int r = 0; memory.segment && r < comm_size(); r++) {
    if (!memory.segment[r]) continue;
    for (size_t chunk = 0; chunk < memory.pinned[r]; chunk++)
      unpin_memory(memory.segment[r] + chunk_start(r, chunk), chunk_bytes(r, chunk));
    munmap(memory.segment[r], memory.bytes[r]);
  }
  free(memory.segment);
  free(memory.bytes);
  free(memory.pinned);
  memory.segment = NULL;
  memory.bytes = memory.pinned = NULL;
}

bool host_memory_shared(void) { return memory.segment; }

bool host_memory_with(int rank) {
  return memory.segment && rank != comm_rank() && memory.segment[rank];
}

void host_memory_reset(void) { memory.used = memory.kept; }

size_t host_memory_keep(size_t bytes) {
  host_memory_reset();
  const size_t place = host_memory_take(bytes);
  memory.kept = memory.used;
  return place;
}

size_t host_memory_take(size_t bytes) {
  const size_t place = memory.used;
  memory.used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (memory.used > memory.bytes[comm_rank()])
    fail(EXIT_RUN_FAILED,
         "messages of a step to the ranks of this host need more than its memory: use more hosts");
  return place;
}

char *host_memory_of(int rank) { return memory.segment[rank]; }
