/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of gas, one task a batch of groups. */
#ifndef PHOTONS_HYDRO_CODELETS_H
#define PHOTONS_HYDRO_CODELETS_H

#include "photons/amr/codelets.h"

/** Fill the blocks of a batch with its present cells and their ghost cells.
 * @param weight  time of the level within the last step of the next coarser one, 0 .. 1
 * @return the handle of the blocks, one of gas.block */
starpu_data_handle_t gas_prepare_submit(struct gas *g, int level, uint32_t batch, double weight);
/** Advance a batch by a time step from its blocks: writes the cells that are not present ones, and
 * the fluxes. @param least_heat  of gas_physics, at the end of the step */
void gas_solve_submit(struct gas *g, int level, uint32_t batch, double dt, double least_heat,
                      starpu_data_handle_t block);
/** Add the fluxes of a batch to those through the sides of its groups.
 * @param share  of the step in that of the next coarser level
 * @param first  of the steps in it */
void gas_close_submit(struct gas *g, int level, uint32_t batch, double share, bool first);
/** The three stages above as one. @param begin, share  of the step, in that of the next coarser
 * level: where it begins, 0 .. 1, and how long it is */
void gas_advance_submit(struct gas *g, int level, uint32_t batch, double dt, double begin,
                        double share, double least_heat);
/** Make the fluxes through the sides of refined patches those of the finer level (Berger & Colella
 * 1989, J. Comput. Phys. 82, 64). @param dt  of the step that the level has taken
 * Then do what gas_restrict_submit() does. @param least_heat  as of gas_solve_submit() */
void gas_fix_submit(struct gas *g, int level, uint32_t batch, double dt, double least_heat);
/** Give refined patches the means of those finer cells that this rank has. */
void gas_restrict_submit(struct gas *g, int level, uint32_t batch);
/** Change the velocity of the present cells of a batch. */
void gas_accelerate_submit(struct gas *g, int level, uint32_t batch, const double change[3]);
/** Set gas_level.flags of a batch. @param weight  as of gas_prepare_submit() */
void gas_flag_submit(struct gas *g, int level, uint32_t batch, double weight);
/** Set gas_level.speed. @param faults  note cells that are not physical in gas_level.fault */
void gas_cfl_submit(struct gas *g, int level, uint32_t batch, bool faults);
/** Set gas_level.sum. */
void gas_sum_submit(struct gas *g, int level, uint32_t batch);

#endif
