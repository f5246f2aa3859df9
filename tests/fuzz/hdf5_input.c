/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mutator for HDF5 files. Changed bytes alone hardly ever get past HDF5's own checks: the
 * metadata of a checkpoint has checksums. So most mutations open the file with HDF5, change one
 * attribute, dataset or link, renew the program's checksums, and take the bytes of the result. */
#include "hdf5_input.h"

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/io/hdf5_checksum.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

enum { NAME_SIZE = 64, VALUE_MOST = 4096, RANK_MOST = 5 };

bool hdf5_input_possible(const uint8_t *bytes, size_t size) {
  static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  return size >= sizeof signature && memcmp(bytes, signature, sizeof signature) == 0;
}

static void close_object(hid_t object) {
  switch (H5Iget_type(object)) {
  case H5I_FILE: H5Fclose(object); break;
  case H5I_DATASET: H5Dclose(object); break;
  case H5I_GROUP: H5Gclose(object); break;
  case H5I_DATATYPE: H5Tclose(object); break;
  case H5I_ATTR: H5Aclose(object); break;
  default: break;
  }
}

static void close_all(unsigned kinds) {
  enum { OBJECTS_MOST = 256 };
  hid_t objects[OBJECTS_MOST];
  const ssize_t n = H5Fget_obj_ids((hid_t)H5F_OBJ_ALL, kinds, OBJECTS_MOST, objects);
  for (ssize_t i = 0; i < n; i++) close_object(objects[i]);
}

/* fail() leaves data spaces and property lists, which no list names. If one of them is of a virtual dataset, HDF5
 * 1.10 calls freed memory when it closes them all, at the end of the program or in H5close(). They stay: the program
 * itself ends by _exit() after fail(). */
__attribute__((constructor)) static void leave_lists(void) { H5dont_atexit(); }

void hdf5_input_close(void) {
  close_all(H5F_OBJ_ALL & ~H5F_OBJ_FILE);
  close_all(H5F_OBJ_FILE);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t end) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (random_state >> 33) % end;
}

/** Numbers that are often at the edge of something. */
static uint64_t odd_number(void) {
  static const uint64_t numbers[] = {
      0,           1,          2,          3,          7,          8,          9,
      24,          64,         0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xffffffff,
      0x100000000, 1ULL << 40, 1ULL << 53, 1ULL << 61, 1ULL << 62, 1ULL << 63, UINT64_MAX};
  return numbers[random_below(sizeof numbers / sizeof *numbers)];
}

static double odd_real(void) {
  static const double numbers[] = {
      0.0,   -0.0,  0.5,  1.0,    -1.0,  25.0,    1e9,    50000.0, -50000.0, 4294967296.0, 1e19,
      -1e19, 1e-38, 3e38, 1e-300, 1e300, 1.7e308, 5e-324, NAN,     INFINITY, -INFINITY};
  return numbers[random_below(sizeof numbers / sizeof *numbers)];
}

struct choice {
  char name[NAME_SIZE];
  uint64_t seen;
};

/** Of all links, the name of any one. */
static herr_t choose_link(hid_t group, const char *name, const H5L_info_t *info, void *choice) {
  struct choice *c = choice;
  (void)group;
  (void)info;
  if (strlen(name) < NAME_SIZE && random_below(++c->seen) == 0)
    snprintf(c->name, NAME_SIZE, "%s", name);
  return 0;
}

/** Any object of the file; the root group where @p name stays "/". */
static hid_t open_any(hid_t file, char name[NAME_SIZE]) {
  struct choice choice = {.name = "/", .seen = 1};
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, choose_link, &choice);
  memcpy(name, choice.name, NAME_SIZE);
  return H5Oopen(file, name, H5P_DEFAULT);
}

/** The values in memory as the file has them: another value somewhere. */
static void change_values(hid_t type, uint8_t *values, size_t size) {
  const size_t width = H5Tget_size(type);
  const H5T_class_t class = H5Tget_class(type);
  if (size == 0) return;
  if (class == H5T_STRING || width == 0 || width > size || random_below(3) == 0) {
    LLVMFuzzerMutate(values, size, size);
    return;
  }
  uint8_t *value = values + width * random_below(size / width);
  const uint64_t integer = odd_number();
  const double real = odd_real();
  const float single = (float)real;
  if (class == H5T_FLOAT && width == 8)
    memcpy(value, &real, 8);
  else if (class == H5T_FLOAT && width == 4)
    memcpy(value, &single, 4);
  else
    memcpy(value, &integer, width < 8 ? width : 8);
}

