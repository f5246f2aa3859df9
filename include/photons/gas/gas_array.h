/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial conditions of gas in an HDF5 file: the datasets density, velocity_x, velocity_y,
 * velocity_z and pressure, and a mass fraction of each variable that the gas carries, with the variable's name.
 * They are arrays [z][y][x] of the cells of the whole box at any one level. */
#ifndef PHOTONS_GAS_ARRAY_H
#define PHOTONS_GAS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/amr/kernels.h"

struct gas_array;

/**
 * Open a file and look at all its numbers. The program ends with EXIT_BAD_INPUT where a dataset is
 * missing or has another shape than a level, where a density or pressure is not positive, a fraction not
 * between 0 and 1, or a number not finite, or where a cell is out of reach of the run's precision. Collective: rank 0 looks
 * at the numbers.
 * @param root  cells of the root level along x, y and z
 * @param wide  the run's precision is double
 */
struct gas_array *gas_array_open(const char *path, const double root[3],
                                 const struct gas_physics *physics, bool wide);
/** @param a  may be NULL */
void gas_array_close(struct gas_array *a);

/** The level of the arrays, which may be finer than any of a run. */
int gas_array_level(const struct gas_array *a);

/**
 * Means of the conserved variables (enum gas_variable) in the cells of a group of a level that
 * is not finer than the arrays. May be called by several threads.
 * @param place           of the group, in units of its side
 * @param[out] conserved  [z][y][x][GAS_VARIABLES_MAX] of 16^3 cells
 */
void gas_array_read(struct gas_array *a, int level, const uint32_t place[3], double gamma,
                    double *conserved);

#endif
