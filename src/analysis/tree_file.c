/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes and reads tree_NNN.hdf5: objects of an output, and what those before have become. */
#include "tree_file.h"

#include <stdlib.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/output_file.h"
#include "photons/io/provenance.h"
#include "src/io/hdf5_checksum.h"
#include "tree_columns.h"

static const char format[] = "photons-starpu tree links 2";

struct tree_path tree_path_of(const struct parameters *p, size_t output) {
  struct tree_path path;
  snprintf(path.text, sizeof path.text, "%s/tree_%03zu.hdf5", p->output.dir, output);
  return path;
}

bool tree_file_exists(const struct parameters *p, size_t output) {
  uint32_t there = comm_rank() > 0 || access(tree_path_of(p, output).text, F_OK) == 0;
  comm_min_u32(&there, 1);
  return there;
}

/* Columns beside those of objects. Lists of plain numbers are records of one number. */
static const struct tree_column history_column = {"MassHistory", 0, 1, COLUMN_DOUBLE, UNIT_MASS};
static const struct tree_column id_column = {"ID", 0, 1, COLUMN_UINT64, UNIT_NONE};
static const struct tree_column descendant_column = {"Descendant", 0, 1, COLUMN_UINT64, UNIT_NONE};
static const struct tree_column main_column = {"Main", 0, 1, COLUMN_UINT8, UNIT_NONE};
static const struct tree_column skipped_column = {"SkippedDescendant", 0, 1, COLUMN_UINT64,
                                                  UNIT_NONE};

/** Numbers of the header. */
static const struct {
  const char *name;
  size_t offset;
} counts[] = {{"Output", offsetof(struct tree_links, output)},
              {"FirstOutput", offsetof(struct tree_links, first_output)},
              {"Subhalos", offsetof(struct tree_links, subhalos)},
              {"Objects", offsetof(struct tree_links, objects.all)},
              {"ObjectsBefore", offsetof(struct tree_links, before.all)},
              {"ObjectsSkipping", offsetof(struct tree_links, skipped.all)}};
enum { COUNTS = sizeof counts / sizeof *counts };

/** What all ranks know about the file that they write. */
struct writing {
  const struct tree_links *links;
  struct provenance provenance;
  uint64_t first_id, ids, all_ids; /* in the lists of this rank, and of all */
};

static uint64_t count_listed(const struct tree_objects *o) {
  uint64_t sum = 0;
  for (size_t i = 0; i < o->count; i++) sum += (uint64_t)o->object[i].listed;
  return sum;
}

static void write_header(hid_t file, const char *path, const struct writing *w) {
  const hid_t header = hdf5_create_group(file, path, "Header");
  for (size_t i = 0; i < COUNTS; i++) {
    const size_t *value = (const size_t *)((const char *)w->links + counts[i].offset);
    hdf5_write_attribute(header, path, counts[i].name, H5T_NATIVE_UINT64, 0,
                         &(const uint64_t){*value});
  }
  hdf5_write_double(header, path, "Time", w->links->a);
  hdf5_write_double(header, path, "Redshift", 1.0 / w->links->a - 1.0);
  hdf5_write_double(header, path, "BoxSize", w->links->box);
  hdf5_close_group(header, path);
}

static hid_t create_file(const struct writing *w, const char *temporary, const char *path) {
  const struct tree_links *l = w->links;
  const hid_t file = hdf5_create(temporary, path);
  write_header(file, path, w);
  provenance_write(file, path, &w->provenance);
  const hid_t objects = hdf5_create_group(file, path, "Objects");
  for (int k = 0; k < TREE_OBJECT_COLUMNS; k++)
    tree_column_create(objects, path, &tree_object_columns[k], l->objects.all);
  tree_column_create(objects, path, &history_column, l->objects.all);
  hdf5_close_group(objects, path);
  const hid_t lists = hdf5_create_group(file, path, "MostBound");
  tree_column_create(lists, path, &id_column, w->all_ids);
  hdf5_close_group(lists, path);
  const hid_t links = hdf5_create_group(file, path, "Links");
  tree_column_create(links, path, &descendant_column, l->before.all);
  tree_column_create(links, path, &main_column, l->before.all);
  tree_column_create(links, path, &skipped_column, l->skipped.all);
  hdf5_close_group(links, path);
  hdf5_write_text(file, path, "format", format);
  hdf5_checksum_attributes(file, path);
  return file;
}

static hid_t open_group(hid_t file, const char *path, const char *name, enum exit_code code) {
  return hdf5_check(H5Gopen2(file, name, H5P_DEFAULT), code, path, "open a group");
}

static void write_links(hid_t file, const char *path, const struct tree_links *l) {
  const hid_t links = open_group(file, path, "Links", EXIT_RUN_FAILED);
  const struct tree_fates *f = &l->before, *s = &l->skipped;
  tree_column_write(links, path, &descendant_column, f->first, f->count, f->descendant,
                    sizeof *f->descendant);
  tree_column_write(links, path, &main_column, f->first, f->count, f->main, sizeof *f->main);
  tree_column_write(links, path, &skipped_column, s->first, s->count, s->descendant,
                    sizeof *s->descendant);
  H5Gclose(links);
}

static void write_objects(hid_t file, const char *path, const struct writing *w) {
  const struct tree_objects *o = &w->links->objects;
  const hid_t objects = open_group(file, path, "Objects", EXIT_RUN_FAILED);
  for (int k = 0; k < TREE_OBJECT_COLUMNS; k++)
    tree_column_write(objects, path, &tree_object_columns[k], o->first, o->count, o->object,
                      sizeof *o->object);
  tree_column_write(objects, path, &history_column, o->first, o->count, w->links->history,
                    sizeof *w->links->history);
  H5Gclose(objects);
  const hid_t lists = open_group(file, path, "MostBound", EXIT_RUN_FAILED);
  tree_column_write(lists, path, &id_column, w->first_id, w->ids, o->id, sizeof *o->id);
  H5Gclose(lists);
}

