/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mesh stages: the CPU's results are the input of the next stage on both. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "tests/gpu/bench.h"
#include "tests/gpu/checks.h"

struct mesh_arrays {
  float **slab, **slab_out;           /* host, device: [set][field][slab] */
  float complex **block, **block_out; /* [set][field][slab][column] */
  float **patch, **patch_out;         /* [set][group] */
};

static void check_density(const struct bench *b, struct mesh_arrays *a, struct difference *assign,
                          struct difference *add, struct difference *transform) {
  const struct nbody *s = b->s;
  const struct mesh *m = s->long_range.mesh;
  const struct patch *patches[s->domain.group_count];
  void *fft = allocate(mesh_scratch_bytes(m), 1, "FFT scratch");
  for (uint32_t set = 0; set < s->long_range.sets; set++) {
    for (uint32_t g = 0; g < s->domain.group_count; g++) {
      const struct patch *q = &s->long_range.met.cells[g].patch;
      const size_t cells = (size_t)q->size[0] * q->size[1] * q->size[2];
      float *cpu = allocate(cells, sizeof *cpu, "patch"),
            *gpu = allocate(cells, sizeof *gpu, "patch"), *out = device_memory(cells * sizeof *out);
      s->long_range.kernels->deposit(
          m, s->domain.groups[g].count, particles_block(&s->domain.particles, g).x[0],
          particles_block(&s->domain.particles, g).relative_mass, set == 1, q, cpu);
      gpu_deposit(b->mesh, s->domain.groups[g].count, position_on_device(b, g),
                  masses_on_device(b, g), set == 1, q, out);
      to_host(b, gpu, out, cells * sizeof *gpu);
      compare(assign, cpu, gpu, cells);
      CUDA(cudaMemcpy(out, cpu, cells * sizeof *out, cudaMemcpyHostToDevice));
      patches[g] = q;
      a->patch[g] = cpu;
      a->patch_out[g] = out;
      free(gpu);
    }
    for (uint32_t slab = 0; slab < m->slabs; slab++) {
      const size_t k = slab_row(&s->long_range, set, 0, slab),
                   planes = slab_first(m, slab + 1) - slab_first(m, slab),
                   floats = planes * plane_floats(m);
      memset(a->slab[k], 0, floats * sizeof(float));
      for (uint32_t g = 0; g < s->domain.group_count; g++)
        s->long_range.kernels->patch_add(m, slab, patches[g], a->patch[g], a->slab[k]);
      gpu_patch_add(b->mesh, slab, s->domain.group_count, patches,
                    (const float *const *)a->patch_out, a->slab_out[k]);
      float *gpu = allocate(floats, sizeof *gpu, "slab");
      to_host(b, gpu, a->slab_out[k], floats * sizeof *gpu);
      for (size_t row = 0; row < planes * m->cells; row++) {
        const size_t at = row / m->cells * plane_floats(m) + row % m->cells * m->row;
        compare(add, a->slab[k] + at, gpu + at, m->cells);
      }
      free(gpu);
      CUDA(cudaMemcpy(a->slab_out[k], a->slab[k], floats * sizeof(float), cudaMemcpyHostToDevice));
      const size_t row = block_row(&s->long_range, set, 0, slab, 0);
      mesh_fft_yz(m, slab, a->slab[k], a->block + row, fft);
      gpu_fft_yz(b->mesh, slab, a->slab_out[k], a->block_out + row);
      for (uint32_t c = 0; c < m->columns; c++) {
        const size_t size = block_size(m, slab, c);
        float complex *back = allocate(size, sizeof *back, "block");
        to_host(b, back, a->block_out[row + c], size * sizeof *back);
        compare(transform, (float *)a->block[row + c], (float *)back, 2 * size);
        CUDA(cudaMemcpy(a->block_out[row + c], a->block[row + c], size * sizeof *back,
                        cudaMemcpyHostToDevice));
        free(back);
      }
    }
    for (uint32_t g = 0; g < s->domain.group_count; g++) {
      free(a->patch[g]);
      CUDA(cudaFree(a->patch_out[g]));
    }
  }
  free(fft);
}

/* The sum of a ky over all kz. */
static double sum_of_kz(const struct mesh *m, const double *energy, uint32_t ky) {
  double sum = 0.0;
  for (size_t z = 0; z < m->kzs; z++) sum += energy[ky * m->kzs + z];
  return sum;
}

