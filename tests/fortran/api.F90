! api.F90 - the module zmpi (pmpi/fortran/zmpi.f90): bound, shape, statistics of a file and of a communicator, errors; what was
! written is read by the reader of the same module. All names are told by `use zmpi` alone.
#define CHECK(condition) call check(condition, __LINE__)

module testing
    use mpi
    use zmpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: nx = 64, ny = 48, nz = 32
    real, parameter :: bound = 1e-2
    integer :: rank, ranks, ierr
contains
    subroutine check(condition, line)
        logical, intent(in) :: condition
        integer, intent(in) :: line
        if (condition) return
        print '(a,i0,a,i0)', 'FAIL: rank ', rank, ': api.F90 line ', line
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    ! As it is after the decimal point, so that no order of the axes is like another.
    subroutine fill(a)
        real, intent(out) :: a(nx, ny, nz)
        integer :: x, y, z
        do z = 1, nz
            do y = 1, ny
                do x = 1, nx
                    a(x, y, z) = sin(0.01*x + 0.003*y*rank) + cos(0.3*y)*z + 0.01*mod(x*y*z, 7)
                end do
            end do
        end do
    end subroutine

    subroutine open_new(path, fh)
        character(*), intent(in) :: path
        integer, intent(out) :: fh
        if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, ierr)
        CHECK(ierr == MPI_SUCCESS)
    end subroutine

    subroutine test_file(a)
        real, intent(in) :: a(nx, ny, nz)
        type(zmpi_file_stats) :: stats
        integer :: fh
        integer(MPI_OFFSET_KIND) :: at
        call open_new('api.z', fh)
        CHECK(zmpi_file_is_container(fh))
        call zmpi_file_set_bound(fh, 'nonsense', ierr)
        CHECK(ierr == MPI_ERR_ARG)
        call zmpi_file_set_bound(fh, 'abs=1e-2   ', ierr)
        CHECK(ierr == MPI_SUCCESS)
        call zmpi_file_set_shape(fh, shape(a), ierr)
        CHECK(ierr == MPI_SUCCESS)
        call zmpi_file_set(fh, 'threshold', '1e6', ierr)
        CHECK(ierr == MPI_SUCCESS)
        call zmpi_file_set(fh, 'codec', 'fle', ierr) ! not for one file
        CHECK(ierr == MPI_ERR_ARG)
        at = int(rank, MPI_OFFSET_KIND)*size(a)*4
        call MPI_File_write_at_all(fh, at, a, size(a), MPI_REAL, MPI_STATUS_IGNORE, ierr)
        CHECK(ierr == MPI_SUCCESS)
        call zmpi_file_get_stats(fh, stats, ierr)
        CHECK(ierr == MPI_SUCCESS .and. stats%bytes_written == 4*size(a) .and. stats%records >= 1)
        CHECK(stats%bytes_stored > 0 .and. stats%bytes_stored < stats%bytes_written .and. stats%bytes_read == 0)
        CHECK(stats%seconds_compress > 0 .and. stats%bytes_offloaded == 0)
        call MPI_File_close(fh, ierr)

        call open_new('api.bin', fh)
        CHECK(.not. zmpi_file_is_container(fh))
        call zmpi_file_set_bound(fh, 'abs=1', ierr)
        CHECK(ierr == MPI_ERR_FILE)
        call zmpi_file_get_stats(fh, stats, ierr)
        CHECK(ierr == MPI_ERR_FILE)
        call MPI_File_close(fh, ierr)
    end subroutine

    ! Three variables of each point, whose ranges (2, 4, 6) nothing but the setting tells apart, and a fill value among the last
    ! one's, which nothing but the setting tells.
    subroutine test_components()
        integer, parameter :: points = 3000
        real, parameter :: missing = 0.5
        double precision, dimension(3, points) :: state, back
        integer :: fh, c, i
        integer(MPI_OFFSET_KIND) :: at
        do i = 1, points
            do c = 1, 3
                state(c, i) = c*sin(0.01d0*i + 0.3d0*c + rank)
            end do
            if (mod(i, 10) == 0) state(3, i) = missing
        end do
        call open_new('components.z', fh)
        call zmpi_file_set_bound(fh, 'rel=1e-2', ierr)
        CHECK(ierr == MPI_SUCCESS)
        call zmpi_file_set(fh, 'components', '0', ierr)
        CHECK(ierr == MPI_ERR_ARG)
        call zmpi_file_set(fh, 'components', '3', ierr)
        CHECK(ierr == MPI_SUCCESS)
        call zmpi_file_set(fh, 'fill', 'much', ierr)
        CHECK(ierr == MPI_ERR_ARG)
        call zmpi_file_set(fh, 'fill', '0.5', ierr)
        CHECK(ierr == MPI_SUCCESS)
        call zmpi_file_set(fh, 'exact_below', '100', ierr)
        CHECK(ierr == MPI_SUCCESS)
        at = int(rank, MPI_OFFSET_KIND)*size(state)*8
        call MPI_File_write_at_all(fh, at, state, size(state), MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
        CHECK(ierr == MPI_SUCCESS)
        call MPI_File_read_at_all(fh, at, back, size(back), MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
        CHECK(ierr == MPI_SUCCESS .and. any(back /= state))
        do c = 1, 3
            CHECK(all(abs(back(c, :) - state(c, :)) <= 1.0001d-2*2*c))
        end do
        CHECK(all(back(3, 10::10) == missing))
        call MPI_File_close(fh, ierr)
    end subroutine

    subroutine test_reader(a)
        real, intent(in) :: a(nx, ny, nz)
        real :: b(nx, ny, nz)
        type(zmpi_file) :: file
        integer(c_int64_t) :: bytes
        character(200) :: message
        call zmpi_open('api.z', file, ierr, message, threads=2)
        CHECK(ierr == 0)
        call zmpi_size(file, bytes, ierr)
        CHECK(ierr == 0 .and. bytes == int(ranks, c_int64_t)*size(a)*4)
        call zmpi_read(file, int(rank, c_int64_t)*size(a)*4, b, int(size(a), c_int64_t)*4, ierr, message)
        CHECK(ierr == 0 .and. all(abs(a - b) <= bound) .and. any(a /= b))
        call zmpi_close(file)
        call zmpi_open('api.bin', file, ierr, message)
        CHECK(ierr /= 0 .and. index(message, 'api.bin') == 1)
    end subroutine

    subroutine test_collective(a)
        real, intent(in) :: a(nx, ny, nz)
        type(zmpi_comm_stats) :: stats
        real, allocatable :: all_of_it(:, :, :, :)
        integer :: comm
        allocate (all_of_it(nx, ny, nz, 0:ranks - 1))
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call zmpi_comm_get_stats(comm, stats, ierr)
        CHECK(ierr == MPI_ERR_COMM)
        call zmpi_comm_set(comm, 'error_bound', 'abs=1e-2', ierr)
        if (ranks == 1) then
            CHECK(ierr == MPI_ERR_COMM)
        else
            CHECK(ierr == MPI_SUCCESS)
            call zmpi_comm_set(comm, 'collectives', 'allgather', ierr)
            CHECK(ierr == MPI_SUCCESS)
            call zmpi_comm_set(comm, 'collective_mode', 'always', ierr)
            CHECK(ierr == MPI_SUCCESS)
            call zmpi_comm_set(comm, 'error_bound', 'abs=-1', ierr)
            CHECK(ierr == MPI_ERR_ARG)
            call MPI_Allgather(a, size(a), MPI_REAL, all_of_it, size(a), MPI_REAL, comm, ierr)
            CHECK(ierr == MPI_SUCCESS .and. all(abs(all_of_it(:, :, :, rank) - a) <= bound))
            call zmpi_comm_get_stats(comm, stats, ierr)
            CHECK(ierr == MPI_SUCCESS .and. stats%calls == 1 .and. stats%compressed == 1)
            CHECK(stats%bytes_sent > 0 .and. stats%bytes_sent < stats%bytes)
        end if
        call MPI_Comm_free(comm, ierr)
    end subroutine
end module

program api
    use testing
    real :: a(nx, ny, nz)
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call fill(a)
    call test_file(a)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call test_reader(a)
    call test_collective(a)
    call test_components()
    call MPI_Finalize(ierr)
end program
