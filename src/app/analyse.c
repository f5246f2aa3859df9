/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --analyse: halos, mass function, power spectrum and pictures from a snapshot, on any number of
 * ranks. */
#include "photons/app/analyse.h"

#include "analyse_isolated.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/analysis/tree.h"
#include "photons/app/light_particles.h"
#include "photons/app/products.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/base/folder_lock.h"
#include "photons/base/heartbeat.h"
#include "photons/base/input_file.h"
#include "photons/base/output_file.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/species.h"
#include "photons/ic/ic.h"
#include "photons/runtime/engine.h"
#include "photons/step/nbody.h"
#include "src/io/hdf5_util.h"

/** Settings as text SECTION.KEY=VALUE, the format of --set. */
struct settings {
  char **text;
  size_t count;
};

static void settings_add(struct settings *s, const char *section, const char *key,
                         const char *value) {
  const size_t size = strlen(section) + strlen(key) + strlen(value) + 3;
  s->text = reallocate(s->text, s->count + 1, sizeof *s->text, "settings");
  s->text[s->count] = allocate(size, 1, "settings");
  snprintf(s->text[s->count++], size, "%s.%s=%s", section, key, value);
}

static void settings_free(struct settings *s) {
  for (size_t i = 0; i < s->count; i++) free(s->text[i]);
  free(s->text);
}

/** Whether a parameter is needed that the header of a snapshot does not contain. */
static bool wanted(bool isolated, const char *section, const char *key) {
  static const char *const keys[][2] = {
      {"cosmology", "Omega_b"}, {"cosmology", "n_s"},          {"cosmology", "sigma8"},
      {"cosmology", "w0"},      {"cosmology", "wa"},           {"cosmology", "Omega_r"},
      {"cosmology", "w_table"}, {"cosmology", "m_nu"},         {"cosmology", "species_file"},
      {"ic", "power_spectrum"}, {"ic", "power_spectrum_file"}, {"ic", "normalise"}};
  if (isolated) return strcmp(section, "gravity") == 0 && strncmp(key, "softening", 9) == 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(section, keys[i][0]) == 0 && strcmp(key, keys[i][1]) == 0) return true;
  return false;
}

/** Take the wanted settings from a configuration that parameters_print() wrote. */
static void take_settings(struct settings *s, bool isolated, const char *text) {
  bool table_missing = false, species_missing = false, masses = false;
  for (int pass = 0; pass < 2; pass++) { /* pass 0: do the tables exist? */
    char section[32] = "", line[PARAMETER_PATH_MAX + 64], key[64], value[PARAMETER_PATH_MAX];
    for (const char *next = text; *next;) {
      const size_t length = strcspn(next, "\n");
      snprintf(line, sizeof line, "%.*s", (int)length, next);
      next += length + (next[length] != 0);
      if (sscanf(line, "[%31[^]]", section) == 1) continue;
      if (sscanf(line, "%63[^= ] = %1023[^\n]", key, value) < 2 || !wanted(isolated, section, key))
        continue;
      const bool species = strcmp(key, "species_file") == 0;
      if (pass == 0) {
        table_missing |= strcmp(key, "power_spectrum_file") == 0 && access(value, R_OK) != 0;
        species_missing |= species && access(value, R_OK) != 0;
        masses |= strcmp(key, "m_nu") == 0;
      } else if (species ? masses || !species_missing
                         : strcmp(section, "ic") != 0 || !table_missing)
        settings_add(s, section, key, value);
    }
  }
  /* Neutrinos with mass need the table, and its name is then in an error. */
  if (species_missing && !masses && comm_rank() == 0)
    warn("the run's table of linear species cannot be read: theory has one growth of all waves; "
         "for the table give "
         "--set cosmology.species_file=TABLE");
  if (table_missing && comm_rank() == 0)
    warn("the table of the run's linear power spectrum cannot be read: theory curves use "
         "Eisenstein & Hu (1998); "
         "for the table give --set ic.power_spectrum=file --set ic.power_spectrum_file=TABLE");
}

