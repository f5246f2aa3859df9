# SPDX-License-Identifier: GPL-3.0-or-later
# Libraries that photons-starpu needs. What is missing is collected and reported in one go.

# PHOTONS_MISSING(WHAT, DEBIAN PACKAGE)
AC_DEFUN([PHOTONS_MISSING], [
  photons_missing="$photons_missing
  $1: Debian package $2"
  AS_CASE([" $photons_packages "], [*" $2 "*], [], [photons_packages="$photons_packages $2"])
])

# PHOTONS_LIBRARY(NAME, WHAT, PKG-CONFIG MODULES IN ORDER OF PREFERENCE, DEBIAN PACKAGE)
# Sets NAME_CFLAGS, NAME_LIBS and NAME_VERSION. The version is asked from the module: StarPU 1.4 also installs a starpu-1.3.pc.
AC_DEFUN([PHOTONS_LIBRARY], [
  photons_module=
  for candidate in $3; do
    AS_IF([test -z "$photons_module" && $PKG_CONFIG --exists $candidate 2>/dev/null], [photons_module=$candidate])
  done
  AS_IF([test -z "$photons_module"], [photons_module="$3"])
  PKG_CHECK_MODULES([$1], [$photons_module],
    [$1_VERSION=`$PKG_CONFIG --modversion $photons_module 2>/dev/null`], [PHOTONS_MISSING([$2], [$4])])
  PHOTONS_SYSTEM_INCLUDES([$1])
])

# PHOTONS_SYSTEM_INCLUDES(NAME): other people's headers must not warn under our flags.
AC_DEFUN([PHOTONS_SYSTEM_INCLUDES],
  [$1_CFLAGS=`AS_ECHO([" $$1_CFLAGS"]) | $SED 's| -I *| -isystem |g'`])

# PHOTONS_CMOCKA: only tests need it.
AC_DEFUN([PHOTONS_CMOCKA], [
  PKG_CHECK_MODULES([CMOCKA], [cmocka], [have_cmocka=yes], [have_cmocka=no])
  PHOTONS_SYSTEM_INCLUDES([CMOCKA])
  without_cmocka=
  AS_IF([test "$have_cmocka" = no], [without_cmocka=' (they need cmocka: Debian package libcmocka-dev)'])
  AM_CONDITIONAL([HAVE_CMOCKA], [test "$have_cmocka" = yes])
])

# PHOTONS_CHEALPIX: only maps of light cones need it.
AC_DEFUN([PHOTONS_CHEALPIX], [
  PKG_CHECK_MODULES([CHEALPIX], [chealpix],
    [have_chealpix=yes
     AC_DEFINE([HAVE_CHEALPIX], [1], [libchealpix is there: light cones have HEALPix maps])],
    [have_chealpix='no (Debian package libchealpix-dev)'])
  PHOTONS_SYSTEM_INCLUDES([CHEALPIX])
])

