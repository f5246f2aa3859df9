/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log/outputs.csv: what each output cost. */
#ifndef PHOTONS_OUTPUT_LOG_H
#define PHOTONS_OUTPUT_LOG_H

struct products;

/** Add the row of an output. Rows of this output and of later ones, which a run has left that now goes on from
 * a checkpoint before them, are removed. Any rank may call it; the first one writes. */
void output_log_add(const struct products *o);

#endif
