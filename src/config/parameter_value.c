/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conversion of one value of config.ini from text to field and from field to text. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameter_table.h"

static void *field(const struct parameter *row, struct parameters *p) {
  return (char *)p + row->offset;
}
static const void *const_field(const struct parameter *row, const struct parameters *p) {
  return (const char *)p + row->offset;
}

/* Decimal numbers only: strtod also accepts hexadecimal numbers, "nan" and "infinity". */
static bool read_real(const char *text, double *value, char *reason, size_t size) {
  char *end;
  *value = strtod(text, &end);
  if (end == text || *end ||
      (isfinite(*value) && strspn(text, "+-.0123456789eE") != strlen(text))) {
    snprintf(reason, size, "not a number");
    return false;
  }
  if (!isfinite(*value)) {
    snprintf(reason, size, "not a finite number");
    return false;
  }
  return true;
}

/** A whole number with an exponent, such as 2e5, that a double holds without error. */
static bool read_exponent(const char *text, int64_t *value) {
  const double most = 9007199254740992.0; /* 2^53 */
  double real;
  char reason[64];
  if (!strpbrk(text, "eE") || !read_real(text, &real, reason, sizeof reason)) return false;
  if (!(fabs(real) <= most) || real != floor(real)) return false;
  *value = (int64_t)real;
  return true;
}

static bool read_integer(const char *text, int64_t *value, char *reason, size_t size) {
  char *end;
  if (read_exponent(text, value)) return true;
  errno = 0;
  *value = strtoll(text, &end, 10);
  if (end == text || *end)
    snprintf(reason, size, "not a whole number");
  else if (errno == ERANGE)
    snprintf(reason, size, "out of range");
  else
    return true;
  return false;
}

static bool in_range(const struct parameter *row, double value, char *reason, size_t size) {
  if (row->automatic && value == strtod(row->automatic, NULL)) return true;
  if (value >= row->low && value <= row->high) return true;
  snprintf(reason, size, "out of range");
  return false;
}

static bool read_word(const struct parameter *row, const char *text, unsigned *value, char *reason,
                      size_t size) {
  for (*value = 0; row->words[*value]; ++*value)
    if (*text && strcmp(text, row->words[*value]) == 0) return true;
  snprintf(reason, size, "unknown word");
  return false;
}

static bool read_text(const struct parameter *row, const char *text, char *value, char *reason,
                      size_t size) {
  if (strlen(text) >= row->size) {
    snprintf(reason, size, "too long: at most %zu characters", row->size - 1);
    return false;
  }
  /* Characters that a printed config.ini could not represent. */
  for (const char *c = text; *c; c++)
    if (iscntrl((unsigned char)*c) || ((*c == '#' || *c == ';') && (c == text || c[-1] == ' '))) {
      snprintf(reason, size, "contains a control character or the beginning of a comment");
      return false;
    }
  memset(value, 0, row->size); /* clear the rest of a longer text, so that equal values are equal
                                  bytes */
  memcpy(value, text, strlen(text) + 1);
  return true;
}

static bool read_list(const struct parameter *row, const char *text, double *value, size_t *count,
                      char *reason, size_t size) {
  static const char separators[] = ", \t";
  double read[PARAMETER_LIST_MAX] = {0};
  size_t n = 0;
  for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
    char item[64], why[64];
    size_t length = strcspn(text, separators);
    snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1),
             text);
    if (n == PARAMETER_LIST_MAX) {
      snprintf(reason, size, "more than %d values", PARAMETER_LIST_MAX);
      return false;
    }
    if (length >= sizeof item || !read_real(item, &read[n], why, sizeof why) ||
        !in_range(row, read[n], why, sizeof why)) {
      snprintf(reason, size, "\"%s\" is %s", item, length >= sizeof item ? "not a number" : why);
      return false;
    }
    text += length;
    n++;
  }
  memcpy(value, read, sizeof read);
  *count = n;
  return true;
}

