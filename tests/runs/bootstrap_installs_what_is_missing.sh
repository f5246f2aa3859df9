#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The set-up script against stand-ins for the package manager, the build and Python: what it
# would install, run and say.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
mkdir -p tree/m4 tree/tools bin apt || exit 99
cp "$PHOTONS_SOURCE/bootstrap" tree/ && touch tree/configure.ac tree/m4/photons.m4 || exit 99
link_tools bin sh cat chmod cp dirname env find grep head ls mkdir rm sed touch
stub() { # stub FOLDER NAME: a program that logs its call, then does what stands on stdin
  { echo "#!/bin/sh"; echo "echo \"$2 \$*\" >>'$work/log'"; cat; } >"$work/$1/$2"
  chmod +x "$work/$1/$2"
}
stub bin id <<'END'
cat "$WORK/uid"
END
stub bin autoreconf <<'END'
cat >configure <<'CONFIGURE'
#!/bin/sh
echo "configure $*" >>"$WORK/log"
printf '#!/bin/sh\necho "config.status $*" >>"$WORK/log"\n' >config.status
chmod +x config.status
touch Makefile
CONFIGURE
chmod +x configure
touch Makefile.in
END
stub tree/tools python.sh <<'END'
case $1 in
  tools/needed_modules.py) cat "$WORK/lacking" ;;
  *) cat "$WORK/page" && echo "$2/report.html" ;;
esac
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
printf '#!/bin/sh\ncat "$WORK/cores"\n' >bin/nproc && chmod +x bin/nproc
cat >program <<'END'
#!/bin/sh
case $1 in
  --dry-run)
    printf '%s\n' '[ic]' 'dir = wrong' '[output]' 'dir = results of a run   ; comment' \
      '[time]' 'dir = wrong'
    ;;
  *)
    echo "run $*" >>"$WORK/log"
    mkdir -p 'results of a run'
    touch 'results of a run/snapshot_000.hdf5' 'results of a run/config-used.ini'
    ;;
esac
END
chmod +x program
WORK=$work
export WORK

bootstrap() {
  : >log
  PATH=$work/bin:$work/apt tree/bootstrap "$@" >err 2>&1
  status=$?
}
expect() { # expect DESCRIPTION CONDITION...
  what=$1
  shift
  "$@" && return
  complain "$what"
  grep -v "^dpkg-query" log | sed 's/^/    called: /'
}
said() { grep -q -e "$1" err; }
called() { grep -q -e "$1" log; }
not_called() { ! called "$1"; }
echo 0 >uid
echo 2 >cores
: >missing
: >lacking
: >page

bootstrap build
expect "build ends well" test $status -eq 0
expect "nothing missing: no call of apt" not_called '^apt'
expect "configures without options" called '^configure --quiet$'
expect "makes everything" called '^make -j[0-9]* all$'
expect "program in the tree" test -x tree/photons-starpu

bootstrap build
expect "a second build does not configure" not_called '^configure'
bootstrap check --enable-sanitizers
expect "options configure anew" called '^configure --quiet --enable-sanitizers$'
expect "check makes check" called '^make -j[0-9]* check$'

printf '%s\n' libgsl-dev libpng-dev python3-yt >missing
bootstrap build
expect "installs just what is missing" called \
  '^apt-get install -y --no-install-recommends libgsl-dev libpng-dev$'
expect "says so" said '^bootstrap: installing libgsl-dev libpng-dev$'
expect "root needs no sudo" not_called '^sudo'
bootstrap check
expect "the tests need more" called '^apt-get install .* libgsl-dev libpng-dev python3-yt$'
echo procps >missing
bootstrap check
expect "the tests need ps" called '^apt-get install .* procps$'
echo python3-pip >missing
bootstrap check
expect "the tests need pip" called '^apt-get install .* python3-pip$'
printf '%s\n' chromium chromium-driver python3-selenium >missing
bootstrap check
expect "the tests need no browser" not_called '^apt-get install'
bootstrap check-browser
expect "the test of the page needs a browser" called \
  '^apt-get install .* chromium chromium-driver python3-selenium$'
expect "check-browser makes check-browser" called '^make -j[0-9]* check-browser$'
echo cppcheck >missing
bootstrap lint
expect "lint needs its programs" called '^apt-get install .* cppcheck$'
expect "lint makes lint" called '^make -j[0-9]* lint$'
printf '%s\n' libgsl-dev libpng-dev >missing
echo 1000 >uid
bootstrap build
expect "an ordinary user goes through sudo" called \
  '^sudo env DEBIAN_FRONTEND=noninteractive apt-get install'
