/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.ini and --set: defaults, presets, ranges, and that every mistake is reported. */
#include "photons/base/error.h" /* before cmocka.h, which has a macro fail() */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "photons/config/parameter_table.h"
#include "support/assert_near.h"

#define CONFIG "config.ini"
#define NEEDED "[box]\nsize = 100\nnpart_side = 32\n"

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void read_config(struct parameters *p, const char *text, const char *const *overrides,
                        size_t count) {
  write_file(CONFIG, text);
  parameters_read(p, CONFIG, overrides, count);
}

/* The messages of parameters_read() in a child process, which must end with EXIT_BAD_USAGE; free()
 * them. */
static char *complaints(const char *text, const char *const *overrides, size_t count) {
  write_file(CONFIG, text);
  int ends[2], status;
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct parameters p;
    dup2(ends[1], STDERR_FILENO);
    parameters_read(&p, CONFIG, overrides, count);
    _exit(0);
  }
  close(ends[1]);
  FILE *said = fdopen(ends[0], "r");
  char *whole = NULL;
  size_t capacity = 0;
  assert_non_null(said);
  if (getdelim(&whole, &capacity, 0, said) < 0) whole = strdup("");
  fclose(said);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), EXIT_BAD_USAGE);
  return whole;
}

/* The growth on a grid is that of a grid, with forces of all pairs. */
static void growth_on_a_grid_needs_a_grid(void **state) {
  (void)state;
  static const struct {
    const char *setting[3];
    size_t count;
    const char *complaint;
  } wrong[] = {
      {{"ic.lattice_growth=10", "ic.glass=w.txt"}, 2, "not with ic.glass"},
      {{"ic.lattice_growth=10", "time.step=pm", "time.steps=10"}, 3, "not with time.step = pm"},
      {{"ic.lattice_growth=10", "ic.sphere_mode=no"}, 2, "not with ic.sphere_mode = no"},
      {{"ic.lattice_growth=10", "cosmology.species_file=w.txt"},
       2,
       "not with cosmology.species_file"}};
  write_file("w.txt", "");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char *said = complaints(NEEDED, wrong[i].setting, wrong[i].count);
    assert_non_null(strstr(said, wrong[i].complaint));
    free(said);
  }
  assert_int_equal(remove("w.txt"), 0);
}

