/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots and checkpoints are read back; no incomplete file stays; broken files are refused. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/ic/ic.h"
#include "photons/io/snapshot.h"
#include "src/io/hdf5_util.h"
#include "src/io/snapshot_rounding.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/assert_near.h"
#include "support/failure.h"
#include "support/saved_run.h"

#define COUNT ((size_t)200001) /* more than one chunk of the conversion */

/** The particles of this rank. */
static struct particles take_share(const struct particles *all) {
  struct particles s = particles_create_blocks(all->count, all->blocks, all->box, all->mass);
  const size_t first = particles_first(&s);
  memcpy(s.position, all->position + 3 * first, 3 * s.count * sizeof *s.position);
  memcpy(s.momentum, all->momentum + 3 * first, 3 * s.count * sizeof *s.momentum);
  memcpy(s.acceleration, all->acceleration + 3 * first, 3 * s.count * sizeof *s.acceleration);
  memcpy(s.id, all->id + first, s.count * sizeof *s.id);
  return s;
}

static void read_particle(const struct particles *s, size_t i, uint32_t x[3], float p[3],
                          float acc[3]) {
  size_t g = 0;
  while (block_first(s->count, s->blocks, g + 1) <= i) g++;
  const struct particle_block b = particles_block(s, g);
  for (size_t c = 0; c < 3; c++) {
    x[c] = b.x[c][i - b.first];
    p[c] = b.p[c][i - b.first];
    acc[c] = b.acc[c][i - b.first];
  }
}

/** The values of a dataset as doubles (free() them), and one attribute of it. */
static double *read_dataset(const char *path, const char *name, size_t count, size_t columns,
                            const char *attribute, double *value) {
  const hid_t file = hdf5_open(path), dataset = H5Dopen2(file, name, H5P_DEFAULT);
  double *values = allocate(count * columns, sizeof *values, name);
  hdf5_read_rows(dataset, path, name, H5T_NATIVE_DOUBLE, 0, count, columns, values, NULL);
  assert_int_equal(hdf5_read_attribute(dataset, path, attribute, H5T_NATIVE_DOUBLE, 1, value), 1);
  H5Dclose(dataset);
  H5Fclose(file);
  return values;
}

/** The file holds particles first .. first + count - 1 of s. */
static void check_datasets(const char *path, const struct particles *s, double length, size_t first,
                           size_t count) {
  double scaling;
  double *x = read_dataset(path, "/PartType1/Coordinates", count, 3, "h_scaling", &scaling);
  assert_near(scaling, -1.0, 0.0);
  double *u = read_dataset(path, "/PartType1/Velocities", count, 3, "to_cgs", &scaling);
  assert_near(scaling, 1e5, 0.0);
  double *acc = read_dataset(path, "/PartType1/Acceleration", count, 3, "to_cgs", &scaling);
  assert_near(scaling, 1e10 / (3.085678e24 / length), 1e-12 * scaling);
  double *m = read_dataset(path, "/PartType1/Masses", count, 1, "mass_scaling", &scaling);
  assert_near(scaling, 1.0, 0.0);
  const double float_rounding = 6e-8; /* 2^-24 */
  for (size_t i = 0; i < count; i++) {
    uint32_t integer[3];
    float p[3], g[3];
    read_particle(s, first + i, integer, p, g);
    assert_near(m[i], s->mass, float_rounding * s->mass);
    for (size_t c = 0; c < 3; c++) {
      assert_true(x[3 * i + c] >= 0.0 && x[3 * i + c] < box * length);
      assert_near(x[3 * i + c], integer[c] / 4294967296.0 * box * length,
                  1e-15 * box * length); /* two double roundings */
      const double velocity = (double)p[c] / pow(a_snapshot, 1.5),
                   acceleration = (double)g[c] / length;
      assert_near(u[3 * i + c], velocity, float_rounding * fabs(velocity));
      assert_near(acc[3 * i + c], acceleration, float_rounding * fabs(acceleration));
    }
  }
  free(x);
  free(u);
  free(acc);
  free(m);
}

