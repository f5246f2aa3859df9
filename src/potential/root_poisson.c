/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of the root level, by Fourier transforms over the box: with the eigenvalues of the
 * discrete Laplacian where the box is periodic; else, in a box of twice the size, as the
 * convolution with the discrete Laplacian's Green function (Hockney & Eastwood 1981, section
 * 6-5-4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/amr/matter.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/potential/gravity.h"
#include "photons/potential/root_gpu.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/message.h"
#include "root_mesh.h"

#define PI 3.14159265358979323846

LOOP_STAGE(gas_root_potential, 0x117733, .family = "gas");

enum { NEAR = 12, NEAR_SIDE = 2 * NEAR + 1 }; /* cells in which the Green function is relaxed */

/** The root level's groups and its mesh. A rank sends its groups' planes to the ranks that have
 * these planes of the mesh, and gets the potential from there. */
struct root_poisson {
  struct root_mesh mesh;
  bool periodic;
  double *green;            /* [line here][z <= size/2][row]: transform of the Green function */
  double *near;             /* [NEAR_SIDE]^3: Green function around the origin */
  double *eigenvalue[3];    /* along each axis; of the periodic Laplacian */
  uint32_t first, own;      /* groups of this rank */
  size_t *sent;             /* [rank][own group] where its planes are in the message to a rank */
  size_t *received;         /* [group] where its planes are in the messages that this rank gets */
  size_t *bytes;            /* [2][rank] of messages to and from the ranks */
  double *outside, *inside; /* the messages: of own groups, of own planes */
  double *sum;              /* [group] of the source */
  struct root_gpu *gpu;     /* solves the level in place of the mesh; NULL: the mesh does */
};

/* Far from the origin: Martinsson & Rodin 2002, Proc. R. Soc. A 458, 2609. */
static double far_green(double x, double y, double z) {
  const double square = x * x + y * y + z * z;
  const double fourth = (pow(x, 4.0) + pow(y, 4.0) + pow(z, 4.0)) / (square * square);
  return -(1.0 + (5.0 * fourth - 3.0) / (8.0 * square)) / (4.0 * PI * sqrt(square));
}

/** Relax the Green function in a cube around the origin, whose sides it is far from. */
static double *near_green(void) {
  static const double omega = 1.78; /* about the best for 23 inner cells a side */
  static const int step[3] = {1, NEAR_SIDE, NEAR_SIDE * NEAR_SIDE};
  double *green = allocate((size_t)NEAR_SIDE * NEAR_SIDE * NEAR_SIDE, sizeof *green, "a potential");
  for (int sweep = 0; sweep < 200; sweep++)
    for (int i = 0; i < NEAR_SIDE * NEAR_SIDE * NEAR_SIDE; i++) {
      const int x = i % NEAR_SIDE - NEAR, y = i / NEAR_SIDE % NEAR_SIDE - NEAR,
                z = i / step[2] - NEAR;
      double *g = green + i;
      if (abs(x) == NEAR || abs(y) == NEAR || abs(z) == NEAR) {
        *g = far_green(x, y, z);
        continue;
      }
      double sum = x == 0 && y == 0 && z == 0 ? -1.0 : 0.0;
      for (int c = 0; c < 3; c++) sum += g[step[c]] + g[-step[c]];
      *g += omega * (sum / 6.0 - *g);
    }
  return green;
}

double lattice_green(const struct root_poisson *r, const uint32_t place[3]) {
  if (place[0] > NEAR || place[1] > NEAR || place[2] > NEAR)
    return far_green(place[0], place[1], place[2]);
  return r->near[((place[2] + NEAR) * NEAR_SIDE + place[1] + NEAR) * NEAR_SIDE + place[0] + NEAR];
}

/* The Green function in the box of twice the size is even along each axis. What the mesh holds of
 * it are its first cells along z, then the second ones. */

enum { FIRST_HALF, SECOND_HALF };

struct green_part {
  struct root_poisson *root;
  int half;
};

static uint32_t distance(uint32_t cell, uint32_t size) {
  return cell > size / 2 ? size - cell : cell;
}

static void fill_green(void *context, uint32_t plane) {
  const struct green_part *part = context;
  const struct root_mesh *m = &part->root->mesh;
  const uint32_t z = root_mesh_first(m, comm_rank()) + plane;
  for (uint32_t y = 0; y < m->size[1]; y++)
    for (uint32_t x = 0; x < m->size[0]; x++)
      root_mesh_row(m, plane, y)[x] = lattice_green(
          part->root, (const uint32_t[]){distance(x, m->size[0]), distance(y, m->size[1]),
                                         part->half == FIRST_HALF ? z : m->cells[2] - z});
}