/* A table of w has redshifts or scale factors, and w0 and wa are not given beside it. */
static void table_of_dark_energy_is_read(void **state) {
  (void)state;
  static const char *const named[] = {"cosmology.w_table=w.txt"},
                           *const both[] = {"cosmology.w_table=w.txt", "cosmology.wa=0.1"},
                           *const species[] = {"cosmology.w_table=w.txt",
                                               "cosmology.species_file=w.txt"};
  static const struct {
    const char *text, *complaint;
  } wrong[] = {{"0 -1\n", "is not behind a heading"},
               {"# a w\n0.5 -1 3\n", "line 2, \"0.5 -1 3\", is not two numbers"},
               {"# a w\n1.5 -1\n", "is not of the past"},
               {"# a w\n0.5 -11\n", "has no w of -10 .. 1"},
               {"# a w\n0.5 -1\n0.5 -1\n", "neither rises nor falls"},
               {"# z w\n0 -1\n5 0.1\n", "rule the early universe"},
               {"# a w\n0.1 -1\n0.5 -0.9\n", "it has no row of today"},
               {"# z w\n", "it has no rows"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    write_file("w.txt", wrong[i].text);
    char *said = complaints(NEEDED, named, 1);
    assert_non_null(strstr(said, wrong[i].complaint));
    free(said);
  }
  write_file("w.txt", "# z w\n0 -0.9\n1 -0.8 \n\n# earlier\n3 -0.7\n");
  struct parameters p;
  read_config(&p, NEEDED, named, 1);
  assert_int_equal(p.cosmology.w.rows, 3);
  assert_near(p.cosmology.w.a[0], 0.25, 1e-15);
  assert_near(dark_energy_w(&p.cosmology.w, -1, 0, 0.75), -0.85, 1e-15);
  char *said = complaints(NEEDED, both, 2);
  assert_non_null(strstr(said, "takes the place of w0 and wa"));
  free(said);
  said = complaints(NEEDED, species, 2);
  assert_non_null(strstr(said, "not with cosmology.species_file"));
  free(said);
  assert_int_equal(remove("w.txt"), 0);
}

static void defaults_are_a_flat_universe(void **state) {
  (void)state;
  struct parameters p;
  read_config(&p, NEEDED, NULL, 0);
  /* Planck 2018 without massless neutrinos: flat by construction, so only rounding is allowed. */
  assert_true(fabs(p.cosmology.omega_m + p.cosmology.omega_lambda + p.cosmology.omega_r - 1) <
              1e-15);
  assert_true(p.cosmology.w0 == -1 && p.cosmology.wa == 0);
  assert_true(p.box.size == 100 && p.box.npart_side == 32);
  assert_int_equal(p.output.redshift_count, 1);
  assert_true(p.output.redshifts[0] == p.time.z_end);
  assert_int_equal(p.gravity.accuracy, ACCURACY_DEFAULT);
  assert_string_equal(p.output.dir, "output");
  assert_int_equal(p.output.unit_length, LENGTH_KPC_H);
  assert_true(parameter_given(&p, "box", "size"));
  assert_false(parameter_given(&p, "cosmology", "Omega_m"));
}

/* Let values alone differ. */
static void forget_origins(struct parameters *p, const struct parameters *other) {
  memcpy(p->given, other->given, sizeof p->given);
  memcpy(&p->origin, &other->origin, sizeof p->origin);
}

/* Dark energy makes the universe flat, and the last output ends a run, where the user does not say else. A printed
 * configuration repeats that, and 0 is a value. */
static void defaults_follow_from_other_values(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double omega_lambda, z_end;
  } cases[] = {{"[cosmology]\nOmega_m = 0.25\n[output]\nredshifts = 5 9\n", 0.75, 5},
               {"[cosmology]\nOmega_m = 0.25\nOmega_r = 0.05\n", 0.7, 0},
               {"[cosmology]\nOmega_m = 0.25\nOmega_lambda = 0\n[time]\nz_end = "
                "0\n[output]\nredshifts = 5\n",
                0, 0},
               {"[cosmology]\nOmega_m = 1\n[output]\nscale_factors = 0.5\n", 0, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct parameters p, again;
    char text[256], *printed = NULL;
    size_t length;
    snprintf(text, sizeof text, NEEDED "%s", cases[i].text);
    read_config(&p, text, NULL, 0);
    assert_near(p.cosmology.omega_lambda, cases[i].omega_lambda, 1e-15);
    assert_near(p.time.z_end, cases[i].z_end, 1e-12);
    FILE *stream = open_memstream(&printed, &length);
    assert_non_null(stream);
    parameters_print(&p, stream);
    assert_int_equal(fclose(stream), 0);
    read_config(&again, printed, NULL, 0);
    forget_origins(&again, &p);
    assert_memory_equal(&p, &again, sizeof p);
    free(printed);
  }
}

/* The mesh alone assigns by triangular clouds where particles are near each other, unless the user says else. */
static void mesh_alone_has_clouds(void **state) {
  (void)state;
  static const struct {
    const char *size, *setting;
    enum assignment assignment;
  } cases[] = {{"box.size=256", "time.step=pm", ASSIGN_TSC},
               {"box.size=257", "time.step=pm", ASSIGN_PCS},
               {"box.size=256", "time.step=block", ASSIGN_PCS}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const settings[] = {"box.npart_side=64", "time.steps=5", cases[i].size,
                                    cases[i].setting, "gravity.assignment=pcs"};
    struct parameters p;
    read_config(&p, NEEDED, settings, 4);
    assert_int_equal(p.gravity.assignment, cases[i].assignment);
    read_config(&p, NEEDED, settings, 5);
    assert_int_equal(p.gravity.assignment, ASSIGN_PCS);
  }
}

/* Every word of a preset reaches its field, and a value given by the user takes precedence,
 * wherever it stands. */
static void presets_yield_to_given_values(void **state) {
  (void)state;
  static const char *const names[] = {"paper", "default", "high"};
  for (unsigned a = ACCURACY_PAPER; a <= ACCURACY_HIGH; a++) {
    for (int accuracy_first = 0; accuracy_first < 2; accuracy_first++) {
      char text[256];
      struct parameters p, expected;
      snprintf(text, sizeof text, NEEDED "[gravity]\n%s%s\ntheta = 0.55\n%s%s\n",
               accuracy_first ? "accuracy = " : "", accuracy_first ? names[a] : "",
               accuracy_first ? "" : "accuracy = ", accuracy_first ? "" : names[a]);
      read_config(&p, text, NULL, 0);
      assert_int_equal(p.gravity.accuracy, a);
      assert_true(p.gravity.theta == 0.55);
      expected = p;
      for (size_t i = 0; i < preset_count; i++) {
        char reason[64];
        if (strcmp(preset_table[i].section, "gravity") != 0 ||
            strcmp(preset_table[i].key, "theta") == 0)
          continue;
        const struct parameter *row = parameter_find("gravity", preset_table[i].key);
        assert_non_null(row);
        assert_true(
            parameter_parse(row, preset_table[i].value[a], &expected, reason, sizeof reason));
      }
      assert_memory_equal(&p.gravity, &expected.gravity, sizeof p.gravity);
    }
  }
  struct parameters p;
  read_config(&p, NEEDED "[gravity]\naccuracy = paper\n", NULL, 0);
  assert_int_equal(p.gravity.assignment, ASSIGN_CIC);
  assert_int_equal(p.gravity.split, SPLIT_GAUSS);
  assert_int_equal(p.gravity.mac, MAC_GEOMETRIC);
  assert_int_equal(p.gravity.order, 3);
  assert_true(p.gravity.theta == 0.4);
  read_config(&p,
              "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[time]\nend = "
              "1\n[gravity]\nsoftening = 1\n",
              NULL, 0);
  assert_int_equal(p.gravity.order, 6);
  assert_true(p.gravity.mac_tolerance == 0.001);
}

static void aliases_comments_and_blanks(void **state) {
  (void)state;
  struct parameters p;
  read_config(
      &p,
      "\xEF\xBB\xBF# byte order mark, carriage returns\r\n[cosmology]\r\n  Omega0 = 0.25 ; "
      "indented\r\n"
      "\tOmega_lambda=7.5e-1\t# tab\r\nHubbleParam : 0.7\n; a "
      "comment\n\n[box]\nsize=100\nnpart_side=32\n"
      "[output]\ndir = name#1;2   # the rest\nredshifts = 0,3  1\t, 3 49\n[cosmology]\nsigma8 =\n",
      NULL, 0);
  assert_true(p.cosmology.omega_m == 0.25 && p.cosmology.omega_lambda == 0.75 &&
              p.cosmology.h == 0.7);
  assert_true(p.cosmology.sigma8 == 0.812); /* left empty: the default */
  assert_false(parameter_given(&p, "cosmology", "sigma8"));
  assert_true(parameter_given(&p, "cosmology", "Omega_m") &&
              parameter_given(&p, "cosmology", "HubbleParam"));
  assert_string_equal(p.output.dir, "name#1;2");
  const double falling[] = {49, 3, 1, 0};
  assert_int_equal(p.output.redshift_count, 4);
  assert_memory_equal(p.output.redshifts, falling, sizeof falling);
}

/* time.accuracy chooses the steps that the user does not give, wherever it stands. Steps of gas do not
 * depend on it: the longest one is that of fast. */
static void time_accuracy_chooses_steps(void **state) {
  (void)state;
#define GAS                                                                               \
  "[run]\nsystem = gas\n[gas]\ncomoving = yes\nroot = 16,16,16\n[ic]\nsource = pancake\n" \
  "[box]\nsize = 10\n"
#define GALAXY "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[gravity]\nsoftening = 1\n"
  static const struct {
    const char *text;
    double max_dlna, stretch, eta, eta_tide;
    enum kick_kind kicks;
    double mesh_crossing;
  } cases[] = {
      {NEEDED, 0.0125, 4, 0.025, 0, KICKS_GROWTH, 0.125},
      {NEEDED "[time]\naccuracy = fast\n", 0.025, 1, 0.025, 0.25, KICKS_PLAIN, 0.5},
      {NEEDED "[time]\naccuracy = default\n", 0.0125, 4, 0.025, 0, KICKS_GROWTH, 0.125},
      {NEEDED "[time]\naccuracy = high\n", 0.00625, 4, 0.00625, 0, KICKS_GROWTH, 0.0625},
      {NEEDED "[time]\nmax_dlna = 0.1\naccuracy = high\n", 0.1, 4, 0.00625, 0, KICKS_GROWTH,
       0.0625},
      {NEEDED "[time]\naccuracy = fast\neta_tide = 0\n", 0.025, 1, 0.025, 0, KICKS_PLAIN, 0.5},
      {GAS, 0.025, 1, 0.025, 0.25, KICKS_PLAIN, 0.5},
      {GALAXY "[time]\nend = 1\n", 0.0125, 4, 0.025, 0, KICKS_GROWTH, 0.125},
      {GALAXY "[time]\nend = 1\naccuracy = high\n", 0.00625, 4, 0.00625, 0, KICKS_GROWTH, 0.0625},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct parameters p;
    read_config(&p, cases[i].text, NULL, 0);
    assert_true(p.time.max_dlna == cases[i].max_dlna && p.time.stretch == cases[i].stretch &&
                p.time.eta == cases[i].eta && p.time.eta_tide == cases[i].eta_tide);
    assert_int_equal(p.time.kicks, cases[i].kicks);
    assert_true(p.time.mesh_crossing == cases[i].mesh_crossing);
  }
}

static void overrides(void **state) {
  (void)state;
  static const char *const set[] = {"gravity.theta=0.3", "box.size=50",      "gravity.theta = 0.6",
                                    "ic.seed=",          "output.dir=a=b.c", "gravity.r_cut="};
  struct parameters p;
  read_config(&p, NEEDED "[ic]\nseed = 7\n[gravity]\naccuracy = high\nr_cut = 7\n", set,
              sizeof set / sizeof *set);
  assert_true(p.gravity.theta == 0.6); /* the last one */
  assert_true(p.box.size == 50);
  assert_true(p.gravity.r_cut == 5.4); /* emptied: back to the preset */
  assert_int_equal(p.ic.seed, 12345);
  assert_string_equal(p.output.dir, "a=b.c");
  assert_true(parameter_given(&p, "gravity", "theta"));
  assert_false(parameter_given(&p, "ic", "seed"));
}

static bool accepts(const struct parameter *row, double value, bool whole) {
  struct parameters p;
  char text[64], reason[64];
  parameters_default(&p);
  snprintf(text, sizeof text, whole ? "%.0f" : "%.17g", value);
  if (!parameter_parse(row, text, &p, reason, sizeof reason)) {
    assert_non_null(strstr(reason, "out of range"));
    return false;
  }
  return true;
}

/* For each row: both ends of its range are allowed and nothing beyond, its automatic value, and
 * each of its words and no other. */
static void ranges_and_words(void **state) {
  (void)state;
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    struct parameters p;
    char reason[64];
    parameters_default(&p);
    const bool whole = row->type == PARAMETER_INTEGER;
    if (row->words) {
      assert_false(parameter_parse(row, "", &p, reason, sizeof reason));
      assert_false(parameter_parse(row, "YES", &p, reason, sizeof reason));
      for (unsigned w = 0; row->words[w]; w++) {
        if (!*row->words[w]) continue;
        assert_true(parameter_parse(row, row->words[w], &p, reason, sizeof reason));
        const char *place = (const char *)&p + row->offset;
        assert_int_equal(
            row->type == PARAMETER_SWITCH ? *(const bool *)place : *(const unsigned *)place, w);
      }
    } else if (row->type != PARAMETER_TEXT) {
      assert_true(row->low < row->high);
      assert_true(accepts(row, row->low, whole) && accepts(row, row->high, whole));
      if (row->automatic) assert_true(accepts(row, strtod(row->automatic, NULL), whole));
      const double below = whole ? row->low - 1 : nextafter(row->low, -INFINITY);
      if (!row->automatic || below != strtod(row->automatic, NULL))
        assert_false(accepts(row, below, whole));
      assert_false(accepts(row, whole ? row->high + 1 : nextafter(row->high, INFINITY), whole));
    }
    /* The default is itself allowed. */
    for (unsigned a = ACCURACY_PAPER; a <= ACCURACY_HIGH; a++)
      for (unsigned b = BOUNDARY_PERIODIC; b <= BOUNDARY_ISOLATED; b++) {
        const char *initial = parameter_initial(row, a, (enum boundary)b);
        assert_true(!*initial || parameter_parse(row, initial, &p, reason, sizeof reason));
      }
  }
}