# PHOTONS_FUZZING: the compiler must be a clang with libFuzzer. The sanitizers report what the fuzzer
# provokes.
AC_DEFUN([PHOTONS_FUZZING], [
  AC_MSG_CHECKING([whether $CC has libFuzzer])
  photons_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -fsanitize=fuzzer,address,undefined"
  AC_LINK_IFELSE([AC_LANG_SOURCE([[
    int LLVMFuzzerTestOneInput(const unsigned char *bytes, __SIZE_TYPE__ size);
    int LLVMFuzzerTestOneInput(const unsigned char *bytes, __SIZE_TYPE__ size) {
      return bytes == 0 && size > 0;
    }]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([--enable-fuzzing needs clang and its libFuzzer, but CC is $CC.
  Configure with CC=clang; on Debian 12 the packages are clang and libclang-rt-14-dev])])
  CFLAGS=$photons_saved_CFLAGS
  SANITIZER_FLAGS="-fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow"
  SANITIZER_FLAGS="$SANITIZER_FLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer"
  # No reader calls a kernel: one copy, with little optimisation, saves most of the build's time.
  photons_cv_x86_kernels=no
  AS_IF([test -z "$CFLAGS"], [CFLAGS="-O1 -g"])
])

# PHOTONS_HDF5: through pkg-config, or where Debian and plain installations put it.
AC_DEFUN([PHOTONS_HDF5], [
  photons_saved_missing=$photons_missing photons_saved_packages=$photons_packages
  PHOTONS_LIBRARY([HDF5], [HDF5], [hdf5-serial hdf5], [libhdf5-dev])
  AS_IF([test -z "$HDF5_LIBS"], [
    AC_MSG_CHECKING([for HDF5 without pkg-config])
    photons_saved_CPPFLAGS=$CPPFLAGS photons_saved_LIBS=$LIBS
    photons_multiarch=`$CC -print-multiarch 2>/dev/null`
    for candidate in "" "-I/usr/include/hdf5/serial -L/usr/lib/$photons_multiarch/hdf5/serial"; do
      AS_IF([test -z "$HDF5_LIBS"], [
        photons_include=`AS_ECHO(["$candidate"]) | $SED 's| *-L.*||'`
        photons_folder=`AS_ECHO(["$candidate"]) | $SED 's|.*-L|-L|'`
        CPPFLAGS="$photons_saved_CPPFLAGS $photons_include"
        LIBS="$photons_folder -lhdf5 $photons_saved_LIBS"
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <hdf5.h>]], [[return H5open();]])],
          [HDF5_CFLAGS=$photons_include
           HDF5_LIBS="$photons_folder -lhdf5"
           HDF5_VERSION=`echo H5_VERS_MAJOR.H5_VERS_MINOR.H5_VERS_RELEASE |
             $CC $CPPFLAGS -E -P -include H5public.h - 2>/dev/null | $SED -n '$s/ //g;$p'`])
      ])
    done
    CPPFLAGS=$photons_saved_CPPFLAGS LIBS=$photons_saved_LIBS
    AS_IF([test -n "$HDF5_LIBS"], [
      photons_missing=$photons_saved_missing photons_packages=$photons_saved_packages
      PHOTONS_SYSTEM_INCLUDES([HDF5])
      AC_MSG_RESULT([$HDF5_LIBS])], [AC_MSG_RESULT([no])])
  ])
])

# PHOTONS_MPI: what the MPICC of the user wraps, else Open MPI through pkg-config, else what mpicc wraps.
AC_DEFUN([PHOTONS_MPI], [
  AC_ARG_VAR([MPICC],
    [MPI compiler wrapper, asked for its flags (default: pkg-config is asked first, then mpicc)])
  AS_IF([test -n "$MPICC" && test -z "$MPI_LIBS"], [
    PHOTONS_MPI_OF_WRAPPER
    AS_IF([test -z "$MPI_LIBS"], [AC_MSG_ERROR([MPICC=$MPICC is no MPI compiler wrapper that tells its flags])])])
  photons_saved_missing=$photons_missing photons_saved_packages=$photons_packages
  PHOTONS_LIBRARY([MPI], [MPI], [ompi-c mpi-c], [libopenmpi-dev])
  AC_CHECK_PROGS([MPICC], [mpicc])
  AS_IF([test -z "$MPI_LIBS" && test -n "$MPICC"], [
    PHOTONS_MPI_OF_WRAPPER
    AS_IF([test -n "$MPI_LIBS"], [
      photons_missing=$photons_saved_missing photons_packages=$photons_saved_packages
      PHOTONS_SYSTEM_INCLUDES([MPI])])
  ])
])

