/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial conditions: generated from a power spectrum, or read from a file. All functions are
 * collective. Each rank gets an equal number of particles, in one piece as from
 * particles_create_share(). */
#ifndef PHOTONS_IC_H
#define PHOTONS_IC_H

#include "photons/cosmology/cosmology.h"
#include "photons/domain/particles.h"

struct parameters;
struct linear_power;
struct species;
struct fluids;

/**
 * Zel'dovich (ic.order = 1), 2LPT (2) or 3LPT (3) initial conditions on a grid or glass, with the random
 * phases of N-GenIC and 2LPTic: the same seed gives the same universe as those codes. Equations:
 * Crocce et al. 2006 (MNRAS 373, 369), appendix D, and Michaux et al. 2021 (MNRAS 500, 663); growth rates from cosmology_growth(). The
 * particles are the same, bit by bit, on any number of ranks and workers. With StarPU running,
 * random phases, transforms and particles are computed in tasks. Memory on one rank, besides its
 * particles: its part of 4 meshes (2 in first order, 13 in third), 2 more with @p species, and of another if there are
 * several ranks. A
 * displacement of more than half the box, or a speed not below that of light, ends the program:
 * EXIT_BAD_INPUT if the spectrum is a table, else EXIT_RUN_FAILED.
 * @param species  the linear growth of each k; NULL: all k grow as cosmology_growth() says
 * @return particles in Lagrangian order, ids from 1: id - 1 = (i n + j) n + k
 */
struct particles ic_generate(const struct parameters *p, const struct cosmology *c,
                             const struct linear_power *power, const struct species *species);
/** The same of cold dark matter beside gas, with the waves of ic.transfer_file.
 * @param fluids  NULL: all matter has the same waves */
struct particles ic_generate_cold(const struct parameters *p, const struct cosmology *c,
                                  const struct linear_power *power, const struct fluids *fluids);
/** Most bytes that these need on all ranks besides the particles. */
double ic_generate_memory(const struct parameters *p);

/**
 * Read Gadget-2 binary (formats 1 and 2, either byte order) or Gadget HDF5, one file or many
 * (name.0, name.1 ... or name.0.hdf5 ...; p->ic.file may name the first file or the common stem),
 * 32- or 64-bit ids, float or double positions, any particle order; a snapshot of SWIFT is known by
 * its group Units. Box size, cosmology and
 * redshift are taken from the file and stored in @p p (box.size, cosmology, ic.z_init). If
 * config.ini gives one of them too and it differs, the program ends with EXIT_BAD_INPUT. The file's
 * values must be in the ranges of config.ini. Values of config.ini stay where the header has none:
 * the densities, if Omega0 and OmegaLambda are both 0 or absent, and h, if HubbleParam is. Also
 * fatal (EXIT_BAD_INPUT): truncated or corrupt files, NaN, positions outside [0, L], peculiar
 * velocities not below the speed of light, wrong counts, masses not above 0, ids that stand for
 * several particles.
 * @return particles by type, in file order; each rank reads its own. They have the columns
 *         relative_mass and type where masses or types differ
 */
struct particles ic_read_gadget(struct parameters *p);
/** The same for a snapshot that is to be analysed and not to be followed: velocities may lack and
 * are 0 then. Where there is gas, particles of type 1 alone are read, with the mass of all matter;
 * but all particles, if there are some of type 2 or 3, which are dark matter of lower resolution. */
struct particles ic_read_snapshot(struct parameters *p);
/**
 * Make the particles of an isolated system in a frame (geometry.h): the galaxy of section [galaxy]
 * or the file ic.file, and the galaxies or files of sections [second], [third] ..., each put where its
 * section says. The same bits on any number of ranks. What cannot be a galaxy ends the program with
 * EXIT_BAD_USAGE, a wrong file with EXIT_BAD_INPUT.
 * @return particles of the first body, then of the second and so on, each in the order of its components, or
 *         types. They have ids from 1, or those of the file if this is all. They have the columns
 *         relative_mass and type where masses or types differ
 */
struct particles ic_isolated(const struct parameters *p);
/** Whether a snapshot is of an isolated system: its BoxSize is 0. Errors are those of
 * ic_read_gadget(). */
bool ic_snapshot_is_isolated(const char *path);
/** The particles of the snapshot ic.file of an isolated system that is to be analysed and not to be
 * followed, in the frame and with the columns of ic_isolated(): gas is matter of type 0, and where
 * velocities lack they are 0. Neither the placing of section [galaxy] nor other galaxies are meant.
 * @param[out] time_myr  the header's Time, 0 without one */
struct particles ic_isolated_snapshot(const struct parameters *p, double *time_myr);
/** Side of a frame for particles within +-largest along each axis, with room to move, Mpc. */
double isolated_frame(double largest);

/** Read the positions of a glass, as fractions of its box, from a file of the same kinds. The
 * glass's time, cosmology and masses are ignored. */
struct particles ic_read_glass(const char *path);

#endif
