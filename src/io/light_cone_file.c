/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/io/light_cone_file.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "hdf5_util.h"
#include "photons/base/comm.h"
#include "photons/base/output_file.h"
#include "photons/domain/geometry.h"
#include "photons/io/provenance.h"

#define PI 3.14159265358979323846

enum { TYPES = PARTICLE_TYPES, PIECE = 1 << 16 /* rows that are written at a time */ };

/* Gadget's units in cgs. */
static const double cm_per_kpc = 3.085678e21, g_per_mass_unit = 1.989e43,
                    cm_per_s_per_km_per_s = 1e5;

/** A file, as all ranks write it. */
struct writing {
  const struct parameters *parameters;
  struct provenance provenance;
  struct light_cone *cone;
  double length; /* units of length of the file in Mpc/h */
  uint64_t own[TYPES], first[TYPES],
      all[TYPES];        /* particles of this rank, of lower ones, and of all */
  int64_t shell;         /* of a map, */
  double inner, outer;   /* and its borders, Mpc/h, */
  double noise_mass;     /* light_cone_noise_mass(), */
  const uint64_t *pixel; /* and this rank's pixels */
};

static struct writing writing_of(const struct parameters *p, const struct light_cone *cone) {
  return (struct writing){.parameters = p,
                          .provenance = provenance_of(p),
                          .cone = (struct light_cone *)cone,
                          .length = p->output.unit_length == LENGTH_MPC_H ? 1.0 : 1000.0};
}

/* ---- Fields ---- */

/** Numbers of a particle of a page in file units. */
typedef void fill(const struct writing *w, const struct cone_page *page, uint32_t i, void *row);

static void fill_place(const struct writing *w, const struct cone_page *page, uint32_t i,
                       void *row) {
  for (int c = 0; c < 3; c++) ((double *)row)[c] = page->particle[i].x[c] * w->length;
}
static void fill_velocity(const struct writing *w, const struct cone_page *page, uint32_t i,
                          void *row) {
  (void)w;
  const struct cone_particle *q = &page->particle[i];
  for (int c = 0; c < 3; c++) ((float *)row)[c] = q->velocity[c] / sqrtf(q->a);
}
static void fill_id(const struct writing *w, const struct cone_page *page, uint32_t i, void *row) {
  (void)w;
  *(uint64_t *)row = page->particle[i].id;
}
static void fill_a(const struct writing *w, const struct cone_page *page, uint32_t i, void *row) {
  (void)w;
  *(float *)row = page->particle[i].a;
}
static void fill_mass(const struct writing *w, const struct cone_page *page, uint32_t i,
                      void *row) {
  *(float *)row = (float)(w->cone->masses.mean * (double)page->mass[i]);
}

/** A dataset. Physical value in cgs = value * to_cgs * a^a_scaling * h^h_scaling. */
static const struct field {
  const char *name;
  fill *fill;
  enum { DOUBLE, FLOAT, ID } number;
  size_t columns;
  double a_scaling, h_scaling, length_scaling, mass_scaling, velocity_scaling;
} fields[] = {{"Coordinates", fill_place, DOUBLE, 3, 1, -1, 1, 0, 0},
              {"Velocities", fill_velocity, FLOAT, 3, 0.5, 0, 0, 0, 1},
              {"ParticleIDs", fill_id, ID, 1, 0, 0, 0, 0, 0},
              {"Ascale", fill_a, FLOAT, 1, 0, 0, 0, 0, 0},
              {"Masses", fill_mass, FLOAT, 1, 0, -1, 0, 1, 0}};
enum { FIELDS = sizeof fields / sizeof *fields };

/** Whether a type of particles has a dataset: Masses where MassTable does not have them. */
static bool is_wanted(const struct writing *w, const struct field *f, int type) {
  return f->mass_scaling == 0.0 || w->cone->masses.of_type[type] == 0.0;
}

