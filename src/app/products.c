/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The products of one output time: snapshot, halos, mass function, power spectrum and pictures. */
#include "photons/app/products.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis/analysis.h"
#include "photons/analysis/halo.h"
#include "photons/analysis/tree.h"
#include "photons/app/light_particles.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/output_file.h"
#include "photons/cosmology/linear_sigma.h"
#include "photons/cosmology/mass_function.h"
#include "photons/io/provenance.h"
#include "photons/io/snapshot.h"
#include "product_names.h"
#include "products_statistics.h"

/* log10 of the density over the mean, of a column through the box, that is black or brightest in a
 * movie today: voids and clusters. Before, both are smaller by linear growth, so that the first frame
 * shows its waves. */
#define FRAME_LOW (-0.6)
#define FRAME_HIGH 1.2

/** Stems of the names of snapshots and halo catalogues. */
static const struct {
  const char *snapshot, *halos;
} stems[] = {
    [NAMES_SHORT] = {"snap", "fof_tab"}, [NAMES_GADGET4] = {"snapshot", "fof_subhalo_tab"}};

/** The particles that halos consist of. */
static const struct particles *halo_particles(const struct products *o) {
  return o->light ? o->light : o->particles;
}

static void write_halos(const struct products *o, const struct halo_catalogue *halos,
                        double length) {
  const struct parameters *p = o->parameters;
  const struct provenance provenance = provenance_of(p);
  const double mass = halo_particles(o)->mass;
  halo_catalogue_write(product_name_of(o, stems[p->output.names].halos, "hdf5").path, p, halos,
                       o->a, length);
  const struct linear_theory linear = products_linear(o);
  if (!o->light)
    mass_function_write(product_name_of(o, "massfunc", "txt").path, halos,
                        (size_t)p->analysis.min_members, &linear, &provenance);
  if (comm_rank() != 0 || halos->all == 0) return; /* rank 0 has the largest halo */
  const struct halo *h = &halos->halo[0];
  say("halos       %zu with %zu particles\n"
      "            the largest: %.4g Msun/h, M200c %.4g Msun/h, R200c %.3g Mpc/h\n",
      halos->all, halos->all_members, 1e10 * (double)h->count * mass,
      1e10 * (double)h->sphere[CRIT_200].count * mass, h->sphere[CRIT_200].radius);
}

static void write_snapshot(const struct products *o, const struct halo_catalogue *halos) {
  const struct parameters *p = o->parameters;
  const struct product_name n = product_name_of(o, stems[p->output.names].snapshot, "hdf5");
  if (!halos || !halo_order_wanted(p)) {
    snapshot_write(n.path, p, o->particles, o->a);
    return;
  }
  struct particles heavy = {0};
  if (o->light) heavy = products_heavy(o);
  struct particles ordered = halo_ordered_particles(halos, o->light ? &heavy : NULL,
                                                    p->output.accelerations);
  particles_free(&heavy);
  snapshot_write(n.path, p, &ordered, o->a);
  particles_free(&ordered);
}

static struct power_range power_range_here(const struct products *o) {
  return power_range_of(o->parameters, o->particles->all, o->mesh);
}

static void measure_power(struct products *o) {
  const struct power_range range = power_range_here(o);
  o->power = power_measure(o->particles, range.mesh, range.folds, &o->power_bins);
  o->power_number = power_effective_number(o->particles);
}

static void write_power(struct products *o) {
  const double start = wall_clock();
  const struct provenance provenance = provenance_of(o->parameters);
  const struct linear_theory linear = products_linear(o);
  if (comm_rank() == 0)
    power_write(product_name_of(o, "powerspec", "txt").path, o->power, o->power_bins, o->particles,
                o->power_number, o->regular, power_range_here(o).mesh, &linear, &provenance);
  free(o->power);
  o->power = NULL;
  o->seconds[PART_POWER] += wall_clock() - start;
}

static void say_growth(const struct products *o) {
  const struct linear_theory linear = products_linear(o);
  const struct growth g = linear_theory_mean_growth(&linear);
  char sigma8[64] = "";
  if (o->linear)
    snprintf(sigma8, sizeof sigma8, ", sigma8(z) = %.5f", linear_theory_sigma(&linear, 8.0));
  say("growth      z = %.4g: D1 = %.5f, dlnD1/dlna = %.5f%s\n", fmax(1.0 / o->a - 1.0, 0.0), g.d1,
      g.f1, sigma8);
}

/** In units of the spacing that particles of the mass of members would have if they filled the box. */
static double linking_length(const struct products *o) {
  const struct particles *s = o->particles;
  const double number = o->light ? s->mass / o->light->mass * (double)s->all : (double)s->all;
  return o->parameters->analysis.linking_length * s->box / cbrt(number);
}

static struct image image_of(const struct products *o, const char *path) {
  const double *colours = o->parameters->output.density_colours;
  const bool chosen = o->parameters->output.density_colour_count == 2;
  return (struct image){.path = path,
                        .pixels = (size_t)o->parameters->output.image_pixels,
                        .lattice = o->lattice,
                        .a = o->a,
                        .thickness = 1.0,
                        .low = chosen ? colours[0] : 0.0,
                        .high = chosen ? colours[1] : 0.0};
}

static void draw_isolated(const struct products *o, const char *path) {
  char moment[48];
  snprintf(moment, sizeof moment, "t = %.0f Myr", cosmology_myr(o->a) + 0.0);
  image_write_isolated(o->particles, path, o->parameters->output.movie_width,
                       (size_t)o->parameters->output.movie_pixels, moment);
}

