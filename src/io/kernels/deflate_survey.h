/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often symbols are to be expected in a block. For deflate_planes.c. */
#ifndef PHOTONS_DEFLATE_SURVEY_H
#define PHOTONS_DEFLATE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "deflate_block.h"

/** Bytes that have been counted. Each of four tables has every fourth one, so that equal bytes do not wait for each other. */
struct counts {
  uint16_t part[4][VALUES];
  size_t eights; /* of bytes */
};

static inline void count_eight(struct counts *c, const unsigned char *data) {
  for (size_t k = 0; k < 8; k++) c->part[k % 4][data[k]]++;
}

/** Count eights of the bytes of a block, one of `step` from the `first` one on. */
static inline void count_eights(const struct block *p, size_t first, size_t step,
                                struct counts *c) {
  for (size_t i = 8 * first; i + 8 <= p->count; i += 8 * step, c->eights++)
    count_eight(c, p->data + i);
}

/** How many eights, one of `step`, repeat one byte. */
static size_t count_alike(const struct block *p, size_t step) {
  size_t alike = 0;
  for (size_t i = 0; i + 8 <= p->count; i += 8 * step) {
    uint64_t eight;
    memcpy(&eight, p->data + i, sizeof eight);
    alike += eight == (eight << 8 | eight >> 56);
  }
  return alike;
}

/** How often each byte has been counted. */
static void add_parts(const struct counts *c, uint32_t number[VALUES]) {
  for (int v = 0; v < VALUES; v++)
    number[v] = (uint32_t)c->part[0][v] + c->part[1][v] + c->part[2][v] + c->part[3][v];
}

/** Count all bytes. */
static void count_bytes(struct block *p) {
  struct counts c = {0};
  count_eights(p, 0, 1, &c);
  for (size_t i = p->count / 8 * 8; i < p->count; i++) c.part[0][p->data[i]]++;
  add_parts(&c, p->number);
}

#ifdef __AVX2__
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef unsigned char bytes __attribute__((vector_size(WIDTH)));

enum {
  FEW = 16,
  TOGETHER = 4
}; /* values that are counted one by one, and several of these in one pass */

static inline uint32_t sum_of(bytes number) {
  uint32_t sum = 0;
  for (int k = 0; k < WIDTH; k++) sum += number[k];
  return sum;
}

/** Count the bytes of a block that are one of four values. */
static void count_four(struct block *p, const unsigned char value[TOGETHER],
                       uint32_t number[TOGETHER]) {
  enum { MOST = 255 * WIDTH }; /* bytes that a vector of bytes can count */
  size_t i = 0;
  while (i + WIDTH <= p->count) {
    const size_t end = p->count - i < MOST ? p->count : i + MOST;
    bytes here, n[TOGETHER] = {{0}};
    for (; i + WIDTH <= end; i += WIDTH) {
      memcpy(&here, p->data + i, sizeof here);
      for (int k = 0; k < TOGETHER; k++)
        n[k] -= (bytes)(here == value[k]); /* all bits are set where they are equal */
    }
    for (int k = 0; k < TOGETHER; k++) number[k] += sum_of(n[k]);
  }
  for (; i < p->count; i++)
    for (int k = 0; k < TOGETHER; k++) number[k] += p->data[i] == value[k];
}

/** Count the bytes that are none of a few values, of which there are so many. */
static void count_others(struct block *p, size_t values, const unsigned char *value, size_t left) {
  bool listed[VALUES] = {false};
  for (size_t k = 0; k < values; k++) listed[value[k]] = true;
  for (size_t i = 0, n; left > 0; i += n) {
    n = p->count - i < WIDTH ? p->count - i : WIDTH;
    if (n == WIDTH) {
      bytes here, found = {0};
      uint64_t part[WIDTH / 8], all = ~UINT64_C(0);
      memcpy(&here, p->data + i, sizeof here);
      for (size_t k = 0; k < values; k++) found |= (bytes)(here == value[k]);
      memcpy(part, &found, sizeof part);
      for (size_t k = 0; k < WIDTH / 8; k++) all &= part[k];
      if (!~all) continue;
    }
    for (size_t k = 0; k < n; k++) {
      const bool other = !listed[p->data[i + k]];
      p->number[p->data[i + k]] += other;
      left -= other;
    }
  }
}

/** Count all bytes of a block of which a sample has few values. @param sample  how often it has each one */
static void count_few(struct block *p, const uint32_t sample[VALUES]) {
  unsigned char value[FEW + TOGETHER];
  size_t values = 0, left = p->count;
  for (int v = 0; v < VALUES; v++)
    if (sample[v] > 0) value[values++] = (unsigned char)v;
  for (size_t k = values; k % TOGETHER > 0; k++) value[k] = value[0];
  for (size_t first = 0; first < values; first += TOGETHER) {
    uint32_t number[TOGETHER] = {0};
    count_four(p, value + first, number);
    for (size_t k = 0; k < TOGETHER && first + k < values; k++)
      left -= p->number[value[first + k]] = number[k];
  }
  if (left > 0) count_others(p, values, value, left);
}

/** Whether two bytes of a sample are equal nearly as seldom as those of noise. No code is shorter than minus the logarithm of the
 * probability that two bytes are equal, so that codes leave 0.96 of such a block or more. */
static bool is_even(const struct counts *c) {
  const double most = 1.25; /* of noise 1.00 +- 0.02 in 1024 bytes */
  uint32_t number[VALUES], pairs = 0;
  const uint32_t all = (uint32_t)c->eights * 8;
  add_parts(c, number);
  for (int v = 0; v < VALUES; v++) pairs += number[v] * number[v];
  return (double)(pairs - all) * VALUES < most * all * (all - 1);
}

/** Find how often symbols are to be expected. Where there are many values, a sample tells, and any other value may
 * occur. Where there are few, all bytes are counted, and runs are looked for if eights of equal bytes are 1/32 of the sample or more.
 * @return false where the block is noise, which a smaller sample tells */
static bool survey(struct block *p) {
  enum { STEP = 4, SMALLER = 4, LEAST = 1 << 11, MANY = 64, WEIGHT = 8, RARE = 1, RUNS = 32 };
  struct counts c = {0};
  uint32_t number[VALUES];
  size_t values = 0;
  p->runs = 0;
  memset(p->number, 0, sizeof p->number);
  p->number[END] = 1;
  if (p->count < LEAST) {
    count_bytes(p);
    find_runs(p);
    return true;
  }
  count_eights(p, 0, STEP * SMALLER, &c);
  if (p->count == BLOCK && is_even(&c)) return false;
  for (size_t k = 1; k < SMALLER; k++) count_eights(p, k * STEP, STEP * SMALLER, &c);
  add_parts(&c, number);
  for (int v = 0; v < VALUES; v++) values += number[v] > 0;
  if (values >= MANY) {
    for (int v = 0; v < VALUES; v++) p->number[v] = WEIGHT * number[v] + RARE;
    return true;
  }
  if (values <= FEW)
    count_few(p, number);
  else
    count_bytes(p);
  if (count_alike(p, STEP) * RUNS * RUN_SEEN * STEP >= p->count) find_runs(p);
  return true;
}

/** Whether codes leave so many bytes of a block that they are not worth their time. */
static bool is_noise(const struct block *p, size_t bits) {
  const size_t head = 200, noise = 95; /* bytes; percent */
  size_t all = 0;
  for (int v = 0; v < VALUES; v++) all += p->number[v];
  return p->runs == 0 && bits / 8 * 100 / all + head * 100 / p->count > noise;
}

#endif
