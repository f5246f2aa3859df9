/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deflate streams of shuffled numbers. One byte of all numbers, a plane, is alike or is noise: blocks of a plane that
 * are noise are stored as they are, and the others have a Huffman code of their own and runs of equal bytes. libdeflate
 * looks for repeated strings, of which measured numbers have none, and takes longer (docs/results/lean-files.md). */
#include <libdeflate.h>
#include <string.h>

#include "deflate_bits.h"
#include "deflate_block.h"
#include "deflate_coded.h"
#include "deflate_huffman.h"
#include "deflate_survey.h"
#include "photons/io/kernels.h"

static void put_block(struct bits *b, struct block *p) {
  if (!survey(p) || is_noise(p, find_lengths(p)))
    put_stored(b, p->count, p->data);
  else
    put_coded(b, p);
}

/** A plane, or what is left of it, of one value. */
static void put_equal(struct bits *b, struct block *p) {
  memset(p->number, 0, sizeof p->number);
  p->runs = 0;
  p->number[p->data[0]] = (uint32_t)p->count;
  p->number[END] = 1;
  if (p->count > RUN_LEAST) add_run(p, 1, p->count - 1);
  (void)find_lengths(p);
  put_coded(b, p);
}

static void put_plane(struct bits *b, struct block *p, size_t count, const unsigned char *data) {
  for (size_t first = 0; first < count; first += p->count) {
    const size_t left = count - first;
    p->data = data + first;
    p->count = left;
    if (memcmp(p->data, p->data + 1, left - 1) == 0) {
      put_equal(b, p);
    } else {
      if (left > BLOCK) p->count = BLOCK;
      put_block(b, p);
    }
  }
}

size_t KERNEL(deflate_planes)(size_t planes, size_t count, const unsigned char *data,
                              unsigned char *out) {
  struct block p;
  struct bits b = {.out = out};
  find_length_codes(p.of_length);
  put(&b, 0x0178, 16);
  for (size_t plane = 0; plane < planes; plane++) put_plane(&b, &p, count, data + plane * count);
  put(&b, 1, 3); /* the last block, stored and empty */
  fill_byte(&b);
  put(&b, 0xffff0000U, 32);
  flush(&b);
  put(&b, __builtin_bswap32(libdeflate_adler32(1, data, planes * count)), 32);
  flush(&b);
  return (size_t)(b.out - out);
}
