/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/rank_log.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "photons/amr/codelets.h"
#include "photons/amr/ghosts.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/base/output_file.h"
#include "photons/config/parameters.h"
#include "photons/domain/codelets.h"
#include "photons/mesh/codelets.h"
#include "photons/potential/codelets.h"
#include "photons/runtime/message.h"
#include "photons/tree/codelets.h"

/* Messages of the task graph: kinds that follow each other have one name. */
static const struct {
  const char *name;
  unsigned first, kinds;
} messages[] = {
    {"ghosts", MESSAGE_GHOST, 1},         {"momenta", MESSAGE_MOMENTUM, 1},
    {"multipoles", MESSAGE_MULTIPOLE, 1}, {"patches", MESSAGE_PATCH, SETS_MOST},
    {"pieces", MESSAGE_PIECE, SETS_MOST}, {"blocks", MESSAGE_BLOCK, 1},
    {"row blocks", MESSAGE_ROW_BLOCK, 1}, {"moved", MESSAGE_MOVED, 1},
    {"gas", MESSAGE_GAS, GHOST_KINDS},    {"root level", MESSAGE_ROOT_SOURCE, ROOT_KINDS}};
enum { MESSAGE_NAMES = sizeof messages / sizeof *messages, SENT = MESSAGE_NAMES + COMM_WAY_COUNT };
_Static_assert((int)SENT <= (int)RANK_LOG_SENT_MOST, "room for all kinds");

static const char *name_of(unsigned row) {
  return row < MESSAGE_NAMES ? messages[row].name : comm_way_name(row - MESSAGE_NAMES);
}

static struct sent sent_by_now(unsigned row) {
  if (row >= MESSAGE_NAMES) return comm_sent(row - MESSAGE_NAMES);
  struct sent sum = {0};
  for (unsigned kind = 0; kind < messages[row].kinds; kind++) {
    const struct sent s = message_sent(messages[row].first + kind);
    sum.messages += s.messages;
    sum.bytes += s.bytes;
  }
  return sum;
}

void rank_log_begin(struct rank_log *r) { *r = (struct rank_log){.steps = -1}; }

void rank_log_step(struct rank_log *r) {
  for (unsigned row = 0; row < SENT; row++) r->last[row] = sent_by_now(row);
  if (++r->steps == 0) memcpy(r->first, r->last, sizeof r->first);
}

/** Numbers of a rank, of which the file has the mean and the most. */
struct numbers {
  double messages[SENT], bytes[SENT], kept[KEPT_COUNT], resident;
};
enum { NUMBERS = sizeof(struct numbers) / sizeof(double) };

static struct numbers own_numbers(const struct rank_log *r) {
  const double steps = r->steps > 0 ? (double)r->steps : 1.0;
  struct numbers n = {0};
  for (unsigned row = 0; row < SENT; row++) {
    n.messages[row] = (double)(r->last[row].messages - r->first[row].messages) / steps;
    n.bytes[row] = (double)(r->last[row].bytes - r->first[row].bytes) / steps;
  }
  for (unsigned kind = 0; kind < KEPT_COUNT; kind++) n.kept[kind] = (double)kept_most(kind);
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0) n.resident = 1024.0 * (double)usage.ru_maxrss;
  return n;
}

static void write_kept(FILE *out, const char *name, double sum, double most) {
  fprintf(out, "kept,%s,,,%.0f,%.0f\n", name, sum / comm_size(), most);
}

static void write_table(FILE *out, const struct numbers *sum, const struct numbers *most) {
  fprintf(out, "group,name,messages_mean,messages_most,bytes_mean,bytes_most\n");
  for (unsigned row = 0; row < SENT; row++)
    fprintf(out, "sent,%s,%.1f,%.1f,%.0f,%.0f\n", name_of(row), sum->messages[row] / comm_size(),
            most->messages[row], sum->bytes[row] / comm_size(), most->bytes[row]);
  for (unsigned kind = 0; kind < KEPT_COUNT; kind++)
    write_kept(out, kept_name(kind), sum->kept[kind], most->kept[kind]);
  write_kept(out, "resident", sum->resident, most->resident);
}

void rank_log_write(const struct rank_log *r, const char *dir) {
  if (comm_size() == 1) return;
  struct numbers sum = own_numbers(r), most = sum;
  comm_sum_double((double *)&sum, NUMBERS);
  comm_max_double((double *)&most, NUMBERS);
  if (comm_rank() != 0) return;
  char path[PARAMETER_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/log/ranks.csv", dir);
  char *temporary = output_begin(path);
  FILE *file = output_open(temporary);
  write_table(file, &sum, &most);
  output_close(file, path);
  output_commit(temporary, path);
}
