// finite_elements PATH: a function on a distributed mesh of deal.II, which writes it for viewers through HDF5.
#include <deal.II/base/function_lib.h>
#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/numerics/data_out.h>
#include <deal.II/numerics/vector_tools.h>

using namespace dealii;

int main(int argc, char **argv)
{
    Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
    parallel::distributed::Triangulation<3> mesh(MPI_COMM_WORLD);
    GridGenerator::hyper_cube(mesh);
    mesh.refine_global(5);
    FE_Q<3> element(1);
    DoFHandler<3> dofs(mesh);
    dofs.distribute_dofs(element);
    IndexSet relevant;
    DoFTools::extract_locally_relevant_dofs(dofs, relevant);
    LinearAlgebra::distributed::Vector<double> solution(dofs.locally_owned_dofs(), relevant, MPI_COMM_WORLD);
    VectorTools::interpolate(dofs, Functions::CosineFunction<3>(), solution);
    solution.update_ghost_values();

    DataOut<3> out;
    out.attach_dof_handler(dofs);
    out.add_data_vector(solution, "solution");
    out.build_patches();
    DataOutBase::DataOutFilter filter(DataOutBase::DataOutFilterFlags(false, false));
    out.write_filtered_data(filter);
    out.write_hdf5_parallel(filter, argv[1], MPI_COMM_WORLD);
}
