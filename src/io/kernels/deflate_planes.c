/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deflate streams of shuffled numbers. One byte of all numbers, a plane, is alike or is noise: blocks of a plane that
 * are noise are stored as they are, and the others have a Huffman code of their own and runs of equal bytes. libdeflate
 * looks for repeated strings, of which measured numbers have none, and takes longer (docs/results/lean-files.md). */
#include <endian.h>
#include <libdeflate.h>
#include <string.h>

#include "photons/io/kernels.h"

#ifdef __AVX512BW__
#include <immintrin.h>
#endif

enum {
  BLOCK = 1 << 14,   /* bytes of a code, at most: neighbours in the box are alike */
  LONGEST_CODE = 12, /* bits: with its length a code has 16 */
  VALUES = 256,
  END = VALUES, /* symbol of the end of a block; lower ones are bytes, higher ones lengths of runs */
  SYMBOLS = 286,
  RUN_LEAST = 3,
  RUN_MOST = 258,
  RUN_SEEN = 8 /* equal bytes that are looked for */
};

/** Bits that are not in the stream yet. */
struct bits {
  unsigned char *out;
  uint64_t waiting;
  unsigned count;
};

/** Append bits. Before flush(), at most 56 of them may be appended. */
static inline void put(struct bits *b, uint64_t value, unsigned count) {
  b->waiting |= value << b->count;
  b->count += count;
}

/** Bring whole bytes into the stream. Eight bytes behind it are written, too. */
static inline void flush(struct bits *b) {
  const uint64_t eight = htole64(b->waiting);
  memcpy(b->out, &eight, sizeof eight);
  b->out += b->count / 8;
  b->waiting >>= b->count / 8 * 8;
  b->count %= 8;
}

static void fill_byte(struct bits *b) {
  b->count = (b->count + 7) / 8 * 8;
  flush(b);
}

/** Store bytes of a block as they are. */
static void put_stored(struct bits *b, size_t count, const unsigned char *data) {
  put(b, 0, 3); /* not the last block, stored */
  fill_byte(b);
  put(b, count, 16);
  put(b, ~count & 0xffff, 16);
  flush(b);
  memcpy(b->out, data, count);
  b->out += count;
}

/** Lengths of runs: symbols from END + 1 on, how many have so many more bits each, and what these say. */
static unsigned run_symbol(unsigned length, unsigned *base, unsigned *more) {
  if (length == RUN_MOST) {
    *base = RUN_MOST;
    *more = 0;
    return SYMBOLS - 1;
  }
  unsigned symbol = END + 1, first = RUN_LEAST, bits = 0;
  for (unsigned k = 0;; k++, symbol++, first += 1U << bits) {
    bits = k < 8 ? 0 : k / 4 - 1;
    if (length < first + (1U << bits)) break;
  }
  *base = first;
  *more = bits;
  return symbol;
}

/** Codes by symbol. */
struct codes {
  uint32_t bits[SYMBOLS], count[SYMBOLS];
};

/** How runs of a length are coded. */
struct length_code {
  uint16_t symbol;
  uint8_t more, beyond; /* bits behind the symbol, and what they say */
};

/** Bytes that repeat the one before them. */
struct run {
  uint32_t first, length;
};

/** A block as bytes and runs. */
struct block {
  const unsigned char *data;
  size_t count, runs;
  struct run run[BLOCK / RUN_SEEN + 1];
  uint32_t number[SYMBOLS];
  unsigned char length[SYMBOLS];              /* of codes */
  struct length_code of_length[RUN_MOST + 1]; /* of all blocks */
};

static void find_length_codes(struct length_code of_length[RUN_MOST + 1]) {
  for (unsigned length = RUN_LEAST; length <= RUN_MOST; length++) {
    unsigned base, more;
    const unsigned symbol = run_symbol(length, &base, &more);
    of_length[length] = (struct length_code){(uint16_t)symbol, (uint8_t)more,
                                             (uint8_t)(length - base)};
  }
}

