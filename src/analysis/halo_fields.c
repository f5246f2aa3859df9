/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the datasets of a halo catalogue hold. Names are Gadget-4's where Gadget-4 has the quantity. */
#include "halo_fields.h"

enum { TYPES = 6, HALO = 1 };

/* Rows of the tables: numbers, and quantities with their powers of a, length, mass and velocity. */
#define COUNT 0, FIELD_INT32, 0, 0, 0
#define PLACE 0, FIELD_INT64, 0, 0, 0
#define RATIO 0, FIELD_FLOAT, 0, 0, 0
#define LENGTH 1, FIELD_FLOAT, 1, 0, 0
#define POSITION 1, FIELD_DOUBLE, 1, 0, 0
#define MASS 0, FIELD_FLOAT, 0, 1, 0
#define VELOCITY 0, FIELD_FLOAT, 0, 0, 1

/* clang-format off */
#define EACH_HALO(type, columns, expression)                                    \
  type *out = rows;                                                             \
  (void)length;                                                                 \
  for (size_t i = 0; i < c->count; i++)                                         \
    for (size_t k = 0; k < (columns); k++) {                                    \
      const struct halo *h = &c->halo[i];                                       \
      out[i * (columns) + k] = (type)(expression);                              \
    }
static void fill_len(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(int32_t, 1, h->count) }
static void fill_mass(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, (double)h->count * c->particles->mass) }
static void fill_position(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(double, 3, h->position[k] * length) }
static void fill_centre(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(double, 3, h->centre[k] * length) }
static void fill_velocity(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 3, h->momentum[k]) }
static void fill_offset_type(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(int64_t, TYPES, k == HALO ? h->first : 0) }
static void fill_len_type(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(int32_t, TYPES, k == HALO ? h->count : 0) }
static void fill_mass_type(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, TYPES, k == HALO ? (double)h->count * c->particles->mass : 0.0) }
static void fill_v_max(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->v_max) }
static void fill_r_max(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->r_max * length) }
static void fill_dispersion(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->dispersion) }
static void fill_spin(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->spin) }
static void fill_offset(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->offset * length) }
static void fill_axis_ratios(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 2, h->axis_ratio[k]) }
static void fill_concentration(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->concentration) }
#define FILL_SPHERE(which)                                                      \
  static void fill_m_##which(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, (double)h->sphere[which].count * c->particles->mass) } \
  static void fill_r_##which(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->sphere[which].radius * length) }
FILL_SPHERE(CRIT_200)
FILL_SPHERE(MEAN_200)
FILL_SPHERE(CRIT_500)
FILL_SPHERE(TOP_HAT_200)

const struct halo_field halo_fields[] = {
  {"GroupLen", fill_len, 1, COUNT},
  {"GroupMass", fill_mass, 1, MASS},
  {"GroupPos", fill_position, 3, POSITION},
  {"GroupVel", fill_velocity, 3, -1, FIELD_FLOAT, 0, 0, 1},
  {"GroupOffsetType", fill_offset_type, TYPES, PLACE},
  {"GroupLenType", fill_len_type, TYPES, COUNT},
  {"GroupMassType", fill_mass_type, TYPES, MASS},
  {"Group_M_Crit200", fill_m_CRIT_200, 1, MASS},
  {"Group_R_Crit200", fill_r_CRIT_200, 1, LENGTH},
  {"Group_M_Mean200", fill_m_MEAN_200, 1, MASS},
  {"Group_R_Mean200", fill_r_MEAN_200, 1, LENGTH},
  {"Group_M_Crit500", fill_m_CRIT_500, 1, MASS},
  {"Group_R_Crit500", fill_r_CRIT_500, 1, LENGTH},
  {"Group_M_TopHat200", fill_m_TOP_HAT_200, 1, MASS},
  {"Group_R_TopHat200", fill_r_TOP_HAT_200, 1, LENGTH},
  /* Gadget's files do not have the rest. The centre of all spheres: */
  {"GroupPeakPos", fill_centre, 3, POSITION},
  {"GroupVmax", fill_v_max, 1, VELOCITY},
  {"GroupVmaxRad", fill_r_max, 1, LENGTH},
  {"GroupVelDisp", fill_dispersion, 1, VELOCITY},
  {"GroupSpinParameter", fill_spin, 1, RATIO},
  {"GroupCMOffset", fill_offset, 1, LENGTH},
  {"GroupAxisRatios", fill_axis_ratios, 2, RATIO},
  {"GroupConcentration", fill_concentration, 1, RATIO},
};
const size_t halo_field_count = sizeof halo_fields / sizeof *halo_fields;
/* clang-format on */