static hid_t type_of(const struct field *f) {
  const hid_t types[] = {
      [DOUBLE] = H5T_NATIVE_DOUBLE, [FLOAT] = H5T_NATIVE_FLOAT, [ID] = H5T_NATIVE_UINT64};
  return types[f->number];
}

/** Factor from a field's unit to cgs. */
static double to_cgs(const struct writing *w, const struct field *f) {
  if (f->length_scaling > 0.0) return cm_per_kpc * 1000.0 / w->length;
  if (f->mass_scaling > 0.0) return g_per_mass_unit;
  return f->velocity_scaling > 0.0 ? cm_per_s_per_km_per_s : 1.0;
}

static void create_field(hid_t group, const char *path, const struct writing *w,
                         const struct field *f, int type) {
  const hid_t dataset = hdf5_create_dataset(group, path, f->name, type_of(f), w->all[type],
                                            f->columns, H5P_DEFAULT);
  hdf5_write_double(dataset, path, "a_scaling", f->a_scaling);
  hdf5_write_double(dataset, path, "h_scaling", f->h_scaling);
  hdf5_write_double(dataset, path, "length_scaling", f->length_scaling);
  hdf5_write_double(dataset, path, "mass_scaling", f->mass_scaling);
  hdf5_write_double(dataset, path, "velocity_scaling", f->velocity_scaling);
  hdf5_write_double(dataset, path, "to_cgs", to_cgs(w, f));
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
}

/** The crossings of this rank, one after the other: those of part - 1 from a page on. */
struct cursor {
  size_t part;
  const struct cone_page *page;
  uint32_t place;
};

static int type_in(const struct cone_page *page, uint32_t i) {
  return page->type ? page->type[i] : PARTICLE_HALO;
}

/** Go to the next crossing of a particle of a type, of which there must be one: in place - 1 of the page. */
static void go_to_next(const struct light_cone *cone, int type, struct cursor *at) {
  do {
    if (at->page && at->place == at->page->count)
      *at = (struct cursor){at->part, at->page->next, 0};
    while (!at->page && at->part < cone->parts) at->page = cone->part[at->part++].first;
    assert(at->page);
  } while (type_in(at->page, at->place++) != type);
}

static void write_field(hid_t file, const struct output_turn *turn, const struct writing *w,
                        const struct field *f, int type) {
  char name[64];
  snprintf(name, sizeof name, "/PartType%d/%s", type, f->name);
  const size_t count = w->own[type];
  const size_t size = f->columns * H5Tget_size(type_of(f));
  char *rows = allocate(PIECE, size, "writing the light cone");
  const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT), EXIT_RUN_FAILED, turn->path,
                                   "continue the file");
  struct cursor at = {0};
  for (size_t done = 0; done < count; done += PIECE) {
    const size_t piece = count - done < PIECE ? count - done : PIECE;
    for (size_t i = 0; i < piece; i++) {
      go_to_next(w->cone, type, &at);
      f->fill(w, at.page, at.place - 1, rows + i * size);
    }
    hdf5_write_rows(dataset, turn->path, f->name, type_of(f), w->first[type] + done, piece,
                    f->columns, rows);
  }
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, turn->path, "write the file");
  free(rows);
}

/* ---- What both kinds of files say ---- */

static const char *const shapes[] = {
    [CONE_NONE] = "none", [CONE_SKY] = "sky", [CONE_OCTANT] = "octant", [CONE_PENCIL] = "pencil"};