/** Find a key in a configuration that parameters_print() wrote.
 * @param[out] value  "" where the key has none */
static void find_setting(const char *text, const char *section, const char *key,
                         char value[PARAMETER_PATH_MAX]) {
  char here[32] = "", line[PARAMETER_PATH_MAX + 64], name[64], found[PARAMETER_PATH_MAX];
  value[0] = '\0';
  for (const char *next = text; *next;) {
    const size_t length = strcspn(next, "\n");
    snprintf(line, sizeof line, "%.*s", (int)length, next);
    next += length + (next[length] != 0);
    if (sscanf(line, "[%31[^]]", here) == 1) continue;
    if (sscanf(line, "%63[^= ] = %1023[^\n]", name, found) == 2 && strcmp(here, section) == 0 &&
        strcmp(name, key) == 0)
      snprintf(value, PARAMETER_PATH_MAX, "%s", found);
  }
}

/** Where a run's particles began. */
struct start {
  bool regular;   /* on a grid or a glass; false: not known */
  size_t lattice; /* side of the grid that the ids number; 0: not known */
  double f_nl;    /* of waves that were generated */
};

static struct start find_start(const char *text) {
  char source[PARAMETER_PATH_MAX], glass[PARAMETER_PATH_MAX], side[PARAMETER_PATH_MAX],
      f_nl[PARAMETER_PATH_MAX];
  find_setting(text, "ic", "f_nl", f_nl);
  find_setting(text, "ic", "source", source);
  find_setting(text, "ic", "glass", glass);
  find_setting(text, "box", "npart_side", side);
  const bool generated = strcmp(source, "generate") == 0;
  return (struct start){.regular = generated,
                        .f_nl = generated ? strtod(f_nl, NULL) : 0.0,
                        .lattice = generated && !glass[0] ? strtoul(side, NULL, 10) : 0};
}

/**
 * Take the settings of the run that wrote a snapshot, if this program wrote it.
 * @param[out] start  stays as it is where the snapshot does not say it
 * @return whether the snapshot contains settings
 */
static bool take_run(struct settings *s, bool isolated, const char *name, struct start *start) {
  char path[PARAMETER_PATH_MAX + 16];
  snprintf(path, sizeof path, "%s", name);
  /* The name may be that of a set of files NAME.0.hdf5, NAME.1.hdf5 ... */
  if (access(path, F_OK) != 0) snprintf(path, sizeof path, "%s.0.hdf5", name);
  const char *reason; /* not printed: reading the snapshot fails later */
  FILE *file = input_open(path, &reason);
  unsigned char begin[8] = {0};
  const bool is_hdf5 = file && fread(begin, 1, sizeof begin, file) == sizeof begin &&
                       memcmp(begin, "\x89HDF\r\n\x1a\n", 8) == 0;
  if (file) fclose(file);
  if (!is_hdf5) return false;
  const hid_t snapshot = hdf5_open(path);
  char *text = NULL;
  if (H5Lexists(snapshot, "Config", H5P_DEFAULT) > 0) {
    const hid_t config = hdf5_check(H5Gopen2(snapshot, "Config", H5P_DEFAULT), EXIT_BAD_INPUT, path,
                                    "open the group Config");
    if (H5Aexists(config, "config.ini") > 0) text = hdf5_read_text(config, path, "config.ini");
    H5Gclose(config);
  }
  H5Fclose(snapshot);
  if (text) take_settings(s, isolated, text);
  if (text) *start = find_start(text);
  const bool found = text != NULL;
  free(text);
  return found;
}

/** The number NNN of NAME_NNN, NAME_NNN.hdf5 or NAME_NNN.0.hdf5; 0 if there is none. */
static size_t number_of(const char *path) {
  const char *name = strrchr(path, '/'), *underscore = strrchr(name ? name : path, '_');
  return underscore && isdigit((unsigned char)underscore[1]) ? strtoul(underscore + 1, NULL, 10)
                                                             : 0;
}

