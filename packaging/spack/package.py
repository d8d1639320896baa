"""A recipe for Spack: copy it to packages/zmpi of a repository of your own (spack repo create)."""
from spack.package import *


class Zmpi(CMakePackage):
    """Error-bounded compression for the I/O and collectives of unmodified MPI programs."""

    # The sources are a checkout: spack dev-build zmpi@main, in its folder.
    version("main")

    variant("fuse", default=False, description="zmpi mount")
    variant("nic", default=False, description="The service for SmartNICs")
    variant("cuda", default=False, description="NVIDIA GPUs as devices")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("mpi")
    depends_on("xxhash@0.8:")
    depends_on("libfuse@3:", when="+fuse")
    depends_on("libfabric@1.11:", when="+nic")
    depends_on("nettle", when="+nic")
    depends_on("cuda", when="+cuda")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("ZMPI_MPI", ""), # that of the compiler alone
            self.define_from_variant("ZMPI_CUDA", "cuda"),
        ]