/** Gadget-4's names of the softening length, in the file's unit. */
static void check_softening(hid_t file, const char *path, const struct parameters *p,
                            double length) {
  const hid_t group = H5Gopen2(file, "Parameters", H5P_DEFAULT);
  int32_t class;
  double comoving, physical;
  hdf5_read_attribute(group, path, "SofteningClassOfPartType1", H5T_NATIVE_INT32, 1, &class);
  assert_int_equal(class, 1);
  hdf5_read_attribute(group, path, "SofteningComovingClass1", H5T_NATIVE_DOUBLE, 1, &comoving);
  hdf5_read_attribute(group, path, "SofteningMaxPhysClass1", H5T_NATIVE_DOUBLE, 1, &physical);
  assert_near(comoving, 1e-3 * length * p->gravity.softening, 1e-12);
  assert_near(physical, 1e-3 * length * p->gravity.softening_max_physical, 1e-12);
  assert_false(H5Aexists(group, "SofteningClassOfPartType2"));
  H5Gclose(group);
}

/** @return the number of particles in the file */
static size_t check_header(const char *path, const struct parameters *p, double length,
                           uint64_t files) {
  const hid_t file = hdf5_open(path), header = H5Gopen2(file, "Header", H5P_DEFAULT);
  uint64_t count[6], in_file[6], found;
  assert_int_equal(
      hdf5_read_attribute(header, path, "NumPart_ThisFile", H5T_NATIVE_UINT64, 6, in_file), 6);
  assert_int_equal(
      hdf5_read_attribute(header, path, "NumFilesPerSnapshot", H5T_NATIVE_UINT64, 1, &found), 1);
  assert_int_equal(found, files);
  assert_int_equal(hdf5_read_attribute(header, path, "NumPart_Total", H5T_NATIVE_UINT64, 6, count),
                   6);
  assert_int_equal(count[1], COUNT);
  double value;
  hdf5_read_attribute(header, path, "BoxSize", H5T_NATIVE_DOUBLE, 1, &value);
  assert_near(value, box * length, 0.0);
  hdf5_read_attribute(header, path, "Redshift", H5T_NATIVE_DOUBLE, 1, &value);
  assert_near(value, 1.5, 1e-15);
  const hid_t config = H5Gopen2(file, "Config", H5P_DEFAULT);
  char *stored = hdf5_read_config(config, path), *expected = hdf5_config_text(p);
  assert_string_equal(stored, expected);
  assert_non_null(strstr(stored, "\nz_init = 49\n"));
  free(stored);
  free(expected);
  H5Gclose(config);
  check_softening(file, path, p, length);
  H5Gclose(header);
  H5Fclose(file);
  return in_file[1];
}

/** Read back by all ranks: each has some of the particles. */
static void check_reading(struct parameters *p, const struct particles *s, const char *path) {
  snprintf(p->ic.file, sizeof p->ic.file, "%s", path);
  struct particles back = ic_read_gadget(p);
  const size_t first = particles_first(&back);
  assert_near(p->ic.z_init, 1.5, 1e-15);
  assert_near(back.box, box, 0.0);
  assert_near(back.mass, s->mass, 0.0);
  assert_int_equal(back.all, COUNT);
  assert_memory_equal(back.id, s->id + first, back.count * sizeof *s->id);
  for (size_t i = 0; i < back.count; i++) {
    uint32_t x[3];
    float m[3], acc[3];
    read_particle(s, first + i, x, m, acc);
    for (size_t c = 0; c < 3; c++) {
      assert_int_equal(back.position[c * back.count + i], x[c]);
      /* two float roundings */
      assert_near(back.momentum[c * back.count + i], m[c], 1.2e-7 * fabs((double)m[c]));
    }
  }
  particles_free(&back);
}

