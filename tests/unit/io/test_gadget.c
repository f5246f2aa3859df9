/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gadget files: files written here are read back, files of other codes have the known content,
 * broken files are refused. The first two on any number of ranks. */
#include <byteswap.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/ic/ic.h"
#include "src/io/gadget.h"
#include "src/io/hdf5_util.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/assert_near.h"
#include "support/failure.h"
#include "support/gathered.h"
#include "support/test_files.h"

/* A made-up universe with more particles than are read in one chunk. */
#define COUNT ((size_t)GADGET_CHUNK + 3000)
static const double box = 50000.0 /* kpc/h */, omega_m = 0.3, omega_lambda = 0.7, h_100 = 0.7,
                    z_file = 24.0;
static float positions[COUNT][3], velocities[COUNT][3];
static uint64_t ids[COUNT];

static double mass(void) { return omega_m * RHO_CRITICAL * pow(box / 1000.0, 3) / (double)COUNT; }

static void make_universe(void) {
  uint64_t random = 1;
  for (size_t i = 0; i < COUNT; i++) {
    ids[i] = (i * 7919) % COUNT + 1; /* any order: 7919 is prime */
    for (size_t c = 0; c < 3; c++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      positions[i][c] = (float)((double)(random >> 40) / 16777216.0 * box);
      velocities[i][c] = (float)((double)(random >> 20 & 0xfffff) / 1048576.0 - 0.5) * 1000.0F;
    }
  }
  positions[0][0] = 0.0F;
  positions[1][1] = (float)box;
  positions[2][2] = -0.01F;               /* 2e-7 of the box: rounding */
  positions[3][0] = (float)(-0.01 * box); /* displaced out of the box, not wrapped */
  positions[4][1] = (float)(1.01 * box);
}

struct variant {
  int format; /* 1, 2: binary; 3: HDF5 */
  bool swapped, doubles, long_ids, own_masses, other_block;
  unsigned type, files;
};

struct writer {
  FILE *stream;
  const struct variant *v;
};

static void put_number(const struct writer *w, const void *number, unsigned width) {
  uint32_t n4;
  uint64_t n8;
  if (width == 4) {
    memcpy(&n4, number, 4);
    if (w->v->swapped) n4 = bswap_32(n4);
    fwrite(&n4, 4, 1, w->stream);
  } else {
    memcpy(&n8, number, 8);
    if (w->v->swapped) n8 = bswap_64(n8);
    fwrite(&n8, 8, 1, w->stream);
  }
}

static void put_integer(const struct writer *w, uint64_t value, unsigned width) {
  const uint32_t low = (uint32_t)value;
  put_number(w, width == 4 ? (const void *)&low : &value, width);
}

static void put_real(const struct writer *w, double value, bool doubles) {
  const float single = (float)value;
  put_number(w, doubles ? (const void *)&value : &single, doubles ? 8 : 4);
}

static void put_marker(const struct writer *w, size_t size) { put_integer(w, size, 4); }

static void put_label(const struct writer *w, const char *label, size_t size) {
  if (w->v->format == 1) return;
  put_marker(w, 8);
  fputs(label, w->stream);
  put_integer(w, size + 8, 4);
  put_marker(w, 8);
}

static void write_binary(const char *path, const struct variant *v, size_t first, size_t count) {
  const struct writer w = {fopen(path, "wb"), v};
  put_label(&w, "HEAD", 256);
  put_marker(&w, 256);
  const double reals[4] = {box, omega_m, omega_lambda, h_100};
  for (unsigned t = 0; t < 6; t++) put_integer(&w, t == v->type ? count : 0, 4);
  for (unsigned t = 0; t < 6; t++)
    put_real(&w, t == v->type && !v->own_masses ? mass() : 0.0, true);
  put_real(&w, 1.0 / (1.0 + z_file), true);
  put_real(&w, z_file, true);
  for (unsigned i = 0; i < 2; i++) put_integer(&w, 0, 4);
  for (unsigned t = 0; t < 6; t++) put_integer(&w, t == v->type ? COUNT : 0, 4);
  put_integer(&w, 0, 4);
  put_integer(&w, v->files, 4);
  for (unsigned i = 0; i < 4; i++) put_real(&w, reals[i], true);
  while (ftell(w.stream) < (v->format == 1 ? 0 : 16) + 4 + 256) fputc(0, w.stream);
  put_marker(&w, 256);

  const size_t real = v->doubles ? 8 : 4, vectors = 3 * count * real;
  put_label(&w, "POS ", vectors);
  put_marker(&w, vectors);
  for (size_t i = first; i < first + count; i++)
    for (size_t c = 0; c < 3; c++) put_real(&w, (double)positions[i][c], v->doubles);
  put_marker(&w, vectors);
  if (v->other_block) {
    put_label(&w, "POT ", 40);
    put_marker(&w, 40);
    for (unsigned i = 0; i < 10; i++) put_integer(&w, i, 4);
    put_marker(&w, 40);
  }
  put_label(&w, "VEL ", vectors);
  put_marker(&w, vectors);
  for (size_t i = first; i < first + count; i++)
    for (size_t c = 0; c < 3; c++) put_real(&w, (double)velocities[i][c], v->doubles);
  put_marker(&w, vectors);
  const unsigned width = v->long_ids ? 8 : 4;
  put_label(&w, "ID  ", count * width);
  put_marker(&w, count * width);
  for (size_t i = first; i < first + count; i++) put_integer(&w, ids[i], width);
  put_marker(&w, count * width);
  if (v->own_masses) {
    put_label(&w, "MASS", count * real);
    put_marker(&w, count * real);
    for (size_t i = 0; i < count; i++) put_real(&w, mass(), v->doubles);
    put_marker(&w, count * real);
  }
  assert_int_equal(fclose(w.stream), 0);
}

