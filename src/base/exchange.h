/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of one size from every process to every other, and answers to them. All processes call these. */
#ifndef PHOTONS_EXCHANGE_H
#define PHOTONS_EXCHANGE_H

#include <stddef.h>

/**
 * @param send           records for process 0, then those for process 1, ...
 * @param send_count     [comm_size()] how many for each
 * @param receive_count  [comm_size()] on return: how many from each
 * @return those received, by rank; free()
 */
void *exchange_records(const void *send, size_t size, const size_t *send_count, size_t *receive_count);

/** The same where the counts are known on both sides: one answer to each record, in the order of the records, has the
 * counts of exchange_records() the other way round. */
void *exchange_answers(const void *send, size_t size, const size_t *send_count, const size_t *receive_count);

/** count[rank] of all processes, summed. */
size_t exchange_total(const size_t *count);

/** Room for one count a process, zero; free(). */
size_t *exchange_counts(void);

/** Counts to the places at which each process's records begin; in place. */
void exchange_begins(size_t *count);

#endif