# PHOTONS_MPI_OF_WRAPPER: the flags of $MPICC. Open MPI's wrapper has --showme, MPICH's has -show.
AC_DEFUN([PHOTONS_MPI_OF_WRAPPER], [
  AS_IF([MPI_LIBS=`$MPICC --showme:link 2>/dev/null`], [MPI_CFLAGS=" "`$MPICC --showme:compile`], [
    MPI_LIBS= MPI_CFLAGS=" " # not empty: pkg-config is not asked
    for photons_flag in `$MPICC -show 2>/dev/null`; do
      AS_CASE([$photons_flag],
        [-I*|-D*], [MPI_CFLAGS="$MPI_CFLAGS $photons_flag"],
        [-L*|-l*|-Wl,*], [MPI_LIBS="$MPI_LIBS $photons_flag"])
    done])
])

# PHOTONS_ONE_MPI: StarPU-MPI and the program must have the same MPI. Two in one program end in a crash.
# A program that is linked with both names the shared libraries. Sets MPI_NAME for --version.
AC_DEFUN([PHOTONS_ONE_MPI], [
  AC_MSG_CHECKING([which MPI this is])
  photons_saved_CPPFLAGS=$CPPFLAGS photons_saved_LIBS=$LIBS photons_saved_LDFLAGS=$LDFLAGS
  CPPFLAGS="$CPPFLAGS $MPI_CFLAGS $STARPUMPI_CFLAGS $STARPU_CFLAGS"
  LIBS="$STARPUMPI_LIBS $STARPU_LIBS $MPI_LIBS $LIBS"
  LDFLAGS="$LDFLAGS -Wl,--no-as-needed"
  MPI_NAME=`printf '%s\n' '#include <mpi.h>' '#ifdef OPEN_MPI' \
    '"name Open MPI" OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION' \
    '#elif defined MPICH_VERSION' '"name MPICH" MPICH_VERSION' '#else' '"name another MPI"' '#endif' |
    $CC $CPPFLAGS -E -P - 2>/dev/null | $SED -n 's/^"name //p' | tr -d '"' | $SED 's/ *\. */./g'`
  AC_MSG_RESULT([${MPI_NAME:=unknown}])
  AC_MSG_CHECKING([whether StarPU-MPI was built with it])
  photons_mpis= photons_folders=$LD_LIBRARY_PATH # of libraries, for ldd
  for photons_flag in $LIBS; do
    AS_CASE([$photons_flag], [-L*], [photons_folders=$photons_folders:`AS_ECHO(["$photons_flag"]) | $SED 's/^-L//'`])
  done
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <starpu_mpi.h>]],
      [[int rank; return starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank) + MPI_Comm_rank(MPI_COMM_WORLD, &rank);]])],
    [photons_mpis=`LD_LIBRARY_PATH=$photons_folders ldd conftest$EXEEXT 2>/dev/null |
       $SED -n 's/^[[	 ]]*\(libmpi\(ch\)\{0,1\}\.so\.[[0-9]]*\) .*/\1/p' | sort -u | tr '\n' ' '`],
    [photons_mpis=broken])
  CPPFLAGS=$photons_saved_CPPFLAGS LIBS=$photons_saved_LIBS LDFLAGS=$photons_saved_LDFLAGS
  AS_CASE([$photons_mpis],
    [broken], [AC_MSG_RESULT([no: a program with both cannot be linked])
      AC_MSG_ERROR([StarPU-MPI $STARPUMPI_VERSION and $MPI_NAME do not go together: config.log says why])],
    [*" "?*], [AC_MSG_RESULT([no: $photons_mpis])
      AC_MSG_ERROR([the MPI found is $MPI_NAME, but StarPU-MPI $STARPUMPI_VERSION was built with another: a program
with both needs $photons_mpis
A distribution's StarPU goes with one MPI only (Debian, Ubuntu: Open MPI). Name the compiler wrapper of that
MPI with MPICC=, or build StarPU for this one: MPICC=$MPICC tools/build-starpu.sh])],
    [AC_MSG_RESULT([yes])])
])

