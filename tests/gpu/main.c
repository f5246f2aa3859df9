/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cuda_check [FILE | WORD] [section.key=value ...]: compares every CUDA stage with its CPU counterpart
 * on the same input, and whole forces and runs. FILE is a Gadget snapshot, WORD one of the table below.
 * Without FILE and WORD all of them are compared, and whole forces with Ewald sums, too. The exit code
 * is 77 where there is no GPU.
 *
 * cuda_check_on_cores is the same program with kernels that run on the processor
 * (tests/support/cuda_on_cores). Without arguments it compares a smaller universe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/systems.h"

/** Compare a system with these parameters. */
static void check_text(const char *text, int count, char **overrides) {
  check_system(&(struct setting){
      .text = text, .overrides = (const char *const *)overrides, .count = (size_t)count});
}

static void universe(int count, char **overrides) {
  check_pictures();
  check_text(UNIVERSE, count, overrides);
}

static void friends(int count, char **arguments) {
  (void)count, (void)arguments;
  check_friends();
}

static void subhalos(int count, char **arguments) {
  (void)count, (void)arguments;
  check_subhalos();
}

static void power(int count, char **arguments) {
  (void)count, (void)arguments;
  check_power();
}

static void isolated(int count, char **overrides) {
  check_judged_pairs();
  check_text(GALAXY, count, overrides);
}

static void mixed(int count, char **arguments) {
  check_mixed(count > 0 ? strtoul(arguments[0], NULL, 10) : 0);
}

static void buffers(int count, char **arguments) {
  (void)count, (void)arguments;
  check_buffers();
  check_owners();
  check_layout();
}

static void gas(int count, char **arguments) {
  if (count > 0 && strcmp(arguments[0], "two-gpus") == 0)
    check_gas_on_two_gpus();
  else
    check_gas();
}

static void gas_gravity(int count, char **arguments) {
  (void)count, (void)arguments;
  check_gas_gravity();
}

static void gas_cosmology(int count, char **arguments) {
  (void)count, (void)arguments;
  check_gas_cosmology();
}

static const struct word {
  const char *word, *what;
  void (*check)(int count, char **arguments); /* what follows the word */
} words[] = {
    {"universe", "a small universe, which is generated, and pictures", universe},
    {"friends", "friends of friends", friends},
    {"subhalos", "densities and potentials in halos, for subhalos", subhalos},
    {"power", "power spectra", power},
    {"isolated", "M31 in empty space", isolated},
    {"mixed", "[N]: several systems of particles of different masses, or system N of them", mixed},
    {"buffers",
     "a task with as much data as direct sums among many groups have; owners of data; sizes of "
     "leaves",
     buffers},
    {"gas", "stages and runs of gas; `two-gpus`: runs on two emulated GPUs alone", gas},
    {"gas-gravity", "self-gravity of gas", gas_gravity},
    {"gas-cosmology", "gas and particles in an expanding universe", gas_cosmology}};
enum { WORDS = sizeof words / sizeof *words };

static void check_file(const char *file, int count, char **overrides) {
  char text[5000];
  snprintf(text, sizeof text, "[ic]\nsource = gadget\nfile = %s\n", file);
  check_text(text, count, overrides);
}

/** @param overrides  of the universe's parameters */
static void check_all(int count, char **overrides) {
  universe(count, overrides);
  check_friends();
  check_subhalos();
  check_power();
  check_sets();
  check_judged_pairs();
  check_isolated();
  check_mixed(0);
  buffers(0, NULL);
  check_gas();
  check_gas_gravity();
  check_gas_cosmology();
}

static void check_little(void) {
  static char *few[] = {"box.npart_side=12", "runtime.leaf_size=16"},
              *galaxy[] = {"galaxy.particles=500", "runtime.leaf_size=8", "time.max_step=0.01"};
  universe(2, few);
  isolated(3, galaxy);
  check_friends();
  check_subhalos();
  check_power();
  buffers(0, NULL);
}

static void usage(void) {
  puts("usage: cuda_check [FILE | WORD] [section.key=value ...]\n"
       "FILE is a Gadget snapshot. The words, without which all is compared:");
  for (int i = 0; i < WORDS; i++) printf("  %-14s %s\n", words[i].word, words[i].what);
}

static void check_word(const char *word, int count, char **arguments) {
  for (int i = 0; i < WORDS; i++)
    if (strcmp(word, words[i].word) == 0) {
      words[i].check(count, arguments);
      return;
    }
  check_file(word, count, arguments);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--help") == 0) {
    usage();
    return 0;
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* checks that are ended from outside show how far they came */
  gpu_or_skip();
  if (argc > 1 && !strchr(argv[1], '='))
    check_word(argv[1], argc - 2, argv + 2);
  else if (ON_CORES && argc == 1)
    check_little();
  else
    check_all(argc - 1, argv + 1);
  return failures > 0;
}
