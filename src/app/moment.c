/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/moment.h"

#include <math.h>
#include <stdio.h>

double gas_clock_at(const struct parameters *p, double time) { return exp(time / p->time.end); }

double gas_clock_time(const struct parameters *p, double a) { return p->time.end * log(a); }

struct moment_text run_moment(const struct parameters *p, double a) {
  struct moment_text m;
  if (!run_of_gas(p) || p->gas.comoving) return cosmology_moment(!run_has_redshifts(p), a);
  snprintf(m.text, sizeof m.text, "t = %.6g", gas_clock_time(p, a));
  return m;
}