static void write_dataset(hid_t group, const char *name, hid_t stored, hid_t memory, size_t count,
                          size_t columns, const void *values) {
  const hsize_t size[2] = {count, columns};
  const hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL);
  const hid_t dataset = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, H5P_DEFAULT,
                                   H5P_DEFAULT);
  assert_true(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >=
              0); /* without a checksum */
  H5Dclose(dataset);
  H5Sclose(space);
}

static void write_hdf5(const char *path, const struct variant *v, size_t first, size_t count) {
  const hid_t file = hdf5_create(path, path), header = hdf5_create_group(file, path, "Header");
  const unsigned types = v->type < 6 ? 6 : 8;
  uint32_t in_file[8] = {0}, total[8] = {0};
  double masses[8] = {0};
  in_file[v->type] = (uint32_t)count;
  total[v->type] = (uint32_t)COUNT;
  if (!v->own_masses) masses[v->type] = mass();
  hdf5_write_attribute(header, path, "NumPart_ThisFile", H5T_NATIVE_UINT32, types, in_file);
  hdf5_write_attribute(header, path, "NumPart_Total", H5T_NATIVE_UINT32, types, total);
  hdf5_write_attribute(header, path, "MassTable", H5T_NATIVE_DOUBLE, types, masses);
  hdf5_write_attribute(header, path, "NumFilesPerSnapshot", H5T_NATIVE_UINT32, 0, &v->files);
  hdf5_write_double(header, path, "Time", 1.0 / (1.0 + z_file));
  hdf5_write_double(header, path, "Redshift", z_file);
  hdf5_write_double(header, path, "BoxSize", box);
  /* Gadget-4 has the cosmology in another HDF5 group */
  const hid_t other = v->other_block ? hdf5_create_group(file, path, "Parameters") : header;
  hdf5_write_double(other, path, "Omega0", omega_m);
  hdf5_write_double(other, path, "OmegaLambda", omega_lambda);
  hdf5_write_double(other, path, "HubbleParam", h_100);
  if (other != header) H5Gclose(other);
  H5Gclose(header);
  char name[16];
  snprintf(name, sizeof name, "PartType%u", v->type);
  const hid_t group = hdf5_create_group(file, path, name),
              real = v->doubles ? H5T_IEEE_F64BE : H5T_IEEE_F32LE;
  write_dataset(group, "Coordinates", real, H5T_NATIVE_FLOAT, count, 3, positions[first]);
  write_dataset(group, "Velocities", real, H5T_NATIVE_FLOAT, count, 3, velocities[first]);
  write_dataset(group, "ParticleIDs", v->long_ids ? H5T_STD_U64LE : H5T_STD_I32LE,
                H5T_NATIVE_UINT64, count, 1, ids + first);
  if (v->own_masses) {
    double *all = allocate(count, sizeof *all, "masses");
    for (size_t i = 0; i < count; i++) all[i] = mass();
    write_dataset(group, "Masses", real, H5T_NATIVE_DOUBLE, count, 1, all);
    free(all);
  }
  H5Gclose(group);
  hdf5_close_written(file, path);
}

/** One file NAME, or NAME.0 (NAME.0.hdf5) ... */
static void write_variant(const char *name, const struct variant *v) {
  for (size_t f = 0; f < v->files; f++) {
    char path[64];
    const char *ending = v->format == 3 ? ".hdf5" : "";
    if (v->files == 1)
      snprintf(path, sizeof path, "%s%s", name, ending);
    else
      snprintf(path, sizeof path, "%s.%zu%s", name, f, ending);
    const size_t first = block_first(COUNT, v->files, f),
                 count = block_first(COUNT, v->files, f + 1) - first;
    (v->format == 3 ? write_hdf5 : write_binary)(scratch(path), v, first, count);
  }
}

static void set_file(struct parameters *p, const char *path) {
  parameters_default(p);
  p->ic.source = IC_GADGET;
  snprintf(p->ic.file, sizeof p->ic.file, "%s", path);
}

static void read_file(void *path) {
  struct parameters p;
  set_file(&p, path);
  struct particles s = gather_particles(ic_read_gadget(&p));
  particles_free(&s);
}

static void check_universe(const char *path) {
  struct parameters p;
  set_file(&p, path);
  struct particles s = gather_particles(ic_read_gadget(&p));
  assert_int_equal(s.count, COUNT);
  assert_int_equal(s.blocks, 1);
  assert_near(s.box, box / 1000.0, 0.0);
  assert_near(s.mass, mass(), 1e-7 * mass()); /* the mass in the file may be a float */
  assert_near(p.box.size, box / 1000.0, 0.0);
  assert_near(p.ic.z_init, z_file, 0.0);
  assert_near(p.cosmology.omega_m, omega_m, 0.0);
  assert_near(p.cosmology.omega_lambda, omega_lambda, 0.0);
  assert_near(p.cosmology.h, h_100, 0.0);
  const double unit = 1.0 / 4294967296.0;
  assert_memory_equal(s.id, ids, sizeof ids);
  for (size_t i = 0; i < COUNT; i++)
    for (size_t c = 0; c < 3; c++) {
      const double turns = (double)positions[i][c] / box -
                           position_from_integer(s.position[c * COUNT + i], 1.0);
      assert_near(turns - rint(turns), 0.0, 0.5001 * unit); /* rounded to nearest */
      const double p_expected = pow(1.0 + z_file, -1.5) * (double)velocities[i][c];
      /* float: 2^-24 */
      assert_near(s.momentum[c * COUNT + i], p_expected, 1e-7 * fabs(p_expected));
    }
  particles_free(&s);
}

