/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merger trees: objects (subhalos, or halos where subhalos are not searched for) of consecutive outputs,
 * linked by the ids of their particles.
 *
 * The descendant of an object is the object of the next output that has most of the object's most
 * bound particles for its size: the one with the largest sum of rank^(-2/3) over the particles that the
 * object shares with the other, ranks counted from the most bound particle on (Springel et al. 2005, Nature
 * 435, 629, supplement; Rodriguez-Gomez et al. 2015, MNRAS 449, 49, section 3), times the root of the smaller number
 * of particles of the two over the larger one. So the remnant of a subhalo goes before the host that took the rest, as
 * with N_AB^2 / (N_A N_B) of Elahi et al. 2019, PASA 36, e028. Objects that have less than a fifth of the sum over all listed
 * particles count only where none has more, so that a stray particle does not decide. An object may skip
 * one output, in which it is not found or is taken for a part of a larger one (tree_links_make()).
 *
 * Of each output the file tree_NNN.hdf5 has the objects, the ids of their most bound particles, and
 * which objects of the two outputs before have become which of its own. These files are all that an
 * output needs to know of the outputs before: a run that goes on after a stop makes the same trees. A run keeps what it has written
 * into the last two of them, so that it reads none.
 * trees.hdf5 is made of these files. Things of the run, objects or nodes of trees, are dealt out
 * evenly in their order: rank r has comm_first(all, r) .. comm_first(all, r + 1) - 1. */
#ifndef PHOTONS_ANALYSIS_TREE_H
#define PHOTONS_ANALYSIS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct halo_catalogue;
struct parameters;

/** In the place of the number of an object: there is none. */
#define TREE_NONE UINT64_MAX

/** Most ids of an object that are looked for in later outputs. */
enum { TREE_LISTED = 100 };

/** What the files say of an object. */
struct tree_object {
  int64_t group;       /**< number of its halo in the catalogue of the output */
  int64_t count;       /**< particles */
  uint64_t most_bound; /**< id of its most bound particle */
  int64_t listed;      /**< ids in the list of its most bound particles, at most TREE_LISTED */
  double position[3];  /**< of its centre, comoving, Mpc/h */
  float velocity[3];   /**< peculiar, km/s */
  float mass,
      mass_200c; /**< 1e10 Msun/h; mass_200c: of its halo, 0 for all subhalos of the halo but the
                              largest */
  float v_max;   /**< largest circular velocity, km/s */
};

/** A particle and the number of the object that it belongs to. */
struct tree_member {
  uint64_t id, object;
};

/** The objects of an output. */
struct tree_objects {
  size_t all, first, count;   /**< of the run; the first of this rank; those of this rank */
  struct tree_object *object; /**< [count] */
  uint64_t *id;               /**< lists of the most bound particles of these, most bound first,
                                   object by object */
  size_t members;             /**< particles of all objects, in any order on any rank */
  struct tree_member *member;
};

/** The subhalos of a catalogue as objects, or its halos. Of halos the particles nearest to the centre
 * count as the most bound ones. Collective. */
struct tree_objects tree_objects_of(const struct halo_catalogue *c, bool subhalos, double a);
void tree_objects_free(struct tree_objects *o);

/** Objects of earlier outputs, and what they have become. */
struct tree_fates {
  size_t all, first, count; /**< objects of the earlier output */
  uint64_t *descendant;     /**< [count] object of the later output; TREE_NONE */
  bool *main; /**< [count] of all progenitors of the descendant the one with the largest
                                 mass history; NULL: not known */
};

/** What the file of an output says. */
struct tree_links {
  size_t output, first_output; /**< number; that of the output where the trees begin */
  size_t subhalos;             /**< 1: objects are subhalos; 0: they are halos */
  double a, box;               /**< scale factor; side of the box, Mpc/h */
  struct tree_objects objects; /**< without members */
  double *history; /**< [objects.count] mass of the object and of all its main progenitors together,
                        1e10 Msun/h */
  struct tree_fates before;  /**< descendants of the objects of the output before */
  struct tree_fates skipped; /**< those objects two outputs before whose descendant is in this
                                  output, not in the one between */
};

/**
 * Link the objects of an output to those of the two outputs before. Collective.
 *
 * An object skips an output where its most bound particles come to an object that the descendant
 * found in the output between does not become, as after a fly-by in which two halos were one for a
 * while, or where it had no descendant there. It does not skip where it is the main progenitor of
 * the descendant between.
 * @param now      its objects become a part of the result
 * @param before   of the output before; @p earlier of the one before that; all is 0 where there are
 *                 no such outputs
 * @return numbers, time and box of the output, and what its objects are, are still to be filled in
 */
struct tree_links tree_links_make(struct tree_objects *now, const struct tree_links *before,
                                  const struct tree_links *earlier);
void tree_links_free(struct tree_links *l);

/** Write tree_NNN.hdf5, or read this rank's part of it. Collective. */
void tree_links_write(const struct tree_links *l, const struct parameters *p);
struct tree_links tree_links_read(const struct parameters *p, size_t output);

/** What the files of the last two outputs say, as far as this run has written them: {0} at its beginning. */
struct tree_past {
  struct tree_links before, earlier; /**< box = 0: is not known */
};
void tree_past_free(struct tree_past *past);

/** Make objects of a catalogue, link them to those of the outputs before, and write the file of this output. Trees begin here where
 * the output before has no file. Outputs that are not known from this run are read from their files. Collective.
 * @param[in,out] past  becomes what the next output needs */
void trees_add_output(struct tree_past *past, const struct parameters *p,
                      const struct halo_catalogue *c, double a, size_t output);

/** Write trees.hdf5 in Gadget-4's layout: the trees of all outputs that are linked, up to the output
 * @p last, which has its file. Collective. */
void trees_write(const struct parameters *p, size_t last);

/** Bytes that linking the outputs of a run, or gathering their objects into trees at its end, take on
 * all ranks together, whichever is more; 0 without trees. An estimate. Local. */
double trees_memory(const struct parameters *p, size_t particles);
/** Bytes of what is kept of the last two outputs (struct tree_past), likewise. */
double trees_kept_memory(const struct parameters *p, size_t particles);

#endif