static void check_fields(const struct bench *b, struct mesh_arrays *a, struct difference *green,
                         struct difference *potential, struct difference *inverse) {
  const struct nbody *s = b->s;
  const struct mesh *m = s->long_range.mesh;
  void *fft = allocate(mesh_scratch_bytes(m), 1, "FFT scratch");
  const size_t rows = s->long_range.sets * m->spectra * m->slabs,
               slabs = s->long_range.sets * m->fields * m->slabs;
  for (uint32_t c = 0; c < m->columns; c++) {
    float complex *out[rows], *out_gpu[rows]; /* NOLINT(clang-analyzer-core.VLASize): there are
                                                 rows */
    const float complex *in[s->long_range.sets * m->slabs], *in_gpu[s->long_range.sets * m->slabs];
    for (uint32_t i = 0; i < rows; i++) {
      out[i] = a->block[i * m->columns + c];
      out_gpu[i] = a->block_out[i * m->columns + c];
    }
    for (uint32_t set = 0; set < s->long_range.sets; set++)
      for (uint32_t slab = 0; slab < m->slabs; slab++) {
        in[set * m->slabs + slab] = a->block[block_row(&s->long_range, set, 0, slab, c)];
        in_gpu[set * m->slabs + slab] = a->block_out[block_row(&s->long_range, set, 0, slab, c)];
      }
    const uint32_t width = column_first(m, c + 1) - column_first(m, c);
    const size_t sums = (size_t)width * m->kzs;
    double *energy = allocate(sums, 2 * sizeof *energy, "sums of potentials"), *energy_gpu;
    CUDA(cudaMalloc((void **)&energy_gpu, sums * sizeof *energy));
    mesh_fft_x(m, c, column_kys(m, c), in, out, energy, fft);
    gpu_fft_x(b->mesh, c, in_gpu, out_gpu, energy_gpu);
    to_host(b, energy + sums, energy_gpu, sums * sizeof *energy);
    for (uint32_t i = 0; i < width; i++)
      compare_one(potential, sum_of_kz(m, energy, i), sum_of_kz(m, energy + sums, i));
    CUDA(cudaFree(energy_gpu));
    free(energy);
    for (uint32_t i = 0; i < rows; i++) {
      const size_t size = block_size(m, i % m->slabs, c);
      float complex *back = allocate(size, sizeof *back, "block");
      to_host(b, back, out_gpu[i], size * sizeof *back);
      compare(green, (float *)out[i], (float *)back, 2 * size);
      CUDA(cudaMemcpy(out_gpu[i], out[i], size * sizeof *back, cudaMemcpyHostToDevice));
      free(back);
    }
  }
  for (uint32_t i = 0; i < slabs; i++) {
    const uint32_t slab = i % m->slabs, field = i / m->slabs % m->fields,
                   set = i / m->slabs / m->fields;
    const size_t block = block_row(&s->long_range, set, spectrum_of_field(field), slab, 0);
    const size_t planes = slab_first(m, slab + 1) - slab_first(m, slab),
                 floats = planes * plane_floats(m);
    mesh_ifft_yz(m, slab, field, (const float complex *const *)a->block + block, a->slab[i], fft);
    gpu_ifft_yz(b->mesh, slab, field, (const float complex *const *)a->block_out + block,
                a->slab_out[i]);
    float *gpu = allocate(floats, sizeof *gpu, "slab");
    to_host(b, gpu, a->slab_out[i], floats * sizeof *gpu);
    for (size_t row = 0; row < planes * m->cells; row++) {
      const size_t at = row / m->cells * plane_floats(m) + row % m->cells * m->row;
      compare(inverse, a->slab[i] + at, gpu + at, m->cells + 4);
    }
    CUDA(cudaMemcpy(a->slab_out[i], a->slab[i], floats * sizeof(float), cudaMemcpyHostToDevice));
    free(gpu);
  }
  free(fft);
}

/** The fields of a set, on the host and on the device. */
struct both_fields {
  uint32_t set;
  struct field_view host, device;
};