static void test_snapshot(void **state) {
  (void)state;
  static const struct {
    enum length_unit unit;
    int64_t compression, files;
    size_t blocks;
  } cases[] = {{LENGTH_KPC_H, 0, 1, 7},
               {LENGTH_MPC_H, 3, 1, 1},
               {LENGTH_KPC_H, 1, 2, 64},
               {LENGTH_KPC_H, 0, 0, 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct parameters p;
    set_parameters(&p);
    p.output.unit_length = cases[k].unit;
    p.output.compression = cases[k].compression;
    p.output.files = cases[k].files;
    p.output.accelerations = true;
    p.gravity.softening = 7.5;
    p.gravity.softening_max_physical = 2.5;
    struct particles s = make_particles(COUNT, cases[k].blocks), share = take_share(&s);
    const uint64_t before = output_bytes();
    snapshot_write(scratch("snap.hdf5"), &p, &share, a_snapshot);
    const uint64_t bytes = output_bytes() - before;
    uint64_t on_disk = 0;
    const int64_t ranks = comm_size(),
                  files = cases[k].files == 0 || cases[k].files > ranks ? ranks : cases[k].files;
    assert_int_equal(scratch_count_files(), files);
    const double length = cases[k].unit == LENGTH_KPC_H ? 1000.0 : 1.0;
    size_t first = 0;
    for (int64_t f = 0; f < files; f++) {
      char name[64] = "snap.hdf5";
      if (files > 1) snprintf(name, sizeof name, "snap.%d.hdf5", (int)f);
      struct stat status;
      assert_int_equal(stat(scratch(name), &status), 0);
      on_disk += (uint64_t)status.st_size;
      const size_t count = check_header(scratch(name), &p, length, (uint64_t)files);
      if (count > 0) check_datasets(scratch(name), &s, length, first, count);
      first += count;
    }
    assert_int_equal(first, COUNT);
    assert_int_equal(bytes, on_disk);
    check_reading(&p, &s, scratch(files > 1 ? "snap.0.hdf5" : "snap.hdf5"));
    particles_free(&share);
    particles_free(&s);
    comm_barrier();
    if (comm_rank() == 0) assert_int_equal(scratch_empty(NULL), 0);
    comm_barrier();
  }
}

/** The distance of two coordinates of a periodic box. */
static double apart(double x, double y, double side) {
  const double d = fabs(x - y);
  return fmin(d, side - d);
}

/** Rounded values are as near to the particles as the attributes say, and those as the parameters. */
static void check_rounded(const struct parameters *p, const struct particles *s, size_t count) {
  const char *path = scratch("snap.hdf5");
  const double side = box * 1000.0; /* kpc/h */
  double most_x, most_u;
  double *x = read_dataset(path, "/PartType1/Coordinates", count, 3, "error_bound", &most_x);
  double *u = read_dataset(path, "/PartType1/Velocities", count, 3, "error_bound", &most_u);
  assert_true(most_x <= p->output.position_error && most_x > 0.499 * p->output.position_error);
  const double velocity_error = most_u * sqrt(a_snapshot);
  assert_true(velocity_error <= p->output.velocity_error &&
              velocity_error > 0.499 * p->output.velocity_error);
  double largest_x = 0.0, largest_u = 0.0;
  for (size_t i = 0; i < count; i++) {
    uint32_t integer[3];
    float m[3], g[3];
    read_particle(s, i, integer, m, g);
    for (size_t c = 0; c < 3; c++) {
      assert_true(x[3 * i + c] >= 0.0 && x[3 * i + c] < side);
      largest_x = fmax(largest_x, apart(x[3 * i + c], integer[c] / 4294967296.0 * side, side));
      largest_u = fmax(largest_u, fabs(u[3 * i + c] - (double)m[c] / pow(a_snapshot, 1.5)));
    }
  }
  assert_true(largest_x <= most_x && largest_x > 0.999 * most_x);
  assert_true(largest_u <= most_u && largest_u > 0.999 * most_u);
  free(x);
  free(u);
}

/** Values are rounded as by rint(): halves to even multiples, 0 without a sign, and large ones stay. */
static void test_rounded(void **state) {
  (void)state;
  static const double values[] = {
      0.0,  -0.0,  0.5,    -0.5,     1.5,          2.5,         -2.5,    0.49999999999999994,
      3e9,  7e15,  -7e15,  0x1p50,   0x1p51,       0x1p52,      -0x1p52, 0x1.8p53,
      1e30, -1e30, 123.25, -1023.75, 0x1p50 + 0.5, 0x1p51 - 0.5};
  for (int exponent = -40; exponent <= 10; exponent += 5)
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      const double step = ldexp(1.0, exponent), found = rounded(values[i] * step, step),
                   expected = rint(values[i]) * step + 0.0;
      assert_memory_equal(&found, &expected, sizeof found);
    }
}

