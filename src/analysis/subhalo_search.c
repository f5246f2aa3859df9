/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which halos are searched for subhalos when. On cores each worker has halos of its own. With GPUs halos go in batches: densities
 * in a batch and potentials of its candidates are found by tasks, and all else by loops over its halos. Halos that are too large for
 * the GPUs are searched on cores before all others. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "halo_home.h"
#include "halo_members.h"
#include "halo_pieces.h"
#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "subhalo.h"

enum {
  PARTS = 1024, /* of a loop over all halos */
  NAP = 50000,  /* ns */
  RUN = 4096    /* members of small halos that are one part of a loop over a batch */
};

struct searching {
  struct halo_home *home;
  const struct halo_background *background;
  size_t least;             /* particles of a subhalo */
  struct subhalo **subhalo; /* [halo] */
  size_t on_cores;          /* halos, the largest ones, of which each worker has its own */
  _Atomic size_t searched;  /* members of those of them that are in work */
};

static size_t at_a_time(const struct searching *w) {
  return subhalos_at_a_time(w->home->fof->particles->count);
}

/** Put the members of a halo into the order of its subhalos. */
static void order_members(const struct halo_home *home, const struct halo *h,
                          const uint32_t *order) {
  uint32_t *member = home->member + h->first;
  uint32_t *old = allocate(h->count, sizeof *old, "halo members");
  memcpy(old, member, h->count * sizeof *old);
  for (size_t i = 0; i < h->count; i++) member[i] = old[order[i]];
  free(old);
}

static struct subhalo_search begin(const struct searching *w, size_t i) {
  const struct halo *h = &w->home->halo[i];
  struct halo_body *body = halo_bodies(w->home, h, w->background->a);
  const struct subhalo_search s = subhalo_search_begin(
      h->count, body, w->home->fof->particles->mass, w->least, w->background);
  free(body);
  return s;
}

/** Find the subhalos of a halo whose candidates are known. */
static void end(const struct searching *w, size_t i, struct subhalo_search *s) {
  const struct particles *p = w->home->fof->particles;
  struct halo *h = &w->home->halo[i];
  uint32_t *order = allocate(h->count, sizeof *order, "subhalos");
  w->subhalo[i] = subhalos_of(h, s, p->box, order);
  order_members(w->home, h, order);
  for (size_t k = 0; k < h->subhalos; k++) {
    struct subhalo *subhalo = &w->subhalo[i][k];
    subhalo->id = halo_member_id(w->home, w->home->member[h->first + subhalo->first]);
  }
  free(order);
}

/* Each worker has halos of its own. */

/** Wait until the members of one more halo may be searched beside others, and help those who search them. */
static void wait_for_room(struct searching *w, size_t count) {
  const struct timespec nap = {.tv_nsec = NAP};
  const size_t most = at_a_time(w);
  for (;;) {
    size_t now = atomic_load(&w->searched);
    while (now == 0 || now + count <= most)
      if (atomic_compare_exchange_weak(&w->searched, &now, now + count)) return;
    if (!loop_help()) nanosleep(&nap, NULL);
  }
}

static void find_subhalos(const struct searching *w, size_t i) {
  struct subhalo_search s = begin(w, i);
  s.densities = densities_of(&s.tree);
  subhalo_search_candidates(&s);
  end(w, i, &s);
}

static void search_part(void *context, uint32_t part) {
  struct searching *w = context;
  const size_t next = halo_first_of_part(w->home, part + 1, PARTS),
               behind = next < w->on_cores ? next : w->on_cores;
  for (size_t h = halo_first_of_part(w->home, part, PARTS); h < behind; h++) {
    const size_t count = w->home->halo[h].count;
    wait_for_room(w, count);
    find_subhalos(w, h);
    atomic_fetch_sub(&w->searched, count);
  }
}

/* Batches. */

/** Halos that are searched together. */
struct batch {
  const struct searching *searching;
  size_t first, count; /* halos */
  struct subhalo_search *search;
  size_t *run; /* [runs + 1] first halo of each part of a loop, from the first one of the batch */
  uint32_t runs;
};

/** Large halos are parts of loops of their own. */
static void cut_into_runs(struct batch *b) {
  const struct halo *halo = b->searching->home->halo + b->first;
  size_t members = RUN;
  b->run = reallocate(NULL, b->count + 1, sizeof *b->run, "subhalos");
  b->runs = 0;
  for (size_t i = 0; i < b->count; i++) {
    if (members >= RUN) {
      b->run[b->runs++] = i;
      members = 0;
    }
    members += halo[i].count;
  }
  b->run[b->runs] = b->count;
}

