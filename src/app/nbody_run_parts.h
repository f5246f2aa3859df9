/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of an N-body run, and the parts of its solver: how it begins, what it tells, what it writes. The steps
 * are in nbody_run.c. Functions with a `state` are those of struct solver, whose state is a struct nbody_run. */
#ifndef PHOTONS_NBODY_RUN_PARTS_H
#define PHOTONS_NBODY_RUN_PARTS_H

#include "output_beside.h"
#include "photons/analysis/galaxies.h"
#include "photons/analysis/tree.h"
#include "photons/app/cone.h"
#include "photons/app/nbody_run.h"
#include "photons/app/products.h"
#include "photons/app/type_masses.h"
#include "photons/ic/summary.h"
#include "photons/io/snapshot.h"
#include "photons/step/escapers.h"
#include "photons/step/layzer_irvine.h"
#include "photons/step/nbody.h"

struct linear_power;

struct nbody_run {
  struct parameters *parameters;
  struct cosmology cosmology;
  struct linear_power *linear; /* NULL where the parameters name no spectrum */
  struct species *species;     /* NULL: none but the particles */
  const struct timeline *timeline;
  struct nbody *nbody;
  struct sort_policy policy;
  struct renewal_policy renewals;  /* of isolated systems with block time steps */
  struct step_state steps;         /* of a checkpoint */
  uint32_t mesh_cells;             /* of a checkpoint; 0: there is none */
  uint32_t next_mesh_cells;        /* of the mesh in the next steps */
  struct layzer_irvine energy;     /* isolated: energy.work is what escapers took with them */
  struct isolated_summary summary; /* of initial conditions */
  struct galaxy_ids galaxies;      /* of an isolated system */
  struct galaxy_measures measured[GALAXIES_MAX]; /* at the last step with energies */
  struct escapers escapers;                      /* of this step */
  struct type_masses masses;                     /* of all particles */
  struct products products;                      /* of the output at work, */
  struct tree_past trees;                        /* and those before */
  bool begun;                                    /* whose first part is done */
  double beside_seconds;                         /* and took so long */
  struct output_beside beside;                   /* the output that is written beside steps */
  struct cone_files cone;                        /* and the files of the light cone */
  struct progress output_progress;               /* when it was begun */
  struct checkpoint_state old; /* of a restart: the incomplete map of its light cone */
  char obstacle[512];          /* why no step can be taken */
};

static inline bool isolated(const struct parameters *p) {
  return p->box.boundary == BOUNDARY_ISOLATED;
}

/** What is told of a run. */
struct story {
  const struct parameters *parameters;
  const struct particles *particles;
  const struct type_masses *masses;
  const struct linear_power *linear; /* or NULL */
  const struct timeline *timeline;
  const struct isolated_summary *summary;
  long cores; /* of all ranks */
};

/** Tell what a run consists of. */
void nbody_run_print(FILE *out, const struct story *s);
/** Whether halos are made of the light ones among particles of several masses. */
static inline bool halos_are_light(const struct parameters *p, const struct particles *s) {
  return !isolated(p) && p->analysis.fof && particles_have(s, COLUMN_relative_mass);
}

void nbody_run_require_possible(const struct parameters *p, bool begins);
void nbody_run_dry(struct parameters *p, const char *checkpoint, struct progress *now,
                   struct timeline *timeline);
void *nbody_run_create(struct parameters *p, const char *checkpoint_path, struct progress *now,
                       struct timeline *timeline);

/** The first part of an output, which needs only positions, beside the tasks of the forces.
 * @param context  the run, whose output_progress says which output */
void nbody_run_write_positions(void *context);
double nbody_run_write(void *state, const struct progress *now, size_t number);
/** The files of a light cone after a step. @param ended  whether it was the last one */
void nbody_run_write_cone(struct nbody_run *r, bool ended, struct step_record *record);
/** Wait for all that is written beside the steps. */
void nbody_run_settle(void *state);
void nbody_run_frame(void *state, const struct progress *now, const char *path);
void nbody_run_checkpoint(void *state, const char *path, const struct progress *now);

#endif
