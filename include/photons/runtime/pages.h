/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large memory that can go back to the operating system while its contents are not needed. It lies
 * in huge pages where the system has them. */
#ifndef PHOTONS_PAGES_H
#define PHOTONS_PAGES_H

#include <stddef.h>

struct pages {
  char *start; /**< aligned to 64 bytes; filled with zeros at first; NULL: empty */
  size_t bytes;
  void *mapped; /**< what pages_free() unmaps */
  size_t mapped_bytes;
};

/** A lack of memory ends the program. @param what  for the message */
struct pages pages_create(size_t bytes, const char *what);
/** Give the memory back. It may be used as before, but its contents are lost. */
void pages_rest(const struct pages *p);
void pages_free(struct pages *p);

#endif
