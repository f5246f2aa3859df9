/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_APP_GAS_GPUS_H
#define PHOTONS_APP_GAS_GPUS_H

struct parameters;

/**
 * Take no more of a machine's GPUs for gas than make a run faster, but as many as have memory for the root
 * level. Between GPUs of one process batches travel as a whole, so that without levels two GPUs are faster
 * than four, and with levels one is faster than two (docs/results/scaling.md). Before engine_start(). With
 * several processes, or where STARPU_NCUDA or STARPU_WORKERS_CUDAID says which, the GPUs are those of the
 * user.
 */
void gas_choose_gpus(const struct parameters *p);

#endif