/** Any type; those of variable length are only for attributes and data that nobody writes. */
static hid_t make_type(void) {
  const hid_t plain[] = {H5T_STD_U32LE,  H5T_STD_I64LE, H5T_STD_U64BE, H5T_IEEE_F32LE,
                         H5T_IEEE_F64LE, H5T_STD_I8LE,  H5T_STD_B32LE, H5T_IEEE_F64BE};
  const hsize_t three = 3;
  hid_t type;
  switch (random_below(12)) {
  case 0:
    type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 1 + random_below(200));
    return type;
  case 1:
    type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    return type;
  case 2: return H5Tarray_create2(H5T_STD_I32LE, 1, &three);
  case 3:
    type = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(type, "x", 0, H5T_IEEE_F64LE);
    H5Tinsert(type, "n", 8, H5T_STD_I64LE);
    return type;
  case 4: return H5Tcreate(H5T_OPAQUE, 8);
  case 5: return H5Tvlen_create(H5T_IEEE_F64LE);
  default: return H5Tcopy(plain[random_below(sizeof plain / sizeof *plain)]);
  }
}

static hid_t make_space(bool small) {
  static const hsize_t common[] = {1, 2, 3, 6, 8, 24};
  hsize_t size[RANK_MOST];
  const int rank = (int)random_below(RANK_MOST + 1);
  if (random_below(12) == 0) return H5Screate(H5S_NULL);
  for (int i = 0; i < rank; i++)
    size[i] = small || random_below(3) ? common[random_below(sizeof common / sizeof *common)]
                                       : odd_number() % (1ULL << 62);
  if (small && rank > 3) size[3] = size[4] = 1;
  return rank ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
}

static hid_t open_any_attribute(hid_t object, char name[NAME_SIZE]) {
  H5O_info_t info;
  if (H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS) < 0 || info.num_attrs == 0) return -1;
  const hid_t attribute = H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_NATIVE,
                                         random_below(info.num_attrs), H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0 && H5Aget_name(attribute, NAME_SIZE, name) < 0) *name = '\0';
  return attribute;
}

static void write_attribute(hid_t attribute, bool fresh) {
  const hid_t type = H5Aget_type(attribute);
  const hsize_t size = H5Aget_storage_size(attribute);
  if (size <= VALUE_MOST && !H5Tis_variable_str(type) && H5Tget_class(type) != H5T_VLEN) {
    static uint8_t values[VALUE_MOST];
    memset(values, 0, sizeof values);
    if (!fresh) H5Aread(attribute, type, values);
    change_values(type, values, size);
    H5Awrite(attribute, type, values);
  }
  H5Tclose(type);
}

static void change_attribute(hid_t object) {
  char name[NAME_SIZE] = "";
  hid_t attribute = open_any_attribute(object, name);
  if (attribute < 0) return;
  const uint64_t action = random_below(8);
  if (action < 5) write_attribute(attribute, false);
  H5Aclose(attribute);
  if (action < 5) return;
  H5Adelete(object, name);
  if (action == 5) return;
  const hid_t type = make_type(), space = make_space(true);
  attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0) {
    write_attribute(attribute, true);
    H5Aclose(attribute);
  }
  H5Sclose(space);
  H5Tclose(type);
}

static void change_data(hid_t dataset) {
  static uint8_t values[VALUE_MOST];
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const size_t width = H5Tget_size(type);
  if (count > 0 && width > 0 && (uint64_t)count <= VALUE_MOST / width &&
      !H5Tis_variable_str(type) && H5Tget_class(type) != H5T_VLEN &&
      H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
    change_values(type, values, (size_t)count * width);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  }
  H5Sclose(space);
  H5Tclose(type);
}

/** The name of a file: the input, the same once more, itself, and names that must be refused. */
static const char *random_source(void) {
  static const char *const names[] = {"input.0", "input.1", ".",          "gone",
                                      "",        "/tmp",    "../input.0", "input.%b"};
  return names[random_below(sizeof names / sizeof *names)];
}

