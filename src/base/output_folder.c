/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folders of outputs. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_steps.h"
#include "photons/base/output_file.h"

void output_folder(const char *path) {
  char *folder = copy_text(path, "");
  for (char *end = folder; *end; end++) {
    while (*end == '/') end++; /* the root folder, and doubled slashes */
    end += strcspn(end, "/");
    const char after = *end;
    *end = '\0';
    if (mkdir(folder, 0777) != 0) {
      const int reason = errno; /* EROFS and EACCES may hide that the folder exists */
      struct stat status;
      if (stat(folder, &status) != 0)
        fail(EXIT_RUN_FAILED, "cannot make the folder %s: %s", folder, strerror(reason));
      if (!S_ISDIR(status.st_mode))
        fail(EXIT_RUN_FAILED,
             "cannot make the folder %s: a file of that name exists; remove it or choose another "
             "output.dir",
             folder);
    }
    *end = after;
    if (!after) break;
  }
  free(folder);
  if (access(path, W_OK | X_OK) != 0)
    fail(EXIT_RUN_FAILED, "cannot write to the folder %s: %s", path, strerror(errno));
}

void output_folder_check(const char *path) {
  char *folder = copy_text(path, ""), *probe;
  struct stat status;
  const char *nearest = folder;
  while (stat(nearest, &status) != 0 && errno == ENOENT) nearest = dirname((char *)nearest);
  probe = copy_text(nearest,
                    "/photons-XXXXXX"); /* permissions alone do not tell, least of all root's */
  if (!mkdtemp(probe) || rmdir(probe) != 0)
    fail(EXIT_RUN_FAILED, "cannot make the folder %s: %s: %s", path, nearest, strerror(errno));
  free(probe);
  free(folder);
}