static double *green_at(const struct root_poisson *r, uint32_t y, uint32_t z) {
  const struct root_mesh *m = &r->mesh;
  return r->green + ((y - m->first_line) * (size_t)(m->size[2] / 2 + 1) + z) * m->row;
}

static void add_green(void *context, uint32_t y, fftw_complex *waves) {
  const struct green_part *part = context;
  const struct root_mesh *m = &part->root->mesh;
  for (uint32_t z = 0; z <= m->size[2] / 2; z++) {
    const double sign = part->half == SECOND_HALF && z % 2 == 1 ? -1.0 : 1.0;
    double *green = green_at(part->root, y, z);
    for (uint32_t x = 0; x < m->row; x++) green[x] += sign * waves[z * m->row + x][0];
  }
}

static void make_green(struct root_poisson *r) {
  struct root_mesh *m = &r->mesh;
  r->near = near_green();
  r->green = allocate((size_t)m->lines * (m->size[2] / 2 + 1) * m->row, sizeof *r->green,
                      "the Green function");
  for (int half = FIRST_HALF; half <= SECOND_HALF; half++) {
    struct green_part part = {r, half};
    loop_run(&gas_root_potential_stage, m->planes, fill_green, &part);
    root_mesh_transform(m, true, add_green, &part);
  }
}

/** 2 (1 - cos(2 pi k/n)), of waves along one axis. */
static double *make_eigenvalues(uint32_t n) {
  double *value = allocate(n, sizeof *value, "waves of the root level");
  for (uint32_t k = 0; k < n; k++) value[k] = pow(2.0 * sin(PI * k / n), 2.0);
  return value;
}

/** Make the waves those of the potential. */
static void solve_line(void *context, uint32_t y, fftw_complex *waves) {
  const struct root_poisson *r = context;
  const struct root_mesh *m = &r->mesh;
  const double norm = 1.0 / ((double)m->size[0] * m->size[1] * m->size[2]);
  for (uint32_t z = 0; z < m->size[2]; z++) {
    const double across = r->eigenvalue[1][y] + r->eigenvalue[2][z];
    const double *green = r->periodic ? NULL : green_at(r, y, distance(z, m->size[2]));
    fftw_complex *row = waves + (size_t)z * m->row;
    for (uint32_t x = 0; x < m->row; x++) {
      const double sum = across + r->eigenvalue[0][x];
      const double factor = green ? green[x] : sum > 0.0 ? -1.0 / sum : 0.0;
      for (int part = 0; part < 2; part++) row[x][part] *= norm * factor;
    }
  }
}

/* Between groups and the mesh. */

enum { PLANE = GAS_GROUP_SIDE * GAS_GROUP_SIDE };

/** The planes of a group that a rank has: numbers in the group. */
struct common {
  uint32_t first, end;
};

static struct common common_planes(const struct root_poisson *r, const struct gas *g,
                                   uint32_t group, int rank) {
  const uint32_t low = GAS_GROUP_SIDE * g->topology.level[0].group[group].place[2];
  const uint32_t high = low + GAS_GROUP_SIDE;
  const uint32_t from = root_mesh_first(&r->mesh, rank), to = root_mesh_first(&r->mesh, rank + 1);
  const uint32_t first = from > low ? from : low, end = to < high ? to : high;
  return first < end ? (struct common){first - low, end - low} : (struct common){0, 0};
}

static size_t numbers(struct common c) { return (size_t)(c.end - c.first) * PLANE; }

