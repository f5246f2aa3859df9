/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes the place of src/base/error.c in fuzzing targets: fail() jumps back to the fuzzer, and what
 * the reader had open by then is closed and freed here. The linker sends the library's calls of
 * fopen(), fdopen(), fclose() and open_memstream() to the functions __wrap_...() below. */
#include "harness.h"

#include <sanitizer/allocator_interface.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS_MOST = 1 << 16, STREAMS_MOST = 64 };

static struct {
  const struct fuzz_reader *reader; /* NULL: none runs */
  jmp_buf end;
} now;

/* Memory of this input that is not yet free. Volatile: the compiler believes that calloc() and
 * free() look at no variable, but the sanitizer calls block_made() and block_freed() from inside
 * them. */
static void *volatile blocks[BLOCKS_MOST];
static volatile size_t block_count;
static _Thread_local volatile bool recording; /* the fuzzer has threads of its own */

/* Streams of this input that are not yet closed. A memory stream writes its text's address where it
 * is told to when it is closed; after a longjmp() that place is gone, so that the address goes here
 * first. */
static struct stream {
  FILE *file;
  char **text_target, *text;
  size_t *size_target, size;
} streams[STREAMS_MOST];

_Noreturn static void give_up(const char *what) {
  fprintf(stderr, "fuzzing: %s\n", what);
  abort();
}

void fuzz_require(bool sound, const char *what) {
  if (!sound) give_up(what);
}

static void block_made(const volatile void *block, size_t size) {
  (void)size;
  if (!recording || !block) return;
  if (block_count == BLOCKS_MOST) __builtin_trap();
  blocks[block_count] = (void *)block;
  block_count = block_count + 1;
}

static void block_freed(const volatile void *block) {
  for (size_t i = block_count; i-- > 0;)
    if (blocks[i] == block) {
      block_count = block_count - 1;
      blocks[i] = blocks[block_count];
      return;
    }
}

static void free_blocks(void) {
  recording = false;
  while (block_count > 0) {
    block_count = block_count - 1;
    free(blocks[block_count]);
  }
}

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): names of the linker */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fdopen(int descriptor, const char *mode);
FILE *__wrap_fdopen(int descriptor, const char *mode);
FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static struct stream *find_stream(const FILE *file) {
  for (size_t i = 0; i < STREAMS_MOST; i++)
    if (streams[i].file == file) return &streams[i];
  return NULL;
}

/**
 * A place for a stream of the reader; NULL for the fuzzer's own. From here on fclose() alone frees
 * the stream's memory.
 */
static struct stream *begin_stream(bool *was_recording) {
  if (!now.reader) return NULL;
  struct stream *stream = find_stream(NULL);
  if (!stream) give_up("too many open files");
  *stream = (struct stream){0};
  *was_recording = recording;
  recording = false;
  return stream;
}

static FILE *end_stream(struct stream *stream, FILE *file, bool was_recording) {
  stream->file = file;
  recording = was_recording;
  return file;
}

FILE *__wrap_fopen(const char *path, const char *mode) {
  bool was_recording;
  struct stream *stream = begin_stream(&was_recording);
  FILE *file = __real_fopen(path, mode);
  return stream ? end_stream(stream, file, was_recording) : file;
}

FILE *__wrap_fdopen(int descriptor, const char *mode) {
  bool was_recording;
  struct stream *stream = begin_stream(&was_recording);
  FILE *file = __real_fdopen(descriptor, mode);
  return stream ? end_stream(stream, file, was_recording) : file;
}

FILE *__wrap_open_memstream(char **text, size_t *size) {
  bool was_recording;
  struct stream *stream = begin_stream(&was_recording);
  if (!stream) return __real_open_memstream(text, size);
  stream->text_target = text;
  stream->size_target = size;
  return end_stream(stream, __real_open_memstream(&stream->text, &stream->size), was_recording);
}

int __wrap_fclose(FILE *file) {
  struct stream *stream = now.reader ? find_stream(file) : NULL;
  const int status = __real_fclose(file);
  if (!stream) return status;
  stream->file = NULL;
  if (!stream->text_target) return status;
  *stream->text_target = stream->text;
  *stream->size_target = stream->size;
  const bool before = recording;
  block_freed(stream->text); /* it is in the list already, if it grew while all was recorded */
  recording = true;
  block_made(stream->text, stream->size);
  recording = before;
  return status;
}

static void close_streams(void) {
  recording = false;
  for (size_t i = 0; i < STREAMS_MOST; i++) {
    if (!streams[i].file) continue;
    __real_fclose(streams[i].file);
    streams[i].file = NULL;
    if (streams[i].text_target) free(streams[i].text);
  }
}

void fail(enum exit_code code, const char *format, ...) {
  char message[8192];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (!now.reader) give_up(message);
  if (getenv("FUZZ_SHOW")) fprintf(stderr, "%s\n", message);
  if (code != now.reader->refusal) {
    fprintf(stderr, "exit code %d, expected %d\n", (int)code, (int)now.reader->refusal);
    give_up(message);
  }
  longjmp(now.end, 1);
}

/* No reader ends a run that is in order. */
void end_program(int code, const char *format, ...) {
  (void)code;
  give_up(format);
}

void messages_to(int descriptor) { (void)descriptor; }

/* No reader runs beside a thread that writes. */
void before_failing(void (*wait)(void)) { (void)wait; }

void notify(const char *format, ...) { (void)format; }

void warn(const char *format, ...) {
  char message[8192];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
}

/* Datasets whose values are stored nowhere are accepted up to this size. */
double __wrap_installed_memory(void); /* NOLINT: a name of the linker */
double __wrap_installed_memory(void) { return 16e6; }

/* The fuzzer itself reports a request that is too large (-malloc_limit_mb). */
void *allocate(size_t count, size_t size, const char *what) {
  const bool before = recording;
  recording = true;
  void *block = calloc(count ? count : 1, size ? size : 1);
  recording = before;
  if (!block) give_up(what);
  return block;
}

void *reallocate(void *block, size_t count, size_t size, const char *what) {
  const bool before = recording;
  recording = true;
  void *larger = reallocarray(block, count ? count : 1, size ? size : 1);
  recording = before;
  if (!larger) give_up(what);
  return larger;
}

static char folder[256], path[300], second[300];

static void remove_folder(void) {
  unlink(path);
  unlink(second);
  rmdir(folder);
}

/** The input may say that it is the first of two files: the second one is the same. */
static void make_folder(void) {
  const char *where = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/photons-fuzz-XXXXXX", where ? where : "/tmp");
  if (!mkdtemp(folder)) give_up("cannot make a folder");
  snprintf(path, sizeof path, "%s/input.0", folder);
  snprintf(second, sizeof second, "%s/input.1", folder);
  if (symlink("input.0", second) != 0) give_up("cannot make a link");
  atexit(remove_folder);
  __sanitizer_install_malloc_and_free_hooks(block_made, block_freed);
}

static void write_input(const uint8_t *bytes, size_t size) {
  FILE *file = __real_fopen(path, "wb");
  if (!file) give_up("cannot write the input");
  const bool complete = fwrite(bytes, 1, size, file) == size;
  if (__real_fclose(file) != 0 || !complete) give_up("cannot write the input");
}

void fuzz_input(const struct fuzz_reader *reader, const uint8_t *bytes, size_t size) {
  if (!*folder) make_folder();
  write_input(bytes, size);
  now.reader = reader;
  if (setjmp(now.end) == 0) {
    recording = reader->free_all;
    reader->read(path);
  }
  now.reader = NULL;
  close_streams();
  free_blocks();
  if (reader->clean) reader->clean();
}
