/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table that declares every parameter, and the operations on one row of it: find, read, print.
 * For the modules of config.ini only; other code uses parameters.h. */
#ifndef PHOTONS_PARAMETER_TABLE_H
#define PHOTONS_PARAMETER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "photons/config/parameters.h"

enum parameter_type {
  PARAMETER_REAL,    /**< double */
  PARAMETER_INTEGER, /**< int64_t */
  PARAMETER_SWITCH,  /**< bool, yes or no */
  PARAMETER_WORD,    /**< an enum; words[value] is its name */
  PARAMETER_TEXT,    /**< char[size] */
  PARAMETER_LIST,    /**< double[PARAMETER_LIST_MAX] followed by its size_t count */
};

struct parameter {
  const char *section, *key;
  enum parameter_type type;
  size_t offset, size; /**< of the field in struct parameters */
  const char *initial; /**< default as in config.ini; "": none (0 or empty); NULL: see presets */
  const char *
      computed; /**< with initial "": how the default follows from other values; NULL: it does not */
  const char *help; /**< one line of user documentation */
  const char *unit; /**< NULL: none */
  const char *aliases[2];
  double low, high;         /**< least and largest allowed number */
  const char *automatic;    /**< a number outside low .. high that means "chosen by the program", as
                                 the word auto does; NULL: none */
  const char *const *words; /**< NULL-terminated; "" stands for an enum value that cannot be
                                 chosen */
  unsigned systems; /**< those that the row has a meaning for, of enum system_kind; 0: those of
                                 its section. See parameter_systems() */
  unsigned sources; /**< bits of the values of ic.source that use the row; 0: all */
};

/** Values that the key `accuracy` of a section gives to another key of the section that the user does
 * not set. gravity.accuracy is paper, default or high, time.accuracy fast, default or high. */
struct preset {
  const char *section, *key;
  const char *value[3];    /**< by enum accuracy, or enum step_accuracy */
  const char *isolated[3]; /**< those of box.boundary = isolated; NULL: the same */
};

extern const struct parameter parameter_table[];
extern const size_t parameter_count;
extern const struct preset preset_table[];
extern const size_t preset_count;

/** The systems that a row has a meaning for, of enum system_kind. */
unsigned parameter_systems(const struct parameter *row);
bool parameter_is_of_system(const struct parameter *row, const struct parameters *p);
/** Whether the chosen ic.source uses a row. */
bool parameter_is_of_source(const struct parameter *row, const struct parameters *p);
/** Whether a row has an effect in the chosen system, which begins with the chosen ic.source and the chosen
 * galaxies. */
bool parameter_applies(const struct parameter *row, const struct parameters *p);
bool section_known(const char *section);
/** The row of a key or alias; NULL: there is none. */
const struct parameter *parameter_find(const char *section, const char *key);
/** The preset of a row; NULL: it does not depend on an accuracy. */
const struct preset *preset_find(const struct parameter *row);
/** The words of the accuracy on which a preset depends. */
const char *const *preset_words(const struct preset *preset);
/** The row's default for an accuracy of its section and a boundary. */
const char *parameter_initial(const struct parameter *row, unsigned accuracy,
                              enum boundary boundary);

/** The known section most similar to the given text; NULL: none is similar. */
const char *section_suggest(const char *written);
/** The row most similar to the given text: in this section first, else the row with exactly this
 * key in another section; NULL: none. */
const struct parameter *parameter_suggest(const char *section, const char *written);

/**
 * Read a value. On failure @p p is unchanged.
 * @param[out] reason  what is wrong, one line
 */
bool parameter_parse(const struct parameter *row, const char *text, struct parameters *p,
                     char *reason, size_t reason_size);
/** Whether the value is that of a run that gives no parameter at all. */
bool parameter_is_default(const struct parameters *p, const struct parameter *row);
/** Set the field to a default of the table; "": zero or empty. */
void parameter_reset(const struct parameter *row, const char *initial, struct parameters *p);
/** Give parameters that are not given their presets, and those that follow from other values. */
void parameters_complete(struct parameters *p);
/** Print the value as parameter_parse() reads it; reals with the digits needed to get the same
 * number back.
 * @return characters printed */
int parameter_print(const struct parameter *row, const struct parameters *p, FILE *out);
/** Print the allowed values, e.g. `0.1 .. 1` or `cic | tsc | pcs` (words separated by @p
 * separator); nothing for texts. */
void parameter_print_allowed(const struct parameter *row, const char *separator, FILE *out);

/** Print the systems that a row is of, e.g. `periodic boxes and comoving gas`. */
void parameter_print_systems(const struct parameter *row, FILE *out);
/** Print the values of ic.source that use a row, e.g. `gadget or array`; nothing where all do. */
void parameter_print_sources(const struct parameter *row, FILE *out);

enum { PROBLEMS_PRINTED = 20 };

/** The problems found so far, and the origin of each value. */
struct parameter_problems {
  const char *path; /**< config file */
  struct {
    int line;                    /**< in config.ini; 0: not there */
    const char *set;             /**< text of --set, which overrides config.ini; NULL: none */
    bool bad;                    /**< a problem was reported */
  } origin[PARAMETER_COUNT_MAX]; /**< by row of the table */
  FILE *stream;                  /**< one line for each problem, written to text */
  char *text;
  size_t length, count; /**< of the text; of problems, of which the first PROBLEMS_PRINTED are
                         *   printed */
};

/** Begin and end a report. If there are problems, the end prints all of them and ends the program
 * with EXIT_BAD_USAGE. */
void problems_begin(struct parameter_problems *problems, const char *path);
void problems_end(struct parameter_problems *problems);
/** Add a problem that belongs to no row. */
void problem_add(struct parameter_problems *problems, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/**
 * Add a problem with one value.
 * @param found  text of the value; NULL: print the field; "": no value was given
 */
void problem_with(struct parameter_problems *problems, const struct parameter *row,
                  const struct parameters *p, const char *found, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Add a problem with a text that parameter_parse() rejected, for the reason that it gave. */
void problem_unreadable(struct parameter_problems *problems, const struct parameter *row,
                        const char *found, const char *reason);

/** Input files that config.ini names by relative paths, and that are not in the current directory, get
 * the paths that they have beside config.ini, if they are there (input_paths.c). */
void input_paths_find(struct parameters *p, const struct parameter_problems *problems);

/** Take output times given as scale factors or in output.times_file to the redshifts or times, and sort all of
 * them in the order in which a run reaches them, without duplicates (output_times.c). A box ends with the
 * last of them where time.z_end is not given. */
void output_times_collect(struct parameters *p, struct parameter_problems *problems);

/** Check what one value alone cannot show: sums, pairs, needed values, files. Values with reported
 * problems are left out. */
void parameters_check(const struct parameters *p, struct parameter_problems *problems);

/** Report values that have no meaning because others are as they are by default (parameter_meaning.c). */
void parameters_check_meaning(const struct parameters *p, struct parameter_problems *problems);

/** Warn of values that a run can follow, but that are probably not meant. For one rank. */
void parameters_warn(const struct parameters *p);

#endif
