/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting of distances. */
#ifndef PHOTONS_RISING_H
#define PHOTONS_RISING_H

#include <stddef.h>

/**
 * Sort numbers by rising value. Numbers that are spread evenly over their range take a time of order n.
 * @param n      numbers, fewer than 2^32
 * @param value  [n], none is negative, all are finite
 */
void sort_rising(size_t n, double *value);

#endif