/** Find where groups are in the messages. */
static void plan_messages(struct root_poisson *r, const struct gas *g) {
  const size_t ranks = (size_t)comm_size();
  const uint32_t groups = g->topology.level[0].count;
  size_t all = 0, here = 0;
  r->first = gas_first_group(g, 0, comm_rank());
  r->own = gas_first_group(g, 0, comm_rank() + 1) - r->first;
  r->sent = allocate(ranks * r->own, sizeof *r->sent, "the root level's messages");
  r->received = allocate(groups, sizeof *r->received, "the root level's messages");
  r->bytes = allocate(2 * ranks, sizeof *r->bytes, "message sizes");
  r->sum = allocate(groups, sizeof *r->sum, "sums of groups");
  for (int rank = 0; rank < comm_size(); rank++) {
    const size_t before[2] = {all, here};
    for (uint32_t i = 0; i < r->own; i++) {
      r->sent[(size_t)rank * r->own + i] = all;
      all += numbers(common_planes(r, g, r->first + i, rank));
    }
    for (uint32_t i = gas_first_group(g, 0, rank); i < gas_first_group(g, 0, rank + 1); i++) {
      r->received[i] = here;
      here += numbers(common_planes(r, g, i, comm_rank()));
    }
    r->bytes[rank] = (all - before[0]) * sizeof(double);
    r->bytes[ranks + (size_t)rank] = (here - before[1]) * sizeof(double);
  }
  r->outside = allocate(all, sizeof *r->outside, "the root level's messages");
  r->inside = allocate(here, sizeof *r->inside, "the root level's messages");
}

struct root_poisson *root_poisson_make(const struct gas *g) {
  struct root_poisson *r = allocate(1, sizeof *r, "the root level's potential");
  uint32_t cells[3];
  for (int c = 0; c < 3; c++) cells[c] = GAS_GROUP_SIDE * g->topology.root[c];
  r->periodic = g->topology.boundary[0][0] == GAS_PERIODIC;
  root_mesh_init(&r->mesh, cells, !r->periodic);
  for (int c = 0; c < 3; c++) r->eigenvalue[c] = make_eigenvalues(r->mesh.size[c]);
  if (!r->periodic) make_green(r);
  r->gpu = root_gpu_make(g, r->mesh.size, r->green);
  return r;
}

double root_poisson_bytes(const struct root_poisson *r) {
  const struct root_mesh *m = &r->mesh;
  const double cells = (double)m->cells[0] * m->cells[1] * m->cells[2];
  const size_t planes = m->size[2] / 2 + 1;
  const double green = r->periodic ? 0.0
                                   : (double)m->size[1] * (double)planes * m->row * sizeof(double);
  return root_mesh_bytes(m) + green + 2.0 * cells * sizeof(double);
}

void root_poisson_free(struct root_poisson *r) {
  root_gpu_free(r->gpu);
  root_mesh_free(&r->mesh);
  for (int c = 0; c < 3; c++) free(r->eigenvalue[c]);
  free(r->green);
  free(r->near);
  free(r->sent);
  free(r->received);
  free(r->bytes);
  free(r->outside);
  free(r->inside);
  free(r->sum);
  free(r);
}

/* What copies between the mesh and the groups needs. */
struct copy {
  struct gas *gas;
  struct root_poisson *root;
  bool massive;
};

static const struct gas_batch *batch_at(const struct copy *c, uint32_t group, size_t *first) {
  const struct gas_batch *b = &c->gas->level[0].batch[group / c->gas->batch];
  *first = (group - b->first) * (size_t)GAS_GROUP_CELLS;
  return b;
}

static double *cube_at(starpu_data_handle_t handle, size_t first) {
  return (double *)starpu_vector_get_local_ptr(handle) + first;
}

/** Copy the cells of own group i to or from the messages. */
static void copy_group(const struct copy *c, uint32_t i, double *cube, bool pack) {
  const struct root_poisson *r = c->root;
  for (int rank = 0; rank < comm_size(); rank++) {
    const struct common planes = common_planes(r, c->gas, r->first + i, rank);
    double *piece = r->outside + r->sent[(size_t)rank * r->own + i];
    double *inside = cube + planes.first * PLANE;
    memcpy(pack ? piece : inside, pack ? inside : piece, numbers(planes) * sizeof *cube);
  }
}

/** The source of a group: its densities, and pseudo-mass. */
static void put_group(void *context, uint32_t i) {
  const struct copy *c = context;
  const struct gas *g = c->gas;
  const uint32_t group = c->root->first + i;
  size_t first;
  const struct gas_batch *b = batch_at(c, group, &first);
  double source[GAS_GROUP_CELLS];
  c->root->sum[group] = g->gravity->kernels->source(
      gas_cells(g, 0, group), gravity_factor(g, 0), 0.0,
      c->massive ? cube_at(b->sheets, first) : NULL, source);
  if (b->matter)
    c->root->sum[group] += matter_add(
        (const struct gas_matter *)starpu_vector_get_local_ptr(b->matter) + group - b->first,
        gravity_factor(g, 0), source);
  copy_group(c, i, source, true);
}

