#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Build StarPU 1.4 as photons-starpu needs it: with FxT traces and MPI, for up to 256 cores, and
# with CUDA on request.
set -eu
name=build-starpu

usage() {
  cat <<END
usage: tools/build-starpu.sh [OPTION...] [SOURCE]
Builds and installs StarPU 1.4 with FxT, MPI and room for 256 cores. SOURCE is a tarball or an unpacked tree of StarPU; without it the
source comes from the distribution's source packages, from the newest suite that has StarPU 1.4. The machine's own apt configuration
stays as it is. Where the prefix already holds what is asked for, nothing is done.
  --cuda[=DIR]    with CUDA, whose nvcc is DIR/bin/nvcc (default: that of the nvcc found in PATH, else /usr/local/cuda)
  --prefix DIR    where to install (default: \$HOME/.local/starpu-1.4, with CUDA \$HOME/.local/starpu-1.4-cuda)
  --jobs N        how many compilers run at a time (default: one a core)
  --force         build even if the prefix holds the result already
  --find-cuda     only print the CUDA folder that --cuda finds
The environment variable MPICC names the compiler wrapper of another MPI than that of mpicc in PATH, e.g. MPICC=mpicc.mpich.
Afterwards: export PKG_CONFIG_PATH=PREFIX/lib/pkgconfig PATH=PREFIX/bin:\$PATH, then ./configure.
END
}
say() { printf '%s\n' "$name: $*"; }
die() {
  printf '%s\n' "$name: error: $*" >&2
  exit 1
}

find_cuda() {
  if nvcc=$(command -v nvcc); then
    nvcc=$(readlink -f "$nvcc")
    printf '%s\n' "${nvcc%/bin/nvcc}"
  elif [ -x /usr/local/cuda/bin/nvcc ]; then
    echo /usr/local/cuda
  else
    die "no nvcc in PATH and none in /usr/local/cuda: name the CUDA folder with --cuda=DIR"
  fi
}

cuda=no prefix= jobs=$(nproc) force=no source=
while [ $# -gt 0 ]; do
  case $1 in
    --cuda) cuda=$(find_cuda) ;;
    --cuda=*) cuda=${1#*=} ;;
    --find-cuda) find_cuda; exit ;;
    --prefix) shift; prefix=${1:?--prefix needs a folder} ;;
    --prefix=*) prefix=${1#*=} ;;
    --jobs) shift; jobs=${1:?--jobs needs a number} ;;
    --jobs=*) jobs=${1#*=} ;;
    --force) force=yes ;;
    -h | --help) usage; exit ;;
    -*) usage >&2; exit 2 ;;
    *) [ -z "$source" ] || { usage >&2; exit 2; }; source=$1 ;;
  esac
  shift
done
[ -z "$source" ] || [ -e "$source" ] || die "there is no '$source'"
[ -z "$source" ] || source=$(cd "$(dirname "$source")" && pwd)/$(basename "$source")
: "${prefix:=${HOME:?}/.local/starpu-1.4$([ "$cuda" = no ] || echo -cuda)}"
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