static void not_numbers(void **state) {
  (void)state;
  static const char *const bad[] = {"",    "x",   "1x",        "0x1",   "1 2", "1,5",
                                    "nan", "inf", "-infinity", "1e999", "--1", "1e"};
  const struct parameter *real = parameter_find("cosmology", "h"),
                         *integer = parameter_find("ic", "order");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct parameters p;
    char reason[64];
    parameters_default(&p);
    assert_false(parameter_parse(real, bad[i], &p, reason, sizeof reason));
    assert_false(parameter_parse(integer, bad[i], &p, reason, sizeof reason));
    assert_true(p.cosmology.h == 0.6732 && p.ic.order == 2);
  }
  struct parameters p;
  char reason[64];
  assert_false(parameter_parse(integer, "1.0", &p, reason, sizeof reason));
  assert_string_equal(reason, "not a whole number");
  static const struct {
    const char *text;
    int64_t value; /* 0: refused */
  } exponents[] = {{"2e0", 2}, {"0.1E1", 1}, {"1.5e0", 0}, {"1e-1", 0}, {"2e99", 0}, {"2e0x", 0}};
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
    p.ic.order = 0;
    const bool sound = parameter_parse(integer, exponents[i].text, &p, reason, sizeof reason);
    assert_int_equal(sound, exponents[i].value > 0);
    assert_int_equal(p.ic.order, exponents[i].value);
  }
  assert_true(
      parameter_parse(parameter_find("galaxy", "particles"), "2e5", &p, reason, sizeof reason));
  assert_int_equal(p.galaxy.particles, 200000);
}