static void compare_reads(const struct bench *b, const struct both_fields *f, uint32_t count,
                          const uint32_t *x, const uint32_t *x_on_device, bool whole,
                          struct difference *read) {
  const struct long_range *l = &b->s->long_range;
  const size_t n = 3 * (size_t)count;
  float *cpu = allocate(n, sizeof *cpu, "accelerations"),
        *gpu = allocate(n, sizeof *gpu, "accelerations"), *out = to_device(cpu, n * sizeof *cpu);
  l->kernels->read(l->mesh, count, x, f->set == 1, l->factor, &f->host, cpu);
  gpu_read(b->mesh, count, x_on_device, f->set == 1, l->factor, &f->device, whole, out);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare(read, cpu, gpu, n);
  free(cpu);
  free(gpu);
  CUDA(cudaFree(out));
}

/* Particles of a node at two places, half a box apart along some axes, but for two cells more or less. A tile that
 * holds both may go either way around the box. */
static void check_apart(const struct bench *b, const struct both_fields *f,
                        struct difference *read) {
  enum { COUNT = 128 };
  const uint32_t cells = b->s->long_range.mesh->cells;
  const double cell = (double)POSITION_TURN / cells;
  uint32_t x[3 * COUNT];
  for (uint32_t axes = 1; axes < 8; axes++)
    for (int more = -2; more <= 2; more++) {
      for (uint32_t i = 0; i < 3 * COUNT; i++) {
        const uint32_t axis = i / COUNT, there = (axes >> axis & 1) * (i % 2);
        const double at = 0.37 * i - floor(0.37 * i) + there * (0.5 * cells + more);
        x[i] = (uint32_t)(uint64_t)((cells - 3.0 + at) * cell); /* around the end of the box */
      }
      uint32_t *x_on_device = to_device(x, sizeof x);
      compare_reads(b, f, COUNT, x, x_on_device, true, read);
      CUDA(cudaFree(x_on_device));
    }
}

/* Particles of a node at both ends of a group that is nearly as wide as the box. Planes outside of the group are not there,
 * and no tile leads through them. */
static void check_ends(const struct bench *b, const struct both_fields *f,
                       struct difference *read) {
  enum { COUNT = 128, OUTSIDE = 4, WIDTH = 4 };
  const struct mesh *m = b->s->long_range.mesh;
  const uint32_t cells = m->cells, first = cells - 3, size = cells - OUTSIDE;
  const size_t planes = (size_t)m->fields * cells;
  const double cell = (double)POSITION_TURN / cells;
  const float **host = allocate(planes, sizeof *host, "planes");
  const float **device = allocate(planes, sizeof *device, "planes");
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < size; i++) {
      const size_t plane = (size_t)field * cells + (first + i) % cells;
      host[plane] = f->host.plane[plane];
      device[plane] = f->device.plane[plane];
    }
  struct both_fields inside = *f;
  inside.host.plane = host;
  inside.device.plane = device;
  inside.host.first[0] = inside.device.first[0] = first;
  inside.host.size[0] = inside.device.size[0] = size;
  uint32_t x[3 * COUNT];
  for (uint32_t i = 0; i < 3 * COUNT; i++) {
    const double part = 0.37 * i - floor(0.37 * i); /* clouds reach two cells to either side */
    const double at = i >= COUNT ? part : 2.0 + part + (i % 2) * (size - WIDTH - 2.0);
    x[i] = (uint32_t)(uint64_t)((first + at) * cell);
  }
  uint32_t *x_on_device = to_device(x, sizeof x);
  compare_reads(b, &inside, COUNT, x, x_on_device, false, read);
  CUDA(cudaFree(x_on_device));
  free(host);
  free(device);
}

static void check_read(const struct bench *b, const struct mesh_arrays *a, struct difference *read,
                       struct difference *apart, struct difference *ends) {
  const struct nbody *s = b->s;
  const struct mesh *m = s->long_range.mesh;
  const float **planes = allocate((size_t)m->fields * m->cells, sizeof *planes, "planes");
  const float **device_planes = allocate((size_t)m->fields * m->cells, sizeof *planes, "planes");
  for (uint32_t set = 0; set < s->long_range.sets; set++) {
    const struct both_fields f = {set, whole_planes(m->row, planes),
                                  whole_planes(m->row, device_planes)};
    for (uint32_t field = 0; field < m->fields; field++)
      for (uint32_t slab = 0; slab < m->slabs; slab++)
        for (uint32_t x = slab_first(m, slab); x < slab_first(m, slab + 1); x++) {
          const size_t plane = (size_t)field * m->cells + x,
                       k = slab_row(&s->long_range, set, field, slab);
          planes[plane] = a->slab[k] + (x - slab_first(m, slab)) * plane_floats(m);
          device_planes[plane] = a->slab_out[k] + (x - slab_first(m, slab)) * plane_floats(m);
        }
    for (uint32_t g = 0; g < s->domain.group_count; g++)
      compare_reads(b, &f, s->domain.groups[g].count, particles_block(&s->domain.particles, g).x[0],
                    position_on_device(b, g), g % 2 == 0, read);
    check_apart(b, &f, apart);
    if (m->gradient == GRADIENT_SPECTRAL) check_ends(b, &f, ends);
  }
  free(planes);
  free(device_planes);
}

