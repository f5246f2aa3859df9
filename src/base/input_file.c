/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input files: only regular files are opened. */
#include "photons/base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "photons/base/error.h"

/** What a file is, if it is not a regular file; NULL for a regular file. */
static const char *other_kind(mode_t mode) {
  if (S_ISREG(mode)) return NULL;
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISFIFO(mode)) return "it is a named pipe (FIFO), not a file";
  if (S_ISSOCK(mode)) return "it is a socket, not a file";
  return "it is a device, not a file";
}

FILE *input_open(const char *path, const char **reason) {
  struct stat status;
  *reason = NULL;
  /* The kind is checked before opening, because opening a device may act on it, and again after
   * opening, because the path may have changed in between. With O_NONBLOCK open() does not wait for
   * the writer of a pipe; on regular files the flag has no effect. */
  if (stat(path, &status) == 0 && (*reason = other_kind(status.st_mode))) return NULL;
  const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor >= 0 && fstat(descriptor, &status) == 0) *reason = other_kind(status.st_mode);
  FILE *file = descriptor >= 0 && !*reason ? fdopen(descriptor, "rb") : NULL;
  if (!file && !*reason) *reason = strerror(errno);
  if (!file && descriptor >= 0) close(descriptor);
  return file;
}

char *input_text(char *line) { return line + 3 * (strncmp(line, "\xef\xbb\xbf", 3) == 0); }

const char *input_refusal(const char *path) {
  const char *reason;
  FILE *file = input_open(path, &reason);
  if (file) fclose(file);
  return reason;
}

/** Let the file go on at a line in its last `most` bytes, unless it is there already. */
static void skip_to_end(FILE *file, size_t most) {
  const long now = ftell(file);
  if (fseek(file, 0, SEEK_END) != 0) return;
  const long begin = ftell(file) - (long)most;
  if (fseek(file, begin > now ? begin : now, SEEK_SET) != 0 || begin <= now) return;
  int c;
  do c = fgetc(file);
  while (c != EOF && c != '\n');
}

char *input_lines(const char *path, int head, size_t most) {
  const char *reason;
  FILE *file = input_open(path, &reason);
  if (!file) return NULL;
  char *text, *line = NULL;
  size_t size, capacity = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) fail(EXIT_RUN_FAILED, "not enough memory for lines of %s", path);
  for (int number = 0;; number++) {
    if (number == head) skip_to_end(file, most);
    const ssize_t length = getline(&line, &capacity, file);
    if (length <= 0 || line[length - 1] != '\n') break;
    fputs(line, out);
  }
  if (fclose(out) != 0) fail(EXIT_RUN_FAILED, "not enough memory for lines of %s", path);
  free(line);
  fclose(file);
  return text;
}
