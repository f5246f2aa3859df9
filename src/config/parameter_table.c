/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every parameter of config.ini: name, place, default, range and meaning. Parsing, checks,
 * --defaults, --dry-run and --reference are all made from this table. The help texts are user
 * documentation. */
#include "photons/config/parameter_table.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const beside_choices[] = {
    [BESIDE_NO] = "no", [BESIDE_YES] = "yes", [BESIDE_AUTO] = "auto", NULL};
static const char *const boundaries[] = {
    [BOUNDARY_PERIODIC] = "periodic", [BOUNDARY_ISOLATED] = "isolated", NULL};
static const char *const ic_sources[] = {[IC_GENERATE] = "generate",
                                         [IC_GADGET] = "gadget",
                                         [IC_GALAXY] = "galaxy",
                                         [IC_SOD] = "sod",
                                         [IC_SEDOV] = "sedov",
                                         [IC_ACOUSTIC] = "acoustic",
                                         [IC_KELVIN_HELMHOLTZ] = "kelvin_helmholtz",
                                         [IC_BLAST] = "blast",
                                         [IC_ARRAY] = "array",
                                         [IC_JEANS] = "jeans",
                                         [IC_COLLAPSE] = "collapse",
                                         [IC_PANCAKE] = "pancake",
                                         [IC_POINT_MASSES] = "point_masses",
                                         [IC_PARTICLES] = "particles",
                                         NULL};
static const char *const power_sources[] = {
    [POWER_EH98] = "eh98", [POWER_FILE] = "file", [POWER_LAW] = "power_law", NULL};
static const char *const ic_units[] = {
    [LENGTH_AUTO] = "auto", [LENGTH_KPC_H] = "kpc/h", [LENGTH_MPC_H] = "Mpc/h", NULL};
static const char *const output_units[] = {
    [LENGTH_AUTO] = "", [LENGTH_KPC_H] = "kpc/h", [LENGTH_MPC_H] = "Mpc/h", NULL};
static const char *const slice_axes[] = {
    [AXIS_AUTOMATIC] = "automatic", [AXIS_X] = "x", [AXIS_Y] = "y", [AXIS_Z] = "z", NULL};
static const char *const output_names[] = {
    [NAMES_SHORT] = "short", [NAMES_GADGET4] = "gadget4", NULL};
static const char *const snapshot_formats[] = {
    [FORMAT_HDF5] = "hdf5", [FORMAT_GADGET2] = "gadget2", NULL};
static const char *const accuracies[] = {
    [ACCURACY_PAPER] = "paper", [ACCURACY_DEFAULT] = "default", [ACCURACY_HIGH] = "high", NULL};
static const char *const assignments[] = {
    [ASSIGN_CIC] = "cic", [ASSIGN_TSC] = "tsc", [ASSIGN_PCS] = "pcs", NULL};
static const char *const mesh_layouts[] = {
    [MESH_AUTO] = "auto", [MESH_SLABS] = "slabs", [MESH_PENCILS] = "pencils", NULL};
static const char *const gradients[] = {
    [GRADIENT_FD4] = "fd4", [GRADIENT_SPECTRAL] = "spectral", NULL};
static const char *const splits[] = {[SPLIT_GAUSS] = "gauss", [SPLIT_KAISER] = "kaiser", NULL};
static const char *const macs[] = {
    [MAC_GEOMETRIC] = "geometric", [MAC_RELATIVE] = "relative", [MAC_GOTHIC] = "gothic", NULL};
static const char *const softenings[] = {
    [SOFTENING_SPLINE] = "spline", [SOFTENING_PLUMMER] = "plummer", NULL};
static const char *const p2p_kernels[] = {
    [P2P_POLYNOMIAL] = "polynomial", [P2P_TABLE] = "table", [P2P_EXACT] = "exact", NULL};
static const char *const step_accuracies[] = {
    [STEPS_FAST] = "fast", [STEPS_DEFAULT] = "default", [STEPS_HIGH] = "high", NULL};
static const char *const kick_kinds[] = {[KICKS_PLAIN] = "plain", [KICKS_GROWTH] = "growth", NULL};
static const char *const steps[] = {
    [STEP_FIXED] = "fixed", [STEP_ADAPTIVE] = "adaptive", [STEP_BLOCK] = "block", [STEP_PM] = "pm", NULL};
static const char *const criteria[] = {[CRITERION_ACCELERATION] = "acceleration",
                                       [CRITERION_GOTHIC] = "gothic",
                                       [CRITERION_PAIRS] = "pairs",
                                       NULL};
static const char *const systems[] = {[SYSTEM_PARTICLES] = "particles", [SYSTEM_GAS] = "gas", NULL};
static const char *const external_columns[] = {
    [EXTERNAL_MASS] = "mass", [EXTERNAL_ACCELERATION] = "acceleration", NULL};
static const char *const gas_solvers[] = {
    [GAS_RTVD] = "rtvd", [GAS_MUSCL] = "muscl", [GAS_PPM] = "ppm", [GAS_NONE] = "none", NULL};
static const char *const gas_precisions[] = {
    [GAS_SINGLE] = "single", [GAS_DOUBLE] = "double", NULL};
static const char *const gas_step_kinds[] = {
    [GAS_STEPS_INDIVIDUAL] = "individual", [GAS_STEPS_SHARED] = "shared", NULL};
static const char *const gas_directions[] = {
    [GAS_X] = "x", [GAS_Y] = "y", [GAS_Z] = "z", [GAS_DIAGONAL] = "diagonal", NULL};
static const char *const gas_gravities[] = {
    [GAS_GRAVITY_NONE] = "none", [GAS_GRAVITY_SELF] = "self", NULL};
static const char *const gas_poissons[] = {
    [GAS_POISSON_DIRECT] = "direct", [GAS_POISSON_SOR] = "sor", NULL};
static const char *const gas_boundaries[] = {
    [GAS_PERIODIC] = "periodic", [GAS_OUTFLOW] = "outflow", [GAS_REFLECTING] = "reflecting", NULL};
static const char *const cone_shapes[] = {
    [CONE_NONE] = "none", [CONE_SKY] = "sky", [CONE_OCTANT] = "octant", [CONE_PENCIL] = "pencil", NULL};
static const char *const gpu_uses[] = {
    [GPU_AUTO] = "auto", [GPU_NO] = "no", [GPU_REQUIRE] = "require", NULL};

static const char *const shared_memories[] = {
    [SHARED_NOT] = "no", [SHARED_HOST] = "host", [SHARED_ALL] = "yes", NULL};
static const char *const memories[] = {
    [MEMORY_AUTO] = "auto", [MEMORY_SMALL] = "small", [MEMORY_FAST] = "fast", NULL};

#define FIELD(member) offsetof(struct parameters, member), sizeof(((struct parameters *)0)->member)
#define REAL PARAMETER_REAL
#define INTEGER PARAMETER_INTEGER
#define SWITCH(member) PARAMETER_SWITCH, FIELD(member)
#define WORD(member) PARAMETER_WORD, FIELD(member)
#define TEXT(member) PARAMETER_TEXT, FIELD(member)
#define RANGE(from, to) .low = (from), .high = (to)
#define PRESET NULL

/* Which systems a row is of, if not all those of its section (section_table). */
#define OF(kinds) .systems = (kinds)
#define BOX KIND_BOX
#define ISOLATED KIND_ISOLATED
#define REST KIND_GAS_AT_REST
#define COMOVING KIND_COMOVING_GAS
#define PARTICLES (BOX | ISOLATED)
#define GAS (REST | COMOVING)
#define EXPANDING (BOX | COMOVING)
#define STATIC (ISOLATED | REST)
/* Sources of initial conditions that use a row, if not all do. */
#define WITH(sources_of_it) .sources = (sources_of_it)
#define SOURCE(source) (1u << (source))
#define GENERATED SOURCE(IC_GENERATE)
#define WAVES (SOURCE(IC_ACOUSTIC) | SOURCE(IC_JEANS))

const char *const galaxy_sections[GALAXIES_MAX] = {"galaxy", "second", "third",   "fourth",
                                                   "fifth",  "sixth",  "seventh", "eighth"};

