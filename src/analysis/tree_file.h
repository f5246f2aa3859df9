/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of links, tree_NNN.hdf5. */
#ifndef PHOTONS_TREE_FILE_H
#define PHOTONS_TREE_FILE_H

#include "photons/analysis/tree.h"
#include "photons/config/parameters.h"

struct tree_path {
  char text[PARAMETER_PATH_MAX + 64];
};

/** The path of the file of an output. */
struct tree_path tree_path_of(const struct parameters *p, size_t output);

/** Whether an output has its file. Collective: rank 0 looks. */
bool tree_file_exists(const struct parameters *p, size_t output);

#endif