/* Values printed and read back have the same bits: odd numbers, a long path, a list far longer than
 * libinih's lines. */
static void round_trip(void **state) {
  (void)state;
  struct parameters p, again;
  char *text = NULL;
  size_t length;
  read_config(
      &p,
      NEEDED "[gravity]\naccuracy = paper\n[output]\ncompression = 3\n[runtime]\nscheduler = lws\n",
      NULL, 0);
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++)
    if (row->type == PARAMETER_REAL && strcmp(row->section, "cosmology") == 0) {
      double *value = (double *)(void *)((char *)&p + row->offset);
      *value = nextafter(*value * (1 + 1e-9), 10);
    }
  p.cosmology.w0 = -0.1 - 0.2 - 0.7; /* not -1 */
  p.box.size = 100.0 / 3;
  memset(p.output.dir, 'd', 250); /* a name may not be longer than 255 */
  p.output.redshift_count = PARAMETER_LIST_MAX;
  for (int i = 0; i < PARAMETER_LIST_MAX; i++)
    p.output.redshifts[i] = 48 - i * (48.0 / PARAMETER_LIST_MAX) / 1.1;
  FILE *stream = open_memstream(&text, &length);
  assert_non_null(stream);
  parameters_print(&p, stream);
  assert_int_equal(fclose(stream), 0);
  read_config(&again, text, NULL, 0);
  forget_origins(&again, &p);
  assert_memory_equal(&p, &again, sizeof p);
  free(text);
}

/* The keys of a configuration as parameters_print() lists them. */
static char *listed(const char *text) {
  struct parameters p;
  char *list = NULL;
  size_t size;
  read_config(&p, text, NULL, 0);
  FILE *stream = open_memstream(&list, &size);
  assert_non_null(stream);
  parameters_print(&p, stream);
  assert_int_equal(fclose(stream), 0);
  return list;
}