/* clang-format off */
/* The rows of a galaxy beside the first one. */
#define COMPANION(section, k) \
  {section, "model", TEXT(companion[k].model), "", OF(ISOLATED), .help = "the " section " galaxy: m31, plummer, hernquist, nfw, or same: the components of the first one with other random numbers; empty: none, or the file"}, \
  {section, "file", TEXT(companion[k].file), "", OF(ISOLATED), .help = "file with the " section " galaxy, of the kinds of ic.file"}, \
  {section, "particles", INTEGER, FIELD(companion[k].particles), "0", OF(ISOLATED), .help = "number of particles of the " section " galaxy; automatic: galaxy.particles", RANGE(2, 1LL << 40), .automatic = "0"}, \
  {section, "component_particles", TEXT(companion[k].component_particles), "", OF(ISOLATED), .help = "the same of " section ".model; empty: with model = same that of the first galaxy, else one mass for all"}, \
  {section, "position", TEXT(companion[k].placing.position), "", OF(ISOLATED), .help = "where the " section " galaxy, or the origin of its file, is put: X Y Z in kpc; or: orbit pericentre=KPC eccentricity=E separation=KPC [about=SECTION]: this galaxy and that of a section before, galaxy if not given, with all that orbit it already, are put on this orbit of two points of their masses, in the x-y plane about the place of the latter, on their way to the pericentre"}, \
  {section, "velocity", TEXT(companion[k].placing.velocity), "", OF(ISOLATED), .help = "velocity of the " section " galaxy: VX VY VZ in km/s"}, \
  {section, "inclination", TEXT(companion[k].placing.inclination), "", OF(ISOLATED), .help = "the same angles as galaxy.inclination: I NODE in degrees"},
