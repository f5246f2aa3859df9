/* The state of a run: particles in groups, the mesh, and the StarPU handles of both. */
#ifndef PHOTONS_SIMULATION_H
#define PHOTONS_SIMULATION_H

#include <starpu.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/cosmology/cosmology.h"
#include "photons/runtime/kernels.h"
#include "photons/mesh/mesh.h"
#include "photons/config/parameters.h"
#include "photons/domain/particles.h"
#include "photons/tree/split.h"
#include "photons/domain/tree.h"
#include "photons/tree/walk.h"

struct simulation;
struct gpu;
struct pinned_pool;
struct starpu_codelet;

/** Stages whose time is accounted for; one codelet each, `analysis` is what outputs need. */
enum stage {
  STAGE_REBUILD,
  STAGE_SORT,
  STAGE_REFIT,
  STAGE_GHOST_CUT,
  STAGE_GHOST_PASTE,
  STAGE_P2M,
  STAGE_M2M,
  STAGE_WALK,
  STAGE_WALK_FILL,
  STAGE_P2P,
  STAGE_M2L,
  STAGE_L2L,
  STAGE_L2P,
  STAGE_PM_ASSIGN,
  STAGE_PATCH_CUT,
  STAGE_PATCH_ADD,
  STAGE_FFT_YZ,
  STAGE_FFT_X,
  STAGE_IFFT_YZ,
  STAGE_PM_CUT,
  STAGE_PM_READ,
  STAGE_PUT,
  STAGE_GET,
  STAGE_KICK,
  STAGE_DRIFT,
  STAGES
};

/** A finished task: when it was submitted and a worker began and ended it, and how long its performance model had said that it would
 * take (NAN: it did not), all in seconds; its group, or NO_GROUP. */
struct task_record {
  double submit, start, end, predicted;
  uint32_t group;
  enum stage stage;
};
#define NO_GROUP UINT32_MAX

/** What a worker did since its log was last taken: see task_log.h. */
struct task_log {
  struct task_record *record;
  size_t count, capacity;
};

/** Near and far list of a group where a processor walked: in host memory, released by the stages that use them. */
struct group_lists {
  struct interaction_list near, far;
};

/** Planes of the mesh that a group and another process have to do with: those of its patch that go there, or those of the fields' boxes that are
 * cut out of the slabs there for it. */
struct mesh_piece {
  int process;
  uint32_t first, planes;         /**< planes first .. modulo N */
  starpu_data_handle_t handle[2]; /**< of each set; NULL where neither end is here */
};
struct mesh_pieces {
  struct mesh_piece *piece;
  uint32_t count;
};

/** A group that a neighbour on another process needs: own ones that are sent, or others' that are received. Of its positions those of some
 * branches travel. */
struct ghost {
  uint32_t group;
  int process;                 /**< the other end */
  uint32_t count;              /**< particles in the branches */
  uint64_t branches;           /**< bits: nodes of level top_depth */
  starpu_data_handle_t handle; /**< their positions, [3][count] */
};
struct ghosts {
  struct ghost *ghost; /**< by process, then group */
  uint32_t count;
};
enum { TOP_DEPTH_MOST = 6 }; /* 64 branches */

/** An ORB subtree: unit of data, work, ownership and communication. Every process has a table of all groups; what lies in memory is that
 * of its own, and of others what it was sent. */
