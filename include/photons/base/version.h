/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which program this is. */
#ifndef PHOTONS_BASE_VERSION_H
#define PHOTONS_BASE_VERSION_H

/** Name and version, e.g. "photons-starpu 0.1.0". */
const char *program_version(void);

/** The git revision of the sources: twelve hexadecimal digits, with "-modified" where files
 * differed from it; "unknown" where the sources were neither in a git repository nor in a release
 * made from one. */
const char *program_revision(void);

#endif
