# SPDX-License-Identifier: GPL-3.0-or-later
# Untried: no Spack where this was written. In a folder packages/photons_starpu (Spack before 1.0:
# packages/photons-starpu) of a repository of your own (spack repo create), then, in a checkout:
#   spack dev-build photons-starpu@0.1.0
from spack.package import *


class PhotonsStarpu(AutotoolsPackage, CudaPackage):
    """Cosmological N-body simulation by a particle mesh and fast multipoles, as a task graph."""

    license("GPL-3.0-or-later")
    version("0.1.0")  # with spack dev-build the source is the checkout

    variant("fxt", default=False, description="StarPU with FxT traces")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs, e.g. cuda_arch=90")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("starpu@1.3:1.4 +mpi ~examples ~openmp")
    depends_on("starpu@1.4 +cuda", when="+cuda")
    depends_on("starpu +fxt", when="+fxt")
    depends_on("fftw@3 precision=float,double")
    depends_on("hdf5")
    depends_on("gsl")
    depends_on("inih")
    depends_on("xxhash")
    depends_on("libdeflate")
    depends_on("libpng")
    depends_on("freetype")
    depends_on("hwloc")

    def configure_args(self):
        args = [f"MPICC={self.spec['mpi'].mpicc}"]
        if self.spec.satisfies("+cuda"):
            args.append(f"--with-cuda={self.spec['cuda'].prefix}")
            args.append(f"--with-cuda-arch={','.join(self.spec.variants['cuda_arch'].value)}")
        return args