/** What the user asks for. */
struct request {
  const char *snapshot;
  const char *const *overrides; /* of --set */
  size_t count;
};

static void add_source(struct settings *s, const char *snapshot) {
  settings_add(s, "ic", "source", "gadget");
  settings_add(s, "ic", "file", snapshot);
}

/** The value that --set gives a key; NULL: none. @param key  with "=" */
static const char *override_of(const struct request *r, const char *key) {
  const char *value = NULL;
  for (size_t i = 0; i < r->count; i++)
    if (strncmp(r->overrides[i], key, strlen(key)) == 0) value = r->overrides[i] + strlen(key);
  return value;
}

/** Whether a snapshot is of an isolated system: its header says it, or the user does. */
static bool is_isolated(const struct request *r) {
  const char *named = override_of(r, "box.boundary="), *folder = override_of(r, "output.dir=");
  if (named) return strcmp(named, "isolated") == 0;
  struct settings settings = {0};
  struct parameters p;
  add_source(&settings, r->snapshot);
  if (folder) settings_add(&settings, "output", "dir", folder);
  parameters_read(&p, NULL, (const char *const *)settings.text, settings.count);
  settings_free(&settings);
  return ic_snapshot_is_isolated(r->snapshot);
}

/** Settings that isolated systems need and the analysis does not; a softening length that no later
 * setting replaces is not used. */
static void add_isolated(struct settings *s) {
  settings_add(s, "box", "boundary", "isolated");
  settings_add(s, "time", "end", "1");
  settings_add(s, "gravity", "softening", "1");
}

/** Whether settings give a softening length, the first of add_isolated() left out. */
static bool softening_given(const struct settings *s) {
  static const char key[] = "gravity.softening=";
  size_t found = 0;
  for (size_t i = 0; i < s->count; i++) found += strncmp(s->text[i], key, sizeof key - 1) == 0;
  return found > 1;
}

/** What is known of a snapshot before its particles are read. */
struct source {
  bool isolated, softened; /* softened: of an isolated system, whose softening length is known */
  bool ours;               /* the snapshot contains the settings of the run that wrote it */
  struct start start;      /* of that run */
};

/** The parameters of the analysis. */
static struct source read_parameters(struct parameters *p, const struct request *r) {
  struct settings settings = {0};
  struct source source = {.isolated = is_isolated(r)};
  add_source(&settings, r->snapshot);
  if (source.isolated) add_isolated(&settings);
  source.ours = take_run(&settings, source.isolated, r->snapshot, &source.start);
  const size_t own = settings.count;
  settings.text = reallocate(settings.text, own + r->count, sizeof *settings.text, "settings");
  for (size_t i = 0; i < r->count; i++) settings.text[own + i] = (char *)r->overrides[i];
  settings.count += r->count;
  parameters_read(p, NULL, (const char *const *)settings.text, settings.count);
  /* One snapshot makes no tree, although its run may have made some. */
  p->output.trees = p->output.trees && override_of(r, "output.trees=");
  source.softened = source.isolated && softening_given(&settings);
  settings.count = own;
  settings_free(&settings);
  return source;
}

/** Decide which particles halos consist of, and sort these into groups where they are a part of all.
 * @param[out] light  particles that halos consist of, if these are not all */
static void choose_halo_particles(struct parameters *p, struct products *products,
                                  struct particles *light) {
  const struct particles *s = products->particles;
  if (!p->analysis.fof || !particles_have(s, COLUMN_relative_mass)) return;
  if (!halos_possible(s)) {
    p->analysis.fof = false;
    return;
  }
  halos_require_light(p);
  products_take_light(products, light);
  if (comm_rank() == 0)
    warn(
        "particles have different masses: halos and their spheres are made of the %zu particles of "
        "at most twice the least mass, of %.4g Msun/h, and there is no mass function",
        light->all, 1e10 * light->mass);
}

