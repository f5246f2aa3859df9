/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "isolated_lines.h"

#include <math.h>
#include <stdlib.h>

#include "photons/cosmology/cosmology.h"
#include "photons/step/external.h"

#define MSUN 1e10
/* Masses on average that differ by rounding are the same. */
#define HEAVIER (1.0 + 1e-6)
/* Largest acceleration by Plummer's law, over G m/softening^2: at softening/sqrt(2). */
#define STEEPEST_PLUMMER 0.3849

/* Particle-steps a second of M31 with the default accuracy: 2^17 particles on a Zen 4 core, 2^20 on an H200
 * (docs/results/isolated.md). */
#define RATE_OF_CORE 4.4e5
#define RATE_OF_GPU 4.2e7
/* Fewer particles do not fill a GPU: its time is then that of launching tasks. */
#define FILL_GPU (1 << 20)
/* Steps are parts of time.max_step by powers of 2: in the mean shorter than what the criterion allows by this. */
#define STEPS_BY_POWERS 1.4

/** A number, or a dash where it is not known. */
static void print_cell(FILE *out, int width, double value) {
  if (value > 0.0)
    fprintf(out, "%*.4g", width, value);
  else
    fprintf(out, "%*s", width, "-");
}

static void print_component(FILE *out, const struct parameters *p,
                            const struct component_summary *c) {
  fprintf(out, "    %-13s %4d %11zu", c->name, c->type, c->particles);
  print_cell(out, 11, MSUN * c->particle_mass);
  print_cell(out, 11, MSUN * c->mass);
  print_cell(out, 7, c->scale);
  print_cell(out, 11, c->half_mass_radius);
  print_cell(out, 11, softening_of_type(p, (unsigned)c->type));
  if (c->least_q > 0.0) fprintf(out, "  %.4g at %.3g", c->least_q, c->least_q_radius);
  fprintf(out, "\n");
}

static void print_galaxy(FILE *out, const struct parameters *p, const struct galaxy_summary *g) {
  fprintf(out, "  galaxy      %zu component%s, %.4g Msun; circular speed at most %.4g km/s at %.3g",
          g->components, g->components == 1 ? "" : "s", MSUN * g->mass, g->fastest,
          g->fastest_radius);
  fprintf(out, "; lengths in kpc\n    %-13s %4s %11s %10s %10s %6s %10s %10s  %s\n", "component",
          "type", "particles", "Msun each", "Msun", "scale", "half-mass", "softening", "least Q");
  for (size_t c = 0; c < g->components; c++) print_component(out, p, &g->component[c]);
}

void isolated_print_components(FILE *out, const struct parameters *p,
                               const struct isolated_summary *summary) {
  for (size_t g = 0; g < summary->ids.count; g++) print_galaxy(out, p, &summary->galaxy[g]);
}

static void print_conserved(FILE *out, const struct external_symmetry *s) {
  fprintf(out, "  conserved   ");
  if (s->rotates && s->jacobi)
    fprintf(out, "Jacobi's integral E - %.6g L_z; not energy, momentum and angular momentum\n",
            s->pattern);
  else if (s->rotates)
    fprintf(out, "nothing: bars turn with different speeds\n");
  else if (s->bars)
    fprintf(out, "energy; not momentum and angular momentum\n");
  else
    fprintf(out, "energy, angular momentum%s; not momentum\n", s->round ? "" : " about the z axis");
}

void isolated_print_potentials(FILE *out, const struct parameters *p) {
  if (!external_wanted(p)) return;
  double *values;
  const struct external_field field = external_read(p, &values);
  const struct external_symmetry symmetry = external_symmetry(&field);
  free(values);
  for (size_t i = 0; i < EXTERNAL_POTENTIALS_MAX; i++)
    if (*p->external.potential[i]) fprintf(out, "  potential   %s\n", p->external.potential[i]);
  if (!p->external.self_gravity)
    fprintf(out, "  tracers     particles do not attract each other\n");
  print_conserved(out, &symmetry);
}

/** The type with the heaviest particles on average. @param[out] mass  of one, 1e10 Msun */
static unsigned heaviest_type(const struct type_masses *m, double *mass) {
  unsigned type = 0;
  *mass = 0.0;
  for (unsigned t = 0; t < PARTICLE_TYPES; t++) {
    if (m->count[t] == 0 || !(m->mass[t] / (double)m->count[t] > HEAVIER * *mass)) continue;
    *mass = m->mass[t] / (double)m->count[t];
    type = t;
  }
  return type;
}

