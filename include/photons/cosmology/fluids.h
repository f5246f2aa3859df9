/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gas and cold dark matter whose waves differ. Until they parted from photons, baryons did not fall into the wells of dark
 * matter, and at z = 99 their density contrast is a few percent below that of dark matter. A table of a Boltzmann code says
 * how far each of both is from the mean of all matter, whose waves stay as the power spectrum has them. */
#ifndef PHOTONS_FLUIDS_H
#define PHOTONS_FLUIDS_H

struct parameters;
struct fluids;

enum fluid { FLUID_BARYONS, FLUID_COLD, FLUIDS };

/** The table ic.transfer_file; NULL: there is none, and all matter has the same waves. A bad table, or one of another universe
 * or redshift than ic.z_init, ends the program with EXIT_BAD_INPUT. */
struct fluids *fluids_create(const struct parameters *p);
void fluids_free(struct fluids *f);

/** Density contrast of a fluid over that of all matter, at ic.z_init; k in h/Mpc. Beyond the table's k it is that of the
 * table's end. */
double fluids_contrast(const struct fluids *f, enum fluid fluid, double k);
/** The same of what the contrast becomes in a unit of ln a, by which velocities go. */
double fluids_flow(const struct fluids *f, enum fluid fluid, double k);

#endif
