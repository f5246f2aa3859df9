/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A view of a run, by the files in its output folder: --watch. */
#ifndef PHOTONS_APP_WATCH_H
#define PHOTONS_APP_WATCH_H

/**
 * Show how far the run in a folder has come, where its time goes, and what it has found. On a
 * terminal the view is renewed every two seconds until the run ends; elsewhere it is printed once,
 * as plain text of at most CONSOLE_COLUMNS columns. Nothing is written to the folder, and the run
 * does not notice. A folder that holds no run ends the program with EXIT_BAD_USAGE.
 * @return the exit code of the program
 */
int watch_run(const char *folder);

#endif
