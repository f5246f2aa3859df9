/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs whose kernels run on the processor (cuda_on_cores.h): their threads, and the functions of
 * CUDA's runtime and of cuFFT that this project and StarPU call. All of them are done when they
 * return. Device memory is memory of the host, which begins with NaN. The variable CORES_GPUS is
 * the number of GPUs, 1 by default. They have no access to each other's memory: a kernel must not get
 * a pointer to another GPU's. Pointers in memory are not looked at. Processes can open each other's
 * large allocations. */
#include <cuda_runtime.h>
#include <cufft.h>
#include <fcntl.h>
#include <fftw3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#if !defined(__x86_64__)
#error "the switch of coroutines is written for x86-64"
#endif

namespace {

[[noreturn]] void stop(const char *what) {
  fprintf(stderr, "cuda_on_cores: %s\n", what);
  abort();
}

/* ---- threads ---- */

enum { LANES = 32, THREADS_MOST = 1024, DYNAMIC_BYTES = 256 << 10 };
const size_t STACK = 256 << 10;

struct place { /* cores_place */
  uint3 thread, block;
  dim3 block_size, grid_size;
};

struct coroutine {
  struct place place;
  void *stack_pointer;
  uint32_t number;
  bool done, waiting;
  uint32_t mask; /* of the lanes that it waits for */
  uint64_t mine, all[LANES];
};

struct cuda_block {
  coroutine thread[THREADS_MOST];
  uint32_t threads, live, at_barrier, barriers, idle;
  coroutine *current;
  void *launcher; /* stack pointer of the thread that launches */
  void (*kernel)(void *);
  void *arguments;
  char *stacks;
  alignas(64) char dynamic[DYNAMIC_BYTES];
};
thread_local cuda_block *block;

extern "C" void cores_switch(void **save, void *load);
asm(R"(
.text
.globl cores_switch
.hidden cores_switch
.type cores_switch, @function
cores_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

/** Let the next coroutine go on. */
void yield() {
  coroutine *me = block->current;
  if (++block->idle > 4 * block->threads + 4) stop("threads of a CUDA block wait for each other");
  uint32_t k = me->number;
  do k = (k + 1) % block->threads;
  while (block->thread[k].done && k != me->number);
  if (k == me->number) return;
  block->current = &block->thread[k];
  cores_switch(&me->stack_pointer, block->current->stack_pointer);
}

void open_barrier() {
  if (block->live == 0 || block->at_barrier < block->live) return;
  block->at_barrier = 0;
  block->barriers++;
  block->idle = 0;
}

void begin() {
  block->kernel(block->arguments);
  coroutine *me = block->current;
  me->done = true;
  block->live--;
  block->idle = 0;
  open_barrier();
  if (block->live > 0) yield();
  void *unused;
  cores_switch(&unused, block->launcher);
  abort(); /* not reached */
}

/** A stack on which cores_switch() returns to begin(). */
void *new_stack(char *end) {
  void **top = (void **)end;
  *--top = nullptr;
  *--top = (void *)begin;
  for (int saved = 0; saved < 6; saved++) *--top = nullptr;
  return top;
}

bool try_to_meet(coroutine *me) {
  coroutine *lane = block->thread + me->number / LANES * LANES;
  const uint32_t lanes = block->threads - me->number / LANES * LANES;
  const auto takes_part = [&](uint32_t l) {
    return (me->mask >> l & 1) && l < lanes && !lane[l].done;
  };
  for (uint32_t l = 0; l < LANES; l++)
    if (takes_part(l) && !(lane[l].waiting && lane[l].mask == me->mask)) return false;
  uint64_t all[LANES] = {0};
  for (uint32_t l = 0; l < LANES; l++)
    if (takes_part(l)) all[l] = lane[l].mine;
  for (uint32_t l = 0; l < LANES; l++)
    if (takes_part(l)) {
      memcpy(lane[l].all, all, sizeof all);
      lane[l].waiting = false;
    }
  block->idle = 0;
  return true;
}

} // namespace

struct cores_place;
cores_place &cores_here() { return (cores_place &)block->current->place; }
uint32_t cores_lane() { return block->current->number % LANES; }
void *cores_dynamic_memory() { return block->dynamic; }

void __syncthreads() {
  const uint32_t seen = block->barriers;
  block->at_barrier++;
  block->idle = 0;
  open_barrier();
  while (block->barriers == seen) yield();
}

void cores_meet(uint32_t mask, uint64_t mine, uint64_t all[LANES]) {
  coroutine *me = block->current;
  if (!(mask >> me->number % LANES & 1)) stop("a lane is not in its own mask");
  me->mask = mask;
  me->mine = mine;
  me->waiting = true;
  block->idle = 0;
  while (me->waiting && !try_to_meet(me)) yield();
  memcpy(all, me->all, sizeof me->all);
}

struct cores_grid {
  dim3 grid, block;
  size_t shared;
};

static void count_launch();

void cores_run(const cores_grid &grid, void (*kernel)(void *), void *arguments) {
  count_launch();
  if (!block) {
    block = new cuda_block;
    block->stacks = (char *)mmap(nullptr, THREADS_MOST * STACK, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block->stacks == MAP_FAILED) stop("no memory for stacks");
  }
  const uint32_t threads = grid.block.x * grid.block.y * grid.block.z;
  if (threads == 0 || threads > THREADS_MOST) stop("a CUDA block has 1 to 1024 threads");
  if (grid.grid.x == 0 || grid.grid.y == 0 || grid.grid.z == 0 || grid.grid.y > 65535 ||
      grid.grid.z > 65535)
    stop("not a size of a grid");
  if (grid.shared > 227 << 10) stop("too much shared memory");
  block->threads = threads;
  block->kernel = kernel;
  block->arguments = arguments;
  for (uint32_t z = 0; z < grid.grid.z; z++)
    for (uint32_t y = 0; y < grid.grid.y; y++)
      for (uint32_t x = 0; x < grid.grid.x; x++) {
        block->live = threads;
        block->at_barrier = block->idle = 0;
        memset(block->dynamic, 0xff, grid.shared);
        for (uint32_t k = 0; k < threads; k++) {
          coroutine *c = &block->thread[k];
          c->place = {{k % grid.block.x, k / grid.block.x % grid.block.y,
                       k / (grid.block.x * grid.block.y)},
                      {x, y, z},
                      grid.block,
                      grid.grid};
          c->number = k;
          c->done = c->waiting = false;
          c->stack_pointer = new_stack(block->stacks + (k + 1) * STACK);
        }
        block->current = &block->thread[0];
        cores_switch(&block->launcher, block->current->stack_pointer);
      }
}

/* ---- CUDA's runtime ---- */

namespace {
enum { GPUS_MOST = 4 };
/** Large ones can be opened by other processes. */
struct allocation {
  size_t bytes;
  int device;
  int file; /* that holds it, for other processes; or -1 */
};
/** What a cudaIpcMemHandle_t holds. */
struct ipc_handle {
  long process;
  int file;
  size_t bytes;
};
const size_t LARGE = size_t(64) << 20;
std::mutex lock;
std::map<char *, allocation> allocations;
size_t used[GPUS_MOST];
unsigned long launches[GPUS_MOST];
thread_local int device;
const size_t MEMORY = size_t(8) << 30;

int devices() {
  const char *text = getenv("CORES_GPUS");
  const int count = text ? atoi(text) : 1;
  return count < GPUS_MOST ? count : GPUS_MOST;
}

void *map(int file, size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
}

/** The allocation with an address; NULL: there is none. */
const allocation *allocation_of(const void *p) {
  auto next = allocations.upper_bound((char *)p);
  if (next == allocations.begin()) return nullptr;
  --next;
  return (const char *)p < next->first + next->second.bytes ? &next->second : nullptr;
}

void copy_rows(char *to, size_t to_stride, const char *from, size_t from_stride, size_t width,
               size_t rows) {
  for (size_t y = 0; y < rows; y++) memcpy(to + y * to_stride, from + y * from_stride, width);
}
} // namespace

void cores_check_pointers(const void *argument, size_t bytes) {
  const std::lock_guard<std::mutex> guard(lock);
  for (size_t at = 0; at + sizeof(void *) <= bytes; at += sizeof(void *)) {
    const void *p;
    memcpy(&p, (const char *)argument + at, sizeof p);
    const allocation *a = allocation_of(p);
    if (a && a->device != device) stop("a kernel gets memory of another GPU");
  }
}

static void count_launch() {
  const std::lock_guard<std::mutex> guard(lock);
  launches[device]++;
}

/** Kernels that a GPU has run. */
extern "C" unsigned long cores_launches(int gpu) {
  const std::lock_guard<std::mutex> guard(lock);
  return launches[gpu];
}

extern "C" {
cudaError_t cudaGetDeviceCount(int *count) {
  *count = devices();
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int d) {
  if (d < 0 || d >= devices()) return cudaErrorInvalidDevice;
  device = d;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *d) {
  *d = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int d) {
  memset(p, 0, sizeof *p);
  snprintf(p->name, sizeof p->name, "CUDA on cores");
  p->totalGlobalMem = MEMORY;
  p->major = 9;
  p->multiProcessorCount = 1;
  p->warpSize = LANES;
  p->maxThreadsPerBlock = THREADS_MOST;
  p->concurrentKernels = 1;
  p->asyncEngineCount = 1;
  p->pciBusID = d + 1;
  return cudaSuccess;
}
/** As many bytes of shared memory as GPUs of compute capability 8.6 and 8.9 have, so that kernels that want more take
 * scratch memory; of all else 0. */
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 99 * 1024 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess                  ? "no error"
         : e == cudaErrorMemoryAllocation ? "out of memory"
                                          : "an error of cuda_on_cores";
}
cudaError_t cudaRuntimeGetVersion(int *v) {
  *v = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes) {
  const std::lock_guard<std::mutex> guard(lock);
  *p = nullptr;
  if (used[device] + bytes > MEMORY) return cudaErrorMemoryAllocation;
  void *memory;
  int file = -1;
  if (bytes >= LARGE) {
    file = memfd_create("cuda_on_cores", 0);
    memory = file >= 0 && ftruncate(file, (off_t)bytes) == 0 ? map(file, bytes) : MAP_FAILED;
    if (memory == MAP_FAILED) {
      if (file >= 0) close(file);
      return cudaErrorMemoryAllocation;
    }
  } else {
    if (posix_memalign(&memory, 256, bytes ? bytes : 1)) return cudaErrorMemoryAllocation;
    memset(memory, 0xff, bytes);
  }
  allocations[(char *)memory] = {bytes, device, file};
  used[device] += bytes;
  *p = memory;
  return cudaSuccess;
}
cudaError_t cudaFree(void *p) {
  const std::lock_guard<std::mutex> guard(lock);
  if (!p) return cudaSuccess;
  const auto found = allocations.find((char *)p);
  if (found == allocations.end()) stop("cudaFree() of what cudaMalloc() did not give");
  const allocation a = found->second;
  used[a.device] -= a.bytes;
  allocations.erase(found);
  if (a.file >= 0) {
    munmap(p, a.bytes);
    close(a.file);
  } else {
    memset(p, 0xff, a.bytes);
    free(p);
  }
  return cudaSuccess;
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *p) {
  const std::lock_guard<std::mutex> guard(lock);
  const allocation *a = allocation_of(p);
  if (!a || a->file < 0) return cudaErrorInvalidValue;
  const ipc_handle mine = {(long)getpid(), a->file, a->bytes};
  memcpy(handle, &mine, sizeof mine);
  return cudaSuccess;
}
/** With CORES_IPC=spoiled what is opened does not hold what the other process writes. */
cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t handle, unsigned) {
  const std::lock_guard<std::mutex> guard(lock);
  const char *spoiled = getenv("CORES_IPC");
  ipc_handle other;
  memcpy(&other, &handle, sizeof other);
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", other.process, other.file);
  const int file = spoiled ? memfd_create("spoiled", 0) : open(path, O_RDWR);
  if (file < 0) return cudaErrorInvalidResourceHandle;
  const bool sized = !spoiled || ftruncate(file, (off_t)other.bytes) == 0;
  void *memory = sized ? map(file, other.bytes) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    close(file);
    return cudaErrorMapBufferObjectFailed;
  }
  allocations[(char *)memory] = {other.bytes, device, file};
  used[device] += other.bytes; /* cudaFree() closes it, too */
  *p = memory;
  return cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void *p) { return cudaFree(p); }
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t) { return cudaMalloc(p, bytes); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return cudaFree(p); }
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *total = MEMORY;
  *available = MEMORY - used[device];
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) {
  *p = malloc(bytes ? bytes : 1);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaMallocHost(void **p, size_t bytes) { return cudaHostAlloc(p, bytes, 0); }
cudaError_t cudaFreeHost(void *p) {
  free(p);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned) {
  *out = p;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p) {
  const std::lock_guard<std::mutex> guard(lock);
  memset(a, 0, sizeof *a);
  const allocation *found = allocation_of(p);
  a->type = found ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  a->device = found ? found->device : 0;
  a->devicePointer = (void *)p;
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind) {
  memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind,
                            cudaStream_t) {
  memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes) {
  memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t) {
  memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void *to, size_t to_stride, const void *from, size_t from_stride,
                         size_t width, size_t rows, enum cudaMemcpyKind) {
  copy_rows((char *)to, to_stride, (const char *)from, from_stride, width, rows);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_stride, const void *from, size_t from_stride,
                              size_t width, size_t rows, enum cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy2D(to, to_stride, from, from_stride, width, rows, kind);
}
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p) {
  for (size_t z = 0; z < p->extent.depth; z++)
    copy_rows((char *)p->dstPtr.ptr + z * p->dstPtr.pitch * p->dstPtr.ysize, p->dstPtr.pitch,
              (char *)p->srcPtr.ptr + z * p->srcPtr.pitch * p->srcPtr.ysize, p->srcPtr.pitch,
              p->extent.width, p->extent.height);
  return cudaSuccess;
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t) {
  return cudaMemcpy3DPeer(p);
}
cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t) {
  memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *s) {
  *s = (cudaStream_t)malloc(1);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { return cudaStreamCreate(s); }
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  free(s);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t *e) {
  *e = (cudaEvent_t)malloc(1);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  free(e);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) {
  *ms = 1;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int) { return cudaSuccess; }

