/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choices that parameters offer, and the limits of numeric parameters that determine array
 * sizes. Code that needs a choice includes this file instead of all of parameters.h. */
#ifndef PHOTONS_CONFIG_CHOICES_H
#define PHOTONS_CONFIG_CHOICES_H

enum ic_source {
  IC_GENERATE,
  IC_GADGET,
  IC_GALAXY,
  IC_SOD,
  IC_SEDOV,
  IC_ACOUSTIC,
  IC_KELVIN_HELMHOLTZ,
  IC_BLAST,
  IC_ARRAY,
  IC_JEANS,
  IC_COLLAPSE,
  IC_PANCAKE,
  IC_POINT_MASSES,
  IC_PARTICLES
};
enum power_source { POWER_EH98, POWER_FILE, POWER_LAW };
enum length_unit { LENGTH_AUTO, LENGTH_KPC_H, LENGTH_MPC_H };
enum snapshot_format { FORMAT_HDF5, FORMAT_GADGET2 };
enum output_names { NAMES_SHORT, NAMES_GADGET4 };
enum slice_axis { AXIS_AUTOMATIC, AXIS_X, AXIS_Y, AXIS_Z };
enum assignment { ASSIGN_CIC, ASSIGN_TSC, ASSIGN_PCS };
enum gradient { GRADIENT_FD4, GRADIENT_SPECTRAL };
enum mesh_division { MESH_AUTO, MESH_SLABS, MESH_PENCILS };
enum boundary { BOUNDARY_PERIODIC, BOUNDARY_ISOLATED };
/** See split.h. SPLIT_NEWTON is that of isolated systems and cannot be chosen. */
enum split_kind { SPLIT_GAUSS, SPLIT_KAISER, SPLIT_NEWTON };
enum mac_kind { MAC_GEOMETRIC, MAC_RELATIVE, MAC_GOTHIC };
enum softening_kind { SOFTENING_SPLINE, SOFTENING_PLUMMER };
enum accuracy { ACCURACY_PAPER, ACCURACY_DEFAULT, ACCURACY_HIGH };
enum p2p_kind { P2P_POLYNOMIAL, P2P_TABLE, P2P_EXACT };
/** In the order of enum accuracy. */
enum step_accuracy { STEPS_FAST, STEPS_DEFAULT, STEPS_HIGH };
enum kick_kind { KICKS_PLAIN, KICKS_GROWTH };
enum step_kind { STEP_FIXED, STEP_ADAPTIVE, STEP_BLOCK, STEP_PM };
enum step_criterion { CRITERION_ACCELERATION, CRITERION_GOTHIC, CRITERION_PAIRS };
enum run_system { SYSTEM_PARTICLES, SYSTEM_GAS };
enum gas_solver { GAS_RTVD, GAS_MUSCL, GAS_PPM, GAS_NONE };
enum gas_precision { GAS_SINGLE, GAS_DOUBLE };
enum gas_steps { GAS_STEPS_INDIVIDUAL, GAS_STEPS_SHARED };
enum gas_direction { GAS_X, GAS_Y, GAS_Z, GAS_DIAGONAL };
enum external_column { EXTERNAL_MASS, EXTERNAL_ACCELERATION };
enum gas_gravity { GAS_GRAVITY_NONE, GAS_GRAVITY_SELF };
enum gas_poisson { GAS_POISSON_DIRECT, GAS_POISSON_SOR };
enum gas_boundary { GAS_PERIODIC, GAS_OUTFLOW, GAS_REFLECTING };
/** Which part of the sky a light cone has. */
enum cone_shape { CONE_NONE, CONE_SKY, CONE_OCTANT, CONE_PENCIL };
enum gpu_use { GPU_AUTO, GPU_NO, GPU_REQUIRE };
/* Of both memory_settle() makes one of the others in the place of auto. */
enum memory_choice { MEMORY_AUTO, MEMORY_SMALL, MEMORY_FAST };
enum beside_choice { BESIDE_NO, BESIDE_YES, BESIDE_AUTO };
enum shared_memory { SHARED_NOT, SHARED_HOST, SHARED_ALL };

#define P2P_DEGREE_MAX 12 /**< of the polynomial kernel */
#define FMM_ORDER_MAX 6
#define GAS_LEVELS_MAX 16 /**< of the adaptive mesh, root included */
#define GAS_SCALARS_MAX 8 /**< passive scalars */
#define TABLE_ORDER_MAX 4 /**< of the Taylor expansion in the paper's table kernel */

#endif
