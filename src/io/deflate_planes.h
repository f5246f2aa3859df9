/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deflate streams (RFC 1950, RFC 1951) of shuffled numbers. One byte of all numbers, a plane, is alike or is noise: planes of
 * noise are stored as they are, and the others have a Huffman code of their own and runs of equal bytes. libdeflate looks for
 * repeated strings in all planes, of which measured numbers have none, and takes longer (docs/results/lean-files.md). */
#ifndef PHOTONS_DEFLATE_PLANES_H
#define PHOTONS_DEFLATE_PLANES_H

#include <stddef.h>

/** Bytes that a stream of so many planes takes at most. */
size_t deflate_planes_bound(size_t planes, size_t count);

/**
 * Pack planes. Every reader of deflate's format reads the stream.
 * @param count     bytes of a plane, fewer than 2^24
 * @param data      [plane][count]
 * @param[out] out  has room for deflate_planes_bound()
 * @return bytes of the stream; 0: there is not enough memory
 */
size_t deflate_planes(size_t planes, size_t count, const unsigned char *data, unsigned char *out);

#endif