/* ---- cuFFT ---- */

struct cores_fft {
  int rank, n[3], in[3], in_step, in_distance, out[3], out_step, out_distance, batch;
  cufftType type;
};
static std::vector<cores_fft> plans;

cufftResult cufftCreate(cufftHandle *plan) {
  const std::lock_guard<std::mutex> guard(lock);
  plans.push_back({});
  *plan = (cufftHandle)plans.size() - 1;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetAutoAllocation(cufftHandle, int) { return CUFFT_SUCCESS; }
cufftResult cufftSetStream(cufftHandle, cudaStream_t) { return CUFFT_SUCCESS; }
cufftResult cufftSetWorkArea(cufftHandle, void *) { return CUFFT_SUCCESS; }
cufftResult cufftDestroy(cufftHandle) { return CUFFT_SUCCESS; }
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *in, int in_step,
                              int in_distance, int *out, int out_step, int out_distance,
                              cufftType type, int batch, size_t *bytes) {
  const std::lock_guard<std::mutex> guard(lock);
  cores_fft f = {rank, {}, {}, in_step, in_distance, {}, out_step, out_distance, batch, type};
  for (int k = 0; k < rank; k++) {
    f.n[k] = n[k];
    f.in[k] = in ? in[k] : n[k];
    f.out[k] = out ? out[k] : n[k];
  }
  plans[plan] = f;
  *bytes = 16;
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *in,
                                long long in_step, long long in_distance, long long *out,
                                long long out_step, long long out_distance, cufftType type,
                                long long batch, size_t *bytes) {
  int small_n[3], small_in[3], small_out[3];
  for (int k = 0; k < rank; k++) {
    small_n[k] = (int)n[k];
    small_in[k] = (int)(in ? in[k] : n[k]);
    small_out[k] = (int)(out ? out[k] : n[k]);
  }
  return cufftMakePlanMany(plan, rank, small_n, small_in, (int)in_step, (int)in_distance,
                           small_out, (int)out_step, (int)out_distance, type, (int)batch, bytes);
}