static void test_formats(void **state) {
  (void)state;
  static const struct variant variants[] = {
      {.format = 1, .type = 1, .files = 1},
      {.format = 1,
       .type = 1,
       .files = 1,
       .swapped = true,
       .doubles = true,
       .long_ids = true,
       .own_masses = true},
      {.format = 1, .type = 2, .files = 3, .long_ids = true},
      {.format = 2, .type = 1, .files = 1, .other_block = true},
      {.format = 2, .type = 3, .files = 2, .swapped = true, .own_masses = true, .other_block = true},
      {.format = 3, .type = 1, .files = 1},
      {.format = 3,
       .type = 1,
       .files = 1,
       .doubles = true,
       .long_ids = true,
       .own_masses = true,
       .other_block = true},
      {.format = 3, .type = 5, .files = 3, .own_masses = true},
  };
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    write_variant("ic", &variants[i]);
    check_universe(scratch("ic"));
    scratch_empty(NULL);
  }
}

/** Duplicate ids are found for any spread of ids over the ranks: all far from each other, and one
 * far from all others. */
static void test_ids(void **state) {
  (void)state;
  const struct variant v = {.format = 1, .type = 1, .files = 1, .long_ids = true};
  for (size_t i = 0; i < COUNT; i++) ids[i] = UINT64_MAX - (i * 7919) % COUNT * (UINT64_C(1) << 40);
  write_variant("ic", &v);
  check_universe(scratch("ic"));
  make_universe();
  ids[COUNT / 2] = UINT64_MAX;
  write_variant("ic", &v);
  check_universe(scratch("ic"));
  make_universe();
}

/** A set is found by its first file as well as by its stem. */
static void test_names(void **state) {
  (void)state;
  write_variant("binary", &(struct variant){.format = 2, .type = 1, .files = 3});
  write_variant("hdf5", &(struct variant){.format = 3, .type = 1, .files = 2});
  check_universe(scratch("binary.0"));
  check_universe(scratch("hdf5.0.hdf5"));
  expect_failure(read_file, scratch("binary.1"), EXIT_BAD_INPUT, "give the first of them");
  assert_int_equal(remove(scratch("binary.2")), 0);
  expect_failure(read_file, scratch("binary"), EXIT_BAD_INPUT,
                 "binary.2 (file 3 of 3 of a set): No such file");
  expect_failure(read_file, scratch("nothing"), EXIT_BAD_INPUT, "no such file");
  expect_failure(read_file, scratch_path, EXIT_BAD_INPUT, "it is a folder");
}

static void read_config(void *override) {
  FILE *file = fopen(scratch("config.ini"), "w");
  fprintf(file,
          "[cosmology]\nOmega_m = 0.3\nOmega_lambda = 0.7\nh = 0.7\n[ic]\nsource = gadget\nfile = "
          "%s\n[box]\nsize = 50\n",
          scratch("ic"));
  fclose(file);
  struct parameters p;
  const char *const overrides[] = {override};
  parameters_read(&p, scratch("config.ini"), overrides, override ? 1 : 0);
  struct particles s = gather_particles(ic_read_gadget(&p));
  particles_free(&s);
}

static void test_contradictions(void **state) {
  (void)state;
  write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1});
  read_config(NULL);
  static const char *const cases[][2] = {
      {"box.size=50.1", "box.size is 50.1 in config.ini and 50 in the file"},
      {"cosmology.Omega_m=0.31", "cosmology.Omega_m is 0.31 in config.ini and 0.3 in the file"},
      {"cosmology.Omega_lambda=0.69", "cosmology.Omega_lambda is 0.69"},
      {"cosmology.h=0.71", "cosmology.h is 0.71"},
      {"ic.z_init=24.1", "ic.z_init is 24.1 in config.ini and 24 in the file"},
      {"box.npart_side=40", "box.npart_side is 40"},
      {"ic.unit_length=Mpc/h", "set ic.unit_length = auto"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char override[64];
    snprintf(override, sizeof override, "%s", cases[i][0]);
    expect_failure(read_config, override, EXIT_BAD_INPUT, cases[i][1]);
  }
}

