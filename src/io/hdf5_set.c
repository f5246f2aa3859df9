/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* FNM_EXTMATCH; NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "hdf5_set.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hdf5_checksum.h"
#include "photons/base/comm.h"
#include "photons/base/output_file.h"

/** The newest set, the one before, a damaged one, and one that is written. */
static const char letters[] = "abcd";
enum { STEM_SIZE = 256 };

struct row_cut row_cut_make(size_t files, size_t ranges, const uint64_t *count) {
  struct row_cut c = {files, ranges, NULL, NULL};
  c.begin = allocate(ranges + 1, sizeof *c.begin, "rows of files");
  c.first = allocate((files + 1) * ranges, sizeof *c.first, "rows of files");
  uint64_t *all = allocate(2 * ranges, sizeof *all, "rows of files"), *before = all + ranges;
  memcpy(all, count, ranges * sizeof *all);
  memcpy(before, count, ranges * sizeof *before);
  comm_sum_u64(all, ranges);
  comm_sums_before(before, ranges);
  for (size_t r = 0; r < ranges; r++) c.begin[r + 1] = c.begin[r] + all[r];
  for (size_t f = 0; f < files; f++)
    if (comm_rank() == (int)block_first((size_t)comm_size(), files, f))
      for (size_t r = 0; r < ranges; r++) c.first[f * ranges + r] = c.begin[r] + before[r];
  comm_sum_u64(c.first, files * ranges);
  memcpy(c.first + files * ranges, c.begin + 1, ranges * sizeof *c.begin);
  free(all);
  return c;
}

void row_cut_free(struct row_cut *c) {
  free(c->begin);
  free(c->first);
  *c = (struct row_cut){0};
}

/** The rows of a range in a file. */
static uint64_t rows_of_range(const struct row_cut *c, size_t file, size_t range) {
  return c->first[(file + 1) * c->ranges + range] - c->first[file * c->ranges + range];
}

uint64_t row_cut_rows(const struct row_cut *c, size_t file) {
  uint64_t rows = 0;
  for (size_t r = 0; r < c->ranges; r++) rows += rows_of_range(c, file, r);
  return rows;
}

uint64_t row_cut_place(const struct row_cut *c, size_t file, uint64_t row) {
  uint64_t place = 0;
  size_t r = 0;
  for (; r + 1 < c->ranges && c->begin[r + 1] <= row; r++) place += rows_of_range(c, file, r);
  const uint64_t first = c->first[file * c->ranges + r];
  if (row < first || row >= first + rows_of_range(c, file, r))
    fail(EXIT_RUN_FAILED, "row %llu is not one of file %zu of its set", (unsigned long long)row,
         file);
  return place + row - first;
}

/** NAME of NAME.hdf5, without its folder. */
static void stem_of(const char *path, char stem[STEM_SIZE]) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  if (snprintf(stem, STEM_SIZE, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name) >=
      STEM_SIZE)
    fail(EXIT_RUN_FAILED, "%s: the name is too long", path);
}

char *hdf5_set_name(const char *path, const char *word) {
  static const char ending[] = ".hdf5";
  size_t stem = strlen(path);
  if (stem >= strlen(ending) && strcmp(path + stem - strlen(ending), ending) == 0)
    stem -= strlen(ending);
  const size_t size = stem + strlen(word) + 8;
  char *name = allocate(size, 1, "a file name");
  snprintf(name, size, "%.*s-%s%s", (int)stem, path, word, ending);
  return name;
}

/* The letters in use. */

/** Which letters files of a name use. */
struct letters_used {
  char used[3]; /* by the newest set, the one before and a damaged one; 0: by none */
  bool known;   /* false: there is a file that cannot be read, which may use any letter */
};

/** The letter of the parts that a file has; 0: it has none. @param[out] known  false: it cannot be read */
static char letter_of(const char *path, bool *known) {
  char parts[STEM_SIZE] = "";
  if (access(path, F_OK) != 0 && errno == ENOENT) return 0;
  const hid_t file = hdf5_try_open(path);
  const htri_t has = file < 0 ? -1 : H5Aexists(file, "parts");
  if (has < 0 || (has > 0 && !hdf5_try_text(file, "parts", parts, sizeof parts))) *known = false;
  if (file >= 0) H5Fclose(file);
  return *parts ? parts[strlen(parts) - 1] : 0;
}

static struct letters_used find_letters(const char *path) {
  struct letters_used u = {.known = true};
  bool any = true; /* parts of a damaged file need not stay */
  char *previous = hdf5_set_name(path, "previous"), *damaged = hdf5_set_name(path, "damaged");
  u.used[0] = letter_of(path, &u.known);
  u.used[1] = letter_of(previous, &u.known);
  u.used[2] = letter_of(damaged, &any);
  free(previous);
  free(damaged);
  return u;
}

static bool in_use(char letter, const struct letters_used *u) {
  return letter == u->used[0] || letter == u->used[1] || letter == u->used[2];
}

/** Remove the parts that no file of this name uses: a killed run has left them, or they are those of the set
 * before the previous one. @param[out] there  [letter] whether there are parts still */