static void draw_box(const struct products *o, const char *path) {
  const double growth = cosmology_growth(o->cosmology, o->a).d1;
  struct image image = image_of(o, path);
  image.pixels = (size_t)o->parameters->output.movie_pixels;
  if (o->parameters->output.density_colour_count == 0) {
    image.low = FRAME_LOW * growth;
    image.high = FRAME_HIGH * growth;
  }
  images_write(o->particles, &image, 1);
}

void products_draw_frame(const struct products *o, const char *path) {
  (o->cosmology->isolated ? draw_isolated : draw_box)(o, path);
}

static void write_images(struct products *o) {
  const struct product_name density = product_name_of(o, "density", "png"),
                            slice = product_name_of(o, "slice", "png");
  struct image image[2] = {image_of(o, density.path), image_of(o, slice.path)};
  image[1].thickness = o->parameters->analysis.slice;
  images_write(o->particles, image, image[1].thickness > 0.0 ? 2 : 1);
}

static void find_friends(struct products *o) {
  const unsigned depth = o->light ? o->light_depth : o->depth;
  o->fof = fof_find(halo_particles(o), depth, linking_length(o));
}

void products_write_positions(struct products *o) {
  const struct parameters *p = o->parameters;
  if (o->cosmology->isolated) return;
  const struct {
    const char *name;
    enum product_part which;
    bool wanted;
    void (*make)(struct products *o);
  } part[] = {{"friends of friends", PART_FRIENDS, p->analysis.fof, find_friends},
              {"power spectrum", PART_POWER, p->output.power_spectrum, measure_power},
              {"pictures", PART_PICTURES, p->output.images, write_images}};
  char made[128] = "";
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
    if (!part[i].wanted) continue;
    const double start = wall_clock();
    part[i].make(o);
    o->seconds[part[i].which] = wall_clock() - start;
    snprintf(made + strlen(made), sizeof made - strlen(made), "%s%s %.2f s", *made ? ", " : "",
             part[i].name, o->seconds[part[i].which]);
  }
  if (*made) say("analysis    %s\n", made);
}

static void write_trees(struct products *o, const struct halo_catalogue *halos) {
  const double start = wall_clock();
  trees_add_output(o->trees, o->parameters, halos, o->a, o->number);
  if (o->last) { /* the trees of all outputs are read from their files */
    output_batch_end();
    output_settle();
    trees_write(o->parameters, o->number);
    output_batch_begin();
  }
  o->seconds[PART_TREES] = wall_clock() - start;
  say("trees       %.2f s\n", o->seconds[PART_TREES]);
}

/** Make the halo catalogue and write what consists of halos. */
static struct halo_catalogue *make_halos(struct products *o) {
  const struct parameters *p = o->parameters;
  const struct halo_background background = halo_background_at(o->cosmology, o->a);
  const double start = wall_clock();
  const bool ordered = o->snapshot && p->output.snapshots && halo_order_wanted(p),
             rows = p->output.halo_ids || p->output.trees || ordered;
  struct halo_catalogue *halos = halo_catalogue_create(
      o->fof, (size_t)p->analysis.min_members, rows,
      p->output.subhalos ? (size_t)p->analysis.subhalo_members : 0, &background);
  if (o->light) halo_count_heavy(halos, o->particles, o->light_most);
  write_halos(o, halos, linking_length(o));
  o->seconds[PART_SUBHALOS] = halos->subhalo_seconds;
  o->seconds[PART_HALOS] = wall_clock() - start - halos->subhalo_seconds;
  if (p->output.subhalos) say("subhalos    %.2f s\n", halos->subhalo_seconds);
  if (p->output.trees) write_trees(o, halos);
  return halos;
}

static void say_snapshot(const struct products *o) {
  const size_t files = snapshot_files(o->parameters, (size_t)comm_size());
  const double gb = 1e-9 * o->snapshot_bytes, seconds = o->seconds[PART_SNAPSHOT];
  say("snapshot    %.3g GB in %zu file%s, %.2f s, %.3g GB/s\n", gb, files, files > 1 ? "s" : "",
      seconds, gb / seconds);
}

static void write_snapshots(struct products *o, const struct halo_catalogue *halos) {
  const struct parameters *p = o->parameters;
  const double start = wall_clock(), before = (double)output_bytes();
  if (p->output.snapshots) write_snapshot(o, halos);
  o->seconds[PART_SNAPSHOT] = wall_clock() - start;
  o->snapshot_bytes = (double)output_bytes() - before;
  if (p->output.snapshots) say_snapshot(o);
  if (p->output.subsample > 0.0)
    snapshot_write_sample(product_name_of(o, "subsample", "hdf5").path, p, o->particles, o->a);
  o->seconds[PART_SUBSAMPLE] = wall_clock() - start - o->seconds[PART_SNAPSHOT];
}

void products_write_rest(struct products *o) {
  output_batch_begin();
  if (!o->cosmology->isolated) say_growth(o);
  if (o->power) write_power(o);
  struct halo_catalogue *halos = o->fof ? make_halos(o) : NULL;
  const double start = wall_clock();
  products_write_statistics(o, halos);
  o->seconds[PART_STATISTICS] = wall_clock() - start;
  if (o->snapshot) write_snapshots(o, halos);
  halo_catalogue_free(halos);
  fof_free(o->fof);
  o->fof = NULL;
  output_batch_end();
}

void products_write(struct products *o) {
  products_write_positions(o);
  products_write_rest(o);
}
