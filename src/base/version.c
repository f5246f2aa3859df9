/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which program this is. Nothing else includes git_revision.h, which changes with each commit. */
#include "photons/base/version.h"

#include "build_config.h"
#include "git_revision.h"

const char *program_version(void) { return PACKAGE_NAME " " PACKAGE_VERSION; }

const char *program_revision(void) { return GIT_REVISION; }