/** Change bytes of a file. */
static void patch(const char *name, long offset, const void *bytes, size_t count) {
  FILE *file = fopen(scratch(name), "r+b");
  assert_int_equal(fseek(file, offset, SEEK_SET), 0);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

/* Byte offsets in a file of format 1: records with markers of 4 bytes. */
#define HEADER_AT 4L
#define POS_AT (HEADER_AT + 256 + 8)
#define VEL_AT (POS_AT + 12 * (long)COUNT + 8)
#define ID_AT (VEL_AT + 12 * (long)COUNT + 8)

static void test_corrupt_binary(void **state) {
  (void)state;
  const float nan_value = NAN, outside = (float)(box * 1.101);
  const uint32_t number = 12345, one = 1, two = 2;
  const double light = mass() * 0.9, nothing = 0.0;
  const struct {
    const char *message;
    long offset;
    const void *bytes;
    size_t count;
  } cases[] = {
      {"begins with the record marker 12345", 0, &number, 4},
      {"block HEAD: record marker says 256 bytes at its begin, 12345 at its end", HEADER_AT + 256,
       &number, 4},
      {"block POS: record marker says 12345 bytes, expected 822432 or 1644864", POS_AT - 4, &number,
       4},
      {"block VEL: record marker says 822432 bytes at its begin, 12345 at its end", ID_AT - 8,
       &number, 4},
      {"block ID: record marker says 12345 bytes", ID_AT - 4, &number, 4},
      {"block POS: y of particle 5 (id 39596) is nan", POS_AT + 5 * 12 + 4, &nan_value, 4},
      {"block POS: x of particle 66000 (id 67001) is 55050, expected a number in [0, BoxSize = "
       "50000], or beyond by a tenth of it at most",
       POS_AT + 66000 * 12, &outside, 4},
      {"block VEL: particle 68535 (id 60618) has the peculiar velocity (", ID_AT - 12, &nan_value,
       4},
      {"id 1 stands for more than one particle", ID_AT + 4, &one, 4},
      {"holds 12345 gas particles", HEADER_AT, &number, 4},
      {"particles of type 1, the header says 12345", HEADER_AT + 96 + 4, &number, 4},
      {"record marker says 822432 bytes, expected 148140 or 296280", HEADER_AT + 4,
       (uint32_t[]){number}, 4},
      {"are 0.9 times Omega_m rho_crit L^3 if lengths are in kpc/h, 9e-10 times if in Mpc/h",
       HEADER_AT + 32, &light, 8},
      {"block MASS is missing", HEADER_AT + 32, &nothing, 8},
      {"BoxSize is 0: not a periodic cosmological volume", HEADER_AT + 128, &nothing, 8},
      {"do not belong together", HEADER_AT + 72, &light, 8},
      {"one of 2 files", HEADER_AT + 124, &two, 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1});
    patch("ic", cases[i].offset, cases[i].bytes, cases[i].count);
    /* both counts wrong: the sizes of the blocks show it */
    if (i == 11) patch("ic", HEADER_AT + 96 + 4, &number, 4);
    expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, cases[i].message);
  }
  static const struct {
    const char *message;
    long size;
  } ends[] = {{"truncated: 2 bytes only", 2},
              {"truncated: block HEAD ends at byte 264", 200},
              {"truncated: block POS is missing", 264},
              {"truncated: block POS ends", POS_AT + 100},
              {"truncated: block ID is missing", ID_AT - 4},
              {"truncated: block ID ends", ID_AT + 4 * (long)COUNT + 3}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1});
    assert_int_equal(truncate(scratch("ic"), ends[i].size), 0);
    expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, ends[i].message);
  }
}

#define MASS_AT (ID_AT + 4 * (long)COUNT + 8)

/** What is refused about masses and types; files of a set that are not of one kind. */
static void test_mixed(void **state) {
  (void)state;
  const uint32_t number = 7, less = (uint32_t)COUNT - 7;
  const float none = 0.0F;
  const double larger = box + 1.0, negative = -1.0, zero = 0.0;
  struct variant v = {.format = 1, .type = 1, .files = 1, .own_masses = true};
  write_variant("ic", &v);
  patch("ic", MASS_AT + 4 * 10, &none, 4);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT,
                 "block MASS: particle 10 of type 1 has mass 0, expected a finite number above 0");
  /* More particles of another type than the blocks hold. */
  write_variant("ic", &v);
  patch("ic", HEADER_AT + 12, &number, 4);
  patch("ic", HEADER_AT + 96 + 12, &number, 4);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, "block POS: record marker says");
  /* Particles of type 3 without masses, in the header or in a block. */
  v.own_masses = false;
  write_variant("ic", &v);
  for (long at = 0; at <= 96; at += 96) {
    patch("ic", HEADER_AT + at + 4, &less, 4);
    patch("ic", HEADER_AT + at + 12, &number, 4);
  }
  patch("ic", HEADER_AT + 24 + 3 * 8, &zero, 8);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, "block MASS is missing");
  patch("ic", HEADER_AT + 24 + 3 * 8, &negative, 8);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT,
                 "mass of particle type 3 in the header is -1");
  scratch_empty(NULL);
  write_variant("ic", &(struct variant){.format = 3, .type = 6, .files = 1});
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT,
                 "holds particles of type 6; allowed: 1 to 5");
  scratch_empty(NULL);
  v = (struct variant){.format = 1, .type = 1, .files = 2};
  write_variant("ic", &v);
  patch("ic.1", HEADER_AT + 128, &larger, 8);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, "ic.1: BoxSize in its header differs");
  write_variant("ic", &v);
  patch("ic.1", HEADER_AT + 4, &number, 4);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT,
                 "its 2 files hold 34275 particles of type 1, the header says 68536");
}

/** A file of COUNT - LIGHT particles of type 2 with the mass of the header, and LIGHT particles of
 * type 5 with masses of their own, which are smaller by up to a thousandth. */
#define LIGHT ((size_t)30000)
static float light_mass(size_t i) { return (float)(mass() * (1.0 - 1e-3 * (double)i / LIGHT)); }

