/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a split that P2P needs besides the polynomial, which is a kernel argument. */
#include <math.h>
#include <stdlib.h>

#include "cuda/tree/split.cuh"

/** h = -2 dH/du as a power series in t = 2u - 1 about u = 1/2, truncated at double precision. */
static void create_exact_series(struct gpu_split *s, const struct split *split) {
  double c[SPLIT_SERIES], largest = 0.0;
  int degree = SPLIT_SERIES - 2;
  for (int k = 0; k <= degree; k++) {
    c[k] = -4.0 * (k + 1) * split->middle[k + 1];
    largest = fmax(largest, fabs(c[k]));
  }
  while (degree > 0 && fabs(c[degree]) < 1e-17 * largest) degree--;
  s->exact_degree = degree;
  s->exact = device_copy(c, (size_t)degree + 1);
}

static void create_paper_table(struct gpu_split *s, const struct split *split) {
  float *rows = (float *)allocate((TABLE_ORDER_MAX + 1) * TABLE_ENTRIES, sizeof *rows,
                                  "force table");
  for (int q = 0; q <= TABLE_ORDER_MAX; q++)
    for (int i = 0; i < TABLE_ENTRIES; i++) rows[q * TABLE_ENTRIES + i] = split->table[i][q];
  s->table = device_copy(rows, (TABLE_ORDER_MAX + 1) * TABLE_ENTRIES);
  free(rows);
}

struct gpu_split *gpu_split_create(const struct split *split) {
  struct gpu_split *s = (struct gpu_split *)allocate(1, sizeof *s, "tables of the split");
  create_exact_series(s, split);
  create_paper_table(s, split);
  return s;
}

void gpu_split_free(struct gpu_split *s) {
  if (!s) return;
  CHECK_CUDA(cudaFree(s->table));
  CHECK_CUDA(cudaFree(s->exact));
  free(s);
}
