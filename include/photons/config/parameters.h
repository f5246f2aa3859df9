/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters of a run: config.ini and --set, declared in one table (parameter_table.c). Relative
 * paths among the values are relative to the current directory; input files are looked for beside
 * config.ini, too (input_paths.c). */
#ifndef PHOTONS_PARAMETERS_H
#define PHOTONS_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/config/choices.h"
#include "photons/config/dark_energy.h"

#define PARAMETER_PATH_MAX 1024
#define PARAMETER_LIST_MAX 1024 /**< most output redshifts; more are reported as an error */
#define GALAXY_COMPONENTS_MAX 8 /**< components of a galaxy */
#define GALAXIES_MAX 8          /**< galaxies of an isolated system */
#define EXTERNAL_POTENTIALS_MAX 8
#define PARAMETER_COUNT_MAX 384 /**< room for the table's rows */

/** Where a galaxy is put: three or two numbers each, or empty. */
struct placing {
  char position[96], velocity[96], inclination[64]; /**< kpc, km/s, degrees */
};

/** A galaxy beside that of section [galaxy]. */
struct companion {
  char model[32], file[PARAMETER_PATH_MAX]; /**< both empty: there is none */
  int64_t particles;                        /**< 0: as many as the first galaxy has */
  char component_particles[128];            /**< of the model */
  struct placing placing;
};

/** The sections of config.ini in which galaxies stand: galaxy, second, third ... */
extern const char *const galaxy_sections[GALAXIES_MAX];

static inline bool companion_exists(const struct companion *c) { return *c->model || *c->file; }