/* A list has the parameters of the chosen system alone, and all that it uses. */
static void lists_are_of_the_chosen_system(void **state) {
  (void)state;
  static const struct {
    const char *config, *there[8], *absent[8];
  } systems[] = {
      {NEEDED,
       {"[cosmology]", "eta_tide =", "softening_max_physical =", "pm_grid =", "redshifts ="},
       {"[gas]", "[galaxy]", "escape_radius =", "max_step =", "gothic_eta =", "times ="}},
      {"[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[galaxy]\nmodel = plummer\n[gravity]\n"
       "softening = 1\n[time]\nend = 9\n",
       {"[galaxy]", "escape_radius =", "max_step =", "gothic_eta =", "times =", "theta ="},
       {"[cosmology]", "[gas]", "eta_tide =", "softening_max_physical =", "pm_grid =", "images ="}},
      {"[run]\nsystem = gas\n[ic]\nsource = sod\n[gas]\nroot = 16, 16, 16\n[time]\nend = 1\n",
       {"[gas]", "length =", "direction =", "times =", "images =", "gpu ="},
       {"[cosmology]", "[gravity]", "temperature_floor =", "seed =", "energy =", "amplitude ="}},
      {"[run]\nsystem = gas\n[ic]\nsource = pancake\n[box]\nsize = 9\n[gas]\nroot = 16, 16, 16\n"
       "comoving = yes\n",
       {"[cosmology]", "temperature_floor =", "z_caustic =", "redshifts =", "max_dlna ="},
       {"[gravity]", "length =", "times =", "separation =", "fixed =", "eta ="}}};
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
    char *list = listed(systems[i].config);
    for (size_t k = 0; k < 8; k++) {
      char line[64];
      snprintf(line, sizeof line, "\n%s", systems[i].there[k] ? systems[i].there[k] : "");
      if (!strstr(list, line)) fail_msg("%s: no %s in\n%s", systems[i].config, line, list);
      snprintf(line, sizeof line, "\n%s", systems[i].absent[k] ? systems[i].absent[k] : "?");
      if (strstr(list, line)) fail_msg("%s: %s in\n%s", systems[i].config, line, list);
    }
    free(list);
  }
}

/* Sections that are of one kind of system have no row for others; --help NAME says which. */
static void rows_say_their_systems(void **state) {
  (void)state;
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    const unsigned systems = parameter_systems(row);
    assert_true(systems > 0 && (systems & ~(unsigned)KINDS_ALL) == 0);
    if (strcmp(row->section, "gas") == 0) assert_int_equal(systems & (KIND_BOX | KIND_ISOLATED), 0);
    char *text = NULL, name[64];
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    snprintf(name, sizeof name, "%s.%s", row->section, row->key);
    assert_true(parameters_explain(name, stream));
    assert_false(parameters_explain("gas.nothing", stream));
    assert_int_equal(fclose(stream), 0);
    assert_non_null(strstr(text, row->help));
    assert_non_null(strstr(text, systems == KIND_ISOLATED ? "\n  of: isolated systems\n"
                                 : systems == KINDS_ALL   ? "\n  of: all systems\n"
                                                          : "\n  of: "));
    free(text);
  }
}

/* --defaults is itself a config.ini that changes nothing. */
static void defaults_read_back(void **state) {
  (void)state;
  static const char *const set[] = {"box.size=100", "box.npart_side=32"};
  struct parameters p, plain;
  FILE *file = fopen("defaults.ini", "w");
  assert_non_null(file);
  parameters_print_defaults(file);
  assert_int_equal(fclose(file), 0);
  parameters_read(&p, "defaults.ini", set, 2);
  read_config(&plain, NEEDED, NULL, 0);
  forget_origins(&p, &plain);
  assert_memory_equal(&p, &plain, sizeof p);
  parameters_read(&p, "defaults.ini",
                  (const char *const[]){set[0], set[1], "gravity.accuracy=high"}, 3);
  /* the printed defaults do not freeze the preset */
  assert_true(p.gravity.r_cut > plain.gravity.r_cut);
}

struct mistake {
  const char *text; /* after NEEDED, whose three lines come first */
  const char *expected;
};

