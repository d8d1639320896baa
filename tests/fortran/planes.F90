! planes.F90 - a program that writes planes of an array by MPI-IO and reads them by Fortran's OPEN, as the tests of 2DECOMP&FFT do;
! and one that begins a file by OPEN, goes on by MPI-IO, and reads it by OPEN: all see the numbers, within the bound.
program planes
    use mpi
    implicit none
    integer, parameter :: n = 96
    double precision, parameter :: bound = 1d-3
    character(16), parameter :: head = 'sixteen bytes...'
    integer :: rank, ranks, ierr, begin, rows
    double precision :: value(n, n)
    double precision, allocatable :: own(:, :)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    begin = n*rank/ranks
    rows = n*(rank + 1)/ranks - begin
    call fill()
    call write_plane('plane.dat', MPI_MODE_CREATE + MPI_MODE_WRONLY, 0_MPI_OFFSET_KIND)
    call read_plane('plane.dat', .true., 0)
    if (.not. is_container('plane.dat')) call fail('reading has changed the container')
    call read_plane('plane.dat', .false., 0) ! which may write: a plain file from now on
    if (is_container('plane.dat')) call fail('a file that is open for writing is a container')
    call read_plane('plane.dat', .true., 0)

    if (rank == 0) then
        open (10, file='begun.dat', access='stream', form='unformatted', status='replace', action='write')
        write (10) head
        close (10)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call write_plane('begun.dat', MPI_MODE_APPEND + MPI_MODE_WRONLY, 16_MPI_OFFSET_KIND)
    if (.not. is_container('begun.dat')) call fail('a file that Fortran began is no container')
    call read_plane('begun.dat', .true., 16)
    call MPI_Finalize(ierr)
contains
    subroutine fail(what)
        character(*), intent(in) :: what
        print '(a,i0,2a)', 'FAIL: rank ', rank, ': ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    subroutine fill()
        integer :: i, j
        do j = 1, n
            do i = 1, n
                value(i, j) = sin(0.05d0*i) + cos(0.03d0*j)
            end do
        end do
        own = value(:, begin + 1:begin + rows)
    end subroutine

    subroutine write_plane(name, mode, offset)
        character(*), intent(in) :: name
        integer, intent(in) :: mode
        integer(MPI_OFFSET_KIND), intent(in) :: offset
        integer :: file, type
        call MPI_Type_create_subarray(2, [n, n], [n, rows], [0, begin], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, type, ierr)
        call MPI_Type_commit(type, ierr)
        call MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, file, ierr)
        call MPI_File_set_view(file, offset, MPI_DOUBLE_PRECISION, type, 'native', MPI_INFO_NULL, ierr)
        call MPI_File_write_all(file, own, n*rows, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
        if (ierr /= MPI_SUCCESS) call fail('MPI_File_write_all')
        call MPI_File_close(file, ierr)
        call MPI_Type_free(type, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    ! By all ranks; one that may write, by rank 0 alone.
    subroutine read_plane(name, only_reads, before)
        character(*), intent(in) :: name
        logical, intent(in) :: only_reads
        integer, intent(in) :: before
        double precision :: got(n, n)
        character(16) :: first
        integer :: j
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        if (before > 0) then
            open (10, file=name, access='stream', form='unformatted', action='read')
            read (10) first, got
            if (first /= head) call fail('the head of '//name)
            close (10)
        else if (only_reads .or. rank == 0) then
            if (only_reads) then
                open (10, file=name, access='direct', form='unformatted', recl=8*n, action='read')
            else
                open (10, file=name, access='direct', form='unformatted', recl=8*n)
            end if
            do j = n, 1, -1
                read (10, rec=j) got(:, j)
            end do
            close (10)
        else
            got = value
        end if
        if (maxval(abs(got - value)) > bound) call fail('the numbers of '//name)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    ! On disk it is shorter than its numbers.
    logical function is_container(name)
        character(*), intent(in) :: name
        integer :: status, bytes = 0
        if (rank == 0) then
            call execute_command_line('env -u LD_PRELOAD stat -c %s '//name//' >size.txt', exitstat=status)
            open (11, file='size.txt', action='read')
            read (11, *) bytes
            close (11)
        end if
        call MPI_Bcast(bytes, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        is_container = bytes < 8*n*n
    end function
end program