struct parameters {
  struct {
    enum run_system system;
  } run;
  struct {
    double omega_m, omega_lambda, omega_b, h, n_s, sigma8, w0, wa, omega_r;
    char w_table[PARAMETER_PATH_MAX]; /**< of dark energy; empty: w0 and wa count */
    struct w_table w;                 /**< what it says */
    double m_nu[PARAMETER_LIST_MAX];  /**< eV */
    size_t m_nu_count;
    char species_file[PARAMETER_PATH_MAX];
  } cosmology; /**< densities in units of the critical density today; omega_k = 1 - the sum */
  struct {
    enum boundary boundary;
    double size;          /**< Mpc/h */
    int64_t npart_side;   /**< generated ICs: N = npart_side^3 */
    double escape_radius; /**< isolated: kpc; 0: none */
  } box;
  struct {
    enum ic_source source;
    char file[PARAMETER_PATH_MAX];
    enum length_unit unit_length; /**< of a Gadget IC file; auto: found from its box size and
                                       masses */
    double unit_length_kpc, unit_mass_msun, unit_velocity_kms; /**< isolated: of Gadget files */
    double z_init;
    char start[160]; /**< what z_init was chosen by, for people; empty: it was given */
    int64_t order;   /**< of Lagrangian perturbation theory, 1 to 3 */
    int64_t seed;
    int64_t mesh; /**< 0: npart_side, or twice that if it is odd */
    bool sphere_mode, fixed, paired;
    double f_nl;                    /**< of the potential of matter domination */
    double lattice_growth;          /**< D1 over that of z_init where waves are those of a fluid */
    char glass[PARAMETER_PATH_MAX]; /**< Gadget file with a glass, or empty for a grid */
    enum power_source power_spectrum;
    char power_spectrum_file[PARAMETER_PATH_MAX];
    char transfer_file
        [PARAMETER_PATH_MAX]; /**< of gas and particles; empty: all matter has the same waves */
    bool normalise;           /**< scale the spectrum to sigma8; else use the table as given */
    enum gas_direction direction;
    double energy, amplitude, separation; /**< of named problems of gas */
    char particles[PARAMETER_PATH_MAX];   /**< file of particles beside gas; empty: none */
    double temperature; /**< of gas in comoving coordinates, K; 0: chosen from z_init */
    double z_caustic;   /**< of a pancake */
  } ic;
  struct {
    enum gas_solver solver;
    enum gas_precision precision;
    bool comoving; /**< an expanding box: box.size, z_init, z_end, redshifts */
    double molecular_weight;
    double temperature_floor;                /**< comoving: K; 0: none */
    int64_t scalars;                         /**< mass fractions that the gas carries */
    double acceleration[PARAMETER_LIST_MAX]; /**< of all gas, along x, y and z */
    size_t acceleration_count;
    double gamma;
    double cfl;
    double root[PARAMETER_LIST_MAX]; /**< cells along x, y, z */
    size_t root_count;
    double length; /**< of the box along x; comoving: box.size */
    enum gas_boundary boundary[3][2];
    int64_t levels; /**< of refinement, below the root */
    enum gas_steps steps;
    int64_t regrid;                          /**< steps of a level */
    int64_t buffer;                          /**< cells */
    double flag_density[PARAMETER_LIST_MAX]; /**< lists: one value, or one a level */
    size_t flag_density_count;
    double flag_particles[PARAMETER_LIST_MAX];
    size_t flag_particles_count;
    double flag_gradient_density[PARAMETER_LIST_MAX];
    size_t flag_gradient_density_count;
    double flag_gradient_pressure[PARAMETER_LIST_MAX];
    size_t flag_gradient_pressure_count;
    double flag_loehner[PARAMETER_LIST_MAX];
    size_t flag_loehner_count;
    bool fix_fluxes, fused;
    int64_t batch; /**< patch groups; 0: chosen */
    int64_t homes; /**< of a process, see gas.h; 0: chosen */
    enum gas_gravity gravity;
    enum gas_poisson poisson;
    double newton_constant, sor_tolerance;
    int64_t sibling_relaxations, sheet_corrections;
  } gas;
  struct {
    char model[32];    /**< empty: the components */
    int64_t particles; /**< of the whole galaxy */
    char component[GALAXY_COMPONENTS_MAX][128];
    char component_particles[128];              /**< numbers by component of the model */
    struct placing placing;                     /**< also of ic.file */
  } galaxy;                                     /**< ic.source = galaxy */
  struct companion companion[GALAXIES_MAX - 1]; /**< isolated: of galaxy_sections[1] and on */
  struct {
    char potential[EXTERNAL_POTENTIALS_MAX][128];
    char table[PARAMETER_PATH_MAX];
    enum external_column table_column;
    bool self_gravity; /**< particles attract each other */
  } external;          /**< isolated */
  struct {
    enum accuracy accuracy; /**< chooses the defaults of the rest of this section */
    int64_t pm_grid;        /**< cells a side; 0: chosen from N */
    int64_t pm_grid_most;   /**< the same of the finest mesh that a run may change to; 0: chosen */
    double
        pm_cut; /**< STEP_PM: where the mesh has half of the force, over its Nyquist frequency; 0: automatic */
    enum assignment assignment;
    enum mesh_division mesh_layout;
    enum gradient gradient;
    bool interlace;
    enum split_kind split;
    double r_split, r_cut; /**< mesh cells */
    int64_t order;         /**< FMM order 1..6 */
    enum mac_kind mac;
    double theta;                  /**< opening angle */
    double mac_tolerance;          /**< relative criterion: allowed error of one interaction over
                                        |acc| */
    double delta_acc;              /**< gothic: allowed (G m/d^2) (b/d)^2 over |acc| */
    double softening;              /**< Plummer-equivalent comoving, kpc/h; -1: 1/30 of the mean
                                        particle spacing */
    double softening_type[6];      /**< [type 1 .. 5] the same for a type; 0: softening */
    double softening_max_physical; /**< kpc/h; 0: no limit */
    enum softening_kind softening_kernel;
    enum p2p_kind p2p_kernel;
    int64_t p2p_degree;  /**< degree of the polynomial kernel */
    int64_t table_order; /**< Taylor order of the table kernel, 0..4 */
  } gravity;
  struct {
    double z_end;
    double end;                  /**< isolated: Myr */
    double max_step;             /**< isolated: Myr */
    enum step_accuracy accuracy; /**< chooses the defaults of max_dlna, stretch, eta, eta_tide, kicks
                                    and mesh_crossing */
    enum step_kind step;
    int64_t steps; /**< fixed: number of steps of equal ln a from z_init to z_end */
    double max_dlna, min_dlna;
    enum step_criterion criterion;
    double stretch; /**< of early base steps, over max_dlna */
    double eta, eta_tide;
    double gothic_eta;    /**< of CRITERION_GOTHIC */
    int64_t pair_type;    /**< type of black holes, whose pairs bound steps; 0: none */
    double eta_pair;      /**< the part of a pair's time that a step may have */
    enum kick_kind kicks; /**< of whole base steps */
    double mesh_crossing; /**< part of a cell that matter crosses between kicks of a finer mesh */
  } time;
  struct {
    char dir[PARAMETER_PATH_MAX];
    double redshifts[PARAMETER_LIST_MAX]; /**< falling, no two equal; those of scale_factors and
                                               times_file are among them; z_end alone where none
                                               are given */
    size_t redshift_count;
    double scale_factors[PARAMETER_LIST_MAX]; /**< empty: they are among the redshifts, */
    size_t scale_factor_count;
    char times_file[PARAMETER_PATH_MAX]; /**< as what the file contains */
    double times[PARAMETER_LIST_MAX];    /**< isolated: Myr, rising, no two equal */
    size_t time_count;
    double interval; /**< isolated: Myr; 0: none */
    bool snapshots;
    enum output_names names;      /**< of snapshots and halo catalogues */
    int64_t files;                /**< of a snapshot or checkpoint; 0: one a rank */
    enum length_unit unit_length; /**< of snapshots */
    bool accelerations, potential;
    int64_t energy_steps; /**< steps from one potential energy to the next; 0: none */
    int64_t compression;  /**< gzip level of snapshots, 0 none .. 9 */
    enum snapshot_format format;
    enum beside_choice beside; /**< write outputs beside the next steps */
    double subsample;          /**< part of the particles that has files of its own; 0: none */
    bool lean; /**< round positions and velocities of snapshots, and compress them */
    double position_error, velocity_error; /**< of lean snapshots, at most: kpc/h, 0 chosen; km/s */
    bool power_spectrum, images;
    bool multipoles, correlation, bispectrum, halo_power; /**< statistics beside P(k) */
    int64_t image_pixels;                                 /**< a side */
    int64_t movie;                                        /**< frames; 0: none */
    int64_t movie_pixels;                                 /**< a side */
    double movie_width;                                   /**< isolated: kpc; 0: not given */
    double density_colours[PARAMETER_LIST_MAX]; /**< lists: none, or the values of black and of the */
    size_t density_colour_count;                /**< brightest colour */
    double heat_colours[PARAMETER_LIST_MAX];
    size_t heat_colour_count;
    double speed_colours[PARAMETER_LIST_MAX];
    size_t speed_colour_count;
    enum slice_axis slice_axis;
    double slice_position;     /**< over the side of the box */
    bool halo_order;           /**< snapshots hold the halos' members first, in the order of the
                                    catalogue */
    bool halo_ids;             /**< halo catalogues hold the ids of members */
    bool subhalos;             /**< find the subhalos of halos */
    bool trees;                /**< link the halos or subhalos of outputs into merger trees */
    double checkpoint_minutes; /**< 0: only when stopped */
    double log_seconds;        /**< between step lines on standard output; 0: each step */
  } output;
  struct {
    bool fof;              /**< find halos at every output */
    double linking_length; /**< over the mean particle spacing */
    int64_t min_members;
    int64_t subhalo_members; /**< least particles of a subhalo */
    int64_t statistics_mesh; /**< cells a side; 0: automatic */
    double slice;            /**< thickness of the slice that is drawn, over the box; 0: none */
  } analysis;
  struct {
    enum cone_shape geometry;
    double z_max;
    double observer[PARAMETER_LIST_MAX]; /**< Mpc/h; empty: 0, 0, 0 */
    size_t observer_count;
    double direction[PARAMETER_LIST_MAX]; /**< of any length; empty: (1, 1, 1), or of a pencil
                                               (0, 0, 1) */
    size_t direction_count;
    double opening; /**< of a pencil: angle from its axis, degrees */
    bool particles;
    int64_t nside;      /**< of the maps; 0: none */
    double shell_width; /**< Mpc/h */
  } lightcone;
  struct {
    int64_t group_size;       /**< particles of an ORB group; 0: chosen from N and GPU use */
    int64_t leaf_size;        /**< most particles of a leaf; 0: chosen */
    int64_t sort_interval;    /**< steps between sorts of the groups; 0: from counted work */
    int64_t rebuild_interval; /**< steps between rebuilds; 0: when groups have spread */
    char scheduler[64];       /**< StarPU scheduler; empty: chosen (STARPU_SCHED takes
                                   precedence) */
    int64_t workers;          /**< CPU workers; 0: StarPU's choice (STARPU_NCPU takes precedence) */
    enum gpu_use gpu;
    enum memory_choice memory;
    enum shared_memory shared_memory; /**< between ranks of one host */
    double wall_time;                 /**< hours; 0: no limit */
    double signal_grace;              /**< seconds that a step may go on after a signal to stop */
    double timeout;       /**< seconds of silence of a rank that end the run; 0: never */
    char trace_steps[64]; /**< "A:B": steps that are recorded; empty: none */
  } runtime;
  bool given[PARAMETER_COUNT_MAX]; /**< by row of the table: set by the user, see
                                        parameter_given() */
  struct {
    char config[PARAMETER_PATH_MAX]; /**< empty: no file was read */
    int line[PARAMETER_COUNT_MAX];   /**< by row of the table; 0: not there, -1: --set gave it */
  } origin;                          /**< see parameter_origin() */
};