/** Numbers of a random sample of places do not repeat: what lean files are made for does. Here they must
 * only be right, with positions in floats and, where these are too coarse, in doubles. */
static void test_lean(void **state) {
  (void)state;
  static const struct { double position, velocity; } errors[] = {{1.0, 1.0}, {0.001, 0.03}};
  for (size_t k = 0; k < sizeof errors / sizeof *errors; k++) {
    struct parameters p;
    set_parameters(&p);
    p.output.lean = true;
    p.output.position_error = errors[k].position;
    p.output.velocity_error = errors[k].velocity;
    struct particles s = make_particles(COUNT, 7), share = take_share(&s);
    snapshot_write(scratch("snap.hdf5"), &p, &share, a_snapshot);
    check_rounded(&p, &s, COUNT);
    snprintf(p.ic.file, sizeof p.ic.file, "%s", scratch("snap.hdf5"));
    struct particles back = ic_read_gadget(&p); /* its checksums are right */
    assert_memory_equal(back.id, s.id + particles_first(&back), back.count * sizeof *s.id);
    particles_free(&back);
    particles_free(&share);
    particles_free(&s);
    comm_barrier();
    if (comm_rank() == 0) assert_int_equal(scratch_empty(NULL), 0);
    comm_barrier();
  }
}

/** Particles by their ids: COUNT down to 1 in make_particles(), plus a multiple of 2^40. */
static void check_gadget2(const struct particles *back, const struct particles *s, bool masses) {
  const double float_rounding = 6e-8;
  assert_int_equal(back->all, COUNT);
  assert_int_equal(particles_have(back, COLUMN_type), masses);
  for (size_t i = 0; i < back->count; i++) {
    const uint64_t id = back->id[i], k = COUNT - (id & 0xffffffff);
    uint32_t x[3];
    float m[3], g[3];
    assert_int_equal(id, s->id[k]);
    read_particle(s, k, x, m, g);
    for (size_t c = 0; c < 3; c++) {
      const int32_t off = (int32_t)(back->position[c * back->count + i] - x[c]);
      assert_true(abs(off) <=
                  257); /* half the last bit of a float below 2^17 kpc/h, over the box */
      assert_near(back->momentum[c * back->count + i], m[c],
                  2.0 * float_rounding * fabs((double)m[c]));
    }
    const double mass = masses && id % 2 ? 1.0 + 0.5 * ((double)(id % 3) - 1.0) : 1.0;
    assert_near(particle_mass(back, i), mass * s->mass, 4.0 * float_rounding * mass * s->mass);
    if (masses) assert_int_equal(back->type[i], id % 2 ? 2 : PARTICLE_HALO);
  }
}

/** Gadget-2's files are read by the reader of initial conditions: of several types and masses, with narrow
 * and with wide ids, in one file and in several. */
static void test_gadget2(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    struct parameters p;
    set_parameters(&p);
    p.output.format = FORMAT_GADGET2;
    p.output.files = k % 2 ? 0 : 1;
    struct particles s = make_particles(COUNT, 7);
    if (k >= 2)
      for (size_t i = 0; i < COUNT; i++) s.id[i] += UINT64_C(1) << 40;
    struct particles share = take_share(&s);
    if (k == 3) {
      particles_add_column(&share, COLUMN_relative_mass);
      particles_add_column(&share, COLUMN_type);
      for (size_t i = 0; i < share.count; i++) {
        share.type[i] = share.id[i] % 2 ? 2 : PARTICLE_HALO;
        share.relative_mass[i] = share.id[i] % 2 ? 1.0F + 0.5F * ((float)(share.id[i] % 3) - 1.0F)
                                                 : 1.0F;
      }
    }
    snapshot_write(scratch("snap.hdf5"), &p, &share, a_snapshot);
    const bool several = comm_size() > 1 && p.output.files == 0;
    assert_int_equal(scratch_count_files(), several ? comm_size() : 1);
    snprintf(p.ic.file, sizeof p.ic.file, "%s", scratch(several ? "snap.0" : "snap"));
    struct particles back = ic_read_gadget(&p);
    check_gadget2(&back, &s, k == 3);
    particles_free(&back);
    particles_free(&share);
    particles_free(&s);
    comm_barrier();
    if (comm_rank() == 0) assert_int_equal(scratch_empty(NULL), 0);
    comm_barrier();
  }
}

