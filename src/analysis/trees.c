/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merger trees while a run goes on: an output is linked to those before. */
#include <math.h>

#include "photons/analysis/halo.h"
#include "photons/analysis/tree.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "tree_file.h"
#include "tree_forest.h"

/* Parts of all particles, measured in a box of 25 Mpc/h with halos from 20 particles on, where both are
 * large: in halos at z = 0, and halos of an output, on average over 23 outputs from z = 9 on. */
#define MEMBERS_SHARE 0.4
#define OBJECTS_SHARE 0.002
/* Of a member its id, its object, coordinates, and what brings them into the order of rows. */
#define MEMBER_BYTES 52.0

/* Of an object that is kept: itself, its mass history, what it has become, and the ids of its list. */
#define KEPT_BYTES \
  ((double)(sizeof(struct tree_object) + (2 + TREE_LISTED) * sizeof(uint64_t) + sizeof(bool)))

static bool are_wanted(const struct parameters *p) { return p->output.trees && p->analysis.fof; }

double trees_memory(const struct parameters *p, size_t particles) {
  if (!are_wanted(p)) return 0.0;
  const double n = (double)particles, outputs = fmax((double)p->output.redshift_count, 1.0);
  const double nodes = OBJECTS_SHARE * n * outputs * 2.0 * sizeof(struct tree_node);
  return fmax(MEMBERS_SHARE * n * MEMBER_BYTES, nodes);
}

double trees_kept_memory(const struct parameters *p, size_t particles) {
  return are_wanted(p) ? 2.0 * OBJECTS_SHARE * (double)particles * KEPT_BYTES : 0.0;
}

void tree_past_free(struct tree_past *past) {
  tree_links_free(&past->before);
  tree_links_free(&past->earlier);
}

/** Have the links of an output, unless they are those that are kept; none where the trees begin later. */
static void know(struct tree_links *kept, bool there, const struct parameters *p, size_t output) {
  if (there && kept->box > 0.0 && kept->output == output) return;
  tree_links_free(kept);
  if (there) *kept = tree_links_read(p, output);
}

/** The newest output becomes the one before. */
static void move_on(struct tree_past *past, const struct tree_links *newest) {
  tree_links_free(&past->earlier);
  past->earlier = past->before;
  past->before = *newest;
}

/** The file of the output before is of another run, or of this run before its output times were
 * others. */
static void require_earlier(const struct tree_links *before, const struct parameters *p, double a,
                            double box) {
  static const char *const objects[] = {"halos", "subhalos"};
  if (before->subhalos != p->output.subhalos)
    fail(EXIT_BAD_INPUT,
         "%s: of %s, expected %s because of output.subhalos = %s: remove the file, and trees begin "
         "at "
         "the next output, or change output.subhalos",
         tree_path_of(p, before->output).text, objects[before->subhalos],
         objects[p->output.subhalos], p->output.subhalos ? "yes" : "no");
  if (before->a < a && before->box == box) return;
  fail(
      EXIT_BAD_INPUT,
      "%s: of a box of %g Mpc/h at a = %g, expected an earlier output of this box of %g Mpc/h at a "
      "= %g: remove the file, and trees begin at the next output",
      tree_path_of(p, before->output).text, before->box, before->a, box, a);
}

void trees_add_output(struct tree_past *past, const struct parameters *p,
                      const struct halo_catalogue *c, double a, size_t output) {
  struct tree_objects now = tree_objects_of(c, p->output.subhalos, a);
  const bool follows = output > 0 && tree_file_exists(p, output - 1);
  know(&past->before, follows, p, output - 1);
  if (follows) require_earlier(&past->before, p, a, c->particles->box);
  know(&past->earlier, follows && past->before.first_output + 1 < output, p, output - 2);
  if (past->earlier.objects.all != past->before.before.all)
    fail(EXIT_BAD_INPUT, "%s does not follow %s", tree_path_of(p, output - 1).text,
         tree_path_of(p, output - 2).text);
  struct tree_links links = tree_links_make(&now, &past->before, &past->earlier);
  links.output = output;
  links.first_output = follows ? past->before.first_output : output;
  links.subhalos = p->output.subhalos;
  links.a = a;
  links.box = c->particles->box;
  tree_links_write(&links, p);
  if (!follows && output > 0) say("trees       begin at output %zu\n", output);
  move_on(past, &links);
}