/** Its mass over the mean mass. */
static double heaviest(const struct particles *s) {
  double most = 1.0;
  for (size_t i = 0; s->relative_mass && i < s->count; i++)
    most = fmax(most, (double)s->relative_mass[i]);
  return most;
}

void check_mesh(const struct bench *b) {
  const struct nbody *s = b->s;
  const struct mesh *m = s->long_range.mesh;
  const size_t slabs = (size_t)s->long_range.sets * m->fields * m->slabs,
               blocks = slabs * m->columns;
  struct mesh_arrays a = {
      .slab = allocate(slabs, sizeof *a.slab, "slabs"),
      .slab_out = allocate(slabs, sizeof *a.slab_out, "slabs"),
      .block = allocate(blocks, sizeof *a.block, "blocks"),
      .block_out = allocate(blocks, sizeof *a.block_out, "blocks"),
      .patch = allocate(s->domain.group_count, sizeof *a.patch, "patches"),
      .patch_out = allocate(s->domain.group_count, sizeof *a.patch_out, "patches")};
  for (size_t i = 0; i < slabs; i++) {
    const uint32_t slab = (uint32_t)(i % m->slabs);
    const size_t floats = (slab_first(m, slab + 1) - slab_first(m, slab)) * plane_floats(m);
    a.slab[i] = allocate(floats, sizeof(float), "slab");
    a.slab_out[i] = device_memory(floats * sizeof(float));
    for (uint32_t c = 0; c < m->columns; c++) {
      a.block[i * m->columns + c] = allocate(block_size(m, slab, c), sizeof(float complex),
                                             "block");
      a.block_out[i * m->columns + c] = device_memory(block_size(m, slab, c) *
                                                      sizeof(float complex));
    }
  }
  struct difference assign = {"pm_assign", 0, 0, 0}, add = {"patch_add", 0, 0, 0},
                    transform = {"fft_yz", 0, 0, 0}, green = {"fft_x", 0, 0, 0},
                    potential = {"fft_x potential", 0, 0, 0}, inverse = {"ifft_yz", 0, 0, 0},
                    read = {"pm_read", 0, 0, 0}, apart = {"pm_read, half a box apart", 0, 0, 0},
                    ends = {"pm_read, ends of a wide group", 0, 0, 0};
  check_density(b, &a, &assign, &add, &transform);
  check_fields(b, &a, &green, &potential, &inverse);
  check_read(b, &a, &read, &apart, &ends);
  /* Weights are rounded to a fixed part of the heaviest particle, while the mass of a cell falls with the cell. */
  report(&assign, 1e-6 * heaviest(&s->domain.particles) *
                      fmax(1.0, sqrt(pow(m->cells, 3.0) / (double)s->domain.particles.count)));
  report(&add, 1e-6);
  report(&transform, 1e-6);
  report(&green, 1e-6);
  report(&potential, 1e-6);
  report(&inverse, 1e-6);
  report(&read, 1e-6);
  report(&apart, 1e-6);
  if (m->gradient == GRADIENT_SPECTRAL) report(&ends, 1e-6);
  for (size_t i = 0; i < slabs; i++) {
    free(a.slab[i]);
    CUDA(cudaFree(a.slab_out[i]));
  }
  for (size_t i = 0; i < blocks; i++) {
    free(a.block[i]);
    CUDA(cudaFree(a.block_out[i]));
  }
  void *tables[] = {a.slab, a.slab_out, a.block, a.block_out, a.patch, a.patch_out};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) free(tables[i]);
}