static void begin_run(void *context, uint32_t run) {
  const struct batch *b = context;
  for (size_t i = b->run[run]; i < b->run[run + 1]; i++)
    b->search[i] = begin(b->searching, b->first + i);
}

static void find_candidates(void *context, uint32_t run) {
  const struct batch *b = context;
  for (size_t i = b->run[run]; i < b->run[run + 1]; i++) {
    subhalo_search_candidates(&b->search[i]);
    subhalo_search_list(&b->search[i]);
  }
}

static void end_run(void *context, uint32_t run) {
  const struct batch *b = context;
  for (size_t i = b->run[run]; i < b->run[run + 1]; i++)
    end(b->searching, b->first + i, &b->search[i]);
}

static void find_densities(const struct batch *b) {
  struct halo_tree **tree = allocate(b->count, sizeof *tree, "subhalos");
  struct densities **densities = allocate(b->count, sizeof *densities, "subhalos");
  for (size_t i = 0; i < b->count; i++) {
    tree[i] = &b->search[i].tree;
    densities[i] = &b->search[i].densities;
  }
  densities_by_tasks(PIECE_TASK, b->count, tree, densities);
  free(densities);
  free(tree);
}

/** Find the potentials of the particles of all candidates. */
static void find_potentials(const struct batch *b) {
  size_t count = 0, next = 0;
  for (size_t i = 0; i < b->count; i++) count += b->search[i].candidates.count;
  struct potentials_request *request = allocate(count, sizeof *request, "subhalos");
  for (size_t i = 0; i < b->count; i++)
    for (size_t k = 0; k < b->search[i].candidates.count; k++)
      request[next++] = (struct potentials_request){&b->search[i].unbinding,
                                                    &b->search[i].candidates.list[k].all};
  potentials_by_tasks(PIECE_TASK, count, request);
  free(request);
}

static void search_batch(const struct searching *w, size_t first, size_t count) {
  struct batch b = {.searching = w, .first = first, .count = count};
  b.search = reallocate(NULL, count, sizeof *b.search, "subhalos");
  cut_into_runs(&b);
  loop_run(&halos_stage, b.runs, begin_run, &b);
  find_densities(&b);
  loop_run(&halos_stage, b.runs, find_candidates, &b);
  find_potentials(&b);
  loop_run(&halos_stage, b.runs, end_run, &b);
  free(b.run);
  free(b.search);
}

/** All halos of a batch keep their bodies and the lists of their candidates while one of them is searched: batches have half the
 * members. */
static void search_in_batches(const struct searching *w) {
  const uint64_t *before = w->home->before;
  const size_t most = at_a_time(w) / 2;
  for (size_t first = w->on_cores, behind; first < w->home->count; first = behind) {
    behind = first + 1;
    while (behind < w->home->count && before[behind + 1] - before[first] <= most) behind++;
    search_batch(w, first, behind - first);
  }
}

/** Bring the subhalos of all halos into one list. */
static void list_subhalos(struct halo_home *home, struct subhalo **of_halo) {
  for (size_t h = 0; h < home->count; h++) home->subhalos += home->halo[h].subhalos;
  home->subhalo = allocate(home->subhalos, sizeof *home->subhalo, "subhalos");
  struct subhalo *next = home->subhalo;
  for (size_t h = 0; h < home->count; next += home->halo[h++].subhalos) {
    if (of_halo[h]) memcpy(next, of_halo[h], home->halo[h].subhalos * sizeof *next);
    free(of_halo[h]);
  }
}

/** The first halo that tasks on GPUs may work on, and so on all behind it, which have no more members. */
static size_t first_for_gpus(const struct halo_home *home) {
  const double most = pieces_gpu_particles();
  size_t first = most > 0.0 ? 0 : home->count;
  while (first < home->count && (double)home->halo[first].count > most) first++;
  return first;
}

void halo_search_subhalos(struct halo_home *home, size_t least, const struct halo_background *g) {
  struct searching w = {.home = home, .background = g, .least = least};
  const double start = wall_clock();
  w.subhalo = allocate(home->count, sizeof *w.subhalo, "subhalos");
  w.on_cores = first_for_gpus(home);
  if (w.on_cores > 0) /* the largest first; who finds none left helps with those that others have */
    loop_run(&halos_stage, PARTS, search_part, &w);
  search_in_batches(&w);
  home->subhalo_seconds = wall_clock() - start;
  list_subhalos(home, w.subhalo);
  free(w.subhalo);
}
