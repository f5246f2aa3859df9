/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed of the particle mesh on one core (processor time): ns a particle of deposit and read, ms of
 * the transforms. bench_mesh [CELLS...]: meshes (default 128 192 256), with (CELLS/2)^3 particles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "photons/base/error.h"
#include "photons/mesh/kernels.h"

enum { REPEATS = 5, GROUP_SIDE = 16 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double best(double a, double b) { return a < b ? a : b; }

static uint32_t random_bits(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 32);
}

/* Bits of i at every third place. */
static uint32_t compact(uint32_t i) {
  uint32_t r = 0;
  for (uint32_t b = 0; b < 4; b++) r |= (i >> (3 * b) & 1) << b;
  return r;
}

/* A group of GROUP_SIDE^3 particles of a perturbed grid in Morton order, like the particles of a
 * tree. */
static void make_group(uint32_t side, const uint32_t corner[3], uint64_t *random, uint32_t *x) {
  const uint32_t count = GROUP_SIDE * GROUP_SIDE * GROUP_SIDE;
  const double spacing = 4294967296.0 / side;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t c = 0; c < 3; c++)
      x[c * count + i] = (uint32_t)(int64_t)((corner[c] + compact(i >> c) +
                                              0.7 * (random_bits(random) * 0x1p-32 - 0.5)) *
                                             spacing);
}

