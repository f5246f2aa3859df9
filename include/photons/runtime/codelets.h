/* The stages of a step as tasks: one submit function each, in the file of that name in codelets/. */
#ifndef PHOTONS_CODELETS_H
#define PHOTONS_CODELETS_H

#include <stdbool.h>
#include <stdint.h>

struct parameters;
struct simulation;
struct group;

/* Tree and short range, one task a group. */
void sort_submit(struct group *g); /* the particles back in the order of the tree: after refit, another must follow */
void refit_submit(struct group *g);
/* Positions of a ghost: those in reach, packed, and back to where they stand in the group. */
void ghost_cut_submit(struct simulation *s, uint32_t sent);
void ghost_paste_submit(struct simulation *s, uint32_t received);
void p2m_submit(struct group *g);
void m2m_submit(struct group *g);
void walk_submit(struct group *g);
void walk_wait(struct group *g);        /* with a GPU: until it is known how long the lists are */
void walk_fill_submit(struct group *g); /* lets a GPU that walked write the lists */
void p2p_submit(struct group *g);
void m2l_submit(struct group *g);
void m2l_skip(struct group *g); /* instead, where its list is known to be empty */
void l2l_submit(struct group *g);
void l2p_submit(struct group *g);

/* Mesh; set 1 is the mesh shifted by half a cell (interlacing). */
void pm_assign_submit(struct group *g, uint32_t set);
void patch_cut_submit(struct group *g, uint32_t piece, uint32_t set); /* planes that another process has */
void patch_add_submit(struct simulation *s, uint32_t set, uint32_t slab);
void fft_yz_submit(struct simulation *s, uint32_t set, uint32_t slab);
void fft_x_submit(struct simulation *s, uint32_t column); /* with Green's function and inverse */
void ifft_yz_submit(struct simulation *s, uint32_t set, uint32_t field, uint32_t slab);
void pm_cut_submit(struct group *g, uint32_t piece, uint32_t set); /* what another process reads of the slabs here */
void pm_read_submit(struct group *g, uint32_t set);

/* Between processes: transfers that wait for the tasks which make the data, and for which the tasks that use it wait. One process: nothing.
 * Each is called for all of a process's groups, slabs or columns, and sends and receives what they make and need. */
void message_start(const struct parameters *p);
void message_stop(void);
void message_begin(void);               /* first of all in a step: what was sent in the last has been used everywhere */
void share_trees(struct simulation *s); /* positions and trees of groups with neighbours elsewhere */
void share_multipoles(struct simulation *s); /* of the same groups */
void share_patches(struct simulation *s, uint32_t set);
void share_spectra(struct simulation *s, bool back); /* blocks of slabs to their columns' owners, or back */
void share_pieces(struct simulation *s);
/** All tasks here done, and all messages. */
void message_wait(void);

/* Time integration: factor is the integral of dt/a (kick) or dt/a^2 (drift). */
void kick_submit(struct group *g, float factor);
void drift_submit(struct group *g, float factor);

#endif
