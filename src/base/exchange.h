/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchange of records of one size between every pair of ranks, and of one answer to each record.
 * All functions that send are collective. */
#ifndef PHOTONS_EXCHANGE_H
#define PHOTONS_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Send records to every rank and receive theirs.
 * @param send           records for rank 0, then those for rank 1, ...
 * @param size           bytes of a record
 * @param send_count     [comm_size()] records for each rank
 * @param receive_count  [comm_size()] on return: records from each rank
 * @return the records received, by rank; free() it
 */
void *exchange_records(const void *send, size_t size, const size_t *send_count,
                       size_t *receive_count);

/** The same for records that are not needed any more, and are freed: one rank alone gets them back. */
void *exchange_given(void *send, size_t size, const size_t *send_count, size_t *receive_count);

/**
 * As exchange_records() for records in any order.
 * @param count  records
 * @param rank   [count] where each of them goes
 * @param place  [count] on return: its place among the records in the order of ranks, which is the
 *               place of its answer; NULL: not wanted
 * @param send_count  [comm_size()] on return, too
 */
void *exchange_scattered(const void *records, size_t size, size_t count, const uint32_t *rank,
                         size_t *place, size_t *send_count, size_t *receive_count);

/** As exchange_records() where both sides know the counts: one answer to each record, in the order of the
 * records. The counts are those of exchange_records() with send and receive exchanged. */
void *exchange_answers(const void *send, size_t size, const size_t *send_count,
                       const size_t *receive_count);

/** Sum of count[r] over the ranks. */
size_t exchange_total(const size_t *count);

/** An array of comm_size() counts, all zero; free() it. */
size_t *exchange_counts(void);

/** Turn counts into the index of each rank's first record; in place. */
void exchange_begins(size_t *count);

#endif
