/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bispectrum. With D_s(x) the sum of delta_k exp(i k x) over the modes of shell s, and I_s(x) the sum of
 * exp(i k x), the sums over all triangles of shells a, b and c are means over the mesh: of delta delta delta
 * that of D_a D_b D_c, and of 1 that of I_a I_b I_c. */
#include <math.h>
#include <stdlib.h>

#include "density_modes.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "photons/cosmology/linear_statistics.h"
#include "photons/runtime/exact_sums.h"
#include "photons/runtime/loop.h"
#include "power_points.h"
#include "statistics.h"

#define FIRST_EDGE 1.0 /* of the first shell, in fundamental modes */
#define SHELL_RATIO 1.2
#define LONG_EDGE 3.0 /* end of the shell of the long side of squeezed triangles */
#define SQUEEZED 4.0  /* least ratio of the other sides to it */

/** Modes low <= |k| < high. */
struct shell {
  double low, high; /* in fundamental modes */
  double k, power;  /* means */
  double *density;  /* D_s where fft.values says, or NULL */
  double *number;   /* I_s */
};

/* A shell's modes. */

struct selection {
  const struct density_modes *modes;
  const struct shell *shell;
  double *density, *number;
  struct exact_sums sums; /* modes, |k|, |delta|^2 */
};

static void select_mode(const struct selection *s, size_t x, size_t line, size_t z,
                        struct exact_sum *sums) {
  const struct fft_box *b = &s->modes->fft.modes;
  const size_t n = s->modes->fft.size[0], k2 = b->first[2] + z;
  const double k[2] = {fft_frequency(x, n), fft_frequency(b->first[1] + line, n)};
  const double size = sqrt(k[0] * k[0] + k[1] * k[1] + (double)(k2 * k2));
  if (size < s->shell->low || size >= s->shell->high) return;
  const size_t at = fft_at(b, x, line, z);
  const double *mode = mode_at(s->modes->memory, at), weight = k2 == 0 ? 0.5 : 1.0;
  double *to = mode_at(s->density, at);
  to[0] = mode[0];
  to[1] = mode[1];
  *mode_at(s->number, at) = 1.0;
  exact_add(&sums[0], weight);
  exact_add(&sums[1], weight * size);
  exact_add(&sums[2], weight * (mode[0] * mode[0] + mode[1] * mode[1]));
}

static void select_part(void *context, uint32_t part) {
  const struct selection *s = context;
  const struct fft_box *b = &s->modes->fft.modes;
  const size_t rows = b->count[0] * b->count[1], end = block_first(rows, s->sums.parts, part + 1);
  for (size_t i = block_first(rows, s->sums.parts, part); i < end; i++)
    for (size_t z = 0; z < b->count[2]; z++)
      select_mode(s, i / b->count[1], i % b->count[1], z, exact_sums_of(&s->sums, part));
}

static struct shell shell_create(const struct density_modes *modes, double low, double high) {
  const struct fft *f = &modes->fft;
  struct shell s = {.low = low, .high = high};
  double total[3];
  s.density = density_modes_memory(f);
  s.number = density_modes_memory(f);
  struct selection selection = {modes, &s, s.density, s.number,
                                exact_sums_create(3, f->modes.count[0] * f->modes.count[1])};
  loop_run(&power_spectrum_stage, selection.sums.parts, select_part, &selection);
  exact_sums_finish(&selection.sums, total);
  s.k = 2.0 * M_PI / modes->box * total[1] / total[0];
  s.power = pow(modes->box, 3.0) * total[2] / total[0];
  fft_backward(f, s.density);
  fft_backward(f, s.number);
  return s;
}

static void shell_free(struct shell *s) {
  fftw_free(s->density);
  fftw_free(s->number);
}

/* Triangles. */

struct products {
  const struct fft *fft;
  const struct shell *side[3];
  struct exact_sums sums; /* D D D, I I I */
};

