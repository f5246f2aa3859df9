/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cuda_bench FILE | WORD [kernels | regrid] [section.key=value ...]: rates of CUDA stages. FILE is a
 * Gadget snapshot, WORD one of the table below. The exit code is 77 where there is no GPU. */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/compare.h"
#include "tests/gpu/rates/rates.h"
#include "tests/gpu/systems.h"

/** Measure a system with these parameters. */
static void measure_text(const char *text, int count, char **arguments) {
  const bool all = count > 0 && strcmp(arguments[0], "kernels") == 0;
  benchmark_system(&(struct setting){.text = text,
                                     .overrides = (const char *const *)arguments + all,
                                     .count = (size_t)(count - all)},
                   all);
}

static void universe(int count, char **arguments) { measure_text(UNIVERSE, count, arguments); }

static void isolated(int count, char **arguments) { measure_text(GALAXY, count, arguments); }

static void gas(int count, char **arguments) {
  if (count > 0 && strcmp(arguments[0], "regrid") == 0)
    benchmark_regrid();
  else
    benchmark_gas();
}

static void gas_gravity(int count, char **arguments) {
  (void)count, (void)arguments;
  benchmark_gas_gravity();
}

static const struct word {
  const char *word, *what;
  void (*measure)(int count, char **arguments); /* what follows the word */
} words[] = {
    {"universe", "direct sums and block time steps of a small universe", universe},
    {"isolated", "all stages of a force on M31 in empty space", isolated},
    {"gas", "stages and whole steps of gas; `regrid`: regridding alone", gas},
    {"gas-gravity", "solutions of groups, and whole steps with self-gravity", gas_gravity}};
enum { WORDS = sizeof words / sizeof *words };

static void measure_file(const char *file, int count, char **arguments) {
  char text[5000];
  snprintf(text, sizeof text, "[ic]\nsource = gadget\nfile = %s\n", file);
  measure_text(text, count, arguments);
}

static void usage(void) {
  puts("usage: cuda_bench FILE | WORD [kernels | regrid] [section.key=value ...]\n"
       "FILE is a Gadget snapshot, whose direct sums and block time steps are measured. After FILE "
       "and\n"
       "after `universe` the word `kernels` asks for the direct sums of all laws in both "
       "precisions.\n"
       "The words:");
  for (int i = 0; i < WORDS; i++) printf("  %-14s %s\n", words[i].word, words[i].what);
}

static void measure_word(const char *word, int count, char **arguments) {
  for (int i = 0; i < WORDS; i++)
    if (strcmp(word, words[i].word) == 0) {
      words[i].measure(count, arguments);
      return;
    }
  measure_file(word, count, arguments);
}

int main(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], "--help") == 0) {
    usage();
    return argc < 2 ? EXIT_BAD_USAGE : 0;
  }
  gpu_or_skip();
  measure_word(argv[1], argc - 2, argv + 2);
  return 0;
}