static void one_mistake_one_line(void **state) {
  (void)state;
  static const struct mistake mistakes[] = {
      {"[gravity]\ntheta = 1x7\n",
       "config.ini:5: [gravity] theta = 1x7: not a number; allowed: 0.01 .. 1.5"},
      {"[gravity]\ntheta = 2\n",
       "config.ini:5: [gravity] theta = 2: out of range; allowed: 0.01 .. 1.5"},
      {"[cosmology]\nh = nan\n",
       "config.ini:5: [cosmology] h = nan: not a finite number; allowed: 0.1 .. 2"},
      {"[gravity]\norder = 3.5\n",
       "config.ini:5: [gravity] order = 3.5: not a whole number; allowed: 1 .. 6"},
      {"[gravity]\npm_grid = 4\n",
       "config.ini:5: [gravity] pm_grid = 4: out of range; allowed: 0 (automatic) or 8 .. 16384"},
      {"[gravity]\nmac = angle\n",
       "config.ini:5: [gravity] mac = angle: unknown word; allowed: geometric | relative"},
      {"[output]\nunit_length = auto\n",
       "config.ini:5: [output] unit_length = auto: unknown word; allowed: kpc/h | Mpc/h"},
      {"[output]\nimages = 1\n",
       "config.ini:5: [output] images = 1: unknown word; allowed: no | yes"},
      {"[output]\nredshifts = 0 1;2\n",
       "config.ini:5: [output] redshifts = 0 1;2: \"1;2\" is not a number; allowed: 0 .. 10000"},
      {"[gravity]\ntheta = 0.5\ntheta = 0.5\n",
       "config.ini:6: [gravity] theta: given twice, first in line 5"},
      {"[cosmology]\nOmega_m = 0.3\n\nOmega0 = 0.3\n",
       "config.ini:7: [cosmology] Omega0: given twice, first in line 5"},
      {"[gravity]\nsoftning = 1\n",
       "config.ini:5: [gravity] softning: unknown key; did you mean [gravity] softening?"},
      {"[gravity]\nomega_M = 1\n",
       "config.ini:5: [gravity] omega_M: unknown key; --defaults lists them all"},
      {"[gravity]\nz_end = 1\n",
       "config.ini:5: [gravity] z_end: unknown key; did you mean [time] z_end?"},
      {"[box]\nnpart = 1\n",
       "config.ini:5: [box] npart: unknown key; did you mean [box] npart_side?"},
      {"[gravities]\ntheta = 1\nfoo = 2\n",
       "config.ini:4: [gravities]: unknown section; did you mean [gravity]?"},
      {"[halos]\n", "config.ini:4: [halos]: unknown section; --defaults lists them all"},
      {"[gravity\ntheta = 99\n", "config.ini:4: [gravity: the section's ] is missing"},
      {"[time] z_end = 1\n",
       "config.ini:4: [time] z_end = 1: a section stands on a line of its own"},
      {"theta\n", "config.ini:4: theta: neither key = value nor [section] nor # comment"},
      /* Between values. */
      {"[cosmology]\nOmega_b = 0.4\n",
       "config.ini:5: [cosmology] Omega_b = 0.4: more than all matter, Omega_m = 0.3144"},
      {"[cosmology]\nwa = 1.5\n",
       "config.ini:5: [cosmology] wa = 1.5: w0 + wa = 0.5; allowed: at most 0, or dark "
       "energy would rule the early universe"},
      /* H^2 = 0.3144 x^3 - 1.3144 x^2 + 2 < 0 at x = 1 + z = 2 */
      {"[cosmology]\nOmega_lambda = 2\n",
       "config.ini:5: [cosmology] Omega_lambda = 2: no expanding universe: H^2 <= 0"},
      {"[ic]\nmesh = 16\n",
       "config.ini:5: [ic] mesh = 16: coarser than the particles, box.npart_side = 32"},
      {"[ic]\nmesh = 33\n", "config.ini:5: [ic] mesh = 33: odd; allowed: even numbers"},
      {"[ic]\nz_init = 0\n",
       "config.ini:5: [ic] z_init = 0: not above the redshift where the run ends, time.z_end = 0: "
       "it would have no step; for the initial conditions alone give output.redshifts = 0"},
      {"[time]\nz_end = 49\n", "config.ini: [ic] z_init = 49 (default): not above the redshift "
                               "where the run ends, time.z_end = 49: it would have no step"},
      {"[ic]\npower_spectrum = file\n",
       "config.ini: [ic] power_spectrum_file: not given, but needed with ic.power_spectrum = file"},
      {"[ic]\npower_spectrum = file\npower_spectrum_file = none.txt\n",
       "config.ini:6: [ic] power_spectrum_file = none.txt: cannot read it: No such file or "
       "directory (neither in the current directory nor beside the configuration)"},
      {"[ic]\npower_spectrum = file\npower_spectrum_file = /\n",
       "config.ini:6: [ic] power_spectrum_file = /: cannot read it: it is a folder"},
      {"[ic]\npower_spectrum_file = config.ini\n",
       "config.ini:5: [ic] power_spectrum_file = config.ini: not used "
       "with ic.power_spectrum = eh98; set ic.power_spectrum = file, or leave "
       "this empty"},
      {"[ic]\npower_spectrum = power_law\n[cosmology]\nn_s = 1\n",
       "config.ini:7: [cosmology] n_s = 1: allowed with ic.power_spectrum = power_law: above -3 "
       "and "
       "below 1, where sigma8 is finite"},
      {"[cosmology]\nn_s = -2\n", "config.ini:5: [cosmology] n_s = -2: allowed: 0 .. 2; set "
                                  "ic.power_spectrum = power_law for a "
                                  "linear spectrum that is a power law"},
      {"[ic]\nnormalise = no\n", "config.ini:5: [ic] normalise = no: ic.power_spectrum = eh98 has "
                                 "no amplitude of its own; allowed: yes"},
      {"[ic]\nglass = /none\n",
       "config.ini:5: [ic] glass = /none: cannot read it: No such file or directory"},
      {"[ic]\nsource = gadget\n",
       "config.ini: [ic] file: not given, but needed with ic.source = gadget"},
      {"[ic]\nsource = gadget\nfile = /none\n",
       "config.ini:6: [ic] file = /none: cannot read it: No such file or directory"},
      {"[gravity]\npm_grid = 10\naccuracy = paper\n",
       "config.ini: [gravity] r_cut = 6 (default): more than half the mesh, pm_grid = 10"},
      {"[gravity]\npm_grid = 33\n",
       "config.ini:5: [gravity] pm_grid = 33: odd; allowed: even numbers"},
      {"[gravity]\nr_cut = 12\nr_split = 1.2\n",
       "config.ini:5: [gravity] r_cut = 12: 10 times r_split = 1.2; allowed: 2 .. 8 times"},
      {"[gravity]\nmac = geometric\ntheta = 1\n",
       "config.ini:6: [gravity] theta = 1: not below 1, as mac = geometric needs it: expansions "
       "would not converge"},
      {"[time]\nstep = fixed\n",
       "config.ini: [time] steps: not given, but needed with time.step = fixed"},
      {"[output]\nredshifts = 50, 3\n", "config.ini:5: [output] redshifts = 50, 3: 50 is not "
                                        "between time.z_end = 3 and ic.z_init = 49"},
      {"[time]\nz_end = 1\n[output]\nredshifts = 1 0.5\n",
       "config.ini:7: [output] redshifts = 1, 0.5: 0.5 is not between time.z_end = 1 and ic.z_init "
       "= 49"},
      {"[output]\ndir = config.ini\n",
       "config.ini:5: [output] dir = config.ini: config.ini is not a folder"},
      {"[output]\ndir = config.ini/a/b\n",
       "config.ini:5: [output] dir = config.ini/a/b: config.ini/a/b: Not a directory"},
      {"[runtime]\ngroup_size = 64\nleaf_size = 128\n",
       "config.ini:5: [runtime] group_size = 64: less than a leaf, leaf_size = 128"},
      {"[runtime]\nscheduler = best\n",
       "config.ini:5: [runtime] scheduler = best: not a scheduler of this StarPU; allowed: "},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    char text[512], *said;
    snprintf(text, sizeof text, "%s%s", NEEDED, mistakes[i].text);
    said = complaints(text, NULL, 0);
    if (strncmp(said, mistakes[i].expected, strlen(mistakes[i].expected)) != 0)
      fail_msg("expected: %s\nfound: %s", mistakes[i].expected, said);
    const char *end = strchr(said, '\n');
    assert_string_equal(end + 1, "photons-starpu: error: config.ini: 1 problem, nothing was run\n");
    free(said);
  }
}

