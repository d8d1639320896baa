! check.h - the three bindings under one set of names, for .F90 files compiled with BINDING_F08, BINDING_MODULE or
! BINDING_HEADER.
#if defined(BINDING_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define FILE_T type(MPI_File)
#define TYPE_T type(MPI_Datatype)
#define INFO_T type(MPI_Info)
#define REQUEST_T type(MPI_Request)
#define HANDLER_T type(MPI_Errhandler)
#define STATUS_T type(MPI_Status)
#elif defined(BINDING_MODULE)
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#ifndef FILE_T
#define FILE_T integer
#define TYPE_T integer
#define INFO_T integer
#define REQUEST_T integer
#define HANDLER_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)
#endif
#define CHECK(condition) call check(condition, __LINE__)
