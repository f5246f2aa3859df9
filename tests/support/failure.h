/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of functions that end the program, and a folder for the tests' files. Include after
 * cmocka.h. */
#ifndef PHOTONS_TESTS_FAILURE_H
#define PHOTONS_TESTS_FAILURE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#undef fail /* cmocka's macro; from here on the function of error.h */

static char scratch_path[256];

static inline int scratch_make(void **state) {
  (void)state;
  const char *where = getenv("TMPDIR");
  snprintf(scratch_path, sizeof scratch_path, "%s/photons-test-XXXXXX", where ? where : "/tmp");
  return mkdtemp(scratch_path) ? 0 : -1;
}

static inline unsigned scratch_count_files(void) {
  DIR *folder = opendir(scratch_path);
  unsigned count = 0;
  for (const struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

/** A path in the scratch folder. The result is valid until the eighth next call. */
static inline char *scratch(const char *name) {
  static char paths[8][520];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", scratch_path, name);
  return path;
}

/** Remove the files of the folder; also usable as cmocka's teardown. */
static inline int scratch_empty(void **state) {
  (void)state;
  DIR *folder = opendir(scratch_path);
  for (const struct dirent *entry; (entry = readdir(folder));)
    if (entry->d_name[0] != '.' && remove(scratch(entry->d_name)) != 0) return -1;
  return closedir(folder);
}

static inline int scratch_remove(void **state) {
  return scratch_empty(state) != 0 || rmdir(scratch_path) != 0;
}

/** Call function(context) in a child process. @return its status, as of waitpid() */
static inline int run_apart(void (*function)(void *), void *context, char *messages, size_t size) {
  int ends[2], status = -1;
  size_t length = 0;
  messages[0] = '\0';
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    function(context);
    _exit(0);
  }
  close(ends[1]);
  for (ssize_t n; (n = read(ends[0], messages + length, size - 1 - length)) > 0;)
    length += (size_t)n;
  close(ends[0]);
  messages[length] = '\0';
  return waitpid(child, &status, 0) == child ? status : -1;
}

/** Whether the text is one line that begins with @p begin and contains @p part. */
static inline int is_one_line(const char *messages, const char *begin, const char *part) {
  return strncmp(messages, begin, strlen(begin)) == 0 && strstr(messages, part) &&
         strchr(messages, '\n') == messages + strlen(messages) - 1;
}

#define expect_failure(function, context, code, part) \
  expect_failure_at(function, context, code, part, __FILE__, __LINE__)

/** Call function(context) in a child process: it must end with @p code and print one line that
 * contains @p part on stderr. */
static inline void expect_failure_at(void (*function)(void *), void *context, int code,
                                     const char *part, const char *file, int line) {
  char messages[4096];
  const int status = run_apart(function, context, messages, sizeof messages);
  if (WIFEXITED(status) && WEXITSTATUS(status) == code &&
      is_one_line(messages, "photons-starpu: error: ", part))
    return;
  print_error("expected exit code %d and '%s', found status %#x and '%s'\n", code, part,
              (unsigned)status, messages);
  _fail(file, line);
}

#define expect_warning(function, context, part) \
  expect_warning_at(function, context, part, __FILE__, __LINE__)

/** The same for a function that must return after printing one warning that contains @p part; "":
 * no warning. */
static inline void expect_warning_at(void (*function)(void *), void *context, const char *part,
                                     const char *file, int line) {
  char messages[4096];
  const int status = run_apart(function, context, messages, sizeof messages);
  if (status == 0 &&
      (*part ? is_one_line(messages, "photons-starpu: warning: ", part) : !*messages))
    return;
  print_error("expected the warning '%s', found status %#x and '%s'\n", part, (unsigned)status,
              messages);
  _fail(file, line);
}

#endif
