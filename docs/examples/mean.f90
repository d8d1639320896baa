! mean.f90 FILE: the mean of a container's 4-byte numbers, read piece by piece.
!
!     gfortran PREFIX/include/zmpi_reader.f90 mean.f90 $(pkg-config --libs zmpi_codec) -o mean
program mean
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
    use zmpi_reader
    implicit none
    integer(int64), parameter :: piece = 65536
    type(zmpi_file) :: file
    real(real32) :: values(piece)
    real(real64) :: total
    integer(int64) :: size, at, bytes
    integer :: status
    character(512) :: path, message

    call get_command_argument(1, path)
    call zmpi_open(trim(path), file, status, message)
    if (status == 0) call zmpi_size(file, size, status, message)
    if (status /= 0) call fail()
    total = 0
    do at = 0, size - 1, 4 * piece
        bytes = min(4 * piece, size - at)
        call zmpi_read(file, at, values, bytes, status, message)
        if (status /= 0) call fail()
        total = total + sum(real(values(:bytes / 4), real64))
    end do
    call zmpi_close(file)
    print '(a, f0.6)', trim(path) // " ", total / real(size / 4, real64)

contains

    subroutine fail()
        write (error_unit, '(a)') trim(message)
        call zmpi_close(file)
        stop 1
    end subroutine
end program