static void all_mistakes_at_once(void **state) {
  (void)state;
  static const char *const set[] = {"time.z_ed=1", "gravity", "tme.step=fixed", "ic.seed=0"};
  char *said = complaints(
      "size = 3\n[ic]\nz_init = -2\n[gravity]\ntheta = much\n[output]\nredshifts = 60\n", set, 4);
  assert_string_equal(
      said, "config.ini:1: size: a key before the first [section]\n"
            "config.ini:3: [ic] z_init = -2: out of range; allowed: -1 (automatic) or 0 .. 10000\n"
            "config.ini:5: [gravity] theta = much: not a number; allowed: 0.01 .. 1.5\n"
            "--set time.z_ed=1: [time] z_ed: unknown key; did you mean [time] z_end?\n"
            "--set gravity: expected SECTION.KEY=VALUE\n"
            "--set tme.step=fixed: [tme]: unknown section; did you mean [time]?\n"
            "--set ic.seed=0: [ic] seed = 0: out of range; allowed: 1 .. 2147483647\n"
            "config.ini: [box] size: not given, but needed with ic.source = generate\n"
            "config.ini: [box] npart_side: not given, but needed with ic.source = generate\n"
            "photons-starpu: error: config.ini: 9 problems, nothing was run\n");
  free(said);
}