static void remove_unused(const char *path, const struct letters_used *u, bool there[4]) {
  char stem[STEM_SIZE], pattern[2 * STEM_SIZE], *folder = strdup(path);
  stem_of(path, stem);
  snprintf(pattern, sizeof pattern, "%s-[%s].+([0-9]).hdf5", stem, letters);
  char *slash = folder ? strrchr(folder, '/') : NULL;
  if (slash) slash[1] = '\0';
  DIR *stream = folder ? opendir(slash ? folder : ".") : NULL;
  if (!stream) fail(EXIT_RUN_FAILED, "cannot read the folder of %s: %s", path, strerror(errno));
  for (const struct dirent *entry; (entry = readdir(stream));) {
    if (fnmatch(pattern, entry->d_name, FNM_EXTMATCH) != 0) continue;
    const char letter = entry->d_name[strlen(stem) + 1];
    if (!u->known || in_use(letter, u))
      there[strchr(letters, letter) - letters] = true;
    else if (unlinkat(dirfd(stream), entry->d_name, 0) != 0 && errno != ENOENT)
      fail(EXIT_RUN_FAILED, "cannot remove %s, which is no longer of use: %s", entry->d_name,
           strerror(errno));
  }
  closedir(stream);
  free(folder);
}

/** A letter that no file uses, and whose parts do not exist. */
static char free_letter(const char *path) {
  bool there[4] = {false};
  const struct letters_used u = find_letters(path);
  remove_unused(path, &u, there);
  for (const char *l = letters; *l; l++)
    if (!there[l - letters] && !in_use(*l, &u)) return *l;
  fail(EXIT_RUN_FAILED, "%s: cannot tell which parts of it are in use: remove %s and its parts",
       path, path);
}

/** Choose a letter; collective. */
static char choose_letter(const char *path) {
  char letter = comm_rank() == 0 ? free_letter(path) : '\0';
  comm_broadcast(&letter, sizeof letter, 0);
  return letter;
}

/** Remove what the new set has made useless. */
static void tidy(const char *path) {
  bool there[4] = {false};
  if (comm_rank() > 0) return;
  const struct letters_used u = find_letters(path);
  remove_unused(path, &u, there);
}

/* Writing. */

/** A set at work. */
struct work {
  struct hdf5_set *set;
  size_t files;
  char parts[STEM_SIZE]; /* their stem, without folder */
};

/** The rows of a file that are shown by a virtual dataset. */
static void map_file(hid_t layout, hid_t space, const char *path, const struct set_array *a,
                     size_t file, const char *source) {
  const struct row_cut *c = a->cut;
  hsize_t size[HDF5_DIMENSIONS_MOST];
  memcpy(size, a->size, sizeof size);
  size[0] = row_cut_rows(c, file);
  const hid_t in_part = hdf5_check(H5Screate_simple(a->dimensions, size, NULL), EXIT_RUN_FAILED,
                                   path, a->name);
  hsize_t there[HDF5_DIMENSIONS_MOST] = {0}, here[HDF5_DIMENSIONS_MOST] = {0};
  for (size_t r = 0; r < c->ranges; r++, there[0] += size[0]) {
    here[0] = c->first[file * c->ranges + r];
    size[0] = rows_of_range(c, file, r);
    if (size[0] == 0) continue;
    hdf5_check(H5Sselect_hyperslab(space, H5S_SELECT_SET, here, NULL, size, NULL), EXIT_RUN_FAILED,
               path, a->name);
    hdf5_check(H5Sselect_hyperslab(in_part, H5S_SELECT_SET, there, NULL, size, NULL),
               EXIT_RUN_FAILED, path, a->name);
    hdf5_check(H5Pset_virtual(layout, space, source, a->name, in_part), EXIT_RUN_FAILED, path,
               a->name);
  }
  H5Sclose(in_part);
}

/** The property list of a virtual dataset. */
static hid_t map_of(const char *path, const struct work *w, const struct set_array *a) {
  const hid_t layout = hdf5_check(H5Pcreate(H5P_DATASET_CREATE), EXIT_RUN_FAILED, path, a->name);
  const hid_t space = hdf5_check(H5Screate_simple(a->dimensions, a->size, NULL), EXIT_RUN_FAILED,
                                 path, a->name);
  for (size_t f = 0; f < w->files; f++) {
    char source[STEM_SIZE + 32];
    snprintf(source, sizeof source, "%s.%zu.hdf5", w->parts, f);
    map_file(layout, space, path, a, f, source);
  }
  H5Sclose(space);
  return layout;
}

/** The group of an array. */
static void create_group_of(hid_t file, const char *path, const char *name) {
  char group[64];
  const char *slash = strchr(name, '/');
  if (!slash) return;
  snprintf(group, sizeof group, "%.*s", (int)(slash - name), name);
  if (hdf5_check(H5Lexists(file, group, H5P_DEFAULT), EXIT_RUN_FAILED, path, group) == 0)
    hdf5_close_group(hdf5_create_group(file, path, group), path);
}