/** A virtual dataset that shows another dataset, or too much of it. */
static void make_virtual(hid_t file, const char *name) {
  char other[NAME_SIZE];
  const hid_t object = open_any(file, other);
  if (object >= 0 && H5Iget_type(object) == H5I_DATASET && strcmp(name, other) != 0) {
    const hid_t type = H5Dget_type(object), space = H5Dget_space(object),
                source = random_below(4) ? H5Scopy(space) : make_space(false),
                layout = H5Pcreate(H5P_DATASET_CREATE);
    if (H5Pset_virtual(layout, space, random_source(), other, source) >= 0) {
      H5Ldelete(file, name, H5P_DEFAULT);
      H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    }
    H5Pclose(layout);
    H5Sclose(source);
    H5Sclose(space);
    H5Tclose(type);
  }
  if (object >= 0) H5Oclose(object);
}

/** Another dataset of this name, of whatever size: without values it takes no room in the file. */
static void replace_dataset(hid_t file, const char *name) {
  const hid_t type = make_type(), space = make_space(false), layout = H5Pcreate(H5P_DATASET_CREATE);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank > 0 && random_below(2)) {
    hsize_t size[RANK_MOST];
    H5Sget_simple_extent_dims(space, size, NULL);
    for (int i = 0; i < rank; i++) size[i] = size[i] < 16 ? size[i] : 16;
    H5Pset_chunk(layout, rank, size);
    if (random_below(2)) H5Pset_deflate(layout, 1);
    if (random_below(2)) H5Pset_fletcher32(layout);
  }
  H5Ldelete(file, name, H5P_DEFAULT);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  if (dataset >= 0) {
    if (random_below(2)) change_data(dataset);
    H5Dclose(dataset);
  }
  H5Pclose(layout);
  H5Sclose(space);
  H5Tclose(type);
}

static void change_link(hid_t file, const char *name) {
  char other[NAME_SIZE];
  const hid_t object = open_any(file, other);
  if (object >= 0) H5Oclose(object);
  switch (random_below(5)) {
  case 0: H5Ldelete(file, name, H5P_DEFAULT); break;
  case 4:
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Lcreate_external(random_source(), other, file, name, H5P_DEFAULT, H5P_DEFAULT);
    break;
  case 1:
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Lcreate_hard(file, other, file, name, H5P_DEFAULT, H5P_DEFAULT);
    break;
  case 2:
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Lcreate_soft(other, file, name, H5P_DEFAULT, H5P_DEFAULT);
    break;
  default: {
    char target[NAME_SIZE];
    snprintf(target, sizeof target, "/PartType%u", (unsigned)random_below(8));
    H5Lmove(file, name, file, target, H5P_DEFAULT, H5P_DEFAULT);
  }
  }
}

static void change_file(hid_t file) {
  char name[NAME_SIZE];
  const hid_t object = open_any(file, name);
  if (object < 0) return;
  const bool dataset = H5Iget_type(object) == H5I_DATASET, root = strcmp(name, "/") == 0;
  const uint64_t action = random_below(16);
  if (action == 0 && !root) {
    H5Oclose(object);
    change_link(file, name);
    return;
  }
  if (dataset && action < 6) {
    H5Oclose(object);
    if (random_below(4))
      replace_dataset(file, name);
    else
      make_virtual(file, name);
    return;
  }
  if (dataset)
    change_data(object);
  else
    change_attribute(object);
  H5Oclose(object);
}

/** The checksum of the rows as they are now, where they can be read; else that of nothing. */
static void renew_rows(hid_t dataset) {
  static uint8_t values[VALUE_MOST];
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const size_t width = H5Tget_size(type);
  hsize_t size[2] = {0, 1};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank == 1 || rank == 2) H5Sget_simple_extent_dims(space, size, NULL);
  uint64_t sum = 0;
  if (size[0] <= VALUE_MOST && size[1] <= VALUE_MOST && width <= VALUE_MOST &&
      size[0] * size[1] * width <= VALUE_MOST && H5Tdetect_class(type, H5T_VLEN) == 0 &&
      H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0)
    sum = checksum_rows(values, size[1] * width, 0, size[0]);
  H5Adelete(dataset, "xxh3_rows");
  hdf5_checksum_begin(dataset, "the input");
  hdf5_checksum_add(dataset, "the input", sum);
  H5Sclose(space);
  H5Tclose(type);
}