static inline size_t next_piece(size_t run) { return run < RUN_MOST ? run : RUN_MOST; }

/** Note a run, of which RUN_LEAST - 1 bytes at most remain bytes. */
static void add_run(struct block *p, size_t first, size_t length) {
  p->run[p->runs++] = (struct run){(uint32_t)first, (uint32_t)length};
  for (size_t left = length; left >= RUN_LEAST;) {
    const size_t here = next_piece(left);
    p->number[p->of_length[here].symbol]++;
    p->number[p->data[first]] -= (uint32_t)here;
    left -= here;
  }
}

static size_t run_length(const unsigned char *data, size_t count, unsigned char value) {
  const uint64_t equal = value * UINT64_C(0x0101010101010101);
  size_t run = 0;
  for (uint64_t eight; count - run >= sizeof eight; run += sizeof eight) {
    memcpy(&eight, data + run, sizeof eight);
    if (eight != equal) return run + (size_t)__builtin_ctzll(le64toh(eight ^ equal)) / 8;
  }
  while (run < count && data[run] == value) run++;
  return run;
}

/** Where eight bytes differ from those before them: the bits of the byte that is `i` behind are 8 i and those above. */
static inline uint64_t changes(const unsigned char *data) {
  uint64_t before, eight;
  memcpy(&before, data - 1, sizeof before);
  memcpy(&eight, data, sizeof eight);
  return le64toh(eight ^ before);
}

/** Find runs of RUN_SEEN bytes and more. */
static void find_runs(struct block *p) {
  for (size_t i = 1; i + RUN_SEEN <= p->count;) {
    const uint64_t different = changes(p->data + i);
    if (different) { /* no run contains the last one of these */
      i += 8 - (size_t)__builtin_clzll(different) / 8;
      continue;
    }
    const size_t run = run_length(p->data + i, p->count - i, p->data[i]);
    add_run(p, i, run);
    i += run + 1;
  }
}

/** A symbol that occurs, or two nodes of a Huffman tree together. */
struct branch {
  uint32_t number, symbol;
  int above;
};

/** Sort by number; equal ones stay in the order of symbols. Numbers are below 2^16: those of samples of a block and of runs of a
 * stream, as a plane has fewer than 2^24 bytes. */
static void sort_branches(size_t symbols, struct branch *b) {
  enum { DIGIT = 8 }; /* bits */
  struct branch room[SYMBOLS];
  for (unsigned shift = 0; shift < 2 * DIGIT; shift += DIGIT) {
    uint16_t place[(1 << DIGIT) + 1] = {0};
    struct branch *from = shift == 0 ? b : room, *to = shift == 0 ? room : b;
    for (size_t i = 0; i < symbols; i++) place[(from[i].number >> shift & 255) + 1]++;
    for (size_t d = 0; d < 1 << DIGIT; d++) place[d + 1] = (uint16_t)(place[d + 1] + place[d]);
    for (size_t i = 0; i < symbols; i++) to[place[from[i].number >> shift & 255]++] = from[i];
  }
}

/** The rarer one of the next symbol and the next pair that are not in a pair yet. */
static inline int take_rarest(const struct branch *b, int *symbol, int symbols, int *pair,
                              int pairs) {
  if (*pair == pairs || (*symbol < symbols && b[*symbol].number <= b[*pair].number))
    return (*symbol)++;
  return (*pair)++;
}

/** The depths in Huffman's tree (Huffman 1952, Proc. IRE 40, 1098) of two or more symbols, sorted by number. */
static void find_depths(int symbols, struct branch *b, int *depth) {
  int symbol = 0, pair = symbols, all = symbols;
  for (; all < 2 * symbols - 1; all++) {
    const int one = take_rarest(b, &symbol, symbols, &pair, all),
              two = take_rarest(b, &symbol, symbols, &pair, all);
    b[all].number = b[one].number + b[two].number;
    b[one].above = b[two].above = all;
  }
  depth[all - 1] = 0;
  for (int i = all - 2; i >= 0; i--) depth[i] = depth[b[i].above] + 1;
}

