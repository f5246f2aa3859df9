/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HOST_DEVICE before `inline` makes nvcc compile a header's function for host and device, so that
 * CPU and CUDA kernels use one definition. */
#ifndef PHOTONS_HOST_DEVICE_H
#define PHOTONS_HOST_DEVICE_H

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

#endif