/** The universe, and what of it the observer sees. */
static void write_view(hid_t header, const char *path, const struct writing *w) {
  const struct parameters *p = w->parameters;
  const struct light_cone *cone = w->cone;
  double observer[3];
  for (int c = 0; c < 3; c++) observer[c] = cone->observer[c] * cone->unit * w->length;
  hdf5_write_text(header, path, "Geometry", shapes[cone->view.shape]);
  hdf5_write_attribute(header, path, "Observer", H5T_NATIVE_DOUBLE, 3, observer);
  hdf5_write_attribute(header, path, "Direction", H5T_NATIVE_DOUBLE, 3, cone->view.direction);
  hdf5_write_double(header, path, "OpeningDegrees", cone->view.opening * 180.0 / PI);
  hdf5_write_double(header, path, "SkyFraction", light_cone_sky(p));
  hdf5_write_double(header, path, "Reach", cone->view.reach * cone->unit * w->length);
  hdf5_write_double(header, path, "BoxSize", cone->unit * POSITION_TURN * w->length);
  hdf5_write_double(header, path, "Omega0", p->cosmology.omega_m);
  hdf5_write_double(header, path, "OmegaLambda", p->cosmology.omega_lambda);
  hdf5_write_double(header, path, "OmegaBaryon", p->cosmology.omega_b);
  hdf5_write_double(header, path, "HubbleParam", p->cosmology.h);
  hdf5_write_double(header, path, "UnitLength_in_cm", cm_per_kpc * 1000.0 / w->length);
  hdf5_write_double(header, path, "UnitMass_in_g", g_per_mass_unit);
  hdf5_write_double(header, path, "UnitVelocity_in_cm_per_s", cm_per_s_per_km_per_s);
}

static void write_origin(hid_t file, const char *path, const struct writing *w) {
  const hid_t parameters = hdf5_create_group(file, path, "Parameters");
  hdf5_write_config(parameters, path, w->parameters);
  hdf5_close_group(parameters, path);
  provenance_write(file, path, &w->provenance);
}

/* ---- Particles ---- */

static void write_header(hid_t file, const char *path, const struct writing *w) {
  const int32_t one = 1;
  const hid_t header = hdf5_create_group(file, path, "Header");
  hdf5_write_attribute(header, path, "NumPart_ThisFile", H5T_NATIVE_UINT64, TYPES, w->all);
  hdf5_write_attribute(header, path, "NumPart_Total", H5T_NATIVE_UINT64, TYPES, w->all);
  hdf5_write_attribute(header, path, "MassTable", H5T_NATIVE_DOUBLE, TYPES,
                       w->cone->masses.of_type);
  hdf5_write_attribute(header, path, "NumFiles", H5T_NATIVE_INT32, 0, &one);
  hdf5_write_double(header, path, "TimeBegin", w->cone->a0);
  hdf5_write_double(header, path, "TimeEnd", w->cone->a1);
  write_view(header, path, w);
  hdf5_close_group(header, path);
}

static void create_file(const struct writing *w, const char *temporary, const char *path) {
  const hid_t file = hdf5_create(temporary, path);
  write_header(file, path, w);
  write_origin(file, path, w);
  for (int t = 0; t < TYPES; t++) {
    if (w->all[t] == 0) continue;
    char name[16];
    snprintf(name, sizeof name, "PartType%d", t);
    const hid_t group = hdf5_create_group(file, path, name);
    for (int f = 0; f < FIELDS; f++)
      if (is_wanted(w, &fields[f], t)) create_field(group, path, w, &fields[f], t);
    hdf5_close_group(group, path);
  }
  hdf5_close_written(file, path);
}

static void count_page(const struct cone_page *page, uint64_t count[TYPES]) {
  if (!page->type) count[PARTICLE_HALO] += page->count;
  for (uint32_t i = 0; page->type && i < page->count; i++) count[page->type[i]]++;
}

/** Count crossings by type: of this rank, of lower ones, and of all. @return all */
static uint64_t count_crossings(struct writing *w) {
  uint64_t all = 0;
  for (size_t i = 0; i < w->cone->parts; i++)
    for (const struct cone_page *page = w->cone->part[i].first; page; page = page->next)
      count_page(page, w->own);
  for (int t = 0; t < TYPES; t++) {
    w->all[t] = w->own[t];
    w->first[t] = comm_sum_before(w->own[t]);
  }
  comm_sum_u64(w->all, TYPES);
  for (int t = 0; t < TYPES; t++) all += w->all[t];
  return all;
}