/** Make depths at most LONGEST_CODE, and fill the tree (Kraft's equality). @param depth  of the symbols, the rarest first */
static void limit_depths(int symbols, int *depth) {
  const unsigned whole = 1U << LONGEST_CODE;
  unsigned used = 0;
  for (int i = 0; i < symbols; i++) {
    if (depth[i] > LONGEST_CODE) depth[i] = LONGEST_CODE;
    used += whole >> depth[i];
  }
  for (int i = 0; used > whole; i++)
    for (; used > whole && depth[i] < LONGEST_CODE; depth[i]++) used -= whole >> (depth[i] + 1);
  for (int i = symbols - 1; used < whole; i--)
    for (; used + (whole >> depth[i]) <= whole; depth[i]--) used += whole >> depth[i];
}

/** The lengths of the codes of a block. @return bits that its symbols take */
static size_t find_lengths(struct block *p) {
  struct branch b[2 * SYMBOLS];
  int symbols = 0, depth[2 * SYMBOLS];
  memset(p->length, 0, sizeof p->length);
  for (uint32_t s = 0; s < SYMBOLS; s++)
    if (p->number[s] > 0) b[symbols++] = (struct branch){p->number[s], s, 0};
  sort_branches((size_t)symbols, b);
  find_depths(symbols, b, depth);
  limit_depths(symbols, depth);
  size_t bits = 0;
  for (int i = 0; i < symbols; i++) {
    p->length[b[i].symbol] = (unsigned char)depth[i];
    bits += (size_t)depth[i] * b[i].number;
  }
  return bits;
}

static uint32_t reversed(uint32_t value, unsigned bits) {
  value = (value & 0x5555) << 1 | (value >> 1 & 0x5555);
  value = (value & 0x3333) << 2 | (value >> 2 & 0x3333);
  value = (value & 0x0f0f) << 4 | (value >> 4 & 0x0f0f);
  value = (value & 0x00ff) << 8 | value >> 8;
  return value >> (16 - bits);
}

/** Codes from their lengths (RFC 1951, section 3.2.2). */
static void find_codes(const unsigned char length[SYMBOLS], struct codes *c) {
  uint32_t next[LONGEST_CODE + 1], number[LONGEST_CODE + 1] = {0};
  for (unsigned s = 0; s < SYMBOLS; s++) number[length[s]]++;
  for (unsigned bits = 1, sum = 0; bits <= LONGEST_CODE; bits++) {
    next[bits] = sum;
    sum = (sum + number[bits]) << 1;
  }
  for (unsigned s = 0; s < SYMBOLS; s++) {
    c->count[s] = length[s];
    c->bits[s] = length[s] == 0 ? 0 : reversed(next[length[s]]++, length[s]);
  }
}

/* Symbols among code lengths: 0 .. LONGEST_CODE, the length before for 3 .. 6 more symbols, and 0 for 11 .. 138 of them. Of
 * all that RFC 1951 has, 13, 14 and 15 are not used, and the others have codes of four bits in their order. */
enum { REPEATED = 16, ABSENT = 18, LENGTH_CODE = 4 };

static void put_length(struct bits *b, unsigned symbol) {
  put(b, reversed(symbol <= LONGEST_CODE ? symbol : symbol - 3, LENGTH_CODE), LENGTH_CODE);
}

/** The lengths of codes of symbols that follow each other and have equal ones. */
static void put_equal_lengths(struct bits *b, unsigned length, size_t count) {
  while (length == 0 && count >= 11) {
    const size_t here = count < 138 ? count : 138;
    put_length(b, ABSENT);
    put(b, here - 11, 7);
    flush(b);
    count -= here;
  }
  for (bool first = true; count > 0; first = false) {
    const size_t here = first || count < 3 ? 1 : count < 6 ? count : 6;
    put_length(b, here > 1 ? REPEATED : length);
    if (here > 1) put(b, here - 3, 2);
    flush(b);
    count -= here;
  }
}

