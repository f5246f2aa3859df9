/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the datasets of a halo catalogue hold. Names are Gadget-4's where Gadget-4 has the quantity. */
#include "halo_fields.h"

enum { TYPES = PARTICLE_TYPES };

/** Members of a type of object i, which has `count` members from row `first` on; and where the first of them is. */
static uint64_t count_of(const struct member_types *types, size_t i, size_t type, uint64_t count) {
  if (types) return types[i].count[type];
  return type == PARTICLE_HALO ? count : 0;
}
static uint64_t first_of(const struct member_types *types, size_t i, size_t type, uint64_t first) {
  if (types) return types[i].first[type];
  return type == PARTICLE_HALO ? first : 0;
}

/* Rows of the tables: numbers, and quantities with their powers of a, length, mass and velocity. */
#define COUNT 0, FIELD_INT32, 0, 0, 0, FIELD_ALWAYS
#define PLACE 0, FIELD_INT64, 0, 0, 0, FIELD_ALWAYS
#define RATIO 0, FIELD_FLOAT, 0, 0, 0, FIELD_ALWAYS
#define LENGTH 1, FIELD_FLOAT, 1, 0, 0, FIELD_ALWAYS
#define POSITION 1, FIELD_DOUBLE, 1, 0, 0, FIELD_ALWAYS
#define MASS 0, FIELD_FLOAT, 0, 1, 0, FIELD_ALWAYS
#define VELOCITY 0, FIELD_FLOAT, 0, 0, 1, FIELD_ALWAYS

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
static void fill_offset_type(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(int64_t, TYPES, first_of(c->halo_types, i, k, h->first)) }
static void fill_len_type(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(int32_t, TYPES, count_of(c->halo_types, i, k, h->count)) }
static void fill_mass_type(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, TYPES, (double)count_of(c->halo_types, i, k, h->count) * c->particles->mass) }
static void fill_v_max(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->v_max) }
static void fill_r_max(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->r_max * length) }
static void fill_dispersion(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->dispersion) }
static void fill_spin(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->spin) }
static void fill_offset(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->offset * length) }
static void fill_axis_ratios(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 2, h->axis_ratio[k]) }
static void fill_concentration(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->concentration) }
static void fill_heavy_len(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(int64_t, 1, h->heavy_count) }
static void fill_heavy_mass(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->heavy_mass) }
#define FILL_SPHERE(which)                                                      \
  static void fill_m_##which(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, (double)h->sphere[which].count * c->particles->mass) } \
  static void fill_r_##which(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(float, 1, h->sphere[which].radius * length) }
FILL_SPHERE(CRIT_200)
FILL_SPHERE(MEAN_200)
FILL_SPHERE(CRIT_500)
FILL_SPHERE(TOP_HAT_200)

static void fill_subhalos(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(int32_t, 1, h->subhalos) }
static void fill_first_subhalo(const struct halo_catalogue *c, double length, void *rows) { EACH_HALO(int64_t, 1, h->subhalos > 0 ? (int64_t)h->first_subhalo : -1) }

#define EACH_SUBHALO(type, columns, expression)                                 \
  type *out = rows;                                                             \
  (void)length;                                                                 \
  for (size_t i = 0; i < c->subhalos; i++)                                      \
    for (size_t k = 0; k < (columns); k++) {                                    \
      const struct subhalo *s = &c->subhalo[i];                                 \
      out[i * (columns) + k] = (type)(expression);                              \
    }
