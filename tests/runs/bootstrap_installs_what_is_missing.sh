#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The set-up script against stand-ins for the package manager and the build: what it would install, run and say.
set -u
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/bin" "$work/apt" || exit 99
cp "${PHOTONS_SOURCE:?}/bootstrap" "$work/tree/" && touch "$work/tree/configure.ac" || exit 99
mkdir -p "$work/tree/m4" "$work/tree/.ci" "$work/tree/tests/unit" && touch "$work/tree/m4/photons.m4" || exit 99
cp "$PHOTONS_SOURCE/.ci/run" "$work/tree/.ci/" || exit 99

for tool in sh cat chmod cp dirname env find grep ls mkdir nproc rm sed touch; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
stub() { # stub FOLDER NAME: a program that logs its call, then does what stands on stdin
  { echo "#!/bin/sh"; echo "echo \"$2 \$*\" >>'$work/log'"; cat; } >"$work/$1/$2"
  chmod +x "$work/$1/$2"
}
stub bin id <<'END'
cat "$WORK/uid"
END
stub bin autoreconf <<'END'
printf '#!/bin/sh\necho "configure $*" >>"$WORK/log"\ntouch Makefile config.status\n' >configure
chmod +x configure
touch Makefile.in
END
stub bin make <<'END'
cp "$WORK/program" photons-starpu
END
stub apt apt-get </dev/null
stub apt apt-cache </dev/null
stub apt sudo <<'END'
exec "$@"
END
stub apt dpkg-query <<'END'
for package; do :; done
grep -q -x "$package" "$WORK/missing" || printf installed
END
cat >"$work/program" <<'END'
#!/bin/sh
case $1 in
  --dry-run) printf '[ic]\ndir = wrong\n[output]\ndir = results of a run   ; comment\n[time]\ndir = wrong\n' ;;
  *) mkdir -p 'results of a run' && touch 'results of a run/snap_000.hdf5' ;;
esac
END
chmod +x "$work/program"
WORK=$work
export WORK

failures=0
bootstrap() {
  : >"$work/log"
  (cd "$work" && PATH=$work/bin:$work/apt tree/bootstrap "$@" >out 2>&1)
  status=$?
}
expect() { # expect DESCRIPTION CONDITION...
  what=$1
  shift
  "$@" && return
  failures=$((failures + 1))
  echo "failed: $what"
  sed 's/^/  said: /' "$work/out"
  grep -v "^dpkg-query" "$work/log" | sed "s/^/  called: /"
}
said() { grep -q -e "$1" "$work/out"; }
called() { grep -q -e "$1" "$work/log"; }
not_called() { ! called "$1"; }
echo 0 >"$work/uid"
: >"$work/missing"

bootstrap build
expect "build ends well" test $status -eq 0
expect "nothing missing: no call of apt" not_called '^apt'
expect "configures without options" called '^configure --quiet$'
expect "makes everything" called '^make -j[0-9]* all$'
expect "program in the tree" test -x "$work/tree/photons-starpu"

bootstrap build
expect "a second build does not configure" not_called '^configure'
bootstrap check --enable-sanitizers
expect "options configure anew" called '^configure --quiet --enable-sanitizers$'
expect "check makes check" called '^make -j[0-9]* check$'

printf '%s\n' libgsl-dev libpng-dev python3-yt >"$work/missing"
bootstrap build
expect "installs just what is missing" called '^apt-get install -y --no-install-recommends libgsl-dev libpng-dev$'
expect "says so" said '^bootstrap: installing libgsl-dev libpng-dev$'
expect "root needs no sudo" not_called '^sudo'
bootstrap check
expect "the tests need more" called '^apt-get install .* libgsl-dev libpng-dev python3-yt$'
echo 1000 >"$work/uid"
bootstrap build
expect "an ordinary user goes through sudo" called '^sudo env DEBIAN_FRONTEND=noninteractive apt-get install'
mv "$work/apt/sudo" "$work/sudo"
bootstrap build
expect "no sudo: an error" test $status -ne 0
expect "no sudo: says what to run" said 'have an administrator run: apt-get'
mv "$work/sudo" "$work/apt/"
mv "$work/apt/apt-get" "$work/apt-get"
bootstrap build
expect "no apt-get: an error" test $status -ne 0
expect "no apt-get: names the libraries" said 'libstarpu-dev'
mv "$work/apt-get" "$work/apt/"

: >"$work/missing"
bootstrap run nowhere.ini
expect "unreadable configuration: an error" test $status -ne 0
expect "unreadable configuration: before any work" not_called .
touch "$work/a.ini"
bootstrap run a.ini
expect "a run ends well" test $status -eq 0
expect "a run names its folder" said 'results of a.ini in results of a run:'
expect "a run names its files" said '^snap_000.hdf5$'
stub bin python3 <<'END'
[ "$1" = -c ] || echo "$2/report.html"
END
bootstrap run a.ini
expect "a run ends with a page about it" called '^python3 .*/tools/report.py results of a run$'
expect "a run names the page" said 'a page about the run: results of a run/report.html$'
bootstrap walk
expect "an unknown command is bad usage" test $status -eq 2

# With CUDA: the script that builds StarPU, and configure told of both. Where nothing changes, neither is called again.
mkdir "$work/tree/tools" || exit 99
stub tree/tools build-starpu.sh <<'END'
[ "$1" != --find-cuda ] || echo /opt/cuda
END
PHOTONS_STARPU=$work/starpu
export PHOTONS_STARPU
bootstrap --cuda build
expect "CUDA is looked for" called '^build-starpu.sh --find-cuda$'
expect "StarPU is built" called "^build-starpu.sh --cuda=/opt/cuda --prefix $work/starpu$"
expect "old objects go" called '^make clean$'
expect "configure is told" called "^configure --quiet --with-cuda=/opt/cuda PKG_CONFIG_PATH=$work/starpu/lib/pkgconfig$"
echo "'--with-cuda=/opt/cuda'" >"$work/tree/config.status"
bootstrap --cuda=/opt/cuda check
expect "a second call builds no StarPU" not_called '^build-starpu.sh'
expect "a second call does not configure" not_called '^configure'
echo libfxt-dev >"$work/missing"
bootstrap --cuda=/opt/other check
expect "traces need FxT" called '^apt-get install .* libfxt-dev$'
expect "another CUDA configures anew" called '^configure --quiet --with-cuda=/opt/other '
: >"$work/missing"

# .ci/run counts over the automake results and fails where a test failed or none passed.
ci() {
  cat >"$work/tree/bootstrap" && (PATH=$work/bin "$work/tree/.ci/run" >"$work/out" 2>&1)
  status=$?
}
ci <<'END'
#!/bin/sh
echo ':test-result: PASS' >tests/unit/a.trs
echo ':test-result: PASS' >tests/unit/b.trs
echo ':test-result: SKIP' >tests/unit/c.trs
END
expect "all well" test $status -eq 0
expect "counts, with the CUDA tests skipped for want of nvcc" said '^2 passed, 0 failed, 2 skipped$'
ci <<'END'
#!/bin/sh
echo ':test-result: PASS' >tests/unit/a.trs
echo ':test-result: ERROR' >tests/unit/b.trs
exit 2
END
expect "a failure" test $status -ne 0
expect "counts the failure, and no results of earlier runs" said '^1 passed, 1 failed, 1 skipped$'
ci <<'END'
#!/bin/sh
exit 2
END
expect "a build that breaks" test $status -ne 0
expect "counts as a failure" said '^0 passed, 1 failed, 1 skipped$'

exit $((failures > 0))