#define WITH_PLAN(make, run, destroy)                             \
  cores_fft f;                                                    \
  decltype(make) fft;                                             \
  {                                                               \
    const std::lock_guard<std::mutex> guard(lock);                \
    f = plans[plan];                                              \
    fft = make;                                                   \
  }                                                               \
  if (!fft) stop("FFTW made no plan");                            \
  run(fft);                                                       \
  const std::lock_guard<std::mutex> guard(lock);                  \
  destroy(fft);                                                   \
  return CUFFT_SUCCESS
#define LAYOUT(from, to) \
  f.rank, f.n, f.batch, from, f.in, f.in_step, f.in_distance, to, f.out, f.out_step, f.out_distance

cufftResult cufftExecR2C(cufftHandle plan, cufftReal *from, cufftComplex *to) {
  WITH_PLAN(fftwf_plan_many_dft_r2c(LAYOUT(from, (fftwf_complex *)to), FFTW_ESTIMATE),
            fftwf_execute, fftwf_destroy_plan);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *from, cufftReal *to) {
  WITH_PLAN(fftwf_plan_many_dft_c2r(LAYOUT((fftwf_complex *)from, to), FFTW_ESTIMATE),
            fftwf_execute, fftwf_destroy_plan);
}
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *from, cufftComplex *to, int sign) {
  WITH_PLAN(fftwf_plan_many_dft(LAYOUT((fftwf_complex *)from, (fftwf_complex *)to), sign,
                                FFTW_ESTIMATE),
            fftwf_execute, fftwf_destroy_plan);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *from, cufftDoubleComplex *to) {
  WITH_PLAN(fftw_plan_many_dft_r2c(LAYOUT(from, (fftw_complex *)to), FFTW_ESTIMATE), fftw_execute,
            fftw_destroy_plan);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *from, cufftDoubleReal *to) {
  WITH_PLAN(fftw_plan_many_dft_c2r(LAYOUT((fftw_complex *)from, to), FFTW_ESTIMATE), fftw_execute,
            fftw_destroy_plan);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *from, cufftDoubleComplex *to,
                         int sign) {
  WITH_PLAN(fftw_plan_many_dft(LAYOUT((fftw_complex *)from, (fftw_complex *)to), sign,
                               FFTW_ESTIMATE),
            fftw_execute, fftw_destroy_plan);
}
} // extern "C"