static herr_t renew_object(hid_t file, const char *name, const H5O_info_t *info, void *unused) {
  (void)unused;
  const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  if (object < 0) return 0;
  if (info->type == H5O_TYPE_DATASET) renew_rows(object);
  if (info->type == H5O_TYPE_GROUP && H5Aexists(object, "xxh3_attributes") > 0) {
    H5Adelete(object, "xxh3_attributes");
    hdf5_checksum_attributes(object, "the input");
  }
  H5Oclose(object);
  return 0;
}

static hid_t open_image(const uint8_t *bytes, size_t size) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 65536, 0);
  H5Pset_file_image(access, (void *)bytes, size);
  const hid_t file = H5Fopen("input", H5F_ACC_RDWR, access);
  H5Pclose(access);
  return file;
}

/** The bytes after some changes; 0 where HDF5 cannot do them or they do not fit. */
static size_t change_bytes(uint8_t *bytes, size_t size, size_t most) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t file = open_image(bytes, size);
  if (file < 0) return 0;
  for (uint64_t changes = 1 + random_below(3); changes > 0; changes--) change_file(file);
  /* With wrong checksums nothing behind the check of checksums would be reached. */
  if (random_below(4))
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, renew_object, NULL, H5O_INFO_BASIC);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  const ssize_t length = H5Fget_file_image(file, NULL, 0);
  if (length <= 0 || (size_t)length > most || H5Fget_file_image(file, bytes, most) < 0) return 0;
  H5Fclose(file);
  return (size_t)length;
}

/* Changes are made in a child process, so that HDF5 may crash or hang over a file that earlier
 * mutations have damaged: the program itself never writes into a file that it did not make. The
 * child serves many requests. */
static struct {
  pid_t child; /* 0: none */
  int to_child, from_child;
  size_t most;
  struct request {
    size_t length; /* before and after; 0: could not be changed */
    uint64_t seed;
    uint8_t bytes[];
  } * request;
} server;

static void end_quietly(void) { _exit(1); }

_Noreturn static void serve(int input, int output) {
  enum { REQUESTS = 2000, SECONDS = 5 }; /* HDF5 leaks, and it may hang */
  static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
  __sanitizer_set_death_callback(end_quietly);
  const intptr_t nowhere = open("/dev/null", O_WRONLY);
  __sanitizer_set_report_fd((void *)nowhere); /* NOLINT: the interface of the sanitizer */
  char byte;
  for (int i = 0; i < REQUESTS && read(input, &byte, 1) == 1; i++) {
    alarm(SECONDS);
    random_state = server.request->seed;
    server.request->length = change_bytes(server.request->bytes, server.request->length,
                                          server.most);
    hdf5_input_close();
    alarm(0);
    if (write(output, &byte, 1) != 1) break;
  }
  _exit(0);
}

static void start_server(void) {
  int request[2], answer[2];
  if (pipe(request) != 0 || pipe(answer) != 0) abort();
  server.child = fork();
  if (server.child < 0) abort();
  if (server.child == 0) {
    close(request[1]);
    close(answer[0]);
    serve(request[0], answer[1]);
  }
  close(request[0]);
  close(answer[1]);
  server.to_child = request[1];
  server.from_child = answer[0];
}

static void stop_server(void) {
  close(server.to_child);
  close(server.from_child);
  waitpid(server.child, NULL, 0);
  server.child = 0;
}

/** @return whether the request was answered */
static bool ask_server(void) {
  char byte = 0;
  /* Twice, because the child may have ended after its last answer. */
  for (int attempt = 0; attempt < 2; attempt++) {
    if (!server.child) start_server();
    if (write(server.to_child, &byte, 1) == 1 && read(server.from_child, &byte, 1) == 1)
      return true;
    stop_server();
  }
  return false;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
  if (!server.request) {
    signal(SIGPIPE, SIG_IGN);
    server.most = most;
    server.request = mmap(NULL, sizeof *server.request + most, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (server.request == MAP_FAILED) abort();
  }
  random_state = seed;
  if (random_below(8) == 0 || size > server.most) return LLVMFuzzerMutate(bytes, size, most);
  memcpy(server.request->bytes, bytes, size);
  server.request->length = size;
  server.request->seed = random_state;
  const bool answered = ask_server();
  const size_t length = server.request->length;
  if (!answered || length == 0 || length > most) return LLVMFuzzerMutate(bytes, size, most);
  memcpy(bytes, server.request->bytes, length);
  return length;
}
