/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of initial conditions: header values, cosmology, and warnings about unusual particles. */
#include "ic_check.h"

#include <math.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "src/io/gadget.h"

void ic_check_header(const char *path, struct gadget_header *h, bool isolated) {
  if (!h->analysed && (h->in_file[0] > 0 || h->total[0] > 0))
    fail(EXIT_BAD_INPUT,
         "%s: holds %llu gas particles (type 0); this program follows collisionless particles only",
         path, (unsigned long long)(h->total[0] ? h->total[0] : h->in_file[0]));
  if (h->box == GADGET_ABSENT && !isolated)
    fail(EXIT_BAD_INPUT, "%s: there is no BoxSize in its header", path);
  if (!isolated && (!(h->box > 0.0) || !isfinite(h->box)))
    fail(EXIT_BAD_INPUT, "%s: BoxSize is %g: not a periodic cosmological volume%s", path, h->box,
         h->analysed ? "; an isolated system is analysed with --set box.boundary=isolated" : "");
  if (!isolated && h->sides_differ)
    fail(EXIT_BAD_INPUT, "%s: BoxSize has three different numbers: the volume must be a cube",
         path);
  for (unsigned t = 0; t < GADGET_TYPES; t++)
    if (!(h->mass[t] >= 0.0) || !isfinite(h->mass[t]))
      fail(EXIT_BAD_INPUT, "%s: mass of particle type %u in the header is %g", path, t, h->mass[t]);
  /* Gadget-4 takes its beginning from elsewhere, and genetIC writes 0. */
  if (!isolated && h->time == 0.0 && h->redshift > 0.0) h->time = GADGET_ABSENT;
  if (h->redshift == GADGET_ABSENT && h->time != GADGET_ABSENT) h->redshift = 1.0 / h->time - 1.0;
  if (h->time == GADGET_ABSENT && h->redshift != GADGET_ABSENT) h->time = 1.0 / (1.0 + h->redshift);
  if (h->redshift < 0.0 && h->redshift > -1e-5) h->redshift = 0.0; /* 1/a - 1, rounded */
}

void ic_check_range(const char *path, const char *name, const char *section, const char *key,
                    double value) {
  char allowed[64];
  if (!parameter_allows(section, key, value, allowed, sizeof allowed))
    fail(EXIT_BAD_INPUT, "%s: %s in its header is %g; allowed: %s, as for %s.%s", path, name, value,
         allowed, section, key);
}

void ic_check_universe(const char *path, const struct gadget_header *h) {
  if (h->time == GADGET_ABSENT)
    fail(EXIT_BAD_INPUT, "%s: there is neither Time nor Redshift in its header", path);
  ic_check_range(path, "Redshift", "ic", "z_init", h->redshift);
  const double turn = h->time * (1.0 + h->redshift);
  if (!(fabs(turn - 1.0) < 1e-4)) /* a and z may have been rounded */
    fail(EXIT_BAD_INPUT, "%s: Time %g and Redshift %g do not belong together (a = 1/(1 + z))", path,
         h->time, h->redshift);
  if (gadget_gives(h->omega_m) || gadget_gives(h->omega_lambda))
    ic_check_range(path, "Omega0", "cosmology", "Omega_m",
                   h->omega_m == GADGET_ABSENT ? 0.0 : h->omega_m);
  if (h->omega_lambda != GADGET_ABSENT)
    ic_check_range(path, "OmegaLambda", "cosmology", "Omega_lambda", h->omega_lambda);
  if (gadget_gives(h->h)) ic_check_range(path, "HubbleParam", "cosmology", "h", h->h);
}

/** Whether all particles are near the first one, the periodic image included. The loop ends at the
 * first particle that is far; in usual initial conditions that is one of the first. */
static bool at_one_point(const struct particles *s) {
  const int32_t near = INT32_MAX / 500; /* a thousandth of the box */
  uint32_t origin[3] = {0};
  double far = 0.0;
  const int owner = (int)block_containing(s->all, s->all_blocks, 0);
  for (size_t c = 0; c < 3 && comm_rank() == owner; c++) origin[c] = s->position[c * s->count];
  comm_broadcast(origin, sizeof origin, owner);
  for (size_t c = 0; c < 3; c++)
    for (size_t i = 0; i < s->count && far == 0.0; i++) {
      const int32_t distance = (int32_t)(s->position[c * s->count + i] - origin[c]);
      if (distance < -near || distance > near) far = 1.0;
    }
  comm_max_double(&far, 1);
  return far == 0.0;
}

void ic_warn(const struct particles *s, double omega_k, const char *source) {
  enum { FEW = 8 }; /* of a grid of 2^3 */
  const bool one_point = s->all >= FEW && at_one_point(s);
  if (comm_rank() > 0) return;
  if (s->all < FEW) warn("%s: %zu particles only", source, s->all);
  if (one_point)
    warn("%s: all %zu particles are within a thousandth of the box of %g Mpc/h: are positions in "
         "the unit of BoxSize?",
         source, s->all, s->box);
  if (fabs(omega_k) > 0.1)
    warn("%s: Omega_k = %.4g: all densities add up to %.4g, far from a flat universe", source,
         omega_k, 1.0 - omega_k);
}