const struct parameter parameter_table[] = {
  {"run", "system", WORD(run.system), "particles", .help = "particles: N-body; gas: gas, particles or both on an adaptive mesh, section [gas], in units of its own", .words = systems},

  {"cosmology", "Omega_m", REAL, FIELD(cosmology.omega_m), "0.3144", .help = "density of all matter today, over the critical density", RANGE(1e-3, 2), .aliases = {"Omega0"}},
  {"cosmology", "Omega_lambda", REAL, FIELD(cosmology.omega_lambda), "", .computed = "1 - Omega_m - Omega_r", .help = "density of dark energy today, over the critical density; not given: 1 - Omega_m - Omega_r, which makes the universe flat", RANGE(-1, 2), .aliases = {"OmegaLambda"}},
  {"cosmology", "Omega_b", REAL, FIELD(cosmology.omega_b), "0.0494", .help = "density of baryons today, part of Omega_m; with gas.comoving = yes and particles that of the gas", RANGE(0, 2), .aliases = {"OmegaBaryon"}},
  {"cosmology", "h", REAL, FIELD(cosmology.h), "0.6732", .help = "Hubble constant", .unit = "100 km/s/Mpc", RANGE(0.1, 2), .aliases = {"HubbleParam"}},
  {"cosmology", "n_s", REAL, FIELD(cosmology.n_s), "0.966", .help = "spectral index of the primordial spectrum; with ic.power_spectrum = power_law of the linear spectrum itself", RANGE(-3, 2)},
  {"cosmology", "sigma8", REAL, FIELD(cosmology.sigma8), "0.812", .help = "linear rms density contrast in spheres of 8 Mpc/h at z = 0", RANGE(1e-3, 10)},
  {"cosmology", "w0", REAL, FIELD(cosmology.w0), "-1", .help = "dark energy has the equation of state w = w0 + wa (1 - a)", RANGE(-3, 1)},
  {"cosmology", "wa", REAL, FIELD(cosmology.wa), "0", .help = "dark energy has the equation of state w = w0 + wa (1 - a)", RANGE(-5, 5)},
  {"cosmology", "w_table", TEXT(cosmology.w_table), "", .help = "table of the equation of state of dark energy in the place of w0 and wa: rows of a and w behind a line # a w, or of z and w behind # z w; between rows w is linear in a, beyond them constant; empty: w0 and wa"},
  {"cosmology", "Omega_r", REAL, FIELD(cosmology.omega_r), "0", .help = "density of radiation today, over the critical density: of all that is relativistic today; it acts on the expansion and the growth of structure, and is smooth", RANGE(0, 0.1)},
  {"cosmology", "m_nu", PARAMETER_LIST, FIELD(cosmology.m_nu), "", OF(BOX), .help = "masses of neutrinos, up to three; these neutrinos are part of Omega_m, and those without mass of Omega_r. They are not particles: the mesh adds what they attract with, from species_file", .unit = "eV", RANGE(1e-3, 10)},
  {"cosmology", "species_file", TEXT(cosmology.species_file), "", OF(BOX), .help = "table that tools/linear_theory.py makes: the linear growth of cold dark matter and baryons at each k, and what neutrinos, radiation and dark energy add to their attraction; empty: all k grow alike, and nothing is added"},

  {"box", "boundary", WORD(box.boundary), "periodic", .help = "periodic: a periodic, expanding box; isolated: galaxies in empty space, which does not expand, with lengths in kpc, velocities in km/s and times in Myr (no h)", .words = boundaries},
  {"box", "escape_radius", REAL, FIELD(box.escape_radius), "0", OF(ISOLATED), .help = "with boundary = isolated: particles at this distance from the origin are taken out and written to log/escapers.csv; 0: none", .unit = "kpc", RANGE(0, 1e9)},
  {"box", "size", REAL, FIELD(box.size), "", OF(EXPANDING), .help = "side of the periodic box, with gas.comoving = yes along x; needed with ic.source = generate or gas.comoving = yes", .unit = "Mpc/h", RANGE(1e-3, 1e6)},
  {"box", "npart_side", INTEGER, FIELD(box.npart_side), "", OF(EXPANDING), .help = "N = npart_side^3 particles; needed with ic.source = generate; with gas.comoving = yes: particles along x, which are all matter but the gas of Omega_b, or with gas.solver = none all matter; not given: all matter is gas", RANGE(2, 65536)},

  {"ic", "source", WORD(ic.source), "generate", .help = "generate initial conditions of a periodic box, read them from a Gadget file, or make the galaxy of section [galaxy] with boundary = isolated; with system = gas: a problem by its name, or arrays of density, velocity_x, velocity_y, velocity_z, pressure and scalars from an HDF5 file", .words = ic_sources},
  {"ic", "file", TEXT(ic.file), "", OF(PARTICLES | REST), WITH(SOURCE(IC_GADGET) | SOURCE(IC_ARRAY)), .help = "with source = gadget: Gadget file with initial conditions, or the common stem of several files; with boundary = isolated also a text table, Tipsy or an HDF5 file of AMUSE; with source = array: HDF5 file"},
  {"ic", "unit_length", WORD(ic.unit_length), "auto", OF(BOX), WITH(SOURCE(IC_GADGET)), .help = "length unit of ic.file; auto: found from its box size and masses", .words = ic_units},
  {"ic", "unit_length_kpc", REAL, FIELD(ic.unit_length_kpc), "1", OF(ISOLATED), .help = "with boundary = isolated: length unit of files, unless they name it", .unit = "kpc", RANGE(1e-9, 1e9)},
  {"ic", "unit_mass_msun", REAL, FIELD(ic.unit_mass_msun), "1e10", OF(ISOLATED), .help = "with boundary = isolated: mass unit of files, unless they name it", .unit = "Msun", RANGE(1e-9, 1e30)},
  {"ic", "unit_velocity_kms", REAL, FIELD(ic.unit_velocity_kms), "1", OF(ISOLATED), .help = "with boundary = isolated: velocity unit of files, unless they name it", .unit = "km/s", RANGE(1e-9, 1e9)},
  {"ic", "z_init", REAL, FIELD(ic.z_init), "49", OF(EXPANDING), .help = "redshift of the initial conditions; automatic, of generated ones: the least at which ic.order is enough for the waves of the lattice and for the growth until the first output", RANGE(0, 10000), .automatic = "-1"},
  {"ic", "order", INTEGER, FIELD(ic.order), "2", OF(BOX), WITH(GENERATED), .help = "1: Zel'dovich approximation; 2, 3: Lagrangian perturbation theory of second, of third order", RANGE(1, 3)},
  {"ic", "seed", INTEGER, FIELD(ic.seed), "12345", OF(PARTICLES | COMOVING), .help = "seed of the random phases; the same seed gives the same universe as N-GenIC and 2LPTic", RANGE(1, 2147483647)},
  {"ic", "mesh", INTEGER, FIELD(ic.mesh), "0", OF(BOX), WITH(GENERATED), .help = "cells a side of the mesh for displacements, even; automatic: npart_side, or twice npart_side if that is odd", RANGE(2, 65536), .automatic = "0"},
  {"ic", "sphere_mode", SWITCH(ic.sphere_mode), "yes", OF(EXPANDING), WITH(GENERATED), .help = "yes: drop modes with |k| beyond the particles' Nyquist frequency; no: keep the whole cube of modes", .words = no_yes},
  {"ic", "fixed", SWITCH(ic.fixed), "no", OF(EXPANDING), WITH(GENERATED), .help = "fixed amplitudes, |delta_k|^2 = P(k), instead of random ones", .words = no_yes},
  {"ic", "paired", SWITCH(ic.paired), "no", OF(EXPANDING), WITH(GENERATED), .help = "shift all phases by pi; a run and its partner with the same seed are a pair", .words = no_yes},
  {"ic", "f_nl", REAL, FIELD(ic.f_nl), "0", OF(EXPANDING), WITH(GENERATED), .help = "local non-Gaussianity: the potential Phi of matter domination, positive where the density is high, is phi + f_nl (phi^2 - <phi^2>) of a Gaussian phi (the convention of the microwave background)", RANGE(-1e5, 1e5)},
  {"ic", "glass", TEXT(ic.glass), "", OF(BOX), WITH(GENERATED), .help = "Gadget file with a glass, copied to fill the box; empty: the particles start from a grid"},
  {"ic", "lattice_growth", REAL, FIELD(ic.lattice_growth), "1", OF(BOX), WITH(GENERATED), .help = "waves are to be as in linear theory when its growth factor is this many times that of z_init, although a grid of particles makes most waves near its Nyquist frequency grow more slowly until then (Garrison et al. 2016); 1: waves begin as in linear theory", RANGE(1, 10000)},
  {"ic", "power_spectrum", WORD(ic.power_spectrum), "eh98", OF(EXPANDING), .help = "linear power spectrum: the fit of Eisenstein & Hu (1998), a table, or a power law, k to the power cosmology.n_s, for scale-free universes", .words = power_sources},
  {"ic", "power_spectrum_file", TEXT(ic.power_spectrum_file), "", OF(EXPANDING), .help = "table of k [h/Mpc] and P(k) [(Mpc/h)^3] at z = 0, or of their log10"},
  {"ic", "transfer_file", TEXT(ic.transfer_file), "", OF(COMOVING), WITH(GENERATED), .help = "with gas and particles: table of their density contrasts and growth at z_init over those of all matter, by k, from tools/linear_theory.py --transfers; empty: both have the same waves"},
  {"ic", "normalise", SWITCH(ic.normalise), "yes", OF(EXPANDING), .help = "yes: scale the power spectrum to sigma8; no: use the table as it is, whose sigma8 must be within a factor of 2", .words = no_yes},
  {"ic", "direction", WORD(ic.direction), "x", OF(GAS), WITH(WAVES | SOURCE(IC_SOD) | SOURCE(IC_PANCAKE)), .help = "with source = sod, acoustic or jeans: along which the tube or the wave lies", .words = gas_directions},
  {"ic", "energy", REAL, FIELD(ic.energy), "1", OF(REST), WITH(SOURCE(IC_SEDOV)), .help = "with source = sedov: energy of the explosion", RANGE(1e-30, 1e30)},
  {"ic", "amplitude", REAL, FIELD(ic.amplitude), "1e-6", OF(REST), WITH(WAVES), .help = "with source = acoustic or jeans: of the wave, over the density", RANGE(0, 0.5)},
  {"ic", "separation", REAL, FIELD(ic.separation), "0.25", OF(REST), WITH(SOURCE(IC_POINT_MASSES)), .help = "with source = point_masses: of the two masses, over the side of the box along x", RANGE(1e-3, 0.9)},
  {"ic", "particles", TEXT(ic.particles), "", OF(GAS), .help = "with system = gas: HDF5 file with particles (position, velocity, mass) that move on the same mesh and attract the gas and each other; empty: none"},
  {"ic", "temperature", REAL, FIELD(ic.temperature), "0", OF(COMOVING), .help = "with gas.comoving = yes: of the gas at z_init; automatic: that of the microwave background until z = 137, where they part, then falling as (1 + z)^2", .unit = "K", RANGE(1e-6, 1e9), .automatic = "0"},
  {"ic", "z_caustic", REAL, FIELD(ic.z_caustic), "1", OF(COMOVING), WITH(SOURCE(IC_PANCAKE)), .help = "with source = pancake: redshift where the gas would cross itself without pressure", RANGE(-0.999, 10000)},

  {"galaxy", "model", TEXT(galaxy.model), "", .help = "with ic.source = galaxy: m31, plummer, hernquist or nfw; empty: the components below"},
  {"galaxy", "particles", INTEGER, FIELD(galaxy.particles), "131072", .help = "with ic.source = galaxy: number of particles of all components; those without numbers of their own share what is left, in proportion to their masses", RANGE(2, 1LL << 40)},
  {"galaxy", "component_particles", TEXT(galaxy.component_particles), "", .help = "with galaxy.model: number of particles of each component of the model, in its order, which have masses of their own then; 0: a share of what is left of galaxy.particles; empty: one mass for all"},
  {"galaxy", "component_1", TEXT(galaxy.component[0]), "", .help = "component of the galaxy: profile, mass [Msun], lengths [kpc]: nfw MASS SCALE CUTOFF WIDTH, hernquist MASS SCALE [CUTOFF WIDTH] (100 and 10 SCALE if not given), plummer MASS SCALE [CUTOFF WIDTH], sersic MASS RADIUS INDEX [CUTOFF WIDTH], exponential MASS SCALE HEIGHT [CUTOFF WIDTH [Q]], where Q is Toomre's where it is least, 1.844 if not given. Behind the numbers: particles=N or particle_mass=MASS [Msun], type=N (1 to 5) and softening=LENGTH [kpc] of the particles"},
  {"galaxy", "component_2", TEXT(galaxy.component[1]), "", .help = "another component"},
  {"galaxy", "component_3", TEXT(galaxy.component[2]), "", .help = "another component"},
  {"galaxy", "component_4", TEXT(galaxy.component[3]), "", .help = "another component"},
  {"galaxy", "component_5", TEXT(galaxy.component[4]), "", .help = "another component"},
  {"galaxy", "component_6", TEXT(galaxy.component[5]), "", .help = "another component"},
  {"galaxy", "component_7", TEXT(galaxy.component[6]), "", .help = "another component"},
  {"galaxy", "component_8", TEXT(galaxy.component[7]), "", .help = "another component"},
  {"galaxy", "position", TEXT(galaxy.placing.position), "", .help = "where the galaxy, or the origin of ic.file, is put: X Y Z in kpc; empty: at 0"},
  {"galaxy", "velocity", TEXT(galaxy.placing.velocity), "", .help = "its velocity: VX VY VZ in km/s; empty: at rest"},
  {"galaxy", "inclination", TEXT(galaxy.placing.inclination), "", .help = "angle of its axis to the z axis, about the x axis, then angle about the z axis: I NODE in degrees; empty: 0 0"},

  COMPANION("second", 0)
  COMPANION("third", 1)
  COMPANION("fourth", 2)
  COMPANION("fifth", 3)
  COMPANION("sixth", 4)
  COMPANION("seventh", 5)
  COMPANION("eighth", 6)

  {"external", "potential_1", TEXT(external.potential[0]), "", .help = "with boundary = isolated: a potential about the origin in which all particles move: point mass=MSUN [softening=KPC], logarithmic speed=KMS core=KPC [flattening=Q], miyamoto_nagai mass=MSUN a=KPC b=KPC, nfw mass=MSUN scale=KPC (mass: 4 pi rho_0 scale^3), hernquist mass=MSUN scale=KPC, bar mass=MSUN a=KPC b=KPC c=KPC [pattern_speed=KMS/KPC] [angle=DEGREES], or table"},
  {"external", "potential_2", TEXT(external.potential[1]), "", .help = "another potential"},
  {"external", "potential_3", TEXT(external.potential[2]), "", .help = "another potential"},
  {"external", "potential_4", TEXT(external.potential[3]), "", .help = "another potential"},
  {"external", "potential_5", TEXT(external.potential[4]), "", .help = "another potential"},
  {"external", "potential_6", TEXT(external.potential[5]), "", .help = "another potential"},
  {"external", "potential_7", TEXT(external.potential[6]), "", .help = "another potential"},
  {"external", "potential_8", TEXT(external.potential[7]), "", .help = "another potential"},
  {"external", "table", TEXT(external.table), "", .help = "with a potential 'table': text file with a radius in kpc and a second number in each row"},
  {"external", "table_column", WORD(external.table_column), "mass", .help = "what the second number of the table is: the mass within the radius in Msun, or the acceleration in (km/s)^2/kpc", .words = external_columns},
  {"external", "self_gravity", SWITCH(external.self_gravity), "yes", .help = "whether particles attract each other, too; no: they are tracers of the potentials", .words = no_yes},

  {"gas", "solver", WORD(gas.solver), "muscl", .help = "muscl: MUSCL-Hancock with the HLLC Riemann solver and an entropy for cold flows, for all flows; ppm: the piecewise parabolic method, half the error at contacts and strong shocks for less than one and a half times the time; rtvd: the relaxing TVD scheme of the GAMER paper, half the time, for flows that are not much faster than sound; none: no gas, particles alone", .words = gas_solvers},
  {"gas", "precision", WORD(gas.precision), "single", .help = "of the cells and of all arithmetic with them", .words = gas_precisions},
  {"gas", "comoving", SWITCH(gas.comoving), "no", .help = "yes: in a periodic box that expands as [cosmology] says, with lengths in comoving Mpc/h, times as redshifts, and gamma = 5/3", .words = no_yes},
  {"gas", "molecular_weight", REAL, FIELD(gas.molecular_weight), "0.6", .help = "mean mass of a particle, for temperatures: 0.6 of ionised, 1.22 of neutral primordial gas", .unit = "hydrogen masses", RANGE(0.1, 10)},
  {"gas", "temperature_floor", REAL, FIELD(gas.temperature_floor), "0", OF(COMOVING), .help = "with comoving = yes: gas that is colder after a step of its level is warmed to this temperature; 0: none", .unit = "K", RANGE(0, 1e9)},
  {"gas", "scalars", INTEGER, FIELD(gas.scalars), "0", .help = "passive scalars: so many mass fractions, 0 to 1, move with the gas; ic.source says what they are at the start", RANGE(0, GAS_SCALARS_MAX)},
  {"gas", "acceleration", PARAMETER_LIST, FIELD(gas.acceleration), "", OF(REST), .help = "uniform gravity: acceleration of all gas along x, y and z, in the units of the run; empty: none", RANGE(-1e30, 1e30)},
  {"gas", "gamma", REAL, FIELD(gas.gamma), "1.6666666666666667", .help = "ratio of specific heats", RANGE(1.0001, 10)},
  {"gas", "cfl", REAL, FIELD(gas.cfl), "0.5", .help = "Courant number: the largest part of a cell that a signal crosses in a step", RANGE(1e-3, 1)},
  {"gas", "root", PARAMETER_LIST, FIELD(gas.root), "", .help = "cells of the root level along x, y and z, multiples of 16", RANGE(16, 65536)},
  {"gas", "length", REAL, FIELD(gas.length), "1", OF(REST), .help = "length of the box along x; cells are cubes", RANGE(1e-30, 1e30)},
  {"gas", "x_low", WORD(gas.boundary[0][0]), "periodic", .help = "boundary at the low end of x", .words = gas_boundaries},
  {"gas", "x_high", WORD(gas.boundary[0][1]), "periodic", .help = "boundary at the high end of x", .words = gas_boundaries},
  {"gas", "y_low", WORD(gas.boundary[1][0]), "periodic", .help = "boundary at the low end of y", .words = gas_boundaries},
  {"gas", "y_high", WORD(gas.boundary[1][1]), "periodic", .help = "boundary at the high end of y", .words = gas_boundaries},
  {"gas", "z_low", WORD(gas.boundary[2][0]), "periodic", .help = "boundary at the low end of z", .words = gas_boundaries},
  {"gas", "z_high", WORD(gas.boundary[2][1]), "periodic", .help = "boundary at the high end of z", .words = gas_boundaries},
  {"gas", "levels", INTEGER, FIELD(gas.levels), "0", .help = "levels of refinement below the root level, each with half the cells' side", RANGE(0, GAS_LEVELS_MAX - 1)},
  {"gas", "steps", WORD(gas.steps), "individual", .help = "individual: each level takes two steps in one of the next coarser level; shared: all levels take the same steps", .words = gas_step_kinds},
  {"gas", "regrid", INTEGER, FIELD(gas.regrid), "4", .help = "steps of a level after which the next finer level is made anew", RANGE(1, 1000000)},
  {"gas", "buffer", INTEGER, FIELD(gas.buffer), "8", .help = "cells around a flagged one that are refined, too", RANGE(0, 8)},
  {"gas", "flag_density", PARAMETER_LIST, FIELD(gas.flag_density), "", .help = "refine where the density is larger, with comoving = yes in units of the mean density; one number for all levels, or one for each level that may be refined; empty: not used", RANGE(0, 1e300)},
  {"gas", "flag_particles", PARAMETER_LIST, FIELD(gas.flag_particles), "", .help = "refine where a cell has the mass of more than so many of the lightest particles; one number for all levels, or one for each level that may be refined; empty: not used", RANGE(0, 1e9)},
  {"gas", "flag_gradient_density", PARAMETER_LIST, FIELD(gas.flag_gradient_density), "", .help = "refine where the density changes by more than this part of itself from cell to cell; one number for all levels, or one for each level that may be refined; empty: not used", RANGE(0, 1e6)},
  {"gas", "flag_gradient_pressure", PARAMETER_LIST, FIELD(gas.flag_gradient_pressure), "", .help = "the same of the pressure; one number for all levels, or one for each level that may be refined; empty: not used", RANGE(0, 1e6)},
  {"gas", "flag_loehner", PARAMETER_LIST, FIELD(gas.flag_loehner), "", .help = "refine where the error estimate of Loehner (1987) of density or pressure is larger; one number for all levels, or one for each level that may be refined; empty: not used", RANGE(0, 1)},
  {"gas", "flux_fixup", SWITCH(gas.fix_fluxes), "yes", .help = "give coarser cells the fluxes of finer ones beside them; no: mass, momentum and energy are not conserved, which is of use in tests alone", .words = no_yes},
  {"gas", "fused", SWITCH(gas.fused), "yes", .help = "advance a batch of patch groups in one task; no: one task prepares the cells, one solves, one sums fluxes", .words = no_yes},
  {"gas", "batch", INTEGER, FIELD(gas.batch), "0", .help = "patch groups of 16^3 cells in a task; automatic: 4, with GPUs some tasks of each level for each of them", RANGE(1, 65536), .automatic = "0"},
  {"gas", "homes", INTEGER, FIELD(gas.homes), "0", .help = "parts into which a process divides its gas, each for a GPU of its own; they send each other what their edges need; automatic: as many as GPUs", RANGE(1, 64), .automatic = "0"},
  {"gas", "gravity", WORD(gas.gravity), "none", .help = "self: of the gas itself; periodic as its box is, or isolated where all boundaries are outflow", .words = gas_gravities},
  {"gas", "newton_constant", REAL, FIELD(gas.newton_constant), "1", OF(REST), .help = "Newton's constant in the units of the run", RANGE(1e-30, 1e30)},
  {"gas", "poisson", WORD(gas.poisson), "direct", .help = "potential of a patch group from the values around it: direct: by sine transforms, to rounding; sor: by successive over-relaxation, as the GAMER paper", .words = gas_poissons},
  {"gas", "sor_tolerance", REAL, FIELD(gas.sor_tolerance), "1e-7", .help = "with poisson = sor: where the relaxation of a patch group's potential ends: its residual over 4 pi G density", RANGE(1e-14, 1e-2)},
  {"gas", "sibling_relaxations", INTEGER, FIELD(gas.sibling_relaxations), "8", .help = "further solutions of all patch groups of a level with the values of neighbouring groups, where no coarser level is solved at the same time", RANGE(0, 1000)},
  {"gas", "sheet_corrections", INTEGER, FIELD(gas.sheet_corrections), "4", .help = "corrections of the potential of coarser levels by that of finer ones and the sheets of pseudo-mass at their edges; 0: forces are wrong by some 10 %, which is of use in tests alone", RANGE(0, 100)},

  {"gravity", "accuracy", WORD(gravity.accuracy), "default", .help = "chooses the defaults of the other keys of this section; paper: the settings of the PhotoNs-GPU paper", .words = accuracies},
  {"gravity", "pm_grid", INTEGER, FIELD(gravity.pm_grid), "0", OF(BOX), .help = "mesh cells a side, even; automatic: chosen from the number of particles, with time.step = pm twice as many a side as particles", RANGE(8, 16384), .automatic = "0"},
  {"gravity", "pm_grid_most", INTEGER, FIELD(gravity.pm_grid_most), "0", OF(BOX), .help = "cells a side, even, of the finest mesh that a run changes to where the counted pairs pay for it; not more than pm_grid: the mesh stays; automatic: with pm_grid automatic, and on GPUs or with memory = fast, 1.25 to 2 times the first mesh, as three quarters of the GPUs' memory or a quarter of the machine's allow, else the mesh stays", RANGE(8, 16384), .automatic = "0"},
  {"gravity", "pm_cut", REAL, FIELD(gravity.pm_cut), "0", OF(BOX), .help = "with time.step = pm: wave number, over the Nyquist frequency of the mesh, at which the mesh has half of the force; automatic: 0.513, with which waves of the particles' lattice do not pull, and 0.8 once linear theory says that the lattice has dissolved", RANGE(0.3, 1), .automatic = "0"},
  {"gravity", "mesh_layout", WORD(gravity.mesh_layout), "auto", OF(BOX), .help = "how several ranks divide the mesh: slabs: each has some planes, so that no more ranks than planes have any; pencils: each has some rows of some planes; auto: pencils where there are more ranks than planes, or 128 ranks or more and few particles on each. On cores results do not depend on it", .words = mesh_layouts},
  {"gravity", "assignment", WORD(gravity.assignment), PRESET, OF(BOX), .help = "mass assignment to the mesh: cloud-in-cell, triangular-shaped cloud or piecewise cubic spline; with time.step = pm tsc unless it is given, where generated particles are at most 4 Mpc/h apart", .words = assignments},
  {"gravity", "gradient", WORD(gravity.gradient), PRESET, OF(BOX), .help = "force from the mesh potential: four-point differences, or ik in Fourier space; with time.step = pm fd4 unless it is given", .words = gradients},
  {"gravity", "interlace", SWITCH(gravity.interlace), PRESET, OF(BOX), .help = "average the forces of two meshes shifted by half a cell, which reduces aliasing; with time.step = pm not unless it is given", .words = no_yes},
  {"gravity", "split", WORD(gravity.split), PRESET, OF(BOX), .help = "function that divides the force between mesh and tree: Gaussian or Kaiser window", .words = splits},
  {"gravity", "r_split", REAL, FIELD(gravity.r_split), PRESET, OF(BOX), .help = "split radius: scale beyond which the mesh computes most of the force", .unit = "cells", RANGE(0.1, 20)},
  {"gravity", "r_cut", REAL, FIELD(gravity.r_cut), PRESET, OF(BOX), .help = "cutoff: the short-range force is zero beyond this distance", .unit = "cells", RANGE(0.5, 100)},
  {"gravity", "order", INTEGER, FIELD(gravity.order), PRESET, .help = "order of the multipole expansions", RANGE(1, FMM_ORDER_MAX)},
  {"gravity", "mac", WORD(gravity.mac), PRESET, .help = "acceptance criterion, when two nodes interact by expansions: the opening angle alone, or also the error relative to the last acceleration; gothic, with boundary = isolated: the acceleration criterion of GOTHIC", .words = macs},
  {"gravity", "theta", REAL, FIELD(gravity.theta), PRESET, .help = "opening angle: largest (r_A + r_B)/d of two nodes that interact by expansions; below 1 with mac = geometric", RANGE(0.01, 1.5)},
  {"gravity", "mac_tolerance", REAL, FIELD(gravity.mac_tolerance), PRESET, .help = "with mac = relative: allowed error of one interaction over |acceleration|", RANGE(1e-8, 1)},
  {"gravity", "delta_acc", REAL, FIELD(gravity.delta_acc), "0.001953125", OF(ISOLATED), .help = "with mac = gothic: largest (G m/d^2) (b/d)^2 over |acceleration| of two nodes with the mass m, the sum b of their radii and the distance d; GOTHIC's standard is 2^-9", RANGE(1e-8, 1)},
  {"gravity", "softening", REAL, FIELD(gravity.softening), "-1", .help = "Plummer-equivalent softening length, comoving; automatic: 1/30 of the mean particle spacing", .unit = "kpc/h", RANGE(0, 1e6), .automatic = "-1"},
  {"gravity", "softening_type_1", REAL, FIELD(gravity.softening_type[1]), "0", .help = "softening length of particles of type 1 (halo); automatic: that of gravity.softening", .unit = "kpc/h", RANGE(1e-6, 1e6), .automatic = "0"},
  {"gravity", "softening_type_2", REAL, FIELD(gravity.softening_type[2]), "0", .help = "softening length of particles of type 2 (disk); automatic: that of gravity.softening", .unit = "kpc/h", RANGE(1e-6, 1e6), .automatic = "0"},
  {"gravity", "softening_type_3", REAL, FIELD(gravity.softening_type[3]), "0", .help = "softening length of particles of type 3 (bulge); automatic: that of gravity.softening", .unit = "kpc/h", RANGE(1e-6, 1e6), .automatic = "0"},
  {"gravity", "softening_type_4", REAL, FIELD(gravity.softening_type[4]), "0", .help = "softening length of particles of type 4 (stars); automatic: that of gravity.softening", .unit = "kpc/h", RANGE(1e-6, 1e6), .automatic = "0"},
  {"gravity", "softening_type_5", REAL, FIELD(gravity.softening_type[5]), "0", .help = "softening length of particles of type 5 (boundary); automatic: that of gravity.softening", .unit = "kpc/h", RANGE(1e-6, 1e6), .automatic = "0"},
  {"gravity", "softening_max_physical", REAL, FIELD(gravity.softening_max_physical), "0", OF(BOX), .help = "largest softening length in physical units; 0: no limit", .unit = "kpc/h", RANGE(0, 1e6)},
  {"gravity", "softening_kernel", WORD(gravity.softening_kernel), "spline", .help = "shape of a softened particle: spline or Plummer", .words = softenings},
  {"gravity", "p2p_kernel", WORD(gravity.p2p_kernel), PRESET, .help = "particle-particle force: fitted polynomial, table, or exact function", .words = p2p_kernels},
  {"gravity", "p2p_degree", INTEGER, FIELD(gravity.p2p_degree), PRESET, .help = "with p2p_kernel = polynomial: degree of the polynomial", RANGE(1, P2P_DEGREE_MAX)},
  {"gravity", "table_order", INTEGER, FIELD(gravity.table_order), PRESET, .help = "with p2p_kernel = table: order of the Taylor expansion about table entries", RANGE(0, TABLE_ORDER_MAX)},

  {"time", "z_end", REAL, FIELD(time.z_end), "", OF(EXPANDING), .computed = "the last output, or 0", .help = "redshift where the run ends; not given: that of the last output that output.redshifts, scale_factors or times_file name, or 0", RANGE(0, 10000)},
  {"time", "end", REAL, FIELD(time.end), "", OF(STATIC), .help = "with boundary = isolated: time when the run ends; with system = gas, in its units", .unit = "Myr", RANGE(0, 1e60)},
  {"time", "max_step", REAL, FIELD(time.max_step), "10", OF(ISOLATED), .help = "with boundary = isolated: longest step, and with step = block the base step", .unit = "Myr", RANGE(1e-6, 1e4)},
  {"time", "accuracy", WORD(time.accuracy), "default", .help = "chooses the defaults of max_dlna, stretch, eta, eta_tide, kicks and mesh_crossing; fast: long base steps, and long steps far from the centres of halos, whose errors in P(k) of a percent or two partly cancel; default: without them; high: shorter steps, to see whether a result depends on them", .words = step_accuracies},
  {"time", "step", WORD(time.step), "block", .help = "fixed: steps of equal length in ln a; adaptive: steps chosen from the largest acceleration; block: each particle has a step of its own, chosen from its acceleration; pm: forces of the mesh alone, in a few steps of equal length in a, for mocks", .words = steps},
  {"time", "steps", INTEGER, FIELD(time.steps), "0", .help = "with step = fixed or pm: number of steps from z_init to z_end", RANGE(0, 10000000)},
  {"time", "max_dlna", REAL, FIELD(time.max_dlna), PRESET, OF(EXPANDING), .help = "with step = adaptive: longest step in ln a; with step = block: the base step, which is also that of the mesh; with gas.comoving = yes: longest step of the root level, 0.025 if not given", RANGE(1e-6, 1)},
  {"time", "stretch", REAL, FIELD(time.stretch), PRESET, OF(BOX), .help = "with step = block in a periodic box and kicks = growth: before z = 4, where little has collapsed, the base step is max_dlna times 0.2/a, but no more than max_dlna times this", RANGE(1, 100)},
  {"time", "min_dlna", REAL, FIELD(time.min_dlna), "1e-6", .help = "with step = adaptive or block: where a step would be shorter than this in ln a, or with boundary = isolated than this part of max_step, the run ends and says why", RANGE(0, 1)},
  {"time", "eta", REAL, FIELD(time.eta), PRESET, .help = "with step = adaptive or block: dt = sqrt(2 eta softening/|acceleration|), of the particle with the largest acceleration, or of each particle", RANGE(1e-6, 10)},
  {"time", "eta_tide", REAL, FIELD(time.eta_tide), PRESET, OF(BOX), .help = "with step = block in a periodic box: a particle's step may be as long as eta_tide/sqrt(tide), if that is longer than eta allows; the tide is the sum of G m F/d over the sources of its short-range force, and bounds how fast the acceleration changes along a path; 0: eta alone", RANGE(0, 10)},
  {"time", "kicks", WORD(time.kicks), PRESET, OF(BOX), .help = "with step = block or pm in a periodic box: factors of the kicks by the mesh, and of particles whose step is the base step; plain: the integral of dt/a; growth: those with which linear growth is exact, with step = pm also growth of second order, however long the step is", .words = kick_kinds},
  {"time", "mesh_crossing", REAL, FIELD(time.mesh_crossing), PRESET, OF(BOX), .help = "with step = block in a periodic box, once the mesh has become finer: the part of a cell that matter at 300 km/s, as in halos, crosses between two kicks of the mesh in a base step of max_dlna, at most; a finer mesh acts at least as often in a base step as it is finer, and at most four times as often; the first mesh acts once", RANGE(1e-3, 10)},
  {"time", "criterion", WORD(time.criterion), "acceleration", OF(ISOLATED), .help = "with step = block: what chooses the steps of particles; acceleration: see eta; gothic, with boundary = isolated: dt = gothic_eta min(softening/|velocity|, sqrt(softening/|acceleration|)), as in GOTHIC; pairs, with boundary = isolated: dt = eta_pair/sqrt(v^2/d^2 + G (m + M)/d^3) of the pair of near particles for which that is least, and no longer than eta_pair times the time in which the acceleration changes by itself", .words = criteria},
  {"time", "gothic_eta", REAL, FIELD(time.gothic_eta), "0.5", OF(ISOLATED), .help = "with criterion = gothic: its factor", RANGE(1e-6, 10)},
  {"time", "pair_type", INTEGER, FIELD(time.pair_type), "0", OF(ISOLATED), .help = "with step = block: type of the particles that are black holes, at most 64; no particle has a longer step than eta_pair times the time in which it orbits or passes one of them, the lesser of sqrt(d^3/(G (m + M))) and d/|velocity|, with d^2 the square of the distance and of the softening length of this type; 0: none", RANGE(0, 5)},
  {"time", "eta_pair", REAL, FIELD(time.eta_pair), "0.05", OF(ISOLATED), .help = "with pair_type or criterion = pairs: their factor", RANGE(1e-6, 1)},

  {"output", "dir", TEXT(output.dir), "output", .help = "folder for all output files; created if it does not exist"},
  {"output", "redshifts", PARAMETER_LIST, FIELD(output.redshifts), "", OF(EXPANDING), .help = "redshifts of the outputs, in any order; empty: only z_end, or 0", RANGE(0, 10000)},
  {"output", "times", PARAMETER_LIST, FIELD(output.times), "", OF(STATIC), .help = "with boundary = isolated or system = gas (in its units): times of the outputs, in any order; empty and no interval: only time.end", .unit = "Myr", RANGE(0, 1e60)},
  {"output", "interval", REAL, FIELD(output.interval), "0", OF(STATIC), .help = "with boundary = isolated or system = gas (in its units): time between outputs, from 0 on; 0: only those of output.times", .unit = "Myr", RANGE(0, 1e60)},
  {"output", "scale_factors", PARAMETER_LIST, FIELD(output.scale_factors), "", OF(EXPANDING), .help = "scale factors of more outputs, in any order", RANGE(1e-4, 1)},
  {"output", "times_file", TEXT(output.times_file), "", .help = "text file with times of more outputs, one a line, below a heading that says what they are: # Redshift or # Scale factor, with boundary = isolated or system = gas # Time; a heading is not needed for times, and for redshifts of which one is above 1"},
  {"output", "snapshots", SWITCH(output.snapshots), "yes", OF(PARTICLES), .help = "write Gadget HDF5 snapshots", .words = no_yes},
  {"output", "names", WORD(output.names), "gadget4", OF(PARTICLES), .help = "gadget4: Gadget-4's snapshot_NNN.hdf5 and fof_subhalo_tab_NNN.hdf5, which other programs look for, and where there are halos, snapshots in their order as with halo_order = yes; short: snap_NNN.hdf5 and fof_tab_NNN.hdf5", .words = output_names},
  {"output", "files", INTEGER, FIELD(output.files), "-1", .help = "number of files of a snapshot, and of parts of a checkpoint or an output of gas, which are written at the same time; 0: one for each rank; automatic: one of up to 8 ranks, with more ranks one for each 8", RANGE(0, 1000000), .automatic = "-1"},
  {"output", "format", WORD(output.format), "hdf5", OF(PARTICLES), .help = "of snapshots; hdf5: Gadget-4's; gadget2: Gadget-2's binary files of format 1, for old readers: positions are floats, there are no checksums, and the names have no ending", .words = snapshot_formats},
  {"output", "beside", WORD(output.beside), "auto", OF(PARTICLES), .help = "write outputs beside the next steps, from a copy of the particles, with cores that have no task; where the memory does not suffice for the copy, or this HDF5 is not safe for threads, steps wait as with no; auto: yes where GPUs compute the forces, since the cores are free then", .words = beside_choices},
  {"output", "subsample", REAL, FIELD(output.subsample), "0", OF(PARTICLES), .help = "part of the particles that is written at every output as subsample_NNN.hdf5, too: the same ones each time, chosen by a hash of their ids; 0: none", RANGE(0, 0.999)},
  {"output", "unit_length", WORD(output.unit_length), "kpc/h", OF(PARTICLES), .help = "length unit of snapshots and halo catalogues", .words = output_units},
  {"output", "accelerations", SWITCH(output.accelerations), "no", OF(PARTICLES), .help = "write accelerations into snapshots", .words = no_yes},
  {"output", "potential", SWITCH(output.potential), "no", OF(ISOLATED), .help = "with boundary = isolated: write the potential of each particle into snapshots", .words = no_yes},
  {"output", "compression", INTEGER, FIELD(output.compression), "0", OF(PARTICLES), .help = "gzip level of snapshots; 0: none, with lean = yes 1", RANGE(0, 9)},
  {"output", "lean", SWITCH(output.lean), "no", OF(PARTICLES), .help = "write snapshots of about 12 bytes a particle in the place of 44: positions and velocities are rounded, and all is compressed by shuffle and gzip, which every HDF5 reads; the attributes error_bound say what is lost", .words = no_yes},
  {"output", "position_error", REAL, FIELD(output.position_error), "0", OF(PARTICLES), .help = "with lean = yes: largest error of a coordinate, comoving; automatic: 1/128 of the shortest softening length; of isolated systems kpc", .unit = "kpc/h", RANGE(1e-9, 1e6), .automatic = "0"},
  {"output", "velocity_error", REAL, FIELD(output.velocity_error), "2", OF(PARTICLES), .help = "with lean = yes: largest error of a component of the peculiar velocity", .unit = "km/s", RANGE(0.01, 1000)},
  {"output", "power_spectrum", SWITCH(output.power_spectrum), "yes", OF(EXPANDING), .help = "measure P(k) at every output; with gas.comoving = yes that of the gas and that of the particles", .words = no_yes},
  {"output", "multipoles", SWITCH(output.multipoles), "no", OF(BOX), .help = "measure the multipoles P0, P2 and P4 of P(k) in redshift space at every output, seen along z", .words = no_yes},
  {"output", "correlation", SWITCH(output.correlation), "no", OF(BOX), .help = "measure the correlation function xi(r) of matter at every output", .words = no_yes},
  {"output", "bispectrum", SWITCH(output.bispectrum), "no", OF(BOX), .help = "measure the bispectrum of matter at every output, of equilateral and of squeezed triangles", .words = no_yes},
  {"output", "halo_power", SWITCH(output.halo_power), "no", OF(BOX), .help = "measure P(k) of halos, and their bias, at every output", .words = no_yes},
  {"output", "images", SWITCH(output.images), "yes", OF(BOX | GAS), .help = "draw the projected density at every output; of gas also slices of density, pressure, speed and level", .words = no_yes},
  {"output", "image_pixels", INTEGER, FIELD(output.image_pixels), "1024", OF(BOX | GAS), .help = "pixels a side of the images, of gas of the longer side", RANGE(64, 4096), .aliases = {"image_size"}},
  {"output", "movie", INTEGER, FIELD(output.movie), "0", OF(BOX | ISOLATED | GAS), .help = "number of frames of a movie of the projected density, equally spaced in ln a from z_init to z_end, or in time; 0: none", RANGE(0, 10000)},
  {"output", "movie_pixels", INTEGER, FIELD(output.movie_pixels), "512", OF(BOX | ISOLATED | GAS), .help = "pixels a side of the frames, of gas of the longer side", RANGE(64, 4096)},
  {"output", "movie_width", REAL, FIELD(output.movie_width), "0", OF(ISOLATED), .help = "side of the square about the origin that frames show, and depth along the line of sight; needed for a movie with boundary = isolated", .unit = "kpc", RANGE(0, 1e9)},
  {"output", "density_colours", PARAMETER_LIST, FIELD(output.density_colours), "", OF(BOX | GAS), .help = "log10 of the density, over the mean where there is a cosmology, that is black and brightest in all pictures and frames of density; empty: chosen for each picture, and for frames of a box by linear growth", RANGE(-300, 300)},
  {"output", "temperature_colours", PARAMETER_LIST, FIELD(output.heat_colours), "", OF(GAS), .help = "log10 of the temperature [K], without comoving = yes of the pressure and of pressure over density, that is black and brightest in all pictures of it; empty: chosen for each picture", RANGE(-300, 300)},
  {"output", "speed_colours", PARAMETER_LIST, FIELD(output.speed_colours), "", OF(GAS), .help = "speed, with comoving = yes in km/s, that is black and brightest in all pictures of it; empty: chosen for each picture", RANGE(0, 1e300)},
  {"output", "slice_axis", WORD(output.slice_axis), "automatic", OF(GAS), .help = "line of sight of pictures; automatic: the shortest axis of the box, of equal ones z", .words = slice_axes},
  {"output", "slice_position", REAL, FIELD(output.slice_position), "0.5", OF(GAS), .help = "where slices cut the line of sight, over the side of the box", RANGE(0, 1)},
  {"output", "halo_order", SWITCH(output.halo_order), "no", OF(BOX), .help = "write the particles of snapshots in the order of the halo catalogue, members of halos first", .words = no_yes},
  {"output", "halo_ids", SWITCH(output.halo_ids), "yes", OF(BOX), .help = "write the ids of the members of halos into the halo catalogue, of which they are the largest part", .words = no_yes},
  {"output", "subhalos", SWITCH(output.subhalos), "no", OF(BOX), .help = "find the bound parts of each halo, with positions, velocities and masses, and write them into the halo catalogue", .words = no_yes},
  {"output", "trees", SWITCH(output.trees), "no", OF(BOX), .help = "link the halos of all outputs, or the subhalos with output.subhalos = yes, into merger trees: tree_NNN.hdf5 of each output, and trees.hdf5 at the end", .words = no_yes},
  {"output", "energy_steps", INTEGER, FIELD(output.energy_steps), "20", OF(PARTICLES), .help = "steps from one potential energy in log/statistics.csv to the next; 0: none", RANGE(0, 10000000)},
  {"output", "checkpoint_minutes", REAL, FIELD(output.checkpoint_minutes), "0", .help = "wall-clock time between checkpoints, with one more at the end of the run; 0: only when the run is stopped, by a signal, a file, its time or --steps", .unit = "min", RANGE(0, 1e6)},
  {"output", "log_seconds", REAL, FIELD(output.log_seconds), "10", .help = "wall-clock time between the lines of steps on standard output; log/run.log has a line for each step; 0: each step here, too", .unit = "s", RANGE(0, 1e6)},

  {"analysis", "fof", SWITCH(analysis.fof), "yes", .help = "find halos by friends of friends at every output, and write the catalogue and the mass function", .words = no_yes},
  {"analysis", "linking_length", REAL, FIELD(analysis.linking_length), "0.2", .help = "linking length of friends of friends", .unit = "mean particle spacings", RANGE(0.01, 0.45)},
  {"analysis", "min_members", INTEGER, FIELD(analysis.min_members), "20", .help = "least number of particles of a halo", RANGE(2, 1 << 30)},
  {"analysis", "subhalo_members", INTEGER, FIELD(analysis.subhalo_members), "20", .help = "least number of particles of a subhalo", RANGE(20, 1 << 30)},
  {"analysis", "statistics_mesh", INTEGER, FIELD(analysis.statistics_mesh), "0", OF(BOX), .help = "cells a side of the mesh of output.multipoles, correlation, bispectrum and halo_power; automatic: those of the mesh of P(k), at most 256", RANGE(4, 4096), .automatic = "0"},
  {"analysis", "slice", REAL, FIELD(analysis.slice), "0.05", .help = "thickness of the slice through the middle of the box that is drawn besides the full projection; 0: no slice", .unit = "box", RANGE(0, 1)},

  {"lightcone", "geometry", WORD(lightcone.geometry), "none", .help = "which particles that cross the past light cone of an observer at z = 0 are written to lightcone/: none: there is no light cone; sky: all; octant: those in an eighth of the sky; pencil: those in a cone about a direction. The box is repeated as far as the light cone reaches", .words = cone_shapes},
  {"lightcone", "z_max", REAL, FIELD(lightcone.z_max), "1", .help = "redshift where the light cone begins", RANGE(1e-3, 10000)},
  {"lightcone", "observer", PARAMETER_LIST, FIELD(lightcone.observer), "", .help = "place of the observer: X, Y, Z; empty: 0, 0, 0, a corner of the box", .unit = "Mpc/h", RANGE(-1e6, 1e6)},
  {"lightcone", "direction", PARAMETER_LIST, FIELD(lightcone.direction), "", .help = "with geometry = octant: X, Y, Z, whose signs are those of the octant, 1, 1, 1 if empty; with geometry = pencil: the axis, 0, 0, 1 if empty", RANGE(-1e6, 1e6)},
  {"lightcone", "opening", REAL, FIELD(lightcone.opening), "5", .help = "with geometry = pencil: angle between the axis and the border", .unit = "degrees", RANGE(1e-3, 180)},
  {"lightcone", "particles", SWITCH(lightcone.particles), "yes", .help = "write the particles of the light cone: position and velocity where each one crosses it, its id, and the scale factor", .words = no_yes},
  {"lightcone", "nside", INTEGER, FIELD(lightcone.nside), "0", .help = "count the particles of each shell, or add their masses where these differ, in a HEALPix map of 12 nside^2 pixels, a power of 2; 0: no maps; needs a build with libchealpix", RANGE(0, 32768)},
  {"lightcone", "shell_width", REAL, FIELD(lightcone.shell_width), "100", .help = "thickness of the shells of the maps in comoving distance", .unit = "Mpc/h", RANGE(1e-3, 1e6)},

  {"runtime", "group_size", INTEGER, FIELD(runtime.group_size), "0", OF(PARTICLES), .help = "particles of an ORB group; automatic: chosen from the number of particles and whether GPUs are in use", RANGE(64, 1 << 30), .automatic = "0"},
  {"runtime", "leaf_size", INTEGER, FIELD(runtime.leaf_size), "0", OF(PARTICLES), .help = "most particles of a tree leaf", RANGE(1, 4096), .automatic = "0"},
  {"runtime", "sort_interval", INTEGER, FIELD(runtime.sort_interval), "0", OF(PARTICLES), .help = "steps between sorts of the particles into their group's tree; automatic: chosen from the counted work", RANGE(1, 1000000), .automatic = "0"},
  {"runtime", "rebuild_interval", INTEGER, FIELD(runtime.rebuild_interval), "0", OF(PARTICLES), .help = "steps between rebuilds of the groups; automatic: when the groups have spread out", RANGE(1, 1000000), .automatic = "0"},
  {"runtime", "scheduler", TEXT(runtime.scheduler), "", .help = "StarPU scheduler; empty: chosen by the program (the environment variable STARPU_SCHED takes precedence)"},
  {"runtime", "workers", INTEGER, FIELD(runtime.workers), "0", .help = "number of CPU cores that run tasks; automatic: all (the environment variable STARPU_NCPU takes precedence)", RANGE(1, 4096), .automatic = "0"},
  {"runtime", "gpu", WORD(runtime.gpu), "auto", .help = "auto: use GPUs if there are any; no: never; require: end with an error if there is none", .words = gpu_uses},
  {"runtime", "memory", WORD(runtime.memory), "auto", OF(BOX), .help = "small: on cores the two meshes of interlacing take turns in the same memory, which is given back while rebuilds and outputs need memory, and the mesh does not get finer by itself; fast: they do not, and it may; auto: fast if the run then needs less than a quarter of the machine's memory, else small. With GPUs nothing changes", .words = memories},
  {"runtime", "shared_memory", WORD(runtime.shared_memory), "yes", .help = "ranks of one host exchange data through shared memory, that of GPUs where each rank has one; host: that of the host alone; no: through MPI", .words = shared_memories},
  {"runtime", "wall_time", REAL, FIELD(runtime.wall_time), "0", .help = "wall-clock time that the program may take: the run writes a checkpoint and ends before it is used up; 0: no limit", .unit = "h", RANGE(0, 1e6)},
  {"runtime", "signal_grace", REAL, FIELD(runtime.signal_grace), "120", .help = "time that a step may go on after a signal to stop, at least twice the longest step; a longer step is given up; 0: give up the step at once", .unit = "s", RANGE(0, 1e6)},
  {"runtime", "timeout", REAL, FIELD(runtime.timeout), "20", .help = "time after which a rank that no longer answers, because its process or host hangs, ends the run; long computations do answer; 0: never", .unit = "s", RANGE(0, 1e6)},
  {"runtime", "trace_steps", TEXT(runtime.trace_steps), "", .help = "steps A:B to record for tools/trace.sh (0: the first force computation); empty: none; without FxT in StarPU only a table of tasks is written"},
};