static void write_particles(void *context, const struct output_turn *turn) {
  const struct writing *w = context;
  uint64_t count = 0;
  for (int t = 0; t < TYPES; t++) count += w->own[t];
  if (comm_rank() == turn->first) create_file(w, turn->temporary, turn->path);
  if (count == 0) return;
  const hid_t file = hdf5_continue(turn->temporary, turn->path);
  for (int t = 0; t < TYPES; t++)
    for (int f = 0; w->own[t] > 0 && f < FIELDS; f++)
      if (is_wanted(w, &fields[f], t)) write_field(file, turn, w, &fields[f], t);
  hdf5_close_written(file, turn->path);
}

uint64_t light_cone_write_particles(const char *path, const struct parameters *p,
                                    const struct light_cone *cone) {
  struct writing w = writing_of(p, cone);
  const uint64_t all = count_crossings(&w);
  char *const paths[] = {(char *)path};
  if (all > 0) output_together(paths, 1, NULL, write_particles, &w);
  return all;
}

/* ---- Maps ---- */

/** Area of a pixel at the mean of the squares of the distances in the shell, in units of the file: the
 * mean surface density is then the mean density times the thickness of the shell. */
static double area(const struct writing *w, size_t pixels) {
  const double square = (pow(w->outer, 3.0) - pow(w->inner, 3.0)) / (3.0 * (w->outer - w->inner));
  return 4.0 * PI / (double)pixels * square * w->length * w->length;
}

static void write_map_header(hid_t file, const char *path, const struct writing *w) {
  const struct cosmology *c = w->cone->cosmology;
  const hid_t header = hdf5_create_group(file, path, "Header");
  hdf5_write_attribute(header, path, "Nside", H5T_NATIVE_INT64, 0, &w->cone->nside);
  hdf5_write_text(header, path, "Ordering", "RING");
  hdf5_write_attribute(header, path, "Shell", H5T_NATIVE_INT64, 0, &w->shell);
  hdf5_write_double(header, path, "DistanceInner", w->inner * w->length);
  hdf5_write_double(header, path, "DistanceOuter", w->outer * w->length);
  hdf5_write_double(header, path, "RedshiftInner",
                    1.0 / light_cone_scale_factor(c, w->inner) - 1.0);
  hdf5_write_double(header, path, "RedshiftOuter",
                    1.0 / light_cone_scale_factor(c, w->outer) - 1.0);
  hdf5_write_double(header, path, "ParticleMass", w->noise_mass);
  write_view(header, path, w);
  hdf5_close_group(header, path);
}

/** A dataset of a mass over a power of lengths. */
static void create_masses(hid_t file, const char *path, const char *name, hid_t type,
                          const struct writing *w, int lengths) {
  const double length = cm_per_kpc * 1000.0 / w->length;
  const hid_t dataset = hdf5_create_dataset(file, path, name, type, light_cone_pixels(w->cone), 1,
                                            H5P_DEFAULT);
  hdf5_write_double(dataset, path, "a_scaling", -lengths);
  hdf5_write_double(dataset, path, "h_scaling", lengths - 1);
  hdf5_write_double(dataset, path, "length_scaling", -lengths);
  hdf5_write_double(dataset, path, "mass_scaling", 1.0);
  hdf5_write_double(dataset, path, "velocity_scaling", 0.0);
  hdf5_write_double(dataset, path, "to_cgs", g_per_mass_unit / pow(length, lengths));
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
}

static void create_counts(hid_t file, const char *path, const struct writing *w) {
  const hid_t counts = hdf5_create_dataset(file, path, "Counts", H5T_NATIVE_UINT64,
                                           light_cone_pixels(w->cone), 1, H5P_DEFAULT);
  hdf5_check(H5Dclose(counts), EXIT_RUN_FAILED, path, "write the file");
}

