/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial conditions: generated from a power spectrum, or read from a file. All functions on every process; each gets its share of
 * the particles, one block, as particles_create_share() has it. */
#ifndef PHOTONS_IC_H
#define PHOTONS_IC_H

#include "photons/cosmology/cosmology.h"
#include "photons/domain/particles.h"

struct parameters;
struct linear_power;

/**
 * Zel'dovich (ic.order = 1) or 2LPT (2) initial conditions on a grid or glass, with the random phases of N-GenIC and 2LPTic:
 * the same seed gives the same universe as those codes. Crocce et al. 2006, appendix D; growth rates from cosmology_growth().
 * The same particles, bit by bit, on any number of processes and workers. Random phases, transforms and particles are tasks if StarPU
 * runs. A process needs its share of 4 meshes (of 2 in first order) and of a fifth where there are many.
 * A displacement of more than half the box, or a speed not below that of light, ends the program:
 * EXIT_BAD_INPUT if the spectrum is a table, else EXIT_RUN_FAILED.
 * @return particles in Lagrangian order, ids from 1: id - 1 = (i n + j) n + k
 */
struct particles ic_generate(const struct parameters *p, const struct cosmology *c, const struct linear_power *power);

/**
 * Read Gadget-2 binary (formats 1 and 2, either byte order) or Gadget HDF5, one file or many (name.0, name.1 ... or
 * name.0.hdf5 ...; p->ic.file may name the first file or the common stem), 32- or 64-bit ids, float or double positions, any particle order.
 * Box size, cosmology and redshift stand in the file: where config.ini gives one too and they differ, the program ends with
 * EXIT_BAD_INPUT; otherwise the file's values are stored in @p p (box.size, cosmology, ic.z_init).
 * The file's values must be in the ranges of config.ini. Values of config.ini stay where the header
 * has none: the densities, if Omega0 and OmegaLambda are both 0 or absent, and h, if HubbleParam is.
 * Also fatal (EXIT_BAD_INPUT): truncated or corrupt files, NaN, positions outside [0, L], peculiar
 * velocities not below the speed of light, wrong counts, particles of several masses, ids that stand
 * for several particles.
 * @return particles in file order; each process reads its own
 */
struct particles ic_read_gadget(struct parameters *p);

/** Read the positions of a glass, as fractions of its box, from a file of the same kinds; its time, cosmology and masses do not matter. */
struct particles ic_read_glass(const char *path);

#endif