const struct preset preset_table[] = {
  /*                            paper        default       high; for isolated systems, if others */
  {"gravity", "assignment",    {"cic",       "pcs",        "pcs"},   {0}},
  {"gravity", "gradient",      {"fd4",       "spectral",   "spectral"},{0}},
  {"gravity", "interlace",     {"no",        "yes",        "yes"},   {0}},
  {"gravity", "split",         {"gauss",     "kaiser",     "kaiser"},{0}},
  {"gravity", "r_split",       {"1.2",       "0.75",       "1.1"},   {0}},
  {"gravity", "r_cut",         {"6",         "3.45",       "5.4"},   {0}},
  {"gravity", "order",         {"3",         "4",          "5"},     {"3", "6", "6"}},
  {"gravity", "mac",           {"geometric", "relative",   "relative"},{0}},
  {"gravity", "theta",         {"0.4",       "0.8",        "0.8"},   {0}},
  {"gravity", "mac_tolerance", {"0.002",     "0.0005",     "0.0001"},{"0.002", "0.001", "0.0001"}},
  {"gravity", "p2p_kernel",    {"table",     "polynomial", "polynomial"},{0}},
  {"gravity", "p2p_degree",    {"9",         "6",          "8"},     {0}},
  {"gravity", "table_order",   {"2",         "2",          "2"},     {0}},
  /*                            fast         default       high */
  {"time",    "max_dlna",      {"0.025",     "0.0125",     "0.00625"},{0}},
  {"time",    "stretch",       {"1",         "4",          "4"},     {0}},
  {"time",    "eta",           {"0.025",     "0.025",      "0.00625"},{0}},
  {"time",    "eta_tide",      {"0.25",      "0",          "0"},     {0}},
  {"time",    "kicks",         {"plain",     "growth",     "growth"},{0}},
  {"time",    "mesh_crossing", {"0.5",       "0.125",      "0.0625"},{0}},
};
/* clang-format on */

