#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Emulated GPUs and cores agree where the mesh is so fine that the cells of a node's particles do not fit
# into CUDA shared memory: pm_read then reads quarters of nodes, or single particles.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
"$gpu_tests/cuda_check_on_cores" universe box.npart_side=12 runtime.leaf_size=16 gravity.pm_grid=36
