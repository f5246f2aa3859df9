/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damage to files. */
#ifndef PHOTONS_TESTS_FLIP_BITS_H
#define PHOTONS_TESTS_FLIP_BITS_H

#include <stdio.h>
#include <string.h>

/** Change bits of a byte of a file; the same change again takes it back. */
static inline void flip_bits(const char *path, long offset, int bits) {
  FILE *file = fopen(path, "r+b");
  fseek(file, offset, SEEK_SET);
  const int byte = fgetc(file);
  fseek(file, offset, SEEK_SET);
  fputc(byte ^ bits, file);
  fclose(file);
}

/** Put @p size bytes from @p bytes at @p offset, and what stood there into @p bytes. */
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