const size_t parameter_count = sizeof parameter_table / sizeof *parameter_table;
const size_t preset_count = sizeof preset_table / sizeof *preset_table;
static_assert(sizeof parameter_table / sizeof *parameter_table <= PARAMETER_COUNT_MAX,
              "struct parameters.given is full");
static_assert(offsetof(struct parameters, output.redshift_count) ==
                  offsetof(struct parameters, output.redshifts) +
                      sizeof(double[PARAMETER_LIST_MAX]),
              "a list's count follows it");
static_assert(offsetof(struct parameters, output.scale_factor_count) ==
                  offsetof(struct parameters, output.scale_factors) +
                      sizeof(double[PARAMETER_LIST_MAX]),
              "a list's count follows it");
static_assert(sizeof(enum accuracy) == sizeof(unsigned), "words are stored as unsigned");
static_assert((int)ACCURACY_DEFAULT == (int)STEPS_DEFAULT && (int)ACCURACY_HIGH == (int)STEPS_HIGH,
              "presets have one order");

/* The systems of the rows that name none. */
static const struct {
  const char *section;
  unsigned systems;
} section_table[] = {{"run", KINDS_ALL},    {"cosmology", EXPANDING}, {"box", PARTICLES},
                     {"ic", KINDS_ALL},     {"galaxy", ISOLATED},     {"external", ISOLATED},
                     {"gas", GAS},          {"gravity", PARTICLES},   {"time", PARTICLES},
                     {"output", KINDS_ALL}, {"analysis", BOX},        {"lightcone", BOX},
                     {"runtime", KINDS_ALL}};