/** An array without rows. @param rows  that the file has @param layout  or H5P_DEFAULT, and closed */
static void create_array(hid_t file, const char *path, const struct set_array *a, hsize_t rows,
                         hid_t layout, uint64_t sum) {
  hsize_t size[HDF5_DIMENSIONS_MOST];
  memcpy(size, a->size, sizeof size);
  size[0] = rows;
  create_group_of(file, path, a->name);
  const hid_t dataset = hdf5_create_array(file, path, a->name, a->type, a->dimensions, size,
                                          layout);
  if (*a->title) hdf5_write_text(dataset, path, "name", a->title);
  if (a->unit) hdf5_write_text(dataset, path, "unit", a->unit);
  if (a->number_name) hdf5_write_double(dataset, path, a->number_name, a->number);
  if (sum != 0) hdf5_checksum_add(dataset, path, sum);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
  if (layout != H5P_DEFAULT) H5Pclose(layout);
}

void hdf5_set_rows(const struct set_file *f, struct set_array *a, size_t first, size_t count,
                   const void *rows) {
  size_t columns = 1;
  if (count == 0) return;
  for (int d = 1; d < a->dimensions; d++) columns *= a->size[d];
  const hid_t dataset = hdf5_check(H5Dopen2(f->id, a->name, H5P_DEFAULT), EXIT_RUN_FAILED, f->path,
                                   "continue the file");
  hdf5_write_rows(dataset, f->path, a->name, a->type, row_cut_place(a->cut, f->number, first),
                  count, columns, rows);
  if (a->cut->files > 1) /* else the file's own checksum is that of the set */
    a->sum += checksum_rows(rows, columns * H5Tget_size(a->type), first, count);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, f->path, "write the file");
}

/** With these a set is complete. */
static void finish(const struct hdf5_set *set, hid_t file, const char *path) {
  hdf5_write_text(file, path, "format", set->format);
  hdf5_checksum_attributes(file, path);
}

static hid_t begin_file(const struct work *w, const struct output_turn *turn, bool with_rest) {
  const hid_t file = hdf5_create(turn->temporary, turn->path);
  if (with_rest) w->set->rest(w->set->context, file, turn->path);
  for (size_t i = 0; i < w->set->arrays; i++) {
    const struct set_array *a = &w->set->array[i];
    create_array(file, turn->path, a, row_cut_rows(a->cut, turn->file), H5P_DEFAULT, 0);
  }
  return file;
}

/** A rank's turn in a file that has rows. */
static void write_file(void *context, const struct output_turn *turn) {
  const struct work *w = context;
  const bool alone = w->files == 1;
  const hid_t file = comm_rank() == turn->first ? begin_file(w, turn, alone)
                                                : hdf5_continue(turn->temporary, turn->path);
  const struct set_file f = {w->set, file, turn->path, turn->file};
  w->set->rows(w->set->context, &f);
  if (alone && comm_rank() == turn->last) finish(w->set, file, turn->path);
  hdf5_close_written(file, turn->path);
}

/** The file that shows the rows of all parts. */
static void write_index(void *context, const struct output_turn *turn) {
  const struct work *w = context;
  const char *path = turn->path;
  const hid_t file = hdf5_create(turn->temporary, path);
  w->set->rest(w->set->context, file, path);
  for (size_t i = 0; i < w->set->arrays; i++) {
    const struct set_array *a = &w->set->array[i];
    create_array(file, path, a, a->size[0], map_of(path, w, a), a->sum);
  }
  hdf5_write_text(file, path, "parts", w->parts);
  finish(w->set, file, path);
  hdf5_close_written(file, path);
}

/** The checksums of the rows of all ranks. */
static void sum_ranks(struct hdf5_set *set) {
  uint64_t *sum = allocate(set->arrays, sizeof *sum, "checksums");
  for (size_t i = 0; i < set->arrays; i++) sum[i] = set->array[i].sum;
  comm_sum_u64(sum, set->arrays);
  for (size_t i = 0; i < set->arrays; i++) set->array[i].sum = sum[i];
  free(sum);
}

static void write_parts(struct work *w, const char *path, const char *previous) {
  char stem[STEM_SIZE];
  const char letter = choose_letter(path);
  stem_of(path, stem);
  snprintf(w->parts, sizeof w->parts, "%.*s-%c", STEM_SIZE - 3, stem, letter);
  char **paths = allocate(w->files, sizeof *paths, "file names");
  for (size_t f = 0; f < w->files; f++) {
    char word[32];
    snprintf(word, sizeof word, "%c.%zu", letter, f);
    paths[f] = hdf5_set_name(path, word);
  }
  const struct output_parts parts = output_parts_write(paths, w->files, write_file, w);
  sum_ranks(w->set);
  output_index_write(parts, path, previous, write_index, w);
  for (size_t f = 0; f < w->files; f++) free(paths[f]);
  free(paths);
}

void hdf5_set_write(struct hdf5_set *set, const char *path, const char *previous, size_t files) {
  struct work w = {.set = set, .files = files};
  for (size_t i = 0; i < set->arrays; i++) set->array[i].sum = 0;
  if (files > 1)
    write_parts(&w, path, previous);
  else
    output_together((char *[]){(char *)path}, 1, previous, write_file, &w);
  tidy(path);
}