# PHOTONS_PYTHON: the Python of the tools and the tests; the program itself needs none.
# A PYTHON that the user names stays, whatever it lacks.
AC_DEFUN([PHOTONS_PYTHON], [
  AC_ARG_VAR([PYTHON],
    [Python 3 of the tools and the tests (default: the first with all modules that tools/needed_modules.py lists)])
  AC_MSG_CHECKING([for a Python with the modules of the tools and the tests])
  AS_CASE([$PYTHON], [""], [PYTHON=`"$srcdir/tools/find-python.sh"`],
    [/*], [], [*/*], [PYTHON=$PWD/$PYTHON])
  photons_lacking=
  AS_IF([test -z "$PYTHON"],
    [python_summary="no Python 3 (Debian package python3)"],
    [photons_lacking=`"$PYTHON" "$srcdir/tools/needed_modules.py" 2>&AS_MESSAGE_LOG_FD`],
    [python_summary="$PYTHON${photons_lacking:+ without $photons_lacking}"],
    [python_summary="$PYTHON, which does not run as Python 3.9 or later" photons_lacking=all])
  AC_MSG_RESULT([$python_summary])
  AS_IF([test -z "$PYTHON" || test -n "$photons_lacking"],
    [AC_MSG_WARN([Python: $python_summary.
The program needs no Python. Tools and tests that need it, or what it lacks, end with a line that
says so. Install the packages, or name another Python with PYTHON=, and configure again.])])
])

# PHOTONS_REPORT_MISSING: stop with the list of all that is missing.
AC_DEFUN([PHOTONS_REPORT_MISSING], [
  AS_IF([test -n "$photons_missing"], [AC_MSG_ERROR([needed and not found:$photons_missing
On Debian and Ubuntu: apt-get install$photons_packages
Libraries in a folder of your own are found through PKG_CONFIG_PATH.])])
])