unsigned parameter_systems(const struct parameter *row) {
  if (row->systems) return row->systems;
  size_t i = 0;
  while (strcmp(section_table[i].section, row->section) != 0) {
    i++;
    assert(i < sizeof section_table / sizeof *section_table);
  }
  return section_table[i].systems;
}

enum system_kind system_kind_of(const struct parameters *p) {
  if (run_of_gas(p)) return p->gas.comoving ? KIND_COMOVING_GAS : KIND_GAS_AT_REST;
  return p->box.boundary == BOUNDARY_ISOLATED ? KIND_ISOLATED : KIND_BOX;
}

bool parameter_is_of_system(const struct parameter *row, const struct parameters *p) {
  return parameter_systems(row) & system_kind_of(p);
}

bool parameter_is_of_source(const struct parameter *row, const struct parameters *p) {
  return !row->sources || row->sources >> p->ic.source & 1;
}

/** Whether a section is that of a galaxy that the system does not have. */
static bool is_of_no_galaxy(const struct parameters *p, const char *section) {
  for (size_t k = 1; k < GALAXIES_MAX; k++)
    if (strcmp(section, galaxy_sections[k]) == 0) return !companion_exists(&p->companion[k - 1]);
  return false;
}

bool parameter_applies(const struct parameter *row, const struct parameters *p) {
  return parameter_is_of_system(row, p) && parameter_is_of_source(row, p) &&
         !is_of_no_galaxy(p, row->section);
}

