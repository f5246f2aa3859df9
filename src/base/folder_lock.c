/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"

static char *lock_path(const char *folder) {
  const size_t size = strlen(folder) + sizeof "/.lock";
  char *path = allocate(size, 1, "a file name");
  snprintf(path, size, "%s/.lock", folder);
  return path;
}

static int open_lock(const char *folder) {
  char *path = lock_path(folder);
  const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (lock < 0) fail(EXIT_RUN_FAILED, "cannot write %s: %s", path, strerror(errno));
  free(path);
  return lock;
}

static void read_holder(int lock, char holder[FOLDER_LOCK_HOLDER]) {
  const ssize_t length = pread(lock, holder, FOLDER_LOCK_HOLDER - 1, 0);
  if (length > 0)
    holder[length] = '\0';
  else
    snprintf(holder, FOLDER_LOCK_HOLDER, "a process that did not leave its name");
  holder[strcspn(holder, "\n")] = '\0';
}

_Noreturn static void fail_locked(const char *folder, int lock) {
  char holder[FOLDER_LOCK_HOLDER];
  read_holder(lock, holder);
  fail(EXIT_RUN_FAILED,
       "another run works in the folder %s: %s; wait for the end of that run, or choose another "
       "output.dir",
       folder, holder);
}

/** Only a message needs the name: a disk that is full is told where results are written. */
static void write_holder(int lock) {
  char host[64] = "an unknown host", holder[FOLDER_LOCK_HOLDER];
  gethostname(host, sizeof host - 1);
  const int length = snprintf(holder, sizeof holder, "process %ld on %s\n", (long)getpid(), host);
  if (ftruncate(lock, 0) != 0 || pwrite(lock, holder, (size_t)length, 0) < 0) return;
}

/**
 * fcntl(), not flock(): NFS hands such a lock to its server, so that two machines exclude each
 * other (with NFS 3 only where its lock service runs). The lock is the process's, and the kernel
 * drops the lock when the process ends. The file stays: whoever removed it might remove the lock of
 * the next run.
 */
static int take_lock(const char *folder) {
  const int lock = open_lock(folder);
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(lock, F_SETLK, &all) == 0) {
    write_holder(lock);
    return lock;
  }
  if (errno == EACCES || errno == EAGAIN) fail_locked(folder, lock);
  warn("the folder %s cannot be locked (%s): take care that no second run writes to it", folder,
       strerror(errno));
  close(lock);
  return -1;
}

int folder_lock(const char *folder) {
  output_folder(folder);
  const int lock = comm_rank() == 0 ? take_lock(folder) : -1;
  comm_barrier(); /* the others go on when the folder is this run's */
  return lock;
}

void folder_unlock(int lock) {
  comm_barrier(); /* the others have written what they write */
  if (lock >= 0) close(lock);
}

bool folder_locked(const char *folder, char holder[FOLDER_LOCK_HOLDER]) {
  char *path = lock_path(folder);
  const int lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  free(path);
  if (lock < 0) return false;
  struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  const bool locked = fcntl(lock, F_GETLK, &all) == 0 && all.l_type != F_UNLCK;
  if (locked) read_holder(lock, holder);
  close(lock);
  return locked;
}