static void test_number_of_files(void **state) {
  (void)state;
  static const struct {
    int64_t given;
    size_t ranks, files;
  } cases[] = {{-1, 1, 1},        {-1, 8, 1}, {-1, 9, 2}, {-1, 16, 2}, {-1, 64, 8},
               {-1, 10000, 1250}, {0, 9, 9},  {1, 64, 1}, {3, 2, 2},   {3, 64, 3}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct parameters p = {.output.files = cases[k].given};
    assert_int_equal(snapshot_files(&p, cases[k].ranks), cases[k].files);
  }
}

static void require_possible(void *parameters) {
  const struct parameters *p = parameters;
  snapshot_require_possible(p, p->output.files == 1 ? 180000000 : (size_t)UINT32_MAX + 1);
}

static void test_gadget2_limits(void **state) {
  (void)state;
  struct parameters p;
  set_parameters(&p);
  p.output.format = FORMAT_GADGET2;
  snapshot_require_possible(&p, 178956970);
  p.output.files = 1;
  expect_failure(require_possible, &p, EXIT_BAD_USAGE,
                 "room for 178956971 particles, and would get 180000000: raise output.files");
  p.output.files = 64;
  expect_failure(require_possible, &p, EXIT_BAD_USAGE,
                 "4294967296 particles are more than its header counts, 2^32 - 1: choose");
  p.output.format = FORMAT_HDF5;
  require_possible(&p);
}

/** A sample has the particles of the lowest hashes, on any ranks, and the mass of all. */
static void test_sample(void **state) {
  (void)state;
  struct parameters p;
  set_parameters(&p);
  p.output.subsample = 0.1;
  struct particles s = make_particles(COUNT, 7), share = take_share(&s);
  snapshot_write_sample(scratch("sample.hdf5"), &p, &share, a_snapshot);
  snprintf(p.ic.file, sizeof p.ic.file, "%s", scratch("sample.hdf5"));
  struct particles back = ic_read_gadget(&p);
  const double expected = 0.1 * (double)COUNT;
  assert_near((double)back.all, expected, 5.0 * sqrt(expected));
  assert_near((double)back.all * back.mass, (double)s.all * s.mass, 1e-12 * (double)s.all * s.mass);
  for (size_t i = 0; i < back.count; i++) {
    const uint64_t id = back.id[i];
    uint32_t x[3];
    float m[3], g[3];
    assert_true((double)XXH3_64bits(&id, sizeof id) < 0.1 * 18446744073709551616.0);
    read_particle(&s, COUNT - id, x, m, g);
    for (size_t c = 0; c < 3; c++) assert_int_equal(back.position[c * back.count + i], x[c]);
  }
  particles_free(&back);
  comm_barrier();
  if (comm_rank() == 0) assert_int_equal(scratch_empty(NULL), 0);
  comm_barrier();
  p.output.subsample = 1e-12; /* none: a warning */
  snapshot_write_sample(scratch("sample.hdf5"), &p, &share, a_snapshot);
  assert_int_equal(scratch_count_files(), 0);
  particles_free(&share);
  particles_free(&s);
}

/** Keep a snapshot with one file for each rank, for tests/runs/same_files_on_any_ranks.sh. */
static void keep_snapshot(const struct particles *share) {
  const char *folder = getenv("PHOTONS_RANKS_OUTPUT");
  if (!folder) return;
  struct parameters p;
  set_parameters(&p);
  p.output.files = 0;
  char path[1024];
  snprintf(path, sizeof path, "%s/set.hdf5", folder);
  snapshot_write(path, &p, share, a_snapshot);
}

/** tests/runs/same_files_on_any_ranks.sh names a folder: the checkpoint that one number of ranks
 * has written there is read by the next number of ranks. */