static void create_map(const struct writing *w, const char *temporary, const char *path) {
  const hid_t file = hdf5_create(temporary, path);
  write_map_header(file, path, w);
  write_origin(file, path, w);
  if (w->cone->masses.differ)
    create_masses(file, path, "Masses", H5T_NATIVE_DOUBLE, w, 0);
  else
    create_counts(file, path, w);
  create_masses(file, path, "SurfaceDensity", H5T_NATIVE_FLOAT, w, 2);
  hdf5_close_written(file, path);
}

/** This rank's pixels of a dataset of the map. */
static void write_pixels(hid_t file, const char *path, const char *name, hid_t type, size_t first,
                         size_t count, const void *values) {
  const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT), EXIT_RUN_FAILED, path,
                                   "continue the file");
  hdf5_write_rows(dataset, path, name, type, first, count, 1, values);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
}

/** 1e10 Msun/h of 1 in a pixel. */
static double unit_of_pixels(const struct writing *w) {
  const struct cone_masses *m = &w->cone->masses;
  return m->differ ? ldexp(m->mean, -m->bits) : m->mean;
}

static void write_masses(hid_t file, const char *path, const struct writing *w, size_t first,
                         size_t count) {
  const double unit = unit_of_pixels(w);
  double *rows = allocate(PIECE, sizeof *rows, "writing a map");
  for (size_t done = 0; done < count; done += PIECE) {
    const size_t piece = count - done < PIECE ? count - done : PIECE;
    for (size_t i = 0; i < piece; i++) rows[i] = (double)w->pixel[done + i] * unit;
    write_pixels(file, path, "Masses", H5T_NATIVE_DOUBLE, first + done, piece, rows);
  }
  free(rows);
}

static void write_densities(hid_t file, const char *path, const struct writing *w, size_t first,
                            size_t count) {
  const double factor = unit_of_pixels(w) / area(w, light_cone_pixels(w->cone));
  float *rows = allocate(PIECE, sizeof *rows, "writing a map");
  for (size_t done = 0; done < count; done += PIECE) {
    const size_t piece = count - done < PIECE ? count - done : PIECE;
    for (size_t i = 0; i < piece; i++) rows[i] = (float)((double)w->pixel[done + i] * factor);
    write_pixels(file, path, "SurfaceDensity", H5T_NATIVE_FLOAT, first + done, piece, rows);
  }
  free(rows);
}

static void write_map(void *context, const struct output_turn *turn) {
  const struct writing *w = context;
  const size_t first = light_cone_first_pixel(w->cone), count = light_cone_own_pixels(w->cone);
  if (comm_rank() == turn->first) create_map(w, turn->temporary, turn->path);
  if (count == 0) return;
  const hid_t file = hdf5_continue(turn->temporary, turn->path);
  if (w->cone->masses.differ)
    write_masses(file, turn->path, w, first, count);
  else
    write_pixels(file, turn->path, "Counts", H5T_NATIVE_UINT64, first, count, w->pixel);
  write_densities(file, turn->path, w, first, count);
  hdf5_close_written(file, turn->path);
}

void light_cone_write_map(const char *path, const struct parameters *p, struct light_cone *cone,
                          int64_t shell) {
  struct writing w = writing_of(p, cone);
  const double now = light_cone_distance(cone->cosmology, cone->a1);
  w.shell = shell;
  w.inner = fmax((double)shell * cone->shell_width, now);
  w.outer = fmin((double)(shell + 1) * cone->shell_width, cone->view.reach * cone->unit);
  w.noise_mass = light_cone_noise_mass(cone, &cone->map[shell]);
  w.pixel = cone->map[shell].pixel;
  char *const paths[] = {(char *)path};
  output_together(paths, 1, NULL, write_map, &w);
}
