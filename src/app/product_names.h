/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of the files of an output. */
#ifndef PHOTONS_PRODUCT_NAMES_H
#define PHOTONS_PRODUCT_NAMES_H

#include <stdio.h>

#include "photons/app/products.h"

struct product_name {
  char path[PARAMETER_PATH_MAX + 64];
};

/** DIR/STEM_NNN.ENDING */
static inline struct product_name product_name_of(const struct products *o, const char *stem,
                                                  const char *ending) {
  struct product_name n;
  snprintf(n.path, sizeof n.path, "%s/%s_%03zu.%s", o->parameters->output.dir, stem, o->number,
           ending);
  return n;
}

#endif