/** What a run is of: the systems that parameters tell apart. */
enum system_kind {
  KIND_BOX = 1,          /**< particles in a periodic box that expands */
  KIND_ISOLATED = 2,     /**< particles in empty space */
  KIND_GAS_AT_REST = 4,  /**< gas, particles or both on an adaptive mesh */
  KIND_COMOVING_GAS = 8, /**< the same in a periodic box that expands */
  KINDS_ALL = 15,
};

/** The system that run.system, box.boundary and gas.comoving choose. */
enum system_kind system_kind_of(const struct parameters *p);

/** Whether a run is of gas, and whether its moments have redshifts. */
static inline bool run_of_gas(const struct parameters *p) { return p->run.system == SYSTEM_GAS; }
static inline bool run_has_redshifts(const struct parameters *p) {
  return run_of_gas(p) ? p->gas.comoving : p->box.boundary == BOUNDARY_PERIODIC;
}

/** Whether ic.z_init is still to be chosen. */
static inline bool start_is_automatic(const struct parameters *p) { return p->ic.z_init < 0.0; }

/**
 * Read config.ini and the overrides, check everything, resolve presets and automatic values that
 * depend on parameters alone. All problems are collected and reported together, each with file,
 * line, section, key, the value found and what is allowed; then the program ends with
 * EXIT_BAD_USAGE.
 * @param[out] p
 * @param path       config file; NULL: there is none, only overrides
 * @param overrides  texts `section.key=value` of --set, in order; for each key the last one counts
 * @param count      their number
 */