/** Steps follow the nearest pairs, not accelerations. */
static bool steps_of_pairs(const struct parameters *p) {
  return p->time.step == STEP_BLOCK && p->time.criterion == CRITERION_PAIRS;
}

void isolated_print_least_step(FILE *out, const struct parameters *p,
                               const struct type_masses *masses) {
  double mass;
  const unsigned type = heaviest_type(masses, &mass);
  if (timeline_counted(p) || !(mass > 0.0)) return;
  const struct cosmology c = cosmology_from(p);
  const double softening = 1e-3 * softening_of_type(p, type); /* Mpc */
  const double largest = STEEPEST_PLUMMER * GRAVITY * mass / (softening * softening);
  double step = timeline_adaptive_dlna(p, &c, 1.0, largest, softening_at(p, 1.0));
  const double of_pair = cosmology_hubble(&c, 1.0) * p->time.eta_pair *
                         sqrt(pow(softening, 3.0) / (GRAVITY * mass));
  if (type > 0 && type == p->time.pair_type) step = fmin(step, of_pair); /* 0: none */
  if (steps_of_pairs(p)) step = of_pair;
  fprintf(out,
          "  least step  about %.3g Myr, beside a particle of %.3g Msun of type %u; below %.3g Myr "
          "a run "
          "ends\n",
          cosmology_myr(step), MSUN * mass, type, cosmology_myr(timeline_shortest(p)));
}

/** Steps of all particles of a component in the whole run, by the criterion of its half-mass radius. */
static double particle_steps(const struct parameters *p, const struct cosmology *c, double time,
                             const struct component_summary *one) {
  const double per_mpc = 1e3 * one->acceleration; /* (km/s)^2/Mpc */
  const double step = timeline_adaptive_dlna(p, c, 1.0, per_mpc, softening_at(p, 1.0));
  const double powers = step < timeline_longest(p) ? STEPS_BY_POWERS : 1.0;
  return (double)one->particles * powers * time / step;
}

/** Of the whole run; 0: a restart does not know. */
static double all_particle_steps(const struct parameters *p, double time,
                                 const struct isolated_summary *summary) {
  const struct cosmology cosmology = cosmology_from(p);
  double sum = 0.0;
  if (steps_of_pairs(p)) return 0.0;
  for (size_t g = 0; g < summary->ids.count; g++)
    for (size_t k = 0; k < summary->galaxy[g].components; k++) {
      const struct component_summary *one = &summary->galaxy[g].component[k];
      sum += particle_steps(p, &cosmology, time, one);
    }
  return sum;
}

static void print_duration(FILE *out, double seconds) {
  const double minute = 60.0, hour = 3600.0;
  if (seconds < 2.0 * minute)
    fprintf(out, "%.2g s", fmax(seconds, 1.0));
  else if (seconds < 2.0 * hour)
    fprintf(out, "%.2g minutes", seconds / minute);
  else
    fprintf(out, "%.3g hours", seconds / hour);
}

static void print_time(FILE *out, double steps, size_t particles, long cores) {
  fprintf(out, "  time        about ");
  print_duration(out, steps / (RATE_OF_CORE * (double)cores));
  fprintf(out, " on %ld core%s", cores, cores == 1 ? "" : "s");
  if (particles >= FILL_GPU) {
    fprintf(out, ", ");
    print_duration(out, steps / RATE_OF_GPU);
    fprintf(out, " on one GPU");
  }
  fprintf(out, " (%.2g steps of particles; may be wrong by a factor of 3)\n", steps);
}

/** Bytes of a particle in a snapshot: position, velocity, id, and what config.ini asks for. */
static double bytes_of_particle(const struct parameters *p) {
  const double position = 24.0, velocity = 12.0, id = 8.0, acceleration = 12.0, potential = 4.0;
  const double lean = 12.0;
  return (p->output.lean ? lean : position + velocity + id) +
         (p->output.accelerations ? acceleration : 0.0) + (p->output.potential ? potential : 0.0);
}

void isolated_print_costs(FILE *out, const struct parameters *p, const struct timeline *timeline,
                          const struct isolated_summary *summary, size_t particles, long cores) {
  const double time = moment_interval(true, 0.0, timeline->end);
  const double steps = all_particle_steps(p, time, summary);
  if (steps > 0.0 && cores > 0) print_time(out, steps, particles, cores);
  if (p->output.snapshots)
    fprintf(out, "  disk space  about %.3g MB: %zu snapshot%s of %.3g MB\n",
            1e-6 * (double)timeline->outputs * bytes_of_particle(p) * (double)particles,
            timeline->outputs, timeline->outputs == 1 ? "" : "s",
            1e-6 * bytes_of_particle(p) * (double)particles);
}