static void bench(const struct mesh_kernels *kernels, uint32_t cells, enum assignment assignment,
                  enum gradient gradient, const char *name) {
  const uint32_t side = cells / 2 / GROUP_SIDE * GROUP_SIDE, groups_side = side / GROUP_SIDE;
  const uint32_t groups = groups_side * groups_side * groups_side,
                 count = GROUP_SIDE * GROUP_SIDE * GROUP_SIDE;
  const uint32_t slabs = 8;
  struct split split;
  split_init(&split, SPLIT_GAUSS, 1.2 / cells, 6.0 / cells, 9);
  struct mesh *m = mesh_create(cells, slabs, slabs, 1.0, assignment, gradient, false, &split);
  mesh_take_columns(m, 0, m->columns);
  uint32_t *x = allocate((size_t)groups * 3 * count, sizeof *x, "positions");
  float *acceleration = allocate(3 * (size_t)count, sizeof *acceleration, "accelerations");
  struct patch *patches = allocate(groups, sizeof *patches, "patches");
  uint64_t random = 1;
  size_t patch_size = 0;
  for (uint32_t g = 0; g < groups; g++) {
    const uint32_t corner[3] = {g / groups_side / groups_side * GROUP_SIDE,
                                g / groups_side % groups_side * GROUP_SIDE,
                                g % groups_side * GROUP_SIDE};
    make_group(side, corner, &random, x + (size_t)g * 3 * count);
    const double half = GROUP_SIDE / 2.0 * 4294967296.0 / side;
    uint32_t centre[3];
    for (int c = 0; c < 3; c++)
      centre[c] = (uint32_t)(int64_t)((corner[c] + 0.5 * (GROUP_SIDE - 1)) * 4294967296.0 / side);
    patches[g] = patch_for_box(m, centre, (const double[]){half, half, half});
    const size_t size = (size_t)patches[g].size[0] * patches[g].size[1] * patches[g].size[2];
    patch_size = size > patch_size ? size : patch_size;
  }
  float *patch = allocate(patch_size, sizeof *patch, "patch");
  float *slabs_memory = aligned_alloc(64, m->fields * cells * plane_floats(m) * sizeof(float));
  const size_t spectrum = (size_t)cells * cells * m->kz;
  float complex *blocks = aligned_alloc(64, (m->fields * spectrum * sizeof *blocks + 63) / 64 * 64);
  void *scratch = malloc(mesh_scratch_bytes(m));
  if (!slabs_memory || !blocks || !scratch) fail(EXIT_RUN_FAILED, "out of memory");
  for (size_t i = 0; i < m->fields * cells * plane_floats(m); i++) slabs_memory[i] = 0.0f;
  for (size_t i = 0; i < m->fields * spectrum; i++) blocks[i] = 0.0f;

  const float **planes = allocate((size_t)m->fields * cells, sizeof *planes, "planes");
  for (size_t i = 0; i < (size_t)m->fields * cells; i++)
    planes[i] = slabs_memory + i * plane_floats(m);
  float complex **block = allocate((size_t)m->fields * slabs * slabs, sizeof *block, "blocks");
  double *potential = allocate((size_t)cells * m->kz, sizeof *potential, "sums of potentials");
  float complex **of_column = allocate((size_t)m->fields * slabs, sizeof *of_column, "blocks");
  size_t at = 0;
  for (uint32_t f = 0; f < m->fields; f++)
    for (uint32_t s = 0; s < slabs; s++)
      for (uint32_t c = 0; c < slabs; c++) {
        block[(f * slabs + s) * slabs + c] = blocks + at;
        at += block_size(m, s, c);
      }

  double deposit = 1e9, add = 1e9, forward = 1e9, along_x = 1e9, backward = 1e9, read = 1e9;
  for (int r = 0; r < REPEATS; r++) {
    double t_deposit = 0, t_add = 0;
    for (size_t i = 0; i < cells * plane_floats(m); i++) slabs_memory[i] = 0.0f;
    for (uint32_t g = 0; g < groups; g++) {
      double t0 = seconds();
      kernels->deposit(m, count, x + (size_t)g * 3 * count, NULL, false, &patches[g], patch);
      double t1 = seconds();
      for (uint32_t s = 0; s < slabs; s++)
        kernels->patch_add(m, s, &patches[g], patch,
                           slabs_memory + slab_first(m, s) * plane_floats(m));
      t_deposit += t1 - t0;
      t_add += seconds() - t1;
    }
    deposit = best(deposit, t_deposit);
    add = best(add, t_add);
    double t0 = seconds();
    for (uint32_t s = 0; s < slabs; s++)
      mesh_fft_yz(m, s, slabs_memory + slab_first(m, s) * plane_floats(m), block + s * slabs,
                  scratch);
    double t1 = seconds();
    for (uint32_t c = 0; c < slabs; c++) {
      for (uint32_t s = 0; s < m->spectra * slabs; s++) of_column[s] = block[s * slabs + c];
      mesh_fft_x(m, c, column_kys(m, c), (const float complex *const *)of_column, of_column,
                 potential + (size_t)column_first(m, c) * m->kz, scratch);
    }
    double t2 = seconds();
    for (uint32_t f = 0; f < m->fields; f++)
      for (uint32_t s = 0; s < slabs; s++)
        mesh_ifft_yz(m, s, f,
                     (const float complex *const *)block +
                         (spectrum_of_field(f) * slabs + s) * slabs,
                     slabs_memory + (f * cells + slab_first(m, s)) * plane_floats(m), scratch);
    double t3 = seconds();
    const struct field_view view = whole_planes(m->row, planes);
    for (uint32_t g = 0; g < groups; g++)
      kernels->read(m, count, x + (size_t)g * 3 * count, false, 1.0f, &view, acceleration);
    forward = best(forward, t1 - t0);
    along_x = best(along_x, t2 - t1);
    backward = best(backward, t3 - t2);
    read = best(read, seconds() - t3);
  }
  const double particles = (double)groups * count;
  printf("%5u %-12s %8.1f %8.1f %8.1f %10.1f %8.1f %10.1f %8.1f\n", cells, name,
         1e9 * deposit / particles, 1e9 * add / particles, 1e9 * read / particles, 1e3 * forward,
         1e3 * along_x, 1e3 * backward, 1e3 * (forward + along_x + backward));
  free(of_column);
  free(potential);
  free(block);
  free(planes);
  free(scratch);
  free(blocks);
  free(slabs_memory);
  free(patch);
  free(patches);
  free(acceleration);
  free(x);
  mesh_free(m);
}

int main(int argc, char **argv) {
  const struct mesh_kernels *kernels = mesh_kernels_select();
  printf("%s kernels, one core\n", isa_name(isa_select()));
  printf("                   ns a particle                      ms\n");
  printf("cells scheme        deposit      add     read     fft yz    fft x    ifft yz      all\n");
  const char *defaults[] = {"128", "192", "256"};
  for (int i = 0; i < (argc > 1 ? argc - 1 : 3); i++) {
    const uint32_t cells = (uint32_t)strtoul(argc > 1 ? argv[i + 1] : defaults[i], NULL, 10);
    bench(kernels, cells, ASSIGN_PCS, GRADIENT_SPECTRAL, "pcs spectral");
    bench(kernels, cells, ASSIGN_PCS, GRADIENT_FD4, "pcs fd4");
    bench(kernels, cells, ASSIGN_TSC, GRADIENT_SPECTRAL, "tsc spectral");
    bench(kernels, cells, ASSIGN_CIC, GRADIENT_FD4, "cic fd4");
  }
  return 0;
}
