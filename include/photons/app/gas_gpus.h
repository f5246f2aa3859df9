/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_APP_GAS_GPUS_H
#define PHOTONS_APP_GAS_GPUS_H

struct parameters;

/**
 * Take no more of a machine's GPUs for gas than make a run faster (docs/results/scaling.md), but as many as have
 * memory for the root level. Before engine_start(). With several processes, or where STARPU_NCUDA or
 * STARPU_WORKERS_CUDAID says which, the GPUs are those of the user.
 */
void gas_choose_gpus(const struct parameters *p);

#endif