mv apt/sudo sudo
bootstrap build
expect "no sudo: an error" test $status -ne 0
expect "no sudo: says what to run" said 'have an administrator run: apt-get'
mv sudo apt/
mv apt/apt-get apt-get
bootstrap build
expect "no apt-get: an error" test $status -ne 0
expect "no apt-get: names the libraries" said 'libstarpu-dev'
mv apt-get apt/

: >missing
bootstrap run nowhere.ini
expect "unreadable configuration: an error" test $status -ne 0
expect "unreadable configuration: before any work" not_called .
touch a.ini
bootstrap run a.ini
expect "a run ends well" test $status -eq 0
expect "a run names its folder" said 'results of a.ini in results of a run:'
expect "a run names its files" said '^snapshot_000.hdf5$'
expect "a run ends with a page about it" called '^python.sh .*/tools/report.py results of a run$'
expect "a run names the page" said 'a page about the run: results of a run/report.html$'
expect "a first run finds no earlier one" called '^run a.ini$'
rm page
bootstrap run a.ini
expect "a second run replaces the first" called '^run --overwrite a.ini$'
expect "a second run: says so" said 'results of an earlier run in results of a run are replaced'
expect "no page: the run ends well" test $status -eq 0
expect "no page: says so" said '^bootstrap: no page about the run$'
: >page
touch 'results of a run/checkpoint.hdf5'
bootstrap run a.ini
expect "a run that may go on is not replaced" called '^run a.ini$'
bootstrap walk
expect "an unknown command is bad usage" test $status -eq 2

# A Python that was configured before it had the modules.
echo yt >lacking
bootstrap build
expect "a build needs no Python" not_called '^config.status'
bootstrap check
expect "tests have configure look again" called '^config.status --quiet --recheck$'
expect "the Makefile learns of it" called '^config.status --quiet$'
: >lacking
bootstrap check
expect "all modules are there: configure stays" not_called '^config'

# With CUDA: the script that builds StarPU, and configure told of both. Where nothing changes,
# neither is called again.
stub tree/tools build-starpu.sh <<'END'
[ "$1" != --find-cuda ] || echo /opt/cuda
END
PHOTONS_STARPU=$work/starpu
export PHOTONS_STARPU
bootstrap --cuda build
expect "CUDA is looked for" called '^build-starpu.sh --find-cuda$'
expect "StarPU is built" called "^build-starpu.sh --cuda=/opt/cuda --prefix $work/starpu$"
expect "old objects go" called '^make clean$'
expect "configure is told" called \
  "^configure --quiet --with-cuda=/opt/cuda PKG_CONFIG_PATH=$work/starpu/lib/pkgconfig$"
echo "'--with-cuda=/opt/cuda'" >tree/config.status
bootstrap --cuda=/opt/cuda check
expect "a second call builds no StarPU" not_called '^build-starpu.sh'
expect "a second call does not configure" not_called '^configure'
echo libfxt-dev >missing
bootstrap --cuda=/opt/other check
expect "traces need FxT" called '^apt-get install .* libfxt-dev$'
expect "another CUDA configures anew" called '^configure --quiet --with-cuda=/opt/other '
: >missing

# More cores than the distribution's StarPU uses: a new build takes StarPU 1.4, what is configured stays.
rm -f tree/Makefile tree/config.status
bootstrap --starpu=debian build
expect "debian's: builds no StarPU" not_called '^build-starpu.sh'
echo 300 >cores
bootstrap build
expect "many cores: what is configured stays" not_called '^build-starpu.sh'
expect "many cores: says what would take all" said '300 cores'
rm tree/Makefile
echo libfxt-dev >missing
bootstrap build
expect "many cores: traces need FxT" called '^apt-get install .* libfxt-dev$'
expect "many cores: StarPU is built" called "^build-starpu.sh --prefix $work/starpu$"
expect "many cores: configure is told" called "^configure --quiet PKG_CONFIG_PATH=$work/starpu/lib/pkgconfig$"
: >missing
echo "PKG_CONFIG_PATH=$work/starpu/lib/pkgconfig" >tree/config.status
bootstrap --starpu=1.4 build
expect "a second call builds no StarPU" not_called '^build-starpu.sh'
expect "a second call does not configure" not_called '^configure'
bootstrap --starpu=debian build
expect "debian's again: configure is told" called '^configure --quiet --without-cuda$'
stub tree/tools build-starpu.sh <<'END'
exit 1
END
rm tree/Makefile
bootstrap build
expect "no StarPU 1.4: the distribution's" called '^configure --quiet$'
expect "no StarPU 1.4: says so" said 'StarPU 1.4 could not be built'
bootstrap --starpu=1.4 build --enable-debug-checks
expect "no StarPU 1.4, asked for: an error" test $status -ne 0
expect "no StarPU 1.4, asked for: configures nothing" not_called '^configure'
bootstrap --starpu=2 build
expect "another StarPU: an error" said 'take --starpu=debian or --starpu=1.4'

finish
