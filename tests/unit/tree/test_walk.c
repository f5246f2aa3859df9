/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which pairs of nodes a walk of an isolated system accepts, and what is kept of the lengths of lists. The check of CUDA's walk is tests/gpu/tree/judged.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/runtime/isa.h"
#include "photons/tree/lists.h"
#include "support/judged_pairs.h"
#include "support/kernels.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

static void walk_pairs(const struct walk_kernels *k, const struct judged_pairs *p,
                       struct interaction_list *near, struct interaction_list *far) {
  const struct node *source[PAIRS_SLOTS];
  struct walk_scratch scratch = {0};
  for (int slot = 0; slot < PAIRS_SLOTS; slot++) source[slot] = p->source[slot];
  k->walk(&p->acceptance, p->count, PAIRS_DEPTH, p->count < PAIRS_GROUP ? p->first : NULL,
          p->target, PAIRS_SLOTS, source, p->source_count, NULL, NULL, &scratch, near, far);
  walk_scratch_free(&scratch);
}

/** Compare the walks of an instruction set with the formulas. */
static void check_walks(const struct kernels *k) {
  static struct judged_pairs p;
  for (int w = 0; w < PAIRS_WALKS; w++) {
    uint32_t wrong = 0, counts[4] = {0};
    for (uint64_t draw = 0; draw < PAIRS_DRAWS; draw++) {
      struct interaction_list near = {0}, far = {0};
      pairs_draw(&p, draw, pairs_walks[w].count, pairs_walks[w].bounded);
      walk_pairs(&k->walk, &p, &near, &far);
      wrong += pairs_differ(&p, far.offset, far.entry, counts);
      interaction_list_free(&near);
      interaction_list_free(&far);
    }
    print_message(
        "%s, %u of %d targets: %u opened, %u by sums, %u accepted, %u at a limit; %u wrong\n",
        k->name, pairs_walks[w].count, PAIRS_GROUP, counts[PAIR_OPENED], counts[PAIR_OF_SUM],
        counts[PAIR_ACCEPTED], counts[PAIR_NEAR_A_LIMIT], wrong);
    assert_int_equal(wrong, 0);
    assert_true(counts[PAIR_ACCEPTED] > 100);
    if (pairs_walks[w].bounded) assert_true(counts[PAIR_OF_SUM] > 100);
  }
}

static void walks_follow_the_formulas(void **state) {
  (void)state;
  static const char *const isas[] = {"baseline", "avx2", "avx512"};
  unsetenv("PHOTONS_ISA");
  const enum isa best = isa_select(); /* of this processor */
  for (int i = 0; i <= (int)best; i++) {
    setenv("PHOTONS_ISA", isas[i], 1);
    const struct kernels k = kernels_select();
    check_walks(&k);
  }
}

/* Of turns of lengths the longest is kept, but for a 64th a turn; of a longer list all is kept at once. Without lists the
 * length falls to 0. */
static void longest_lengths_are_kept(void **state) {
  (void)state;
  const uint32_t turn[] = {64000, 1000, 40000, 7};
  uint32_t kept = 0;
  for (int i = 0; i < 40; i++) {
    kept = kept_length(kept, turn[i % 4]);
    assert_true(kept <= 64000);
    assert_true(kept >= 64000 * (1.0 - 3.0 / 64.0) - 3.0);
    assert_true(kept >= turn[i % 4]);
  }
  for (uint32_t before; kept > 0;) {
    before = kept;
    kept = kept_length(kept, 0);
    assert_true(kept < before);
  }
  assert_int_equal(kept_length(UINT32_MAX, 0), UINT32_MAX - (1u << 26));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(longest_lengths_are_kept),
                                     cmocka_unit_test(walks_follow_the_formulas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