/** The head of a block with codes of its own (RFC 1951, section 3.2.7). */
static void put_lengths(struct bits *b, const unsigned char length[SYMBOLS]) {
  static const unsigned char order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                        11, 4,  12, 3, 13, 2, 14, 1, 15};
  put(b, 4, 3); /* not the last block, with its own codes */
  put(b, SYMBOLS - 257, 5);
  put(b, 0, 5); /* one distance */
  put(b, sizeof order - 4, 4);
  flush(b);
  for (size_t k = 0; k < sizeof order; k++) {
    put(b, order[k] <= LONGEST_CODE || order[k] >= REPEATED ? LENGTH_CODE : 0, 3);
    flush(b);
  }
  for (size_t s = 0, same; s < SYMBOLS; s += same) {
    for (same = 1; s + same < SYMBOLS && length[s + same] == length[s];) same++;
    put_equal_lengths(b, length[s], same);
  }
  put_length(b, 1);
  flush(b);
}

static inline void put_code(struct bits *b, const struct codes *c, unsigned symbol) {
  put(b, c->bits[symbol], c->count[symbol]);
}

#ifdef __AVX512BW__
/** The codes of 32 bytes, and of each four the bits together and their number. */
static inline void join_codes(const uint16_t of[VALUES], const unsigned char *data,
                              uint64_t bits[8], uint64_t count[8]) {
  const __m512i byte = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)data));
  __m512i c[4];
  for (int q = 0; q < 4; q++) /* 64 entries of the table, of which six bits of a byte choose one */
    c[q] = _mm512_permutex2var_epi16(_mm512_loadu_si512(of + 64 * q), byte,
                                     _mm512_loadu_si512(of + 64 * q + 32));
  const __mmask32 odd = _mm512_test_epi16_mask(byte, _mm512_set1_epi16(64)),
                  high = _mm512_test_epi16_mask(byte, _mm512_set1_epi16(128));
  const __m512i found = _mm512_mask_blend_epi16(high, _mm512_mask_blend_epi16(odd, c[0], c[1]),
                                                _mm512_mask_blend_epi16(odd, c[2], c[3]));
  __m512i n = _mm512_srli_epi16(found, LONGEST_CODE),
          b = _mm512_and_si512(found, _mm512_set1_epi16((1 << LONGEST_CODE) - 1));
  const __m512i low2 = _mm512_set1_epi32(0xffff), low4 = _mm512_set1_epi64(0xffffffff);
  __m512i first = _mm512_and_si512(n, low2);
  b = _mm512_or_si512(_mm512_and_si512(b, low2),
                      _mm512_sllv_epi32(_mm512_srli_epi32(b, 16), first));
  n = _mm512_add_epi32(first, _mm512_srli_epi32(n, 16));
  first = _mm512_and_si512(n, low4);
  b = _mm512_or_si512(_mm512_and_si512(b, low4),
                      _mm512_sllv_epi64(_mm512_srli_epi64(b, 32), first));
  n = _mm512_add_epi64(first, _mm512_srli_epi64(n, 32));
  _mm512_storeu_si512(bits, b);
  _mm512_storeu_si512(count, n);
}

