/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text files under temporary names. */
#include "photons/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "output_steps.h"

FILE *output_open(const char *temporary) {
  output_clear(temporary);
  output_creating();
  const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0666),
            reason = errno;
  output_created();
  errno = reason;
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  if (!file) fail(EXIT_RUN_FAILED, "cannot write %s: %s", temporary, strerror(errno));
  return file;
}

void output_close(FILE *file, const char *path) {
  errno = 0;
  /* If a write failed before, its errno is lost. */
  const bool failed_before = ferror(file) != 0;
  const bool failed = fflush(file) != 0 || failed_before;
  const int reason = errno;
  if (fclose(file) != 0 || failed)
    fail(EXIT_RUN_FAILED, "cannot write %s: %s", path,
         strerror(reason  ? reason
                  : errno ? errno
                          : EIO));
}