/** A row along axis 2, which is whole on any rank, is added up as it comes. */
static void multiply_row(const struct products *p, size_t x, size_t y, struct exact_sum *sums) {
  const struct fft_box *b = &p->fft->values;
  const struct shell *const *s = p->side;
  double density = 0.0, number = 0.0;
  for (size_t z = 0; z < b->count[2]; z++) {
    const size_t at = fft_at(b, x, y, z);
    density += s[0]->density[at] * s[1]->density[at] * s[2]->density[at];
    number += s[0]->number[at] * s[1]->number[at] * s[2]->number[at];
  }
  exact_add(&sums[0], density);
  exact_add(&sums[1], number);
}

static void multiply_part(void *context, uint32_t part) {
  const struct products *p = context;
  const struct fft_box *b = &p->fft->values;
  const size_t rows = b->count[0] * b->count[1], end = block_first(rows, p->sums.parts, part + 1);
  for (size_t i = block_first(rows, p->sums.parts, part); i < end; i++)
    multiply_row(p, i / b->count[1], i % b->count[1], exact_sums_of(&p->sums, part));
}

/** @return whether there are triangles */
static bool measure(const struct density_modes *modes, const struct shell *a, const struct shell *b,
                    struct bispectrum_bin *bin) {
  const struct fft *f = &modes->fft;
  struct products p = {.fft = f,
                       .side = {a, b, b},
                       .sums = exact_sums_create(2, f->values.count[0] * f->values.count[1])};
  double total[2];
  loop_run(&power_spectrum_stage, p.sums.parts, multiply_part, &p);
  exact_sums_finish(&p.sums, total);
  const double cells = pow((double)f->size[0], 3.0);
  bin->triangles = round(total[1] / cells);
  if (!(bin->triangles > 0.0)) return false;
  bin->bispectrum = pow(modes->box, 6.0) * total[0] / cells / bin->triangles;
  for (int side = 0; side < 3; side++) {
    bin->k[side] = p.side[side]->k;
    bin->power[side] = p.side[side]->power;
    bin->low[side] = p.side[side]->low;
    bin->high[side] = p.side[side]->high;
  }
  return true;
}

/** The end of the shell that begins at @p low. */
static double shell_end(double low) { return fmax(low + 1.0, SHELL_RATIO * low); }

struct bispectrum_bin *bispectrum_measure(const struct density_modes *modes, size_t *count) {
  const double last = (double)modes->fft.size[0] / 3.0;
  size_t shells = 0, squeezed = 0;
  for (double low = FIRST_EDGE; shell_end(low) <= last; low = shell_end(low)) shells++;
  struct bispectrum_bin *bin = allocate(2 * shells, sizeof *bin, "bispectrum"),
                        *of_long = allocate(shells, sizeof *of_long, "bispectrum");
  struct shell far = shell_create(modes, FIRST_EDGE, LONG_EDGE);
  *count = 0;
  for (double low = FIRST_EDGE; shell_end(low) <= last; low = shell_end(low)) {
    struct shell s = shell_create(modes, low, shell_end(low));
    *count += measure(modes, &s, &s, &bin[*count]);
    if (s.k >= SQUEEZED * far.k) squeezed += measure(modes, &far, &s, &of_long[squeezed]);
    shell_free(&s);
  }
  for (size_t i = 0; i < squeezed; i++) bin[(*count)++] = of_long[i];
  shell_free(&far);
  free(of_long);
  return bin;
}

/* Theory. */

/** Shells that end here, in fundamental modes, have few waves, which are counted. */
enum { EXACT_EDGE = 4, LENGTHS = 16, ANGLES = 64, NODES = EXACT_EDGE * EXACT_EDGE };

/** Lengths of the waves of a shell, and how many waves each stands for. */
struct nodes {
  double k[NODES], weight[NODES];
  size_t count;
};

/** By the squares of the lengths, which are whole. */
static void count_waves(struct nodes *n, double low, double high) {
  const int most = EXACT_EDGE - 1, side = 2 * most + 1;
  n->count = NODES;
  for (int i = 0; i < NODES; i++) n->k[i] = sqrt((double)i);
  for (int i = 0; i < side * side * side; i++) {
    const int x = i / side / side - most, y = i / side % side - most, z = i % side - most,
              square = x * x + y * y + z * z;
    if (square < NODES && n->k[square] >= low && n->k[square] < high) n->weight[square]++;
  }
}