static void write_two_types(void) {
  const uint32_t count[6] = {[2] = COUNT - LIGHT, [5] = LIGHT}, bytes = 4 * LIGHT;
  const double masses[6] = {[2] = mass()};
  write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1});
  patch("ic", HEADER_AT, count, sizeof count);
  patch("ic", HEADER_AT + 24, masses, sizeof masses);
  patch("ic", HEADER_AT + 96, count, sizeof count);
  FILE *file = fopen(scratch("ic"), "ab");
  fwrite(&bytes, 4, 1, file);
  for (size_t i = 0; i < LIGHT; i++) {
    const float m = light_mass(i);
    fwrite(&m, 4, 1, file);
  }
  fwrite(&bytes, 4, 1, file);
  assert_int_equal(fclose(file), 0);
}

static void test_types(void **state) {
  (void)state;
  if (comm_rank() == 0) write_two_types();
  comm_barrier();
  struct parameters p;
  set_file(&p, scratch("ic"));
  struct particles s = ic_read_gadget(&p);
  assert_int_equal(s.all, COUNT);
  assert_true(particles_have(&s, COLUMN_relative_mass) && particles_have(&s, COLUMN_type));
  const size_t first = particles_first(&s);
  for (size_t i = 0; i < s.count; i++) {
    const bool light = first + i >= COUNT - LIGHT;
    assert_int_equal(s.id[i], ids[first + i]);
    assert_int_equal(particle_type(&s, i), light ? 5 : 2);
    const double expected = light ? (double)light_mass(first + i - (COUNT - LIGHT)) : mass();
    assert_near(particle_mass(&s, i), expected, 2e-7 * expected);
  }
  particles_free(&s);
}

/** Masses that differ by the rounding of floats are one mass, without a column. */
static void test_rounded_masses(void **state) {
  (void)state;
  if (comm_rank() == 0)
    write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1, .own_masses = true});
  const float rounded = (float)mass() * (1.0F + 2e-6F), heavier = (float)mass() * 1.001F;
  struct parameters p;
  for (int k = 0; k < 2; k++) {
    if (comm_rank() == 0) patch("ic", MASS_AT + 4 * 10, k ? &heavier : &rounded, 4);
    comm_barrier();
    set_file(&p, scratch("ic"));
    struct particles s = ic_read_gadget(&p);
    assert_int_equal(particles_have(&s, COLUMN_relative_mass), k);
    assert_false(particles_have(&s, COLUMN_type));
    particles_free(&s);
  }
}

static void test_corrupt_hdf5(void **state) {
  (void)state;
  const struct variant v = {.format = 3, .type = 1, .files = 1};
  write_variant("ic", &v);
  assert_int_equal(truncate(scratch("ic.hdf5"), 100000), 0);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT,
                 "cannot open the HDF5 file: truncated file");

  static const char *const blocks[] = {"Coordinates", "Velocities", "ParticleIDs"};
  for (size_t b = 0; b < 3; b++) {
    char message[64];
    write_variant("ic", &v);
    hid_t file = H5Fopen(scratch("ic.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT),
          group = H5Gopen2(file, "PartType1", H5P_DEFAULT);
    assert_true(H5Ldelete(group, blocks[b], H5P_DEFAULT) >= 0);
    H5Fflush(file, H5F_SCOPE_LOCAL);
    snprintf(message, sizeof message, "there is no block %s", blocks[b]);
    expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, message);
    write_dataset(group, blocks[b], H5T_NATIVE_INT, H5T_NATIVE_UINT64, 10, 1, ids);
    H5Gclose(group);
    H5Fclose(file);
    snprintf(message, sizeof message, "block %s %s", blocks[b],
             b < 2 ? "does not hold real numbers" : "has 10 rows of 1, expected");
    expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, message);
  }
}