# PHOTONS_CUDA: nvcc, its flags for the wanted GPUs, and the libraries; the StarPU found must know CUDA too.
AC_DEFUN([PHOTONS_CUDA], [
  AC_ARG_VAR([NVCCFLAGS], [further flags for nvcc])
  CUDA_DIR= CUDA_VERSION=no CUDA_ARCH_FLAGS= CUDA_CPPFLAGS= CUDA_LIBS=
  AS_IF([test "$with_cuda" != no], [
    AS_IF([test "$with_cuda" = yes], [
      AC_PATH_PROG([photons_nvcc], [nvcc], [/usr/local/cuda/bin/nvcc])
      photons_nvcc=`readlink -f "$photons_nvcc"`
      with_cuda=`AS_ECHO(["$photons_nvcc"]) | $SED 's|/bin/nvcc$||'`])
    AS_IF([test ! -x "$with_cuda/bin/nvcc"], [AC_MSG_ERROR([no nvcc in '$with_cuda/bin': name the CUDA folder with --with-cuda=DIR])])
    CUDA_DIR=$with_cuda
    CUDA_VERSION=`"$CUDA_DIR/bin/nvcc" --version | $SED -n 's/.*release \([[0-9.]]*\).*/\1/p'`
    AC_MSG_CHECKING([what CUDA $CUDA_VERSION in $CUDA_DIR compiles for])
    photons_known=" "`"$CUDA_DIR/bin/nvcc" --list-gpu-arch | $SED 's/^compute_//' | tr '\n' ' '`
    AS_IF([test -z "$with_cuda_arch"], [
      for candidate in 70 90; do
        AS_CASE(["$photons_known"], [*" $candidate "*], [with_cuda_arch="$with_cuda_arch $candidate"])
      done])
    photons_newest=0
    for architecture in `AS_ECHO(["$with_cuda_arch"]) | tr ',' ' '`; do
      AS_CASE(["$photons_known"], [*" $architecture "*], [],
        [AC_MSG_ERROR([CUDA $CUDA_VERSION does not compile for $architecture; it knows$photons_known])])
      CUDA_ARCH_FLAGS="$CUDA_ARCH_FLAGS -gencode arch=compute_$architecture,code=sm_$architecture"
      AS_IF([test $architecture -gt $photons_newest], [photons_newest=$architecture])
    done
    AS_IF([test $photons_newest = 0], [AC_MSG_ERROR([name compute capabilities with --with-cuda-arch; nvcc knows$photons_known])])
    AC_MSG_RESULT([$with_cuda_arch])
    # Code in between for the driver to translate lets the program run on later GPUs.
    CUDA_ARCH_FLAGS="$CUDA_ARCH_FLAGS -gencode arch=compute_$photons_newest,code=compute_$photons_newest"
    CUDA_CPPFLAGS="-DPHOTONS_CUDA -isystem $CUDA_DIR/include"
    CUDA_LIBS="-L$CUDA_DIR/lib64 -Wl,-rpath,$CUDA_DIR/lib64 -lcufft -lcudart -lstdc++"
    AC_MSG_CHECKING([for CUB in CUDA $CUDA_VERSION])
    AS_ECHO(["@%:@include <cub/device/device_radix_sort.cuh>"]) >conftest.cu
    AS_IF(["$CUDA_DIR/bin/nvcc" -std=c++17 -E conftest.cu >/dev/null 2>&AS_MESSAGE_LOG_FD], [AC_MSG_RESULT([yes])], [
      AC_MSG_RESULT([no])
      AC_MSG_ERROR([CUDA $CUDA_VERSION comes without CUB: install the package of the toolkit's C++ libraries (cuda-cccl, Debian: libcub-dev)])])
    rm -f conftest.cu
    AC_MSG_CHECKING([whether StarPU $STARPU_VERSION knows CUDA])
    photons_saved_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $STARPU_CFLAGS $CUDA_CPPFLAGS"
    AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <starpu_config.h>
#ifndef STARPU_USE_CUDA
#error no CUDA
#endif]])], [AC_MSG_RESULT([yes])], [
      AC_MSG_RESULT([no])
      AC_MSG_ERROR([the StarPU $STARPU_VERSION found has no CUDA support. tools/build-starpu.sh --cuda builds one that has; put its
lib/pkgconfig first in PKG_CONFIG_PATH, or leave both to ./bootstrap --cuda build.])])
    CPPFLAGS=$photons_saved_CPPFLAGS
  ])
  AC_SUBST([CUDA_DIR])
  AC_SUBST([CUDA_ARCH_FLAGS])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LIBS])
  AM_CONDITIONAL([CUDA], [test -n "$CUDA_DIR"])
])

# PHOTONS_X86_KERNELS: can the compiler make the AVX2 and AVX-512 copies of the kernels?
AC_DEFUN([PHOTONS_X86_KERNELS], [
  AC_SUBST([AVX2_FLAGS], ["-mavx2 -mfma -mbmi2"])
  AC_SUBST([AVX512_FLAGS], ["$AVX2_FLAGS -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512"])
  AC_CACHE_CHECK([whether $CC makes AVX2 and AVX-512 code], [photons_cv_x86_kernels], [
    photons_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $AVX512_FLAGS"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#if !defined __x86_64__ || !defined __AVX2__ || !defined __AVX512VL__
#error not this processor
#endif]], [[return __builtin_cpu_supports("avx512vl");]])], [photons_cv_x86_kernels=yes], [photons_cv_x86_kernels=no])
    CFLAGS=$photons_saved_CFLAGS
  ])
  kernel_sets=baseline
  AS_IF([test $photons_cv_x86_kernels = yes], [
    kernel_sets="baseline, AVX2, AVX-512"
    AC_DEFINE([HAVE_X86_KERNELS], [1], [the AVX2 and AVX-512 copies of the kernels are built])])
  AM_CONDITIONAL([X86_KERNELS], [test $photons_cv_x86_kernels = yes])
])
