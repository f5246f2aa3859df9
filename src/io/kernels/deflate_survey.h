/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often symbols are to be expected in a block. For deflate_planes.c. */
#ifndef PHOTONS_DEFLATE_SURVEY_H
#define PHOTONS_DEFLATE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "deflate_block.h"

static inline void count_eight(uint64_t eight, uint32_t part[4][VALUES]) {
  part[0][eight & 255]++;
  part[1][eight >> 8 & 255]++;
  part[2][eight >> 16 & 255]++;
  part[3][eight >> 24 & 255]++;
  part[0][eight >> 32 & 255]++;
  part[1][eight >> 40 & 255]++;
  part[2][eight >> 48 & 255]++;
  part[3][eight >> 56]++;
}

/** Count the bytes of a block, in eights of which one of `step` is taken. @return how many of these repeat one byte */
static size_t count_bytes(struct block *p, size_t step) {
  uint32_t part[4][VALUES] = {{0}}; /* equal bytes do not wait for each other */
  size_t i = 0, alike = 0;
  for (uint64_t eight; i + 8 <= p->count; i += 8 * step) {
    memcpy(&eight, p->data + i, sizeof eight);
    count_eight(eight, part);
    alike += eight == (eight << 8 | eight >> 56);
  }
  for (; i < p->count && step == 1; i++) part[0][p->data[i]]++;
  memset(p->number, 0, sizeof p->number);
  for (int v = 0; v < VALUES; v++) p->number[v] = part[0][v] + part[1][v] + part[2][v] + part[3][v];
  p->number[END] = 1;
  return alike;
}

#ifdef __AVX2__
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef unsigned char bytes __attribute__((vector_size(WIDTH)));

/** How many bytes of a block are a value. */
static uint32_t count_value(const struct block *p, unsigned char value) {
  enum { MOST = 255 * WIDTH }; /* bytes that a vector of bytes can count */
  uint32_t sum = 0;
  size_t i = 0;
  while (i + WIDTH <= p->count) {
    const size_t end = p->count - i < MOST ? p->count : i + MOST;
    bytes here, number = {0};
    for (; i + WIDTH <= end; i += WIDTH) {
      memcpy(&here, p->data + i, sizeof here);
      number -= (bytes)(here == value); /* all bits are set where they are equal */
    }
    for (int k = 0; k < WIDTH; k++) sum += number[k];
  }
  for (; i < p->count; i++) sum += p->data[i] == value;
  return sum;
}

/** Count all bytes of a block that has so many values in a sample. */
static void count_all(struct block *p, size_t values) {
  enum { FEW = 8 };
  size_t left = p->count;
  for (int v = 0; v < VALUES && values <= FEW; v++)
    if (p->number[v] > 0) left -= p->number[v] = count_value(p, (unsigned char)v);
  if (left > 0) (void)count_bytes(p, 1); /* there are more values than these, or many */
}

/** Find how often symbols are to be expected. Where there are many values, a sample tells, and any other value may
 * occur. Where there are few, all bytes are counted, and runs are looked for if the sample has some. */
static void survey(struct block *p) {
  enum { STEP = 4, LEAST = 1 << 11, MANY = 64, WEIGHT = 8, RARE = 1, RUNS = 32 };
  const bool sampled = p->count >= LEAST;
  const size_t alike = count_bytes(p, sampled ? STEP : 1);
  size_t values = 0;
  for (int v = 0; v < VALUES; v++) values += p->number[v] > 0;
  p->runs = 0;
  if (sampled && values >= MANY) {
    for (int v = 0; v < VALUES; v++) p->number[v] = WEIGHT * p->number[v] + RARE;
    return;
  }
  if (sampled) count_all(p, values);
  if (!sampled || alike * RUNS * RUN_SEEN * STEP >= p->count) find_runs(p);
}

/** Whether codes leave most of the bytes of a block. */
static bool is_noise(const struct block *p, size_t bits) {
  const size_t head = 200, noise = 97; /* bytes; percent */
  size_t all = 0;
  for (int v = 0; v < VALUES; v++) all += p->number[v];
  return p->runs == 0 && bits / 8 * 100 / all + head * 100 / p->count > noise;
}

#endif