struct group {
  struct simulation *simulation;
  uint32_t index, count;
  int owner;                /**< process */
  struct node root;         /**< box of all its particles, of the last refit */
  struct node *nodes;       /**< tree_nodes(depth) */
  struct node *top;         /**< tree_nodes(top_depth): the upper levels, for the host; own groups and ghosts */
  float *multipole, *local; /**< a row per node */
  struct group_lists lists;
  uint32_t neighbours; /**< number of slots; slot 0 is the group itself */
  uint32_t *neighbour; /**< [slot] group index */
  uint32_t neighbour_room;
  struct patch patch;         /**< cells that it deposits to */
  uint64_t pairs;             /**< particle pairs of the last p2p */
  struct walk_result walked;  /**< of the last walk */
  bool walked_by_gpu;         /**< its lists are data of the handles below, not in `lists` */
  struct mesh_pieces sent;    /**< planes of the patch that are on other processes; cells as in the patch */
  struct field_box field_box; /**< cells of the fields that it reads */
  struct mesh_pieces
      read; /**< what it reads, [field][plane][y][z], where other processes have some of it; else it reads slabs */
  double seconds; /**< spent on its tasks, in seconds of one core, see task_log_take(); whoever reads it resets it */
  float acc_max;  /**< largest |acceleration| of its particles, (km/s)^2/(Mpc/h), of the last closing kick */
  /** lists: orders tasks, without data; patch: of the mesh and, with interlacing, of the shifted one. NULL: not here. Of other
   * processes' groups there are at most position, tree and multipole (of neighbours). */
  starpu_data_handle_t position_handle, momentum_handle, acceleration_handle, id_handle, tree_handle, multipole_handle,
      local_handle, lists_handle, patch_handle[2];
  /** What a GPU's walk makes: offsets of near and far list, one after the other (NULL: no GPU in use), and from walk_fill to the last
   * stage that uses them their entries (else NULL). */
  starpu_data_handle_t offset_handle, near_handle, far_handle;
};

/** What a worker keeps between tasks. */
struct worker {
  struct p2p_scratch p2p;
  struct walk_scratch walk;
  void *fft;       /**< mesh_scratch_bytes() */
  struct gpu *gpu; /**< CUDA workers only */
  struct task_log log;
  char padding[64]; /**< workers do not share cache lines */
};

struct simulation {
  const struct parameters *parameters;
  struct cosmology cosmology;
  const struct kernels *kernels;
  struct split split;
  struct p2p_law law;
  struct acceptance acceptance;
  uint32_t variant;   /**< order, law and instruction set, below 2^20: performance models tell these apart */
  float scale;        /**< r_cut per position unit: L / 2^32 / r_cut */
  float short_factor; /**< G m / r_cut^2: unit of short-range accelerations */
  float mesh_factor;  /**< G m: the mesh's fields are per unit of it */

  struct particles particles;
  unsigned depth;        /**< of every group's tree */
  unsigned top_depth;    /**< of the part of it that other processes are told first; 0: there are none */
  uint32_t group_count;  /**< of all processes, a power of two */
  uint32_t *owner_first; /**< [process] first group of each, and the end; NULL: dealt out evenly */
  double *group_cost;    /**< [group] measured, in the recent past; NULL: not yet. See balance.h */
  bool registered;       /**< StarPU knows where the particles are */
  struct group *groups;
  struct node *nodes; /**< arenas of this process's groups' rows, in group order */
  float *multipole, *local;
  struct node *top, *ghost_top; /**< the same, and of ghosts in the order of `received` */
  struct ghosts sent, received;

  struct mesh *mesh;
  uint32_t sets; /**< 1, or 2 with interlacing: mesh and shifted mesh */
  float **slab;  /**< [set * fields + field][slab]: density (field 0), then the fields; NULL: not here */
  float complex **
      block; /**< [set * spectra + spectrum][slab][column]: density (spectrum 0), then the spectra of the fields; here are those of own slabs and of own columns */
  starpu_data_handle_t *slab_handle, *block_handle;

  uint32_t worker_count;
  struct worker *workers;
  bool logging;             /**< tasks are recorded in the workers' logs */
  bool heteroprio;          /**< the scheduler: it has priorities of its own */
  bool gpu;                 /**< GPUs are in use */
  struct pinned_pool *pool; /**< of interaction lists; NULL where no GPU is in use */
};

/** Row of a slab or block in the tables above. */
static inline size_t slab_index(const struct simulation *s, uint32_t set, uint32_t field, uint32_t slab) {
  return ((size_t)set * s->mesh->fields + field) * s->mesh->slabs + slab;
}
static inline size_t block_index(const struct simulation *s, uint32_t set, uint32_t spectrum, uint32_t slab,
                                 uint32_t column) {
  return (((size_t)set * s->mesh->spectra + spectrum) * s->mesh->slabs + slab) * s->mesh->columns + column;
}

