/* Small functions of the headers that CUDA kernels use as well: HOST_DEVICE before `inline` makes nvcc compile them for both. */
#ifndef PHOTONS_HOST_DEVICE_H
#define PHOTONS_HOST_DEVICE_H

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

#endif
