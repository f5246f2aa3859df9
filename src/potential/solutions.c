/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The solutions of the groups of a level, one after the other. */
#include "photons/potential/codelets.h"

/** Solutions of even and odd groups in turn are red-black relaxation of blocks: where 1.5 times what they change is taken,
 * the errors of long waves, which last longest, become smaller by a factor of 2 in each turn, else by 1.1 (Young
 * 1954, Trans. Am. Math. Soc. 76, 92). The first solutions have no old ones to change. The last ones are taken as they are,
 * for the short waves that the others leave. */
static double excess_of(int solution, int solutions) {
  enum { FIRST = 2, LAST = 4 };
  return solution >= FIRST && solution < solutions - LAST ? 0.5 : 0.0;
}

struct potential_task potential_solution(struct potential_task first, int k, int solutions) {
  if (k == 0) return first;
  return (struct potential_task){.weight = first.weight,
                                 .mode = POTENTIAL_RELAX,
                                 .odd = k % 2 == 1,
                                 .massive = first.massive,
                                 .excess = excess_of(k, solutions)};
}