static struct nodes nodes_of(double low, double high) {
  struct nodes n = {.count = LENGTHS};
  if (high <= EXACT_EDGE) {
    count_waves(&n, low, high);
    return n;
  }
  for (int i = 0; i < LENGTHS; i++) {
    n.k[i] = low + (high - low) * (i + 0.5) / LENGTHS;
    n.weight[i] = n.k[i] * n.k[i];
  }
  return n;
}

static double mean_power(const struct linear_theory *linear, double unit, const struct nodes *n) {
  double sum = 0.0, norm = 0.0;
  for (size_t i = 0; i < n->count; i++) {
    if (n->weight[i] > 0.0) sum += n->weight[i] * linear_theory_power(linear, unit * n->k[i]);
    norm += n->weight[i];
  }
  return sum / norm;
}

/** Add the triangles of two lengths, whose angle is random. @param sums  of B, of 1 */
static void add_triangles(const struct linear_theory *linear, double unit, const double k[2],
                          double weight, const struct bispectrum_bin *bin, double sums[2]) {
  for (int i = 0; i < ANGLES; i++) {
    const double cosine = 2.0 * (i + 0.5) / ANGLES - 1.0;
    const double third = sqrt(k[0] * k[0] + k[1] * k[1] + 2.0 * k[0] * k[1] * cosine);
    if (third < bin->low[2] || third >= bin->high[2]) continue;
    const double sides[3] = {unit * k[0], unit * k[1], unit * third};
    sums[0] += weight * linear_theory_bispectrum(linear, sides);
    sums[1] += weight;
  }
}

struct bispectrum_theory bispectrum_theory_of(const struct linear_theory *linear, double box,
                                              const struct bispectrum_bin *bin) {
  struct bispectrum_theory theory = {.bispectrum = 0.0};
  struct nodes side[3];
  double sums[2] = {0.0};
  const double unit = 2.0 * M_PI / box;
  for (int s = 0; s < 3; s++) {
    side[s] = nodes_of(bin->low[s], bin->high[s]);
    theory.power[s] = mean_power(linear, unit, &side[s]);
  }
  for (size_t i = 0; i < side[0].count; i++)
    for (size_t j = 0; j < side[1].count; j++) {
      const double weight = side[0].weight[i] * side[1].weight[j];
      if (weight > 0.0)
        add_triangles(linear, unit, (double[]){side[0].k[i], side[1].k[j]}, weight, bin, sums);
    }
  theory.bispectrum = sums[1] > 0.0 ? sums[0] / sums[1] : 0.0;
  return theory;
}

void bispectrum_write(const char *path, const struct bispectrum_bin *bins, size_t count,
                      const struct statistics_state *state) {
  struct output_text text;
  FILE *file = output_text_begin(&text);
  statistics_head(file,
                  "bispectrum of matter as measured: first of equilateral triangles, then of "
                  "squeezed ones with a long wave k1",
                  state);
  fprintf(file,
          "# Q = B/(P1 P2 + P2 P3 + P3 P1), with the power of these waves; Btree, Qtree: "
          "second-order perturbation theory, f_nl = %g\n",
          state->linear.f_nl);
  fprintf(file,
          "# k1[h/Mpc] k2[h/Mpc] k3[h/Mpc] B[(Mpc/h)^6] Ntriangles Btree[(Mpc/h)^6] Q Qtree\n");
  for (size_t i = 0; i < count; i++) {
    const struct bispectrum_bin *b = &bins[i];
    const struct bispectrum_theory theory = bispectrum_theory_of(&state->linear, state->box, b);
    const double tree = theory.bispectrum, norm = cyclic_products(b->power),
                 linear_norm = cyclic_products(theory.power);
    fprintf(file, "%.7e %.7e %.7e %.7e %.0f %.7e %.7e %.7e\n", b->k[0], b->k[1], b->k[2],
            b->bispectrum, b->triangles, tree, norm > 0.0 ? b->bispectrum / norm : 0.0,
            linear_norm > 0.0 ? tree / linear_norm : 0.0);
  }
  output_text_save(&text, path);
}