void parameters_read(struct parameters *p, const char *path, const char *const *overrides,
                     size_t count);

/** The values of a run that gives no parameter at all: zero or empty where there is no default. */
void parameters_default(struct parameters *p);

/** Whether the user gave `section.key` (or an alias), in the file or with --set. */
bool parameter_given(const struct parameters *p, const char *section, const char *key);

/** Where `section.key` was given, for messages: "config.ini:7: [galaxy] component_1", "--set
 * galaxy.component_1", or "galaxy.component_1" where neither did. */
struct parameter_origin {
  char text[PARAMETER_PATH_MAX + 96];
};
struct parameter_origin parameter_origin(const struct parameters *p, const char *section,
                                         const char *key);

/**
 * Whether a number that is not from config.ini (but from a file's header) is in the range of
 * `section.key`.
 * @param[out] allowed  the range if it is not, e.g. `0.1 .. 2`
 */
bool parameter_allows(const char *section, const char *key, double value, char *allowed,
                      size_t size);

/**
 * Whether the values of [cosmology], each of them in its range, make a universe that expands from
 * z_init on, with no more baryons than matter.
 * @param[out] reason  why not
 */
bool cosmology_possible(const struct parameters *p, char *reason, size_t size);

/** The softening length of a type of particles, comoving, kpc/h; below 0: not given. */
double softening_of_type(const struct parameters *p, unsigned type);
/** The shortest softening length that is given for any type. */
double softening_shortest(const struct parameters *p);

/** Whether types of particles have different softening lengths. */
bool softening_differs(const struct parameters *p);

/** Print a complete commented config.ini with default values (--defaults). */
void parameters_print_defaults(FILE *out);

/** Print what is known of the parameter `section.key` or `key`, or of all of a section (--help NAME).
 * @return false: there is none of this name */
bool parameters_explain(const char *name, FILE *out);

/** Print all resolved values of the chosen system's parameters as a config.ini that would repeat the run
 * (--dry-run, log, files). */
void parameters_print(const struct parameters *p, FILE *out);

/** Read "A:B", or "A" for one step, the format of runtime.trace_steps.
 * @return false: neither, or not 0 <= A <= B */
bool parameter_step_range(const char *text, int64_t *first, int64_t *last);

/** Print a page about all parameters in Markdown (--reference). */
void parameters_print_reference(FILE *out);

#endif