static void too_many_redshifts(void **state) {
  (void)state;
  static const char head[] = NEEDED "[output]\nredshifts =";
  char text[sizeof head + 2 * PARAMETER_LIST_MAX + 2] = NEEDED "[output]\nredshifts =";
  char expected[64];
  for (size_t i = 0; i < PARAMETER_LIST_MAX; i++) memcpy(text + sizeof head - 1 + 2 * i, " 1", 3);
  struct parameters p;
  read_config(&p, text, NULL, 0);
  assert_int_equal(p.output.redshift_count, 1); /* each once */
  memcpy(text + sizeof head - 1 + 2 * PARAMETER_LIST_MAX, " 1", 3);
  char *said = complaints(text, NULL, 0);
  snprintf(expected, sizeof expected, "more than %d values", PARAMETER_LIST_MAX);
  assert_non_null(strstr(said, expected));
  free(said);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/** A configuration with a file of output times. @param redshifts  [7] all that it must have */
static struct parameters read_with_times(const char *path, const char *text, const char *times,
                                         const double *redshifts) {
  struct parameters p;
  write_text(path, times);
  read_config(&p, text, NULL, 0);
  assert_int_equal(p.output.redshift_count, 7);
  for (size_t i = 0; i < 7; i++) assert_near(p.output.redshifts[i], redshifts[i], 1e-12);
  return p;
}

/* Redshifts, scale factors and a file are put together; a printed configuration has redshifts. */
static void output_times(void **state) {
  (void)state;
  struct parameters p;
  static const char
      path[] = "times.txt",
      text[] = NEEDED
      "[output]\nredshifts = 3 0\nscale_factors = 0.1, 0.25 1 0.02\ntimes_file = times.txt\n";
  const double expected[] = {49, 9, 4, 3, 1, 0.25, 0};
  p = read_with_times(path, text, "# Redshift\n4\n\n 0.25  # late\n1\n", expected);
  assert_true(p.output.redshifts[0] == 49.0 && p.output.redshifts[6] == 0.0);
  assert_int_equal(p.output.scale_factor_count, 0);
  assert_string_equal(p.output.times_file, "");

  (void)read_with_times(path, text, "# Scale Factor\n0.2\n0.8\n0.5\n", expected);

  (void)read_with_times(path, text, "\xEF\xBB\xBF# Made by hand\n#scale factors:\n0.2\n0.8\n0.5\n",
                        expected);

  /* The second column of lists of SWIFT and Gadget-4. */
  (void)read_with_times(path, text,
                        "# Redshift, Select Output\n4., Snapshot\n0.25, Default # late\n1 , Off\n",
                        expected);

  (void)read_with_times(path, text, "# Scale factor\n0.2 1\n0.8\t2\n0.5\n", expected);

  static const struct {
    const char *lines, *message;
  } wrong[] = {
      {"# Scale Factor\n0.2\n3\n", "line 3, \"3\", is not a scale factor"},
      {"# Redshift\n3 2 1 0\n", "line 2, \"3 2 1 0\", is not a redshift"},
      {"# Redshift\n3 2.5\n", "line 2, \"3 2.5\", is not a redshift"},
      {"# Redshift\n3,1\n", "line 2, \"3,1\", is not a redshift"},
      {"# Redshift\n3, 2\n", "line 2, \"3, 2\", is not a redshift"},
      {"0.1\n0.5\n1.0\n", "begin the file with the line \"# Redshift\" or \"# Scale factor\""},
      {"# Output list\n# Time [U_t]\n0.1\n2\n",
       "the heading says that it has times, but this run has redshifts"},
      {"1\nz = 2\n", "line 2, \"z = 2\", is not a redshift"},
      {"nan\n", "line 1, \"nan\", is not a redshift"},
      {"60\n", "60 is not between time.z_end = 0 and ic.z_init = 49"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    write_text(path, wrong[i].lines);
    char *said = complaints(text, NULL, 0);
    assert_non_null(strstr(said, wrong[i].message));
    free(said);
  }
  assert_int_equal(remove(path), 0);
  char *said = complaints(text, NULL, 0);
  assert_non_null(strstr(said, "times_file = "));
  assert_non_null(strstr(said, "No such file"));
  free(said);
}

/* Isolated systems and gas have times. */
static void output_times_without_redshifts(void **state) {
  (void)state;
  struct parameters p;
  static const char
      path[] = "times.txt",
      text[] = "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[gravity]\nsoftening = 1\n"
               "[time]\nend = 3\n[output]\ntimes = 2\ninterval = 1.5\ntimes_file = times.txt\n",
      gas[] = "[run]\nsystem = gas\n[ic]\nsource = sod\n[gas]\nroot = 16 16 16\n"
              "[time]\nend = 3\n[output]\ntimes = 2\ninterval = 1.5\ntimes_file = times.txt\n";
  const double expected[] = {0, 0.5, 1.5, 2, 3};
  for (int i = 0; i < 4; i++) {
    write_text(path, i % 2 ? "# Time\n0.5\n" : "0.5\n");
    read_config(&p, i < 2 ? text : gas, NULL, 0);
    assert_int_equal(p.output.time_count, 5);
    for (size_t k = 0; k < 5; k++) assert_near(p.output.times[k], expected[k], 1e-12);
  }
  write_text(path, "# Scale factor\n0.5\n");
  char *said = complaints(text, NULL, 0);
  assert_non_null(strstr(said, "has scale factors, but this run has times; allowed: \"# Time\""));
  free(said);
  assert_int_equal(remove(path), 0);
}

/* Input files are found beside config.ini, files of the current directory before them. */
static void input_files_beside_the_configuration(void **state) {
  (void)state;
  struct parameters p;
  assert_int_equal(mkdir("beside", 0700), 0);
  write_text("beside/one.ini",
             NEEDED "[ic]\npower_spectrum = file\npower_spectrum_file = table.txt\n");
  write_text("beside/table.txt", "1 1\n");
  parameters_read(&p, "beside/one.ini", NULL, 0);
  assert_string_equal(p.ic.power_spectrum_file, "beside/table.txt");
  write_text("table.txt", "1 1\n");
  parameters_read(&p, "beside/one.ini", NULL, 0);
  assert_string_equal(p.ic.power_spectrum_file, "table.txt");
  assert_int_equal(remove("table.txt") || remove("beside/table.txt") || remove("beside/one.ini") ||
                       rmdir("beside"),
                   0);
}

/* Of many problems the first are printed, the others counted. */
static void many_problems(void **state) {
  (void)state;
  char text[4096] = NEEDED "[output]\n";
  for (int i = 0; i < PROBLEMS_PRINTED + 5; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "unknown%d = 1\n", i);
  char *said = complaints(text, NULL, 0);
  assert_non_null(strstr(said, "unknown19: unknown key"));
  assert_null(strstr(said, "unknown20: unknown key"));
  assert_non_null(strstr(said, "... and 5 more\n"));
  assert_non_null(strstr(said, "25 problems, nothing was run"));
  free(said);
}

static char folder[] = "/tmp/test_parameters.XXXXXX";

static int enter_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave_folder(void **state) {
  (void)state;
  return unlink(CONFIG) || unlink("defaults.ini") || chdir("/") || rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_a_flat_universe),
      cmocka_unit_test(table_of_dark_energy_is_read),
      cmocka_unit_test(growth_on_a_grid_needs_a_grid),
      cmocka_unit_test(defaults_follow_from_other_values),
      cmocka_unit_test(mesh_alone_has_clouds),
      cmocka_unit_test(presets_yield_to_given_values),
      cmocka_unit_test(time_accuracy_chooses_steps),
      cmocka_unit_test(aliases_comments_and_blanks),
      cmocka_unit_test(overrides),
      cmocka_unit_test(ranges_and_words),
      cmocka_unit_test(not_numbers),
      cmocka_unit_test(round_trip),
      cmocka_unit_test(lists_are_of_the_chosen_system),
      cmocka_unit_test(rows_say_their_systems),
      cmocka_unit_test(defaults_read_back),
      cmocka_unit_test(one_mistake_one_line),
      cmocka_unit_test(all_mistakes_at_once),
      cmocka_unit_test(too_many_redshifts),
      cmocka_unit_test(output_times),
      cmocka_unit_test(output_times_without_redshifts),
      cmocka_unit_test(input_files_beside_the_configuration),
      cmocka_unit_test(many_problems),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