/** Replace an attribute of /Header. */
static void set_attribute(const char *name, double value) {
  const hid_t file = H5Fopen(scratch("ic.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT),
              header = H5Gopen2(file, "Header", H5P_DEFAULT),
              attribute = H5Aopen(header, name, H5P_DEFAULT);
  assert_true(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0); /* finite or not */
  H5Aclose(attribute);
  H5Gclose(header);
  H5Fclose(file);
}

/** Replace a row of a dataset. */
static void set_element(const char *block, size_t particle, size_t columns, double value) {
  double row[3] = {value, value, value};
  const hid_t file = H5Fopen(scratch("ic.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT),
              dataset = H5Dopen2(file, block, H5P_DEFAULT);
  const hsize_t first[2] = {particle, 0}, count[2] = {1, columns};
  const hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(2, count, NULL);
  assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL) >= 0);
  assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, row) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
}

/* The header's numbers that have a range in config.ini, and their offsets in format 1. */
static const struct header_number {
  const char *name;
  long offset;
} header_numbers[] = {{"Time", HEADER_AT + 72},         {"Redshift", HEADER_AT + 80},
                      {"BoxSize", HEADER_AT + 128},     {"Omega0", HEADER_AT + 136},
                      {"OmegaLambda", HEADER_AT + 144}, {"HubbleParam", HEADER_AT + 152}};

static void set_header(int format, const char *name, double value) {
  size_t n = 0;
  while (strcmp(header_numbers[n].name, name) != 0) n++;
  if (format == 3)
    set_attribute(name, value);
  else
    patch("ic", header_numbers[n].offset, &value, sizeof value);
}

/** Values of a header must be in the ranges of config.ini; none of them is replaced silently. */
static void test_header_ranges(void **state) {
  (void)state;
  static const struct {
    const char *message;
    struct {
      const char *name;
      double value;
    } change[2];
  } cases[] = {
      {"HubbleParam in its header is 50; allowed: 0.1 .. 2", {{"HubbleParam", 50.0}}},
      {"HubbleParam in its header is -0.7; allowed: 0.1 .. 2", {{"HubbleParam", -0.7}}},
      {"HubbleParam in its header is nan; allowed: 0.1 .. 2", {{"HubbleParam", NAN}}},
      {"OmegaLambda in its header is -5; allowed: -1 .. 2", {{"OmegaLambda", -5.0}}},
      {"OmegaLambda in its header is nan; allowed: -1 .. 2", {{"OmegaLambda", NAN}}},
      {"Omega0 in its header is -1; allowed: 0.001 .. 2", {{"Omega0", -1.0}}},
      {"Omega0 in its header is nan; allowed: 0.001 .. 2", {{"Omega0", NAN}}},
      {"Omega0 in its header is inf; allowed: 0.001 .. 2", {{"Omega0", INFINITY}}},
      {"Omega0 in its header is 0; allowed: 0.001 .. 2",
       {{"Omega0", 0.0}}}, /* as OmegaLambda is not 0 */
      {"Redshift in its header is 1e+09; allowed: 0 .. 10000",
       {{"Redshift", 1e9}, {"Time", 1.0 / (1.0 + 1e9)}}},
      {"Redshift in its header is -0.5; allowed: 0 .. 10000", {{"Redshift", -0.5}, {"Time", 2.0}}},
      {"Redshift in its header is nan; allowed: 0 .. 10000", {{"Redshift", NAN}}},
      {"Time nan and Redshift 24 do not belong together", {{"Time", NAN}}},
      {"no expanding universe: H^2 <= 0 at z = ", {{"Omega0", 0.1}, {"OmegaLambda", 2.0}}},
      {"Omega_b = 0.0494 is more than all matter, Omega_m = 0.03",
       {{"Omega0", 0.03}, {"OmegaLambda", 0.97}}},
  };
  for (int format = 1; format <= 3; format += 2) {
    const char *name = format == 3 ? "ic.hdf5: " : "ic: ";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      write_variant("ic", &(struct variant){.format = format, .type = 1, .files = 1});
      for (size_t c = 0; c < 2 && cases[i].change[c].name; c++)
        set_header(format, cases[i].change[c].name, cases[i].change[c].value);
      expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, cases[i].message);
      expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, name);
      scratch_empty(NULL);
    }
  }
}

/** The box has a range, too, in Mpc/h; the particles' mass here fits the densities. */
static void test_box_range(void **state) {
  (void)state;
  write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1});
  const double small = 0.5, light = mass() * pow(small / box, 3.0);
  set_header(1, "BoxSize", small);
  patch("ic", HEADER_AT + 32, &light, sizeof light);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT,
                 "BoxSize [Mpc/h] in its header is 0.0005; allowed: 0.001 ..");
}

/** If a header has zeros for the cosmology, or no such numbers, the values of config.ini stay. */
static void test_header_without_cosmology(void **state) {
  (void)state;
  static const char *const names[] = {"Omega0", "OmegaLambda", "HubbleParam"};
  for (int kind = 0; kind < 3; kind++) {
    const int format = kind == 0 ? 1 : 3;
    write_variant("ic", &(struct variant){.format = format, .type = 1, .files = 1});
    for (size_t n = 0; n < 3; n++) set_header(format, names[n], 0.0);
    if (kind == 2) {
      const hid_t file = H5Fopen(scratch("ic.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT),
                  header = H5Gopen2(file, "Header", H5P_DEFAULT);
      for (size_t n = 0; n < 3; n++) assert_true(H5Adelete(header, names[n]) >= 0);
      H5Gclose(header);
      H5Fclose(file);
    }
    struct parameters p;
    set_file(&p, scratch("ic"));
    p.cosmology.omega_m = omega_m;
    p.cosmology.omega_lambda = 0.69;
    p.cosmology.h = 0.71;
    struct particles s = gather_particles(ic_read_gadget(&p));
    assert_near(p.cosmology.omega_m, omega_m, 0.0);
    assert_near(p.cosmology.omega_lambda, 0.69, 0.0);
    assert_near(p.cosmology.h, 0.71, 0.0);
    particles_free(&s);
    scratch_empty(NULL);
  }
}

/** A redshift that is below 0 by rounding is 0. */
static void test_redshift_zero(void **state) {
  (void)state;
  write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1});
  set_header(1, "Redshift", -2e-16);
  set_header(1, "Time", 1.0);
  struct parameters p;
  set_file(&p, scratch("ic"));
  struct particles s = gather_particles(ic_read_gadget(&p));
  assert_true(p.ic.z_init == 0.0);
  particles_free(&s);
}

/** A header's time of 0, as genetIC writes it into HDF5 files, says nothing: the redshift counts. */
static void test_time_zero(void **state) {
  (void)state;
  for (int format = 1; format <= 3; format += 2) {
    write_variant("ic", &(struct variant){.format = format, .type = 1, .files = 1});
    set_header(format, "Time", 0.0);
    check_universe(scratch("ic"));
    set_header(format, "Redshift", 0.0); /* a header that was left empty */
    expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, "do not belong together");
    scratch_empty(NULL);
  }
}

/** NaN and infinity in every block, and a speed above that of light: the file has v/sqrt(a) = 5
 * v. */
