;; SPDX-License-Identifier: GPL-3.0-or-later
;; Untried: no Guix where this was written. In a checkout:
;;   guix build -f tools/recipes/guix/photons-starpu.scm
;; The package starpu of Guix is for CPUs; the channel guix-hpc-non-free has starpu-cuda.
(use-modules (guix build-system gnu)
             (guix gexp)
             ((guix licenses) #:prefix license:)
             (guix packages)
             (guix utils)
             (gnu packages))

(define %tree
  (dirname (dirname (dirname (current-source-directory)))))

(package
  (name "photons-starpu")
  (version "0.1.0")
  (source (local-file %tree "photons-starpu-checkout" #:recursive? #t))
  (build-system gnu-build-system)
  ;; make check starts mpirun, and takes longer than the build: ./bootstrap check runs it.
  (arguments (list #:tests? #f))
  (native-inputs
   (map specification->package '("autoconf" "automake" "libtool" "pkg-config")))
  (inputs
   (map specification->package
        '("starpu" "openmpi" "fftw" "fftwf" "hdf5" "gsl" "inih" "xxhash" "libdeflate" "libpng" "freetype"
          "hwloc")))
  (home-page "https://starpu.gitlabpages.inria.fr/")
  (synopsis "Cosmological N-body simulation as a task graph")
  (description
   "photons-starpu simulates collisionless particles under gravity in a periodic, expanding box.
A particle mesh computes the long-range force.  A fast multipole method and direct sums compute the
short-range force.  StarPU runs the tasks of a step.  The program also runs isolated galaxies, and
gas on an adaptive mesh.")
  (license license:gpl3+))
