/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.times_file: a list of redshifts, scale factors or times. */
#ifndef PHOTONS_CONFIG_OUTPUT_TIMES_FILE_H
#define PHOTONS_CONFIG_OUTPUT_TIMES_FILE_H

#include "photons/config/parameter_table.h"

enum list_kind { LIST_NOT_NAMED, LIST_OF_REDSHIFTS, LIST_OF_SCALE_FACTORS, LIST_OF_TIMES };

struct times_file {
  enum list_kind kind;
  double value[PARAMETER_LIST_MAX];
  size_t count;
  bool second_column; /* flags or names behind the numbers, which mean nothing here */
};

/** Read the file that output.times_file names. What it says must be of the run's clock.
 * @return false: a problem was reported */
bool times_file_read(const struct parameters *p, struct parameter_problems *problems,
                     struct times_file *file);

#endif
