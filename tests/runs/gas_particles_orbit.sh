#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Particles on the adaptive mesh without gas: a light one that crosses the edge of a level, and a
# pair of heavy ones whose refined regions move with them, keep to their circles.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy
make_particles

# A circle of radius 0.15 takes 0.365; the box is refined between 0.5 and 0.75.
run circle empty.ini --set time.end=0.0912 --set output.interval=0.0057
# The pair lies between patch groups, whose potentials must agree well.
run pair empty.ini --set ic.source=point_masses --set ic.particles= \
  --set time.end=0.13885 --set output.interval=0.013885 --set gas.sibling_relaxations=32
support gas_particles.py circles circle pair || complain "other circles"
finish
