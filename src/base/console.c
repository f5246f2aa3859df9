/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/console.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

/* File scope, as any thread may fail, and what it says belongs into the log. */
static struct {
  bool silent;
  atomic_bool status; /* a status line stands on the terminal */
  atomic_int log;     /* descriptor; 0: none */
  pthread_mutex_t lock;
  char early[8192]; /* messages from before the log was opened */
  size_t early_length;
} console = {.lock = PTHREAD_MUTEX_INITIALIZER};

void console_silence(void) { console.silent = true; }

bool console_is_terminal(void) {
  const char *terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 && !comm_launched() &&
         !getenv("SLURM_STEP_ID");
}

static struct winsize terminal_size(void) {
  struct winsize size = {0};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = (struct winsize){0};
  return size;
}

int console_columns(void) {
  const struct winsize size = terminal_size();
  return size.ws_col > 0 ? size.ws_col : 80;
}

int console_rows(void) {
  const struct winsize size = terminal_size();
  return size.ws_row > 0 ? size.ws_row : 24;
}

/** Print one line of so many bytes, broken where it is too long. What follows a break is indented
 * by four more columns. */
static void print_line(FILE *out, const char *line, size_t length) {
  const size_t indent = strspn(line, " ");
  size_t margin = 0;
  while (margin + length > CONSOLE_COLUMNS) {
    const size_t first = strspn(line, " "); /* a blank before this one is no break */
    size_t end = CONSOLE_COLUMNS - margin;
    while (end > first && line[end] != ' ') end--;
    if (end == first) end += strcspn(line + first, " \n"); /* a word that is too long */
    if (end >= length) break;
    size_t printed = end;
    while (line[printed - 1] == ' ') printed--;
    fprintf(out, "%*s%.*s\n", (int)margin, "", (int)printed, line);
    end += strspn(line + end, " ");
    line += end;
    length -= end;
    margin = indent + 4;
  }
  fprintf(out, "%*s%.*s\n", (int)margin, "", (int)length, line);
}

/** A file in memory. @param[out] text  malloc'ed, when close_text() has been called */
static FILE *open_text(char **text, size_t *size) {
  FILE *out = open_memstream(text, size);
  if (!out) fail(EXIT_RUN_FAILED, "not enough memory for a message");
  return out;
}

static void close_text(FILE *out) {
  if (fclose(out) != 0) fail(EXIT_RUN_FAILED, "not enough memory for a message");
}

/** The lines as they are said, malloc'ed. */
__attribute__((format(printf, 1, 0))) static char *compose(const char *format, va_list arguments) {
  char *text, *lines;
  size_t size;
  FILE *out = open_text(&text, &size);
  vfprintf(out, format, arguments);
  close_text(out);
  out = open_text(&lines, &size);
  for (const char *line = text; *line;) {
    const size_t length = strcspn(line, "\n");
    print_line(out, line, length);
    line += length + (line[length] == '\n');
  }
  close_text(out);
  free(text);
  return lines;
}

static void write_log(const char *lines) {
  if (console.log == 0 || dprintf(console.log, "%s", lines) >= 0) return;
  const int reason = errno;
  console.log = 0; /* the message of this failure finds no room there */
  fail(EXIT_RUN_FAILED, "cannot write the log of the run: %s", strerror(reason));
}

/** What cannot be printed is lost: a run does not depend on who reads its messages. */
static void show(const char *lines) {
  if (console.silent) return;
  if (console_status_take()) fputs(CONSOLE_ERASE, stdout);
  fputs(lines, stdout);
  fflush(stdout);
}

__attribute__((format(printf, 2, 0))) static void speak(enum console_place place,
                                                        const char *format, va_list arguments) {
  if (comm_rank() != 0) return;
  char *lines = compose(format, arguments);
  if (place & CONSOLE_LOG) write_log(lines); /* first: a screen may wait for its reader */
  if (place & CONSOLE_SCREEN) show(lines);
  free(lines);
}

void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  speak(CONSOLE_BOTH, format, arguments);
  va_end(arguments);
}

void say_in(enum console_place place, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  speak(place, format, arguments);
  va_end(arguments);
}

void console_status(const char *text) {
  if (console.silent || comm_rank() != 0) return;
  printf(CONSOLE_ERASE "%s", text);
  fflush(stdout);
  console.status = true;
}

bool console_status_take(void) { return atomic_exchange(&console.status, false); }

/** Keep a message until there is a log. One that finds no room is left out. */
static void keep(const char *date, const char *line) {
  pthread_mutex_lock(&console.lock);
  const size_t room = sizeof console.early - console.early_length;
  const int length = snprintf(console.early + console.early_length, room, "%s %s\n", date, line);
  if (length > 0 && (size_t)length < room)
    console.early_length += (size_t)length;
  else
    console.early[console.early_length] = '\0';
  pthread_mutex_unlock(&console.lock);
}

void console_log_message(const char *line) {
  char date[CLOCK_DATE_SIZE];
  clock_date(date);
  if (console.log == 0)
    keep(date, line);
  else
    (void)!dprintf(console.log, "%s %s\n", date, line);
}

void console_log_open(const char *path, const char *heading) {
  if (comm_rank() != 0) return;
  const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0) fail(EXIT_RUN_FAILED, "cannot write %s: %s", path, strerror(errno));
  console.log = log;
  write_log(heading);
  write_log(console.early);
  console.early[console.early_length = 0] = '\0';
}

void console_log_close(void) {
  const int log = atomic_exchange(&console.log, 0);
  if (log > 0 && close(log) != 0)
    fail(EXIT_RUN_FAILED, "cannot write the log of the run: %s", strerror(errno));
}
