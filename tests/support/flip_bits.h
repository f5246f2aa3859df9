/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that damage files. */
#ifndef PHOTONS_TESTS_FLIP_BITS_H
#define PHOTONS_TESTS_FLIP_BITS_H

#include <stdio.h>
#include <string.h>

/** Flip bits of a byte of a file; the same call again undoes it. */
static inline void flip_bits(const char *path, long offset, int bits) {
  FILE *file = fopen(path, "r+b");
  fseek(file, offset, SEEK_SET);
  const int byte = fgetc(file);
  fseek(file, offset, SEEK_SET);
  fputc(byte ^ bits, file);
  fclose(file);
}

/** Exchange @p size bytes of a file at @p offset with those in @p bytes. */
static inline void exchange_bytes(const char *path, long offset, void *bytes, size_t size) {
  unsigned char before[4096] = {0};
  FILE *file = fopen(path, "r+b");
  fseek(file, offset, SEEK_SET);
  const size_t there_is = fread(before, 1, size, file);
  fseek(file, offset, SEEK_SET);
  fwrite(bytes, 1, there_is, file);
  fclose(file);
  memcpy(bytes, before, size);
}

#endif