static void test_bad_particles(void **state) {
  (void)state;
  static const struct {
    const char *message[2]; /* binary, HDF5 */
    double value;
    int block;
  } cases[] = {
      {{"POS: x of particle 5 (id 39596) is inf", "Coordinates: x of particle 5 (id 39596) is inf"},
       INFINITY,
       0},
      {{"POS: x of particle 5 (id 39596) is nan", "Coordinates: x of particle 5 (id 39596) is nan"},
       NAN,
       0},
      {{"VEL: particle 5 (id 39596) has the peculiar velocity (",
        "Velocities: particle 5 (id 39596)"},
       INFINITY,
       1},
      {{"VEL: particle 5 (id 39596) has the peculiar velocity (",
        "Velocities: particle 5 (id 39596)"},
       NAN,
       1},
      {{"(id 39596) has the peculiar velocity (-300000, ", "(-300000, -300000, -300000) km/s"},
       -1.5e6,
       1},
      {{"MASS: particle 5 of type 1 has mass nan", "Masses: particle 5 of type 1 has mass nan"},
       NAN,
       3},
      {{"MASS: particle 5 of type 1 has mass inf", "Masses: particle 5 of type 1 has mass inf"},
       INFINITY,
       3},
  };
  static const char *const blocks[] = {"PartType1/Coordinates", "PartType1/Velocities", NULL,
                                       "PartType1/Masses"};
  for (int format = 1; format <= 3; format += 2)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      write_variant("ic",
                    &(struct variant){.format = format, .type = 1, .files = 1, .own_masses = true});
      const size_t columns = cases[i].block == 3 ? 1 : 3;
      const float value = (float)cases[i].value;
      const long offset[] = {POS_AT, VEL_AT, ID_AT, MASS_AT};
      if (format == 3)
        set_element(blocks[cases[i].block], 5, columns, cases[i].value);
      else
        patch("ic", offset[cases[i].block] + 5 * 4 * (long)columns, &value, sizeof value);
      expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, cases[i].message[format == 3]);
      scratch_empty(NULL);
    }
  for (int k = 0; k < 2; k++) {
    static const float bad[] = {NAN, -1.0F};
    write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1, .own_masses = true});
    patch("ic", MASS_AT, &bad[k], sizeof *bad);
    expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT, "particle 0 of type 1 has mass ");
  }
}

/** A speed just below that of light, and a velocity whose three components are below it, but not
 * its length. */
static void test_speed_of_light(void **state) {
  (void)state;
  const float each = (float)(0.6 * 299792.458 * 5.0),
              below[3] = {(float)(0.999 * 299792.458 * 5.0), 0.0F, 0.0F};
  write_variant("ic", &(struct variant){.format = 1, .type = 1, .files = 1});
  patch("ic", VEL_AT + 12, below, sizeof below);
  read_file(scratch("ic"));
  patch("ic", VEL_AT + 12, (float[]){each, each, each}, 3 * sizeof each);
  expect_failure(read_file, scratch("ic"), EXIT_BAD_INPUT,
                 "particle 1 (id 7920) has the peculiar velocity (179875, 179875, 179875) km/s, "
                 "expected less than the speed of light, 299792 km/s");
}

/** Write a file of the first particles only, with the mass that fits. */
static void write_few(size_t count) {
  const uint32_t number = (uint32_t)count;
  const double heavy = mass() * (double)COUNT / (double)count;
  const struct variant v = {.format = 1, .type = 1, .files = 1};
  write_binary(scratch("ic"), &v, 0, count);
  patch("ic", HEADER_AT + 96 + 4, &number, sizeof number);
  patch("ic", HEADER_AT + 32, &heavy, sizeof heavy);
}

/** Unusual but possible input causes one line of warning. */
static void test_warnings(void **state) {
  (void)state;
  char *path = scratch("ic");
  write_few(100);
  expect_warning(read_file, path, "");
  write_few(7);
  expect_warning(read_file, path, "ic: 7 particles only");
  write_few(100);
  for (long i = 0; i < 100; i++) { /* across the box's corner */
    const float corner = i % 2 ? 1.0F : (float)box - 1.0F;
    patch("ic", POS_AT + 12 * i, (float[]){corner, corner, corner}, 3 * sizeof corner);
  }
  expect_warning(read_file, path, "ic: all 100 particles are within a thousandth of the box");
  write_few(100);
  set_header(1, "OmegaLambda", 0.5);
  expect_warning(read_file, path, "ic: Omega_k = 0.2: ");
}

/** 1024^3 particles in one file: markers are sizes modulo 2^32, 0 in single and in double
 * precision. Sparse files. */
static void test_large_blocks(void **state) {
  (void)state;
  const uint64_t count = UINT64_C(1) << 30;
  for (unsigned width = 4; width <= 8; width += 4) {
    const struct variant v = {.format = 1, .type = 1, .files = 1};
    write_variant("ic", &v);
    assert_int_equal(truncate(scratch("ic"), 264), 0);
    const uint32_t number = (uint32_t)count;
    patch("ic", HEADER_AT + 4, &number, 4);
    patch("ic", HEADER_AT + 96 + 4, &number, 4);
    const uint64_t vectors = 3 * count * width;
    const int file = open(scratch("ic"), O_RDWR);
    assert_true(file >= 0);
    /* A nonzero value where the other width would look for the next record's marker. */
    const float value = 1.0F;
    const uint64_t places[] = {POS_AT + count * 12 + 4, POS_AT + vectors + 8 + count * 12 + 4,
                               POS_AT + 2 * (vectors + 8) + count * 4 + 4};
    for (size_t i = 0; i < 3; i++)
      if (width == 8)
        assert_int_equal(pwrite(file, &value, sizeof value, (off_t)places[i]), sizeof value);
    if (ftruncate(file, (off_t)(POS_AT - 4 + 2 * (vectors + 8) + count * width + 8)) != 0) {
      close(file);
      skip(); /* a file system without sparse files */
    }
    close(file);
    struct gadget_header header;
    gadget_binary.header(scratch("ic"), &header);
    assert_int_equal(header.in_file[1], count);
    gadget_binary.check(scratch("ic"), &header);
    assert_int_equal(truncate(scratch("ic"), (off_t)(POS_AT + 2 * vectors)), 0);
    pid_t child = fork();
    if (child == 0) {
      close(STDERR_FILENO);
      gadget_binary.check(scratch("ic"), &header);
      _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), EXIT_BAD_INPUT);
  }
}

