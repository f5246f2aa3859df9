/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many particles a leaf has with GPUs. tests/unit/domain/test_groups has what it has on cores. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/config/parameters.h"
#include "photons/domain/domain.h"
#include "photons/runtime/engine.h"
#include "support/force_set.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"

static uint32_t leaf_of(const char *text, size_t particles) {
  struct parameters p;
  parameters_from_text(&p, text, (const char *const[]){"analysis.fof=no"}, 1);
  return domain_layout_choose(&p, particles).leaf_size;
}

void check_layout(void) {
  static const char box[] = "[box]\nsize = 1\nnpart_side = 2\n",
                    galaxy[] = "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[galaxy]\nmodel "
                               "= plummer\nparticles = 100\n"
                               "[gravity]\nsoftening = 1\n[time]\nend = 1\n",
                    four[] = "[box]\nsize = 1\nnpart_side = 2\n[runtime]\nleaf_size = 4\n";
  struct parameters p;
  parameters_from_text(&p, box, (const char *const[]){"analysis.fof=no"}, 1);
  start_engine(&p, true);
  report_whether("leaves of a box", leaf_of(box, 1000) == 64 && leaf_of(box, 1 << 24) == 64);
  report_whether("leaves of small isolated systems",
                 leaf_of(galaxy, 1000) == 16 && leaf_of(galaxy, (1 << 18) - 1) == 16);
  report_whether("leaves of large isolated systems",
                 leaf_of(galaxy, 1 << 18) == 32 && leaf_of(galaxy, 1 << 24) == 32);
  report_whether("leaves of a size that is given", leaf_of(four, 1 << 24) == 4);
  engine_stop();
}