static void write_part(void *context, const struct output_turn *turn) {
  const struct writing *w = context;
  const hid_t file = comm_rank() == turn->first ? create_file(w, turn->temporary, turn->path)
                                                : hdf5_continue(turn->temporary, turn->path);
  write_objects(file, turn->path, w);
  write_links(file, turn->path, w->links);
  hdf5_close_written(file, turn->path);
}

void tree_links_write(const struct tree_links *l, const struct parameters *p) {
  struct tree_path path = tree_path_of(p, l->output);
  struct writing w = {.links = l, .provenance = provenance_of(p), .ids = count_listed(&l->objects)};
  w.first_id = comm_sum_before(w.ids);
  w.all_ids = w.ids;
  comm_sum_u64(&w.all_ids, 1);
  output_together((char *[]){path.text}, 1, NULL, write_part, &w);
}

static void require(bool sound, const char *path, const char *what) {
  if (!sound) fail(EXIT_BAD_INPUT, "%s: corrupt file of tree links: %s", path, what);
}

static void read_header(hid_t file, const char *path, struct tree_links *l) {
  const hid_t header = open_group(file, path, "Header", EXIT_BAD_INPUT);
  bool read = true;
  for (size_t i = 0; i < COUNTS; i++) {
    uint64_t value = 0;
    read = hdf5_read_attribute(header, path, counts[i].name, H5T_NATIVE_UINT64, 1, &value) && read;
    *(size_t *)((char *)l + counts[i].offset) = value;
  }
  read = hdf5_read_attribute(header, path, "Time", H5T_NATIVE_DOUBLE, 1, &l->a) && read;
  read = hdf5_read_attribute(header, path, "BoxSize", H5T_NATIVE_DOUBLE, 1, &l->box) && read;
  H5Gclose(header);
  require(read && l->a > 0.0 && l->first_output <= l->output && l->subhalos <= 1, path,
          "the header");
}

/** This rank's share of things. */
static void take_share(size_t all, size_t *first, size_t *count) {
  *first = comm_first(all, comm_rank());
  *count = comm_first(all, comm_rank() + 1) - *first;
}

static void read_objects(hid_t file, const char *path, struct tree_links *l) {
  struct tree_objects *o = &l->objects;
  take_share(o->all, &o->first, &o->count);
  o->object = allocate(o->count, sizeof *o->object, "objects of merger trees");
  l->history = allocate(o->count, sizeof *l->history, "objects of merger trees");
  const hid_t objects = open_group(file, path, "Objects", EXIT_BAD_INPUT);
  for (int k = 0; k < TREE_OBJECT_COLUMNS; k++)
    tree_column_read(objects, path, &tree_object_columns[k], o->all, o->first, o->count, o->object,
                     sizeof *o->object);
  tree_column_read(objects, path, &history_column, o->all, o->first, o->count, l->history,
                   sizeof *l->history);
  H5Gclose(objects);
  for (size_t i = 0; i < o->count; i++)
    require(o->object[i].listed > 0 && o->object[i].listed <= TREE_LISTED, path, "ListedIDs");
}

static void read_lists(hid_t file, const char *path, struct tree_objects *o) {
  uint64_t count = count_listed(o), all = count;
  const uint64_t first = comm_sum_before(count);
  comm_sum_u64(&all, 1);
  o->id = allocate(count, sizeof *o->id, "objects of merger trees");
  const hid_t lists = open_group(file, path, "MostBound", EXIT_BAD_INPUT);
  tree_column_read(lists, path, &id_column, all, first, count, o->id, sizeof *o->id);
  H5Gclose(lists);
}

static void read_fates(hid_t links, const char *path, const struct tree_column *column,
                       size_t objects, struct tree_fates *f) {
  take_share(f->all, &f->first, &f->count);
  f->descendant = allocate(f->count, sizeof *f->descendant, "links of merger trees");
  tree_column_read(links, path, column, f->all, f->first, f->count, f->descendant,
                   sizeof *f->descendant);
  for (size_t i = 0; i < f->count; i++)
    require(f->descendant[i] == TREE_NONE || f->descendant[i] < objects, path, column->name);
}

static void read_links(hid_t file, const char *path, struct tree_links *l) {
  const hid_t links = open_group(file, path, "Links", EXIT_BAD_INPUT);
  read_fates(links, path, &descendant_column, l->objects.all, &l->before);
  read_fates(links, path, &skipped_column, l->objects.all, &l->skipped);
  uint8_t *is_main = allocate(l->before.count, 1, "links of merger trees");
  tree_column_read(links, path, &main_column, l->before.all, l->before.first, l->before.count,
                   is_main, 1);
  l->before.main = allocate(l->before.count, sizeof *l->before.main, "links of merger trees");
  for (size_t i = 0; i < l->before.count; i++) l->before.main[i] = is_main[i] != 0;
  free(is_main);
  H5Gclose(links);
}

struct tree_links tree_links_read(const struct parameters *p, size_t output) {
  const struct tree_path path = tree_path_of(p, output);
  char reason[1024];
  if (!hdf5_intact(path.text, format, reason, sizeof reason)) fail(EXIT_BAD_INPUT, "%s", reason);
  struct tree_links l = {0};
  const hid_t file = hdf5_open(path.text);
  read_header(file, path.text, &l);
  require(l.output == output, path.text, "the number of its output");
  read_objects(file, path.text, &l);
  read_lists(file, path.text, &l.objects);
  read_links(file, path.text, &l);
  H5Fclose(file);
  return l;
}