bool section_known(const char *section) {
  for (size_t i = 0; i < parameter_count; i++)
    if (strcmp(section, parameter_table[i].section) == 0) return true;
  return false;
}

static bool row_has_key(const struct parameter *row, const char *key) {
  if (strcmp(key, row->key) == 0) return true;
  for (size_t i = 0; i < sizeof row->aliases / sizeof *row->aliases; i++)
    if (row->aliases[i] && strcmp(key, row->aliases[i]) == 0) return true;
  return false;
}

const struct parameter *parameter_find(const char *section, const char *key) {
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++)
    if (strcmp(section, row->section) == 0 && row_has_key(row, key)) return row;
  return NULL;
}

const struct preset *preset_find(const struct parameter *row) {
  for (size_t i = 0; !row->initial && i < preset_count; i++)
    if (strcmp(row->section, preset_table[i].section) == 0 &&
        strcmp(row->key, preset_table[i].key) == 0)
      return &preset_table[i];
  assert(row->initial);
  return NULL;
}

const char *const *preset_words(const struct preset *preset) {
  return parameter_find(preset->section, "accuracy")->words;
}

const char *parameter_initial(const struct parameter *row, unsigned accuracy,
                              enum boundary boundary) {
  if (row->initial) return row->initial;
  const struct preset *preset = preset_find(row);
  const bool isolated = boundary == BOUNDARY_ISOLATED && preset->isolated[accuracy];
  return (isolated ? preset->isolated : preset->value)[accuracy];
}