static void test_checkpoint(void **state) {
  (void)state;
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(COUNT, 7);
  struct particles share = take_share(&s);
  char kept[1024];
  const char *folder = getenv("PHOTONS_RANKS_OUTPUT"),
             *path = folder ? kept : scratch("checkpoint.hdf5");
  if (folder) snprintf(kept, sizeof kept, "%s/checkpoint.hdf5", folder);
  for (int turn = !folder || access(kept, R_OK) != 0; turn < 2; turn++) {
    comm_barrier(); /* all ranks have read it */
    if (turn == 1) write_checkpoint(path, &p, &share);
    struct parameters other = p;
    other.output.images = !p.output.images; /* parameters that do not change the particles may
                                               differ */
    other.runtime.workers = 13;
    struct checkpoint_state found;
    struct particles back = checkpoint_read(path, &other, &found);
    assert_true(same_particles(&back, &share));
    assert_true(same_state(&found));
    particles_free(&back);
  }
  if (!folder) assert_int_equal(scratch_count_files(), 1);
  keep_snapshot(&share);
  particles_free(&share);
  particles_free(&s);
}

static void read_checkpoint(void *parameters) {
  struct checkpoint_state found;
  struct particles s = checkpoint_read(scratch("checkpoint.hdf5"), parameters, &found);
  particles_free(&s);
}

static void test_checkpoint_parameters(void **state) {
  (void)state;
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(100, 2);
  write_checkpoint(scratch("checkpoint.hdf5"), &p, &s);
  p.cosmology.omega_m = 0.3;
  p.gravity.theta = 0.123;
  p.runtime.leaf_size = 17;
  expect_failure(read_checkpoint, &p, EXIT_BAD_INPUT,
                 "cosmology.Omega_m was '0.31' and is '0.3', gravity.theta was");
  expect_failure(read_checkpoint, &p, EXIT_BAD_INPUT,
                 "and is '0.123', runtime.leaf_size was '0' and is '17'");

  /* Values chosen by the program stay as they were chosen. */
  set_parameters(&p);
  p.gravity.softening = 12.5;
  write_checkpoint(scratch("checkpoint.hdf5"), &p, &s);
  p.gravity.softening = -1.0;
  read_checkpoint(&p);
  assert_near(p.gravity.softening, 12.5, 0.0);
  p.gravity.softening = 13.0;
  expect_failure(read_checkpoint, &p, EXIT_BAD_INPUT, "gravity.softening was '12.5' and is '13'");

  /* Box and cosmology of a run that started from a file are not in config.ini: they come from the
   * checkpoint. */
  set_parameters(&p);
  p.ic.source = IC_GADGET;
  write_checkpoint(scratch("checkpoint.hdf5"), &p, &s);
  p.box.size = 0.0;
  p.cosmology.omega_m = 0.1;
  p.ic.z_init = 1.0;
  read_checkpoint(&p);
  assert_near(p.box.size, box, 0.0);
  assert_near(p.cosmology.omega_m, 0.31, 0.0);
  assert_near(p.ic.z_init, 49.0, 0.0);
  particles_free(&s);
}