cuda_version=none cuda_options=--disable-cuda
if [ "$cuda" != no ]; then
  [ -x "$cuda/bin/nvcc" ] || die "there is no nvcc in '$cuda/bin'"
  cuda_version=$("$cuda/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
  cuda_options="--enable-cuda --with-cuda-dir=$cuda --enable-maxcudadev=8"
fi
# maxcpus=auto would use the core count of the machine that builds, not of the machine that runs.
# The disabled parts take long to build and are not used by photons-starpu.
options="$cuda_options --with-fxt --enable-maxcpus=256 --enable-maxbuffers=32 --disable-opencl --disable-hip --disable-build-doc
  --disable-build-examples --disable-build-tests --disable-socl --disable-starpufft --disable-starpupy --disable-openmp
  --disable-fortran"
: "${MPICC:=mpicc}"
[ "$MPICC" = mpicc ] || options="$options --with-mpicc=$(command -v "$MPICC")" ||
  die "there is no '$MPICC', which MPICC names"
stamp=$prefix/share/photons-starpu-stamp
wanted="options: $(echo $options), CUDA $cuda_version, source: ${source:-distribution}"
if [ $force = no ] && [ -e "$stamp" ] && [ "$(sed -n 2p "$stamp")" = "$wanted" ]; then
  say "$(sed -n 1p "$stamp") is in $prefix already"
  exit 0
fi

missing=
for need in make:make gcc:build-essential g++:build-essential pkg-config:pkg-config "$MPICC:libopenmpi-dev"; do
  command -v "${need%%:*}" >/dev/null || missing="$missing ${need#*:}"
done
if command -v pkg-config >/dev/null; then
  pkg-config --exists fxt || missing="$missing libfxt-dev"
  pkg-config --exists hwloc || missing="$missing libhwloc-dev"
fi
[ -z "$missing" ] || die "missing here: apt-get install$missing"

work=$(mktemp -d "${TMPDIR:-/tmp}/$name.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Get source packages of a newer suite from the servers that this machine's apt uses, with lists and
# caches of this script's own.
fetch_source() {
  command -v apt-get >/dev/null || die "no apt-get here: give StarPU 1.4's tarball as argument"
  mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
  servers=$(apt-get indextargets --format '$(COMPONENT) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^main //p' | awk '!seen[$0]++')
  [ -n "$servers" ] || die "apt-get knows no server with a component 'main' here: give StarPU 1.4's tarball as argument"
  components=main suites='sid testing stable'
  if grep -q '^ID\(_LIKE\)\{0,1\}=.*ubuntu' /etc/os-release 2>/dev/null; then components='main universe' suites=devel; fi
  own_apt="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$work/apt/parts -o Dir::State::Lists=$work/apt/lists
    -o Dir::Cache=$work/apt/cache -o APT::Sandbox::User= -o Acquire::Languages=none -o APT::Get::List-Cleanup=false"
  for suite in $suites; do
    for server in $servers; do
      echo "deb-src $server $suite $components" >"$work/apt/parts/starpu.list"
      apt-get $own_apt -qq update >>"$work/apt/log" 2>&1 || continue
      version=$(apt-cache $own_apt showsrc starpu 2>>"$work/apt/log" | sed -n 's/^Version: \(1\.4[^ ]*\)$/\1/p' | sort -V | tail -n 1)
      [ -n "$version" ] || continue
      say "source package starpu $version of suite $suite"
      (cd "$work/apt" && apt-get $own_apt -qq source --download-only "starpu=$version") >>"$work/apt/log" 2>&1 || continue
      source=$(ls "$work"/apt/starpu_*.orig.tar.* 2>/dev/null | grep -v '\.asc$' | head -n 1)
      [ -z "$source" ] || return 0
    done
  done
  tail -n 20 "$work/apt/log" >&2
  die "none of apt's servers had StarPU 1.4 in $suites: give its tarball as argument"
}

unpack_source() {
  mkdir "$work/source"
  if [ -d "$source" ]; then
    (cd "$source" && tar -cf - --exclude=.git .) | tar -xf - -C "$work/source"
  else
    tar -xf "$source" -C "$work/source" --strip-components=1 || die "cannot unpack '$source'"
  fi
  [ -f "$work/source/STARPU-VERSION" ] || die "'$source' is not StarPU's source"
  cd "$work/source"
  [ -x configure ] || ./autogen.sh
  starpu_version=$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" configure)
  case $starpu_version in 1.4*) ;; *) die "this is StarPU $starpu_version; 1.4 is wanted" ;; esac
}

# CUDA 13 has no cudaDeviceProp.computeMode; every CUDA version has the attribute.
fix_source() {
  for driver in src/drivers/cuda/driver_cuda.c src/drivers/cuda/driver_cuda1.c; do
    [ -f "$driver" ] || continue
    sed -i 's/^\([ \t]*\)if (props\[devid\]\.computeMode == cudaComputeModeExclusive)/'\
'\1int compute_mode = cudaComputeModeDefault;\n'\
'\1cudaDeviceGetAttribute(\&compute_mode, cudaDevAttrComputeMode, devid);\n'\
'\1if (compute_mode == cudaComputeModeExclusive)/' "$driver"
    if grep -q 'props\[devid\]\.computeMode' "$driver"; then
      die "$driver of this StarPU uses computeMode in a way that this script does not know"
    fi
  done
}

# run_logged WHAT COMMAND...
run_logged() {
  what=$1
  shift
  say "$what"
  if ! "$@" >"$work/log" 2>&1; then
    tail -n 40 "$work/log" >&2
    die "$what failed"
  fi
}

[ -n "$source" ] || fetch_source
unpack_source
fix_source
mkdir "$work/build"
cd "$work/build"
# Link the driver library through its stub. The library itself comes with the GPU driver; the result
# also runs on a machine without a GPU.
if [ "$cuda" != no ]; then set -- LDFLAGS="-L$cuda/lib64/stubs -Wl,-rpath,$cuda/lib64"; else set --; fi
run_logged "configuring StarPU $starpu_version, CUDA $cuda_version" ../source/configure --prefix="$prefix" $options "$@"
if [ "$cuda" != no ] && ! grep -q 'define STARPU_USE_CUDA 1' include/starpu_config.h; then
  grep -i cuda "$work/log" | tail -n 20 >&2
  die "StarPU's configure could not use the CUDA in $cuda"
fi
run_logged "building with $jobs jobs; this takes some minutes" make -j"$jobs"
run_logged "installing in $prefix" make install
mkdir -p "$prefix/share"
printf '%s\n' "StarPU $starpu_version" "$wanted" >"$stamp"
say "done: StarPU $starpu_version is in $prefix"