static void print_snapshot(const struct parameters *p, const struct particles *particles, bool ours,
                           double seconds) {
  say("%s: %zu particles of %.4g Msun/h%s in %g Mpc/h at z = %.4g, read in %.2f s\n", p->ic.file,
      particles->all, 1e10 * particles->mass,
      particles_have(particles, COLUMN_relative_mass) ? " on average" : "", particles->box,
      p->ic.z_init, seconds);
  say("cosmology   Omega_m %g, Omega_lambda %g, Omega_k %g, h %g from its header;\n"
      "            Omega_b %g, n_s %g, sigma8 %g %s\n",
      p->cosmology.omega_m, p->cosmology.omega_lambda, cosmology_printed_curvature(p),
      p->cosmology.h, p->cosmology.omega_b, p->cosmology.n_s, p->cosmology.sigma8,
      ours ? "from the run that made it" : "are defaults (--set cosmology.sigma8=... for theory)");
}

/** What is measured and written. */
static void print_plan(const struct parameters *p, const struct particles *s) {
  const bool one_mass = !particles_have(s, COLUMN_relative_mass);
  const bool halos = p->analysis.fof && (one_mass || halos_possible(s));
  say("would write to %s:%s%s%s%s%s\n", p->output.dir, halos ? " halos," : "",
      halos && one_mass ? " mass function," : "", halos && p->output.trees ? " merger trees," : "",
      p->output.power_spectrum ? " power spectrum," : "", p->output.images ? " pictures" : "");
}

/** Measure a periodic box and write the products. */
static void write_products(struct parameters *p, const struct source *source,
                           const struct linear_power *linear, const struct species *species,
                           struct particles *particles) {
  const struct cosmology cosmology = cosmology_from(p);
  const struct layout layout = layout_choose(p, particles->all);
  struct particles light = {0};
  struct tree_past trees = {0};
  domain_sort_particles(particles, &layout.domain);
  struct products products = {.parameters = p,
                              .cosmology = &cosmology,
                              .linear = linear,
                              .species = species,
                              .particles = particles,
                              .depth = layout.domain.depth,
                              .lattice = source->start.lattice,
                              .regular = source->start.regular,
                              .a = 1.0 / (1.0 + p->ic.z_init),
                              .number = number_of(p->ic.file),
                              .mesh = layout.mesh.cells,
                              .trees = &trees,
                              .last = true};
  choose_halo_particles(p, &products, &light);
  products_write(&products);
  output_settle();
  tree_past_free(&trees);
  particles_free(&light);
}

static void analyse_box(struct parameters *p, const struct source *source, bool dry_run) {
  /* Products of an earlier run may be in the folder. */
  const int lock = dry_run ? -1 : folder_lock(p->output.dir);
  /* Of most snapshots it takes longer to start GPUs than to do on cores what GPUs would do. */
  if (p->runtime.gpu == GPU_AUTO) p->runtime.gpu = GPU_NO;
  engine_start(p, NULL);
  double start = wall_clock();
  struct particles particles = ic_read_snapshot(p);
  struct linear_power *linear = linear_power_create(p);
  struct species *species = species_create(p);
  p->ic.f_nl = source->start.f_nl;
  print_snapshot(p, &particles, source->ours, wall_clock() - start);
  start = wall_clock();
  if (dry_run) {
    print_plan(p, &particles);
  } else {
    write_products(p, source, linear, species, &particles);
    say("analysed in %.2f s; results in %s\n", wall_clock() - start, p->output.dir);
  }
  linear_power_free(linear);
  species_free(species);
  particles_free(&particles);
  engine_stop();
  if (!dry_run) folder_unlock(lock);
}

int analyse_snapshot(const char *snapshot, const char *const *overrides, size_t count,
                     bool dry_run) {
  struct parameters p;
  const struct source source = read_parameters(&p, &(struct request){snapshot, overrides, count});
  if (dry_run && comm_rank() == 0) output_folder_check(p.output.dir);
  heartbeat_start(p.runtime.timeout, NULL);
  if (source.isolated)
    analyse_isolated(&p, source.softened, number_of(snapshot), dry_run);
  else
    analyse_box(&p, &source, dry_run);
  return 0;
}