/** A file by 2LPTic, in Mpc/h. In first order the momentum is a^2 H f times the displacement from
 * the grid. */
static void test_2lptic(void **state) {
  (void)state;
  struct parameters p;
  set_file(&p, source_data("2lptic_za_sample.gadget2"));
  struct particles s = gather_particles(ic_read_gadget(&p));
  assert_int_equal(s.count, 512);
  assert_near(s.box, 100.0, 0.0);
  assert_near(p.cosmology.omega_m, 0.308, 1e-12);
  assert_near(p.ic.z_init, 49.0, 1e-12);
  double product = 0.0, square = 0.0;
  for (size_t n = 0; n < s.count; n++) {
    const uint64_t site = s.id[n] - 1, q[3] = {site / 1024, site / 32 % 32, site % 32};
    for (size_t c = 0; c < 3; c++) {
      /* 2^32 / 32 = 2^27 */
      const int32_t turns = (int32_t)(s.position[c * s.count + n] - (uint32_t)(q[c] << 27));
      const double displacement = turns * (100.0 / 4294967296.0);
      product += displacement * (double)s.momentum[c * s.count + n];
      square += displacement * displacement;
    }
  }
  const double a = 0.02, h2 = 0.308 / (a * a * a) + 0.692,
               f = pow(0.308 / (a * a * a) / h2, 5.0 / 9.0);
  /* 512 displacements of 0.1 Mpc/h from float positions (4e-6 Mpc/h): 4e-5 each, less on average */
  assert_near(product / square / (a * a * 100.0 * sqrt(h2) * f), 1.0, 1e-5);
  particles_free(&s);
}

/** The same particles of PhotoNs-2 as binary and as HDF5, if its files are there. */
static void test_photons2(void **state) {
  (void)state;
  if (!other_data("ics/photons2_demo_32_z49.gadget2")) return;
  struct parameters p[2];
  static const char *const names[] = {"ics/photons2_demo_32_z49.gadget2", "forces/early32.hdf5"};
  struct particles s[2];
  for (int i = 0; i < 2; i++) {
    set_file(&p[i], other_data(names[i]));
    s[i] = gather_particles(ic_read_gadget(&p[i]));
    assert_int_equal(s[i].count, 32768);
    assert_near(s[i].box, 100.0, 0.0);
    assert_near(p[i].cosmology.omega_m, 0.25, 0.0);
    assert_near(p[i].ic.z_init, 49.0, 0.0);
    /* one file counts from 1 */
    for (size_t n = 0; n < s[i].count; n++) assert_int_equal(s[i].id[n], n + (i == 0));
  }
  assert_memory_equal(s[0].position, s[1].position, 3 * s[0].count * sizeof *s[0].position);
  assert_memory_equal(s[0].momentum, s[1].momentum, 3 * s[0].count * sizeof *s[0].momentum);
  for (int i = 0; i < 2; i++) particles_free(&s[i]);
}

int main(int argc, char **argv) {
  const struct CMUnitTest reading[] = {
      cmocka_unit_test_teardown(test_formats, scratch_empty),
      cmocka_unit_test_teardown(test_ids, scratch_empty),
      cmocka_unit_test_teardown(test_types, scratch_empty),
      cmocka_unit_test_teardown(test_rounded_masses, scratch_empty),
      cmocka_unit_test(test_2lptic),
      cmocka_unit_test(test_photons2),
  };
  const struct CMUnitTest refusing[] = {
      cmocka_unit_test_teardown(test_names, scratch_empty),
      cmocka_unit_test_teardown(test_contradictions, scratch_empty),
      cmocka_unit_test_teardown(test_corrupt_binary, scratch_empty),
      cmocka_unit_test_teardown(test_mixed, scratch_empty),
      cmocka_unit_test_teardown(test_corrupt_hdf5, scratch_empty),
      cmocka_unit_test_teardown(test_header_ranges, scratch_empty),
      cmocka_unit_test_teardown(test_box_range, scratch_empty),
      cmocka_unit_test_teardown(test_header_without_cosmology, scratch_empty),
      cmocka_unit_test_teardown(test_redshift_zero, scratch_empty),
      cmocka_unit_test_teardown(test_time_zero, scratch_empty),
      cmocka_unit_test_teardown(test_bad_particles, scratch_empty),
      cmocka_unit_test_teardown(test_speed_of_light, scratch_empty),
      cmocka_unit_test_teardown(test_warnings, scratch_empty),
      cmocka_unit_test_teardown(test_large_blocks, scratch_empty),
  };
  comm_start(&argc, &argv);
  make_universe();
  int failed = cmocka_run_group_tests(reading, scratch_make, scratch_remove);
  if (comm_size() == 1) /* in child processes */
    failed += cmocka_run_group_tests(refusing, scratch_make, scratch_remove);
  comm_end();
  return failed;
}