/* Number of insertions, deletions and replacements that turn a into b (Levenshtein distance), upper
 * and lower case being the same. */
static size_t edit_distance(const char *a, const char *b) {
  enum { LONGEST = 64 };
  size_t m = strlen(a), n = strlen(b), row[LONGEST];
  if (m >= LONGEST || n >= LONGEST) return LONGEST;
  for (size_t j = 0; j <= n; j++) row[j] = j;
  for (size_t i = 1; i <= m; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t change = diagonal + (strncasecmp(a + i - 1, b + j - 1, 1) != 0);
      size_t gap = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
      diagonal = row[j];
      row[j] = change < gap ? change : gap;
    }
  }
  return row[n];
}

/* Largest edit distance at which a name is still suggested. */
static size_t nearness(const char *written) { return 1 + strlen(written) / 3; }

const char *section_suggest(const char *written) {
  const char *best = NULL;
  size_t least = nearness(written) + 1;
  for (size_t i = 0; i < parameter_count; i++) {
    size_t distance = edit_distance(written, parameter_table[i].section);
    if (distance < least) {
      least = distance;
      best = parameter_table[i].section;
    }
  }
  return best;
}

/** Whether a key goes on where what was written ends: npart_side after npart. */
static bool begins(const char *key, const char *written) {
  enum { LEAST = 3 };
  const size_t length = strlen(written);
  return length >= LEAST && strncasecmp(key, written, length) == 0;
}

const struct parameter *parameter_suggest(const char *section, const char *written) {
  const struct parameter *best = NULL;
  size_t least = nearness(written) + 1;
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    bool here = strcmp(section, row->section) == 0;
    size_t distance = here && begins(row->key, written) ? 1
                      : here                            ? edit_distance(written, row->key)
                      : row_has_key(row, written)       ? 1
                                                        : least;
    if (distance < least) {
      least = distance;
      best = row;
    }
  }
  return best;
}