static void get_group(void *context, uint32_t i) {
  const struct copy *c = context;
  const struct gas *g = c->gas;
  size_t first;
  const struct gas_batch *b = batch_at(c, c->root->first + i, &first);
  copy_group(c, i, cube_at(b->potential[g->level[0].potential[POTENTIAL_END]], first), false);
}

/** Copy what this rank's planes have of a group to or from the mesh. */
static void copy_planes(const struct copy *c, uint32_t group, bool to_mesh) {
  const struct root_mesh *m = &c->root->mesh;
  const uint32_t *place = c->gas->topology.level[0].group[group].place;
  const struct common planes = common_planes(c->root, c->gas, group, comm_rank());
  double *piece = c->root->inside + c->root->received[group];
  for (uint32_t z = planes.first; z < planes.end; z++)
    for (uint32_t y = 0; y < GAS_GROUP_SIDE; y++, piece += GAS_GROUP_SIDE) {
      double *row = root_mesh_row(m,
                                  GAS_GROUP_SIDE * place[2] + z - root_mesh_first(m, comm_rank()),
                                  GAS_GROUP_SIDE * place[1] + y) +
                    GAS_GROUP_SIDE * place[0];
      memcpy(to_mesh ? row : piece, to_mesh ? piece : row, GAS_GROUP_SIDE * sizeof *row);
    }
}

static void put_planes(void *context, uint32_t group) { copy_planes(context, group, true); }
static void get_planes(void *context, uint32_t group) { copy_planes(context, group, false); }

/** Take over an own root batch's data from StarPU, or give it back. */
static void hold(const struct copy *c, bool acquire) {
  const struct gas_level *l = &c->gas->level[0];
  const uint32_t end = gas_first_batch(c->gas, 0, comm_rank() + 1);
  for (uint32_t i = gas_first_batch(c->gas, 0, comm_rank()); i < end; i++) {
    const struct gas_batch *b = &l->batch[i];
    const starpu_data_handle_t handle[] = {b->handle[l->now],
                                           b->potential[l->potential[POTENTIAL_END]],
                                           c->massive ? b->sheets : NULL, b->matter};
    for (size_t k = 0; k < sizeof handle / sizeof *handle; k++)
      if (handle[k] && acquire)
        handle_acquire(handle[k], k == 1 ? STARPU_W : STARPU_R);
      else if (handle[k])
        starpu_data_release(handle[k]);
  }
}

/** Of the root level. */
static double mean_density(const struct root_poisson *r, const struct gas *g) {
  const uint32_t groups = g->topology.level[0].count;
  double sum = 0.0;
  gas_gather(g, 0, r->sum, sizeof *r->sum);
  for (uint32_t i = 0; i < groups; i++) sum += r->sum[i];
  return sum / gravity_factor(g, 0) / ((double)groups * GAS_GROUP_CELLS);
}

/** The same on a GPU. */
static void solve_on_gpu(struct gas *g, const struct root_gpu *r, bool massive) {
  double sum = 0.0;
  if (!massive) message_wait(); /* tasks of other levels read the mean density */
  gas_root_solve_submit(g, r, massive);
  if (massive) return;
  message_wait();
  for (uint32_t i = 0; i < r->groups; i++) sum += r->sum[i];
  g->gravity->mean_density = sum / ((double)r->groups * GAS_GROUP_CELLS);
}

void root_poisson_solve(struct gas *g, bool massive) {
  struct root_poisson *r = g->gravity->root;
  if (r->gpu) {
    solve_on_gpu(g, r->gpu, massive);
    return;
  }
  struct copy copy = {g, r, massive};
  const uint32_t groups = g->topology.level[0].count;
  if (!r->bytes) plan_messages(r, g); /* batches are made after the solver */
  if (!massive) message_wait();       /* tasks of other levels read the mean density */
  hold(&copy, true);
  root_mesh_clear(&r->mesh);
  loop_run(&gas_root_potential_stage, r->own, put_group, &copy);
  if (!massive) g->gravity->mean_density = mean_density(r, g);
  comm_exchange(r->outside, r->bytes, r->inside, r->bytes + comm_size());
  loop_run(&gas_root_potential_stage, groups, put_planes, &copy);
  root_mesh_convolve(&r->mesh, solve_line, r);
  loop_run(&gas_root_potential_stage, groups, get_planes, &copy);
  comm_exchange(r->inside, r->bytes + comm_size(), r->outside, r->bytes);
  loop_run(&gas_root_potential_stage, r->own, get_group, &copy);
  hold(&copy, false);
}
