/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting of distances and other numbers. */
#ifndef PHOTONS_RISING_H
#define PHOTONS_RISING_H

#include <stddef.h>
#include <stdint.h>

/**
 * Sort numbers by rising value. Numbers that are spread evenly over their range take a time of order n.
 * @param n      numbers, fewer than 2^32
 * @param value  [n], none is negative, all are finite
 */
void sort_rising(size_t n, double *value);

/** Sort numbers, fewer than 2^32 of them, in a time of order n. */
void sort_numbers(size_t n, uint32_t *number);

/**
 * Indices 0 .. n - 1 by rising or falling value, those of equal values rising, in a time of order n.
 * @param value       [n], fewer than 2^32; no NaN
 * @param[out] order  [n]
 */
void order_rising(size_t n, const double *value, uint32_t *order);
void order_falling(size_t n, const double *value, uint32_t *order);

#endif
