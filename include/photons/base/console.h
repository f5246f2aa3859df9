/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program says, besides errors and warnings (error.h): lines on standard output and in a
 * log file, and a status line on a terminal. Rank 0 alone speaks: on other ranks say() does
 * nothing. */
#ifndef PHOTONS_CONSOLE_H
#define PHOTONS_CONSOLE_H

#include <stdbool.h>

/** No line is longer, except where it has no blank. */
enum { CONSOLE_COLUMNS = 100 };

/** Whether standard output is a terminal at which a person looks. A launcher may give a terminal to
 * a rank whose output goes into a file. */
bool console_is_terminal(void);
/** Width and height of that terminal, in characters; 80 and 24 where they are not known. */
int console_columns(void);
int console_rows(void);

/** Where lines go. */
enum console_place { CONSOLE_SCREEN = 1, CONSOLE_LOG = 2, CONSOLE_BOTH = 3 };

/** Print nothing on standard output from now on; the log stays as it is. */
void console_silence(void);

/**
 * Say lines on standard output and in the log. A line is broken at blanks so that it has at most
 * CONSOLE_COLUMNS columns. A log that cannot be written ends the program (EXIT_RUN_FAILED).
 * @param format printf format, which ends with a newline
 */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The same in one of the places. */
void say_in(enum console_place place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Moves the cursor of a terminal to the beginning of its line, and erases the line. */
#define CONSOLE_ERASE "\r\033[K"
/** Put text in place of the status line, below all that was said. What is said next removes the
 * status line. @param text  one line without a newline, narrower than the terminal */
void console_status(const char *text);
/** Forget the status line. May be called on any thread.
 * @return whether there was one: the cursor is at its end */
bool console_status_take(void);

/** Append to a log file from now on, of rank 0. A file that cannot be opened ends the program
 * (EXIT_RUN_FAILED). @param heading  a line; errors and warnings so far follow it */
void console_log_open(const char *path, const char *heading);
/** Close the log. What is said afterwards is not in it. */
void console_log_close(void);
/** For error.h: write a line and the time into the log, or keep the line until a log is opened. May
 * be called on any thread; never fails. @param line  without a newline */
void console_log_message(const char *line);

#endif