static void fill_sub_len(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(int32_t, 1, s->count) }
static void fill_sub_mass(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, 1, (double)s->count * c->particles->mass) }
static void fill_sub_position(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(double, 3, s->position[k] * length) }
static void fill_sub_mean_position(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(double, 3, s->mean_position[k] * length) }
static void fill_sub_velocity(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, 3, s->velocity[k]) }
static void fill_sub_offset_type(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(int64_t, TYPES, first_of(c->subhalo_types, i, k, s->first)) }
static void fill_sub_len_type(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(int32_t, TYPES, count_of(c->subhalo_types, i, k, s->count)) }
static void fill_sub_mass_type(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, TYPES, (double)count_of(c->subhalo_types, i, k, s->count) * c->particles->mass) }
static void fill_sub_half_type(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, TYPES, count_of(c->subhalo_types, i, k, s->count) > 0 ? s->half_radius * length : 0.0) }
static void fill_sub_half(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, 1, s->half_radius * length) }
static void fill_sub_group(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(int64_t, 1, s->halo) }
static void fill_sub_rank(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(int32_t, 1, s->rank) }
static void fill_sub_parent(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(int32_t, 1, s->parent) }
static void fill_sub_spin(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, 3, s->spin[k] * length) }
static void fill_sub_dispersion(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, 1, s->dispersion) }
static void fill_sub_v_max(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, 1, s->v_max) }
static void fill_sub_r_max(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(float, 1, s->r_max * length) }
static void fill_sub_id(const struct halo_catalogue *c, double length, void *rows) { EACH_SUBHALO(uint64_t, 1, s->id) }

static const struct halo_field halo_fields[] = {
  {"GroupLen", fill_len, 1, COUNT},
  {"GroupMass", fill_mass, 1, MASS},
  {"GroupPos", fill_position, 3, POSITION},
  {"GroupVel", fill_velocity, 3, -1, FIELD_FLOAT, 0, 0, 1, FIELD_ALWAYS},
  {"GroupOffsetType", fill_offset_type, TYPES, PLACE},
  {"GroupLenType", fill_len_type, TYPES, COUNT},
  {"GroupMassType", fill_mass_type, TYPES, MASS},
  {"GroupNsubs", fill_subhalos, 1, COUNT},
  {"GroupFirstSub", fill_first_subhalo, 1, PLACE},
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
  /* Within Group_R_Crit200: */
  {"GroupHeavyLen", fill_heavy_len, 1, 0, FIELD_INT64, 0, 0, 0, FIELD_HEAVY},
  {"GroupHeavyMass", fill_heavy_mass, 1, 0, FIELD_FLOAT, 0, 1, 0, FIELD_HEAVY},
};

static const struct halo_field subhalo_fields[] = {
  {"SubhaloGroupNr", fill_sub_group, 1, PLACE},
  {"SubhaloRankInGr", fill_sub_rank, 1, COUNT},
  {"SubhaloParentRank", fill_sub_parent, 1, COUNT},
  {"SubhaloLen", fill_sub_len, 1, COUNT},
  {"SubhaloLenType", fill_sub_len_type, TYPES, COUNT},
  {"SubhaloOffsetType", fill_sub_offset_type, TYPES, PLACE},
  {"SubhaloMass", fill_sub_mass, 1, MASS},
  {"SubhaloMassType", fill_sub_mass_type, TYPES, MASS},
  {"SubhaloPos", fill_sub_position, 3, POSITION},
  {"SubhaloCM", fill_sub_mean_position, 3, POSITION},
  {"SubhaloVel", fill_sub_velocity, 3, VELOCITY},
  {"SubhaloSpin", fill_sub_spin, 3, 0, FIELD_FLOAT, 1, 0, 1, FIELD_ALWAYS},
  {"SubhaloVelDisp", fill_sub_dispersion, 1, VELOCITY},
  {"SubhaloVmax", fill_sub_v_max, 1, VELOCITY},
  {"SubhaloVmaxRad", fill_sub_r_max, 1, LENGTH},
  {"SubhaloHalfmassRad", fill_sub_half, 1, LENGTH},
  {"SubhaloHalfmassRadType", fill_sub_half_type, TYPES, 1, FIELD_FLOAT, 1, 0, 0, FIELD_ONE_TYPE},
  {"SubhaloIDMostbound", fill_sub_id, 1, 0, FIELD_UINT64, 0, 0, 0, FIELD_ALWAYS},
};
/* clang-format on */

const struct halo_table halo_tables[HALO_TABLES] = {
    {"Group", halo_fields, sizeof halo_fields / sizeof *halo_fields, FIELD_ALWAYS},
    {"Subhalo", subhalo_fields, sizeof subhalo_fields / sizeof *subhalo_fields, true},
};
