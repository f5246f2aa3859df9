#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make install gives a program, its manual page, completion, parameter files, documentation and the
# tools as commands, all of which work away from the sources; make uninstall takes all away.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy

root=$PWD/root
build=$(dirname "$PHOTONS")
# What MAKEFLAGS of make check says is not meant for this make.
MAKEFLAGS= MFLAGS= make -s -C "$build" install prefix="$root" DESTDIR= >log 2>&1 ||
  complain "make install: $(tail -n 5 log)"
"$root/bin/photons-starpu" --version >out || complain 'the program does not start'
# All parameters are in the manual page, and nothing of it is lost in troff.
page=$root/share/man/man1/photons-starpu.1
for key in npart_side mac_tolerance checkpoint_minutes wall_time system boundary component_8 root; do
  grep -q "^\.B $key\$" "$page" || complain "the manual page lacks $key"
done
grep -q '^\.B \\-P, \\-\\-set SECTION.KEY=VALUE$' "$page" || complain 'the manual page lacks --set'
# A run with installed files, and a page about it.
folder=$root/share/photons-starpu
[ -e "$folder/params/quickstart.ini" ] && [ -e "$root/share/doc/photons-starpu/README.md" ] &&
  [ -e "$root/share/doc/photons-starpu/docs/user/running.md" ] || complain 'parameters or documentation'
for config in $(cd "$PHOTONS_SOURCE" && find params -name '*.ini'); do
  [ -e "$folder/$config" ] || complain "$config is not installed"
done
mkdir away && cd away || exit 1
for system in quickstart galaxy/m31 gas/sod; do
  "$root/bin/photons-starpu" --dry-run "$folder/params/$system.ini" >out 2>err ||
    complain "the dry run of $system.ini: exit code $?"
done
"$root/bin/photons-starpu" -q --steps 0 --set box.npart_side=16 --set output.dir=run \
  --set output.redshifts=49 --set output.images=no "$folder/params/quickstart.ini" || complain 'the run'
"$root/bin/photons-report" run >out 2>err || complain "photons-report: $(cat err)"
[ -s run/report.html ] || complain 'photons-report made no page'
for tool in linear-theory movie plot report swift-view timeline; do
  "$root/bin/photons-$tool" --help >out 2>&1
  grep -q "^usage: photons-$tool " out || complain "photons-$tool: $(head -n 1 out)"
done
cd ..
# Completion asks the program.
if command -v bash >/dev/null; then
  found=$(PATH=$root/bin:$PATH bash -c ". '$root/share/bash-completion/completions/photons-starpu'
    compopt() { :; }
    COMP_WORDS=(photons-starpu --set gravity.sof) COMP_CWORD=2
    _photons_starpu && echo \"\${COMPREPLY[*]}\"")
  case $found in
    *gravity.softening=*gravity.softening_max_physical=*) ;;
    *) complain "completion of gravity.sof: $found" ;;
  esac
fi
MAKEFLAGS= MFLAGS= make -s -C "$build" uninstall prefix="$root" DESTDIR= >log 2>&1 ||
  complain "make uninstall: $(tail -n 5 log)"
left=$(find "$root" -type f ! -name '*.pyc')
[ -z "$left" ] || complain "make uninstall leaves $left"

finish