bool parameter_parse(const struct parameter *row, const char *text, struct parameters *p,
                     char *reason, size_t size) {
  if (row->automatic && strcmp(text, "auto") == 0) text = row->automatic;
  double real;
  int64_t integer;
  unsigned word;
  switch (row->type) {
  case PARAMETER_REAL:
    if (!read_real(text, &real, reason, size) || !in_range(row, real, reason, size)) return false;
    *(double *)field(row, p) = real;
    return true;
  case PARAMETER_INTEGER:
    if (!read_integer(text, &integer, reason, size) ||
        !in_range(row, (double)integer, reason, size))
      return false;
    *(int64_t *)field(row, p) = integer;
    return true;
  case PARAMETER_SWITCH:
    if (!read_word(row, text, &word, reason, size)) return false;
    *(bool *)field(row, p) = word;
    return true;
  case PARAMETER_WORD:
    if (!read_word(row, text, &word, reason, size)) return false;
    *(unsigned *)field(row, p) = word;
    return true;
  case PARAMETER_TEXT: return read_text(row, text, field(row, p), reason, size);
  case PARAMETER_LIST:
    return read_list(row, text, field(row, p), (size_t *)((char *)field(row, p) + row->size),
                     reason, size);
  }
  return false;
}

void parameter_reset(const struct parameter *row, const char *initial, struct parameters *p) {
  char reason[128];
  memset(field(row, p), 0, row->size);
  if (row->type == PARAMETER_LIST) *(size_t *)((char *)field(row, p) + row->size) = 0;
  const bool sound = !*initial || parameter_parse(row, initial, p, reason, sizeof reason);
  assert(sound);
  (void)sound;
}

/* The fewest digits that give the same number back. */
static int print_real(double value, FILE *out) {
  char text[32];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  return fprintf(out, "%s", text);
}

int parameter_print(const struct parameter *row, const struct parameters *p, FILE *out) {
  const void *value = const_field(row, p);
  /* no default: zero means "not given" */
  const bool none = row->initial && !*row->initial && !row->computed;
  switch (row->type) {
  case PARAMETER_REAL:
    return none && *(const double *)value == 0 ? 0 : print_real(*(const double *)value, out);
  case PARAMETER_INTEGER:
    return none && *(const int64_t *)value == 0 ? 0
                                                : fprintf(out, "%" PRId64, *(const int64_t *)value);
  case PARAMETER_SWITCH: return fprintf(out, "%s", row->words[*(const bool *)value]);
  case PARAMETER_WORD: return fprintf(out, "%s", row->words[*(const unsigned *)value]);
  case PARAMETER_TEXT: return fprintf(out, "%s", (const char *)value);
  case PARAMETER_LIST: break;
  }
  const double *list = value;
  const size_t count = *(const size_t *)((const char *)value + row->size);
  int length = 0;
  for (size_t i = 0; i < count; i++)
    length += fprintf(out, i ? ", " : "") + print_real(list[i], out);
  return length;
}

static void print_range(const struct parameter *row, FILE *out) {
  print_real(row->low, out);
  fputs(" .. ", out);
  print_real(row->high, out);
}

bool parameter_allows(const char *section, const char *key, double value, char *allowed,
                      size_t size) {
  const struct parameter *row = parameter_find(section, key);
  assert(row);
  /* row->automatic is not allowed: a file chooses nothing. */
  if (value >= row->low && value <= row->high) return true;
  FILE *text = fmemopen(allowed, size, "w");
  if (!text)
    fail(EXIT_RUN_FAILED, "not enough memory to print the range of %s.%s: %s", section, key,
         strerror(errno));
  print_range(row, text);
  fclose(text);
  return false;
}

void parameter_print_allowed(const struct parameter *row, const char *separator, FILE *out) {
  switch (row->type) {
  case PARAMETER_TEXT: break;
  case PARAMETER_SWITCH:
  case PARAMETER_WORD:
    for (unsigned i = 0, printed = 0; row->words[i]; i++)
      if (*row->words[i]) fprintf(out, "%s%s", printed++ ? separator : "", row->words[i]);
    break;
  case PARAMETER_REAL:
  case PARAMETER_INTEGER:
  case PARAMETER_LIST:
    if (row->automatic) fprintf(out, "%s (automatic) or ", row->automatic);
    print_range(row, out);
    break;
  }
}

/** Read a step number at *text, and move *text behind it. */
static bool parse_step(const char **text, int64_t *step) {
  char *end;
  if (!isdigit((unsigned char)**text)) return false;
  errno = 0;
  *step = strtoll(*text, &end, 10);
  *text = end;
  return errno == 0;
}

bool parameter_step_range(const char *text, int64_t *first, int64_t *last) {
  if (!parse_step(&text, first)) return false;
  *last = *first;
  if (*text == ':') {
    text++;
    if (!parse_step(&text, last)) return false;
  }
  return *text == '\0' && *first <= *last;
}
