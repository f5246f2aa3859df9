#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# configure's search passes over a Python that lacks modules, and tools run under the Python that
# was configured. Stand-ins for Python have the modules that stand in a file beside them.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

# python NAME MODULE...: a stand-in that prints the modules it lacks, as needed_modules.py does.
python() {
  name=$1
  shift
  printf '%s\n' sys "$@" >"$name.modules"
  cat >"$name" <<'STANDIN'
#!/bin/sh
shift
for module in ${*:-h5py matplotlib numpy yt}; do
  grep -q -x "$module" "$0.modules" || echo "$module"
done
STANDIN
  chmod +x "$name"
}
# finds WHAT PYTHON CANDIDATE...: of the candidates the search takes this one.
finds() {
  what=$1 expected=$2
  shift 2
  found=$("$PHOTONS_SOURCE/tools/find-python.sh" "$@" 2>err)
  [ "$found" = "$expected" ] || complain "$what: found '$found', not '$expected'"
}
python "$work/none"
python "$work/no_h5py" matplotlib numpy yt
python "$work/no_yt" h5py matplotlib numpy
python "$work/all" h5py matplotlib numpy yt
printf '#!/bin/sh\nexit 127\n' >broken && chmod +x broken
set -- "$work/missing" "$work/broken" "$work/none" "$work/no_h5py"
finds 'all modules are there' "$work/all" "$@" "$work/no_yt" "$work/all"
finds 'the tools have theirs' "$work/no_yt" "$@" "$work/no_yt"
finds 'nothing but Python' "$work/none" "$@"
finds 'no Python' '' "$work/missing" "$work/broken"

# A bare python3 that stands first in PATH does not hide the Python that configure found.
if (need_python) >/dev/null; then
  mkdir bin
  python "$work/bin/python3"
  found=$(PATH=$work/bin:$PATH "$PHOTONS_SOURCE/tools/find-python.sh")
  [ -z "$("$found" "$PHOTONS_SOURCE/tools/needed_modules.py" 2>err)" ] ||
    complain "a bare python3 in PATH: found '$found'"
fi

# Tools run under the Python in the Makefile, unless the environment names another.
mkdir -p tree/tools
cp "$PHOTONS_SOURCE/tools/python.sh" tree/tools/
echo "PYTHON = $work/no_yt" >tree/Makefile
[ "$(unset PYTHON; tree/tools/python.sh script 2>err)" = yt ] ||
  complain "not the Makefile's Python"
[ "$(PYTHON=$work/no_h5py tree/tools/python.sh script 2>err)" = h5py ] ||
  complain 'not the Python in the environment'

finish
