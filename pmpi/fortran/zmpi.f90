! zmpi.f90 - zmpi.h for Fortran 2018: what a program may ask of libzmpi beyond preloading it; and all of the module zmpi_reader.
! Compile both with your program, since compilers do not read each other's modules, and link them before the MPI library:
!
!     mpifort -c $PREFIX/include/zmpi_reader.f90 $PREFIX/include/zmpi.f90
!     mpifort simulation.f90 zmpi.o zmpi_reader.o -lzmpi -lzmpi_codec
!
! Handles are those of mpif.h and `use mpi`: integers. With mpi_f08 give fh%MPI_VAL, comm%MPI_VAL. `ierror` is MPI_SUCCESS, 0, or
! an MPI error class. zmpi.h says what each call does, and who calls it.
module zmpi
    use, intrinsic :: iso_c_binding
    use zmpi_reader
    implicit none
    private
    public :: zmpi_file, zmpi_open, zmpi_size, zmpi_read, zmpi_refresh, zmpi_close
    public :: zmpi_file_stats, zmpi_comm_stats
    public :: zmpi_file_set_bound, zmpi_file_set_shape, zmpi_file_set, zmpi_file_is_container, zmpi_file_get_stats
    public :: zmpi_comm_set, zmpi_comm_get_stats

    ! What this rank did with an open container so far: bytes and seconds, as in zmpi.h.
    type, bind(c) :: zmpi_file_stats
        integer(c_int64_t) :: bytes_written, bytes_stored, bytes_read, records
        real(c_double) :: seconds_scan, seconds_compress, seconds_write, seconds_read, seconds_decode
        real(c_double) :: ratio_bound
        integer(c_int64_t) :: bytes_offloaded, bytes_decoded_offloaded
    end type

    ! What this rank did in collective operations on a communicator so far.
    type, bind(c) :: zmpi_comm_stats
        integer(c_int64_t) :: calls, compressed, bytes, bytes_sent
        real(c_double) :: seconds, seconds_scan, seconds_compress, seconds_decode
        real(c_double) :: ratio_bound
        integer(c_int64_t) :: bytes_offloaded, bytes_decoded_offloaded
    end type

    interface
        function c_set_bound(fh, bound) bind(c, name="zmpi_fortran_file_set_bound") result(class)
            import
            integer(c_int), value :: fh
            character(kind=c_char), intent(in) :: bound(*)
            integer(c_int) :: class
        end function

        function c_set_shape(fh, extent) bind(c, name="zmpi_fortran_file_set_shape") result(class)
            import
            integer(c_int), value :: fh
            integer(c_size_t), intent(in) :: extent(3)
            integer(c_int) :: class
        end function

        function c_file_set(fh, option, text) bind(c, name="zmpi_fortran_file_set") result(class)
            import
            integer(c_int), value :: fh
            character(kind=c_char), intent(in) :: option(*), text(*)
            integer(c_int) :: class
        end function

        function c_is_container(fh) bind(c, name="zmpi_fortran_file_is_container") result(is)
            import
            integer(c_int), value :: fh
            integer(c_int) :: is
        end function

        function c_file_stats(fh, stats) bind(c, name="zmpi_fortran_file_get_stats") result(class)
            import
            integer(c_int), value :: fh
            type(zmpi_file_stats), intent(inout) :: stats
            integer(c_int) :: class
        end function

        function c_comm_set(comm, option, text) bind(c, name="zmpi_fortran_comm_set") result(class)
            import
            integer(c_int), value :: comm
            character(kind=c_char), intent(in) :: option(*), text(*)
            integer(c_int) :: class
        end function

        function c_comm_stats(comm, stats) bind(c, name="zmpi_fortran_comm_get_stats") result(class)
            import
            integer(c_int), value :: comm
            type(zmpi_comm_stats), intent(inout) :: stats
            integer(c_int) :: class
        end function
    end interface

contains

    ! "abs=1e-3", "rel=1e-3", ...
    subroutine zmpi_file_set_bound(fh, bound, ierror)
        integer, intent(in) :: fh
        character(*), intent(in) :: bound
        integer, intent(out) :: ierror
        ierror = c_set_bound(fh, trim(bound) // c_null_char)
    end subroutine

    ! As shape(a) tells it, the fastest extent first; of more than three the last ones are multiplied.
    subroutine zmpi_file_set_shape(fh, extents, ierror)
        integer, intent(in) :: fh, extents(:)
        integer, intent(out) :: ierror
        integer(c_size_t) :: extent(3)
        integer :: i
        extent = 1
        do i = 1, size(extents)
            extent(max(1, 4 - i)) = extent(max(1, 4 - i)) * int(extents(i), c_size_t)
        end do
        ierror = c_set_shape(fh, extent)
    end subroutine

    ! Option and value as in `zmpi options`: threshold, fill, components, exact_below, shape.
    subroutine zmpi_file_set(fh, option, text, ierror)
        integer, intent(in) :: fh
        character(*), intent(in) :: option, text
        integer, intent(out) :: ierror
        ierror = c_file_set(fh, trim(option) // c_null_char, trim(text) // c_null_char)
    end subroutine

    logical function zmpi_file_is_container(fh)
        integer, intent(in) :: fh
        zmpi_file_is_container = c_is_container(fh) /= 0
    end function

    subroutine zmpi_file_get_stats(fh, stats, ierror)
        integer, intent(in) :: fh
        type(zmpi_file_stats), intent(inout) :: stats
        integer, intent(out) :: ierror
        ierror = c_file_stats(fh, stats)
    end subroutine

    ! Collective. Option and value as in `zmpi options`: error_bound, collectives, ...
    subroutine zmpi_comm_set(comm, option, text, ierror)
        integer, intent(in) :: comm
        character(*), intent(in) :: option, text
        integer, intent(out) :: ierror
        ierror = c_comm_set(comm, trim(option) // c_null_char, trim(text) // c_null_char)
    end subroutine

    subroutine zmpi_comm_get_stats(comm, stats, ierror)
        integer, intent(in) :: comm
        type(zmpi_comm_stats), intent(inout) :: stats
        integer, intent(out) :: ierror
        ierror = c_comm_stats(comm, stats)
    end subroutine
end module