/** First group of a process; process comm_size(): the end. */
uint32_t group_first(const struct simulation *s, int process);
/** Who has a group, a slab, a column. */
int group_owner(const struct simulation *s, uint32_t group);
int slab_owner(const struct simulation *s, uint32_t slab);
int column_owner(const struct simulation *s, uint32_t column);

/** Sizes that follow from the parameters and N; also what --dry-run prints. */
struct layout {
  uint32_t leaf_size, group_count, pm_grid, slabs, columns;
  unsigned depth;
  double bytes_particles, bytes_tree, bytes_mesh; /**< estimates of resident memory */
};
struct layout layout_choose(const struct parameters *p, size_t particles);

/**
 * Take over the particles and register all data; domain_rebuild() then cuts them into groups. StarPU must be running.
 * Softening and other lengths come from the parameters; the acceleration arrays keep their values (a restart has them).
 */
struct simulation *simulation_create(const struct parameters *p, const struct cosmology *c, struct particles particles);
void simulation_free(struct simulation *s);
/** Change the comoving softening (Mpc/h), as output of an upper limit in physical units. */
void simulation_set_softening(struct simulation *s, double softening);

/** Memory of this process's groups, and their handles; and its end: what tasks wrote comes back to the particles' arrays. */
void simulation_register(struct simulation *s);
void simulation_unregister(struct simulation *s);
/** A handle for what StarPU allocates where it is first written. */
starpu_data_handle_t handle_make(size_t count, size_t size);
/** One for n numbers of four bytes, in steps of an eighth: they may grow a little without a new handle, and both ends of a message, which do not
 * know each other's past, agree on its size. */
void handle_fit(starpu_data_handle_t *handle, size_t n);
/** Forget a handle and what it holds, if there is one. */
void handle_drop(starpu_data_handle_t *handle);
/** Forget the patch and the pieces of a group: what belongs to the present place of its box. */
void group_leave_mesh(struct group *g);
/** Find which groups go to and come from other processes, and which of their particles, and make room for them; and its end. */
void simulation_find_ghosts(struct simulation *s);
void simulation_drop_ghosts(struct simulation *s);
/** Give patches and field pieces handles of their present sizes. */
void simulation_place(struct simulation *s);
/** The part of a patch that a piece holds. */
static inline struct patch patch_of_piece(const struct patch *p, const struct mesh_piece *piece) {
  struct patch part = *p;
  part.origin[0] = piece->first;
  part.size[0] = piece->planes;
  return part;
}
static inline size_t patch_cells(const struct patch *p) { return (size_t)p->size[0] * p->size[1] * p->size[2]; }
/** Hand groups over so that process r has groups owner_first[r] .. owner_first[r + 1] - 1. All tasks done; refit must follow. */
void simulation_migrate(struct simulation *s, const uint32_t *owner_first);

/** Registered memory is safe to touch by the host between these two (all tasks done, data on the host). */
void simulation_acquire(struct simulation *s);
void simulation_release(struct simulation *s);
/** The same for positions and ids, only to read: tasks that do not write them may run meanwhile. */
void simulation_acquire_positions(struct simulation *s);
void simulation_release_positions(struct simulation *s);

/** Sort the particles of all processes into groups and trees (ORB by exact medians along the longest side, ties in the order of the
 * particles) and move them to their groups' owners. Between acquire and release. */
void domain_rebuild(struct simulation *s);
/** After refit: which groups can meet this process's, and the mesh patch of each, from the true boxes. */
void domain_find_neighbours(struct simulation *s);
/** Squared gap between two boxes, units of r_cut, nearest images. */
float box_gap_squared(const struct simulation *s, const struct node *a, const struct node *b);

/** Run function(context, i) for i < n as tasks and wait for all. */
void parallel_for(struct simulation *s, enum stage stage, uint32_t n, void (*function)(void *context, uint32_t i),
                  void *context);

#endif