/** Put as many bytes as registers are filled with. @return how many */
static size_t put_many(struct bits *b, const struct codes *c, const unsigned char *data,
                       size_t count) {
  enum { REGISTER = 32, STRIP = 8 * REGISTER };
  uint16_t of[VALUES];   /* code, and in the highest four bits its length */
  struct bits here = *b; /* which what is put cannot overwrite: it stays in registers */
  size_t i = 0;
  if (count < REGISTER) return 0;
  for (int v = 0; v < VALUES; v++) of[v] = (uint16_t)(c->bits[v] | c->count[v] << LONGEST_CODE);
  for (size_t n; i + REGISTER <= count; i += n) {
    uint64_t bits[STRIP / 4], number[STRIP / 4];
    n = (count - i < STRIP ? count - i : STRIP) / REGISTER * REGISTER;
    for (size_t k = 0; k < n; k += REGISTER)
      join_codes(of, data + i + k, bits + k / 4, number + k / 4);
    for (size_t k = 0; k < n / 4; k++) {
      put(&here, bits[k], (unsigned)number[k]);
      flush(&here);
    }
  }
  *b = here;
  return i;
}
#else
static inline size_t put_many(struct bits *b, const struct codes *c, const unsigned char *data,
                              size_t count) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t k = 0; k < 4; k++) put_code(b, c, data[i + k]);
    flush(b);
  }
  return i;
}
#endif

static inline void put_bytes(struct bits *b, const struct codes *c, const unsigned char *data,
                             size_t count) {
  for (size_t i = put_many(b, c, data, count); i < count; i++) {
    put_code(b, c, data[i]);
    flush(b);
  }
}

/** Of a run its symbol, more bits, and one bit for the distance, which is 1. */
static void put_run(struct bits *b, const struct codes *c, const struct block *p,
                    const struct run *run) {
  size_t left = run->length;
  while (left >= RUN_LEAST) {
    const size_t here = next_piece(left);
    const struct length_code *l = &p->of_length[here];
    put_code(b, c, l->symbol);
    put(b, l->beyond, l->more + 1U);
    flush(b);
    left -= here;
  }
  put_bytes(b, c, p->data + run->first, left);
}

static void put_coded(struct bits *b, const struct block *p) {
  struct codes c;
  find_codes(p->length, &c);
  put_lengths(b, p->length);
  struct bits here = *b;
  size_t at = 0;
  for (size_t r = 0; r < p->runs; at = p->run[r].first + p->run[r].length, r++) {
    put_bytes(&here, &c, p->data + at, p->run[r].first - at);
    put_run(&here, &c, p, &p->run[r]);
  }
  put_bytes(&here, &c, p->data + at, p->count - at);
  put_code(&here, &c, END);
  flush(&here);
  *b = here;
}

static inline void count_eight(uint64_t eight, uint32_t part[4][VALUES]) {
  part[0][eight & 255]++;
  part[1][eight >> 8 & 255]++;
  part[2][eight >> 16 & 255]++;
  part[3][eight >> 24 & 255]++;
  part[0][eight >> 32 & 255]++;
  part[1][eight >> 40 & 255]++;
  part[2][eight >> 48 & 255]++;
  part[3][eight >> 56]++;
}

/** Count the bytes of a block, in eights of which one of `step` is taken. @return how many of these repeat one byte */
static size_t count_bytes(struct block *p, size_t step) {
  uint32_t part[4][VALUES] = {{0}}; /* equal bytes do not wait for each other */
  size_t i = 0, alike = 0;
  for (uint64_t eight; i + 8 <= p->count; i += 8 * step) {
    memcpy(&eight, p->data + i, sizeof eight);
    count_eight(eight, part);
    alike += eight == (eight << 8 | eight >> 56);
  }
  for (; i < p->count && step == 1; i++) part[0][p->data[i]]++;
  memset(p->number, 0, sizeof p->number);
  for (int v = 0; v < VALUES; v++) p->number[v] = part[0][v] + part[1][v] + part[2][v] + part[3][v];
  p->number[END] = 1;
  return alike;
}

#ifdef __AVX2__
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef unsigned char bytes __attribute__((vector_size(WIDTH)));