static void limit_file_size(size_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

static void write_large_snapshot(void *compression) {
  struct parameters p;
  set_parameters(&p);
  p.output.compression = *(int *)compression;
  struct particles s = make_particles(COUNT, 7);
  limit_file_size(3000000);
  snapshot_write(scratch("snap.hdf5"), &p, &s, a_snapshot);
}

static void write_large_checkpoint(void *bytes) {
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(COUNT, 7);
  limit_file_size(*(size_t *)bytes);
  write_checkpoint(scratch("checkpoint.hdf5"), &p, &s);
}

static void write_large_text(void *unused) {
  (void)unused;
  limit_file_size(10000);
  char *temporary = output_begin(scratch("table.txt"));
  FILE *file = output_open(temporary);
  for (int i = 0; i < 10000; i++) fprintf(file, "%d\n", i);
  output_close(file, scratch("table.txt"));
  output_commit(temporary, scratch("table.txt"));
}

/** A file-size limit stands for a full disk: writing fails, with another reason. */
static void test_full_disk(void **state) {
  (void)state;
  expect_failure(write_large_snapshot, &(int){0}, EXIT_RUN_FAILED,
                 "snap.hdf5: cannot write Coordinates: File too large");
  expect_failure(write_large_snapshot, &(int){2}, EXIT_RUN_FAILED, "snap.hdf5: cannot write");
  for (size_t bytes = 0; bytes < COUNT * 44; bytes += COUNT * 10)
    expect_failure(write_large_checkpoint, &bytes, EXIT_RUN_FAILED, "File too large");
  expect_failure(write_large_text, NULL, EXIT_RUN_FAILED, "table.txt: File too large");
  assert_int_equal(scratch_count_files(), 0);
}

static char nowhere[] = "/proc/nothing";

static void make_folder(void *path) { output_folder(path); }

static void *fail_in_thread(void *barrier) {
  pthread_barrier_wait(barrier);
  fail(EXIT_BAD_USAGE, "one of %d", 4);
}

static void fail_in_threads(void *unused) {
  (void)unused;
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 4);
  output_close(output_open(output_begin(scratch("unfinished"))), "unfinished");
  pthread_t threads[4];
  for (size_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, fail_in_thread, &barrier);
  for (size_t i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static void *open_file(void *temporary) {
  output_open(temporary);
  return NULL;
}

static void *create_hdf5(void *temporary) {
  hdf5_create(temporary, "late.hdf5");
  return NULL;
}

/** While a program ends because of one file, another thread comes to the point where it opens its
 * own. */
static void fail_beside_a_writer(void *unused) {
  (void)unused;
  char *file = output_begin(scratch("unfinished")), *late = output_begin(scratch("late")),
       *late_hdf5 = output_begin(scratch("late.hdf5"));
  output_close(output_open(file), "unfinished");
  output_discard_all();
  pthread_t writer[2];
  pthread_create(&writer[0], NULL, open_file, late);
  pthread_create(&writer[1], NULL, create_hdf5, late_hdf5);
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  fail(EXIT_RUN_FAILED, "it ends");
}

__attribute__((unused)) static void allocate_much(void *unused) {
  (void)unused;
  free(allocate(SIZE_MAX / 8, 4, "a test"));
}

/** The disk of the last rank is full: for tests/runs/same_files_on_any_ranks.sh, which expects the
 * end of all ranks and an empty folder. */
static void fill_one_disk(const char *folder) {
  struct parameters p;
  set_parameters(&p);
  p.output.files = 2;
  struct particles s = make_particles(COUNT, 64), share = take_share(&s);
  char path[1024];
  snprintf(path, sizeof path, "%s/snap.hdf5", folder);
  if (comm_rank() == comm_size() - 1) limit_file_size(3000000);
  snapshot_write(path, &p, &share, a_snapshot);
}

static void test_output_files(void **state) {
  (void)state;
  output_folder(scratch("a//b/"));
  output_folder(scratch("a/b")); /* exists already */
  const char *path = scratch("a/b/file");
  char *temporary = output_begin(path), *other = output_begin(scratch("other"));
  FILE *file = output_open(temporary);
  fputs("text", file);
  assert_int_not_equal(access(path, F_OK), 0);
  output_close(file, path);
  output_commit(temporary, path);
  assert_int_equal(access(path, R_OK), 0);
  output_close(output_open(other), "other");
  output_commit(other, scratch("other"));
  assert_int_equal(remove(scratch("other")), 0);
  expect_failure(make_folder, scratch("a/b/file"), EXIT_RUN_FAILED, "a file of that name exists");
  expect_failure(make_folder, nowhere, EXIT_RUN_FAILED,
                 "cannot make the folder /proc/nothing: No such file");
  assert_int_equal(remove(path), 0);
  assert_int_equal(remove(scratch("a/b")), 0);

  expect_failure(fail_in_threads, NULL, EXIT_BAD_USAGE, "one of 4");
  expect_failure(fail_beside_a_writer, NULL, EXIT_RUN_FAILED, "it ends");
  assert_int_equal(scratch_count_files(), 1); /* the folder a */
#ifndef __SANITIZE_ADDRESS__                  /* which ends the program itself */
  expect_failure(allocate_much, NULL, EXIT_RUN_FAILED,
                 "not enough memory for a test (8796093022208.0 MiB)");
#endif
}

static void write_text_file(void *unused) {
  (void)unused;
  char *begun = output_begin(scratch("table.txt"));
  FILE *file = output_open(begun);
  fputs("text", file);
  output_close(file, "table.txt");
  output_commit(begun, scratch("table.txt"));
}

/** A link or file with a temporary name, made by someone else or left by a killed run, is removed:
 * no link is followed. */
static void test_temporary_names(void **state) {
  (void)state;
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(100, 2);
  for (int turn = 0; turn < 2; turn++) {
    static const char *const names[] = {"table.txt", "snap.hdf5", "checkpoint.hdf5"};
    FILE *victim = fopen(scratch("victim"), "w");
    fputs("dear", victim);
    fclose(victim);
    for (size_t i = 0; i < 3; i++) {
      char name[64];
      snprintf(name, sizeof name, "%s.tmp", names[i]);
      if (turn == 0) assert_int_equal(symlink(scratch("victim"), scratch(name)), 0);
      if (turn == 1) assert_int_equal(link(scratch("victim"), scratch(name)), 0);
    }
    write_text_file(NULL);
    snapshot_write(scratch("snap.hdf5"), &p, &s, a_snapshot);
    write_checkpoint(scratch("checkpoint.hdf5"), &p, &s);
    char text[8] = "";
    victim = fopen(scratch("victim"), "r");
    assert_int_equal(fread(text, 1, sizeof text, victim), 4);
    fclose(victim);
    assert_string_equal(text, "dear");
    for (size_t i = 0; i < 3; i++) {
      struct stat status;
      assert_int_equal(lstat(scratch(names[i]), &status), 0);
      assert_true(S_ISREG(status.st_mode) && status.st_nlink == 1);
      assert_int_equal(remove(scratch(names[i])), 0);
    }
    assert_int_equal(scratch_count_files(), 1);
  }
  assert_int_equal(mkdir(scratch("table.txt.tmp"), 0700), 0);
  expect_failure(write_text_file, NULL, EXIT_RUN_FAILED, "cannot remove");
  particles_free(&s);
}

/** One folder for all ranks. */
static int make_common_folder(void **state) {
  int status = comm_rank() == 0 ? scratch_make(state) : 0;
  comm_broadcast(&status, sizeof status, 0);
  comm_broadcast(scratch_path, sizeof scratch_path, 0);
  return status;
}

static int empty_common_folder(void **state) {
  comm_barrier();
  const int status = comm_rank() == 0 ? scratch_empty(state) : 0;
  comm_barrier();
  return status;
}

static int remove_common_folder(void **state) {
  return empty_common_folder(state) != 0 || (comm_rank() == 0 && rmdir(scratch_path) != 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_snapshot, empty_common_folder),
      cmocka_unit_test(test_rounded),
      cmocka_unit_test_teardown(test_lean, empty_common_folder),
      cmocka_unit_test_teardown(test_gadget2, empty_common_folder),
      cmocka_unit_test_teardown(test_sample, empty_common_folder),
      cmocka_unit_test_teardown(test_checkpoint, empty_common_folder),
  };
  const struct CMUnitTest local_tests[] = {
      cmocka_unit_test_teardown(test_checkpoint_parameters, scratch_empty),
      cmocka_unit_test_teardown(test_full_disk, scratch_empty),
      cmocka_unit_test(test_number_of_files),
      cmocka_unit_test_teardown(test_gadget2_limits, scratch_empty),
      cmocka_unit_test_teardown(test_output_files, scratch_empty),
      cmocka_unit_test_teardown(test_temporary_names, scratch_empty),
  };
  comm_start(&argc, &argv);
  if (argc > 1) fill_one_disk(argv[1]);
  int failed = cmocka_run_group_tests(tests, make_common_folder, remove_common_folder);
  if (comm_size() == 1) failed += cmocka_run_group_tests(local_tests, scratch_make, scratch_remove);
  comm_end();
  return failed;
}