/** How many bytes of a block are a value. */
static uint32_t count_value(const struct block *p, unsigned char value) {
  enum { MOST = 255 * WIDTH }; /* bytes that a vector of bytes can count */
  uint32_t sum = 0;
  size_t i = 0;
  while (i + WIDTH <= p->count) {
    const size_t end = p->count - i < MOST ? p->count : i + MOST;
    bytes here, number = {0};
    for (; i + WIDTH <= end; i += WIDTH) {
      memcpy(&here, p->data + i, sizeof here);
      number -= (bytes)(here == value); /* all bits are set where they are equal */
    }
    for (int k = 0; k < WIDTH; k++) sum += number[k];
  }
  for (; i < p->count; i++) sum += p->data[i] == value;
  return sum;
}

/** Count all bytes of a block that has so many values in a sample. */
static void count_all(struct block *p, size_t values) {
  enum { FEW = 8 };
  size_t left = p->count;
  for (int v = 0; v < VALUES && values <= FEW; v++)
    if (p->number[v] > 0) left -= p->number[v] = count_value(p, (unsigned char)v);
  if (left > 0) (void)count_bytes(p, 1); /* there are more values than these, or many */
}

/** Find how often symbols are to be expected. Where there are many values, a sample tells, and any other value may
 * occur. Where there are few, all bytes are counted, and runs are looked for if the sample has some. */
static void survey(struct block *p) {
  enum { STEP = 4, LEAST = 1 << 11, MANY = 64, WEIGHT = 8, RARE = 1, RUNS = 32 };
  const bool sampled = p->count >= LEAST;
  const size_t alike = count_bytes(p, sampled ? STEP : 1);
  size_t values = 0;
  for (int v = 0; v < VALUES; v++) values += p->number[v] > 0;
  p->runs = 0;
  if (sampled && values >= MANY) {
    for (int v = 0; v < VALUES; v++) p->number[v] = WEIGHT * p->number[v] + RARE;
    return;
  }
  if (sampled) count_all(p, values);
  if (!sampled || alike * RUNS * RUN_SEEN * STEP >= p->count) find_runs(p);
}

/** Whether codes leave most of the bytes of a block. */
static bool is_noise(const struct block *p, size_t bits) {
  const size_t head = 200, noise = 97; /* bytes; percent */
  size_t all = 0;
  for (int v = 0; v < VALUES; v++) all += p->number[v];
  return p->runs == 0 && bits / 8 * 100 / all + head * 100 / p->count > noise;
}

static void put_block(struct bits *b, struct block *p) {
  survey(p);
  if (is_noise(p, find_lengths(p)))
    put_stored(b, p->count, p->data);
  else
    put_coded(b, p);
}

/** A plane, or what is left of it, of one value. */
static void put_equal(struct bits *b, struct block *p) {
  memset(p->number, 0, sizeof p->number);
  p->runs = 0;
  p->number[p->data[0]] = (uint32_t)p->count;
  p->number[END] = 1;
  if (p->count > RUN_LEAST) add_run(p, 1, p->count - 1);
  (void)find_lengths(p);
  put_coded(b, p);
}

static void put_plane(struct bits *b, struct block *p, size_t count, const unsigned char *data) {
  for (size_t first = 0; first < count; first += p->count) {
    const size_t left = count - first;
    p->data = data + first;
    p->count = left;
    if (memcmp(p->data, p->data + 1, left - 1) == 0) {
      put_equal(b, p);
    } else {
      if (left > BLOCK) p->count = BLOCK;
      put_block(b, p);
    }
  }
}

size_t KERNEL(deflate_planes)(size_t planes, size_t count, const unsigned char *data,
                              unsigned char *out) {
  struct block p;
  struct bits b = {.out = out};
  find_length_codes(p.of_length);
  put(&b, 0x0178, 16);
  for (size_t plane = 0; plane < planes; plane++) put_plane(&b, &p, count, data + plane * count);
  put(&b, 1, 3); /* the last block, stored and empty */
  fill_byte(&b);
  put(&b, 0xffff0000U, 32);
  flush(&b);
  put(&b, __builtin_bswap32(libdeflate_adler32(1, data, planes * count)), 32);
  flush(&b);
  return (size_t)(b.out - out);
}
