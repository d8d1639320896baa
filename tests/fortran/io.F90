! io.F90 - what Fortran programs do with MPI-IO and MPI_Gather, through each of the three bindings. Every file is
! written twice: NAME.z is a container, NAME.bin is not (ZMPI_FILES). What is read from both must agree.
#include "check.h"

module testing
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: nx = 40, ny = 24, nz = 8
    real, parameter :: bound = 1e-3
    integer :: rank, ranks, ierr
    integer :: handled = 0, handled_class = 0
    integer(MPI_OFFSET_KIND) :: handled_size = -1, plain_size = -1
contains
    subroutine check(condition, line)
        logical, intent(in) :: condition
        integer, intent(in) :: line
        if (condition) return
        print '(a,i0,a,i0)', 'FAIL: rank ', rank, ': io.F90 line ', line
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    ! One number for each element of the global array, smooth.
    real function field(x, y, z)
        integer, intent(in) :: x, y, z
        field = sin(0.1*x) + cos(0.07*y)*sin(0.05*z)
    end function

    subroutine fill(a)
        real, intent(out) :: a(nx, ny, nz)
        integer :: x, y, z
        do z = 1, nz
            do y = 1, ny
                do x = 1, nx
                    a(x, y, z) = field(x, y, z + rank*nz)
                end do
            end do
        end do
    end subroutine

    ! Is it a container on the disk?
    logical function is_container(path)
        character(*), intent(in) :: path
        character(8) :: head
        integer :: unit, stat
        open (newunit=unit, file=path, access='stream', form='unformatted', action='read', status='old')
        read (unit, iostat=stat) head
        close (unit)
        is_container = stat == 0 .and. head(2:5) == 'ZMPI'
    end function

    integer function disk_size(path)
        character(*), intent(in) :: path
        inquire (file=path, size=disk_size)
    end function

    subroutine open_new(path, info, fh)
        character(*), intent(in) :: path
        INFO_T, intent(in) :: info
        FILE_T, intent(out) :: fh
        integer :: unit
        if (rank == 0) then
            open (newunit=unit, file=path)
            close (unit, status='delete')
        end if
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, info, fh, ierr)
        CHECK(ierr == MPI_SUCCESS)
    end subroutine

    ! An error handler of the program's own. It may ask about the file.
    subroutine on_error(fh, code)
        FILE_T :: fh
        integer :: code, rc
        handled = handled + 1
        call MPI_Error_class(code, handled_class, rc)
        call MPI_File_get_size(fh, handled_size, rc)
    end subroutine
end module

! Slabs of a global array through a subarray view, and the same by explicit offset.
subroutine test_views(suffix)
    use testing
    implicit none
    character(*), intent(in) :: suffix
    ! Names are padded with blanks: MPI must not see those.
    character(60) :: path
    character(20) :: datarep
    real, allocatable :: a(:, :, :), b(:, :, :)
    integer :: got
    integer(MPI_OFFSET_KIND) :: displacement, size
    FILE_T :: fh
    TYPE_T :: slab, etype, filetype
    STATUS_T :: status

    path = 'view'//suffix
    allocate (a(nx, ny, nz), b(nx, ny, nz))
    call fill(a)
    call MPI_Type_create_subarray(3, [nx, ny, nz*ranks], [nx, ny, nz], [0, 0, nz*rank], MPI_ORDER_FORTRAN, &
        MPI_REAL, slab, ierr)
    call MPI_Type_commit(slab, ierr)
    call open_new(path, MPI_INFO_NULL, fh)
    call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_REAL, slab, 'native', MPI_INFO_NULL, ierr)
    CHECK(ierr == MPI_SUCCESS)
    call MPI_File_write_all(fh, a, nx*ny*nz, MPI_REAL, status, ierr)
    CHECK(ierr == MPI_SUCCESS)
    call MPI_Get_count(status, MPI_REAL, got, ierr)
    CHECK(got == nx*ny*nz)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_get_view(fh, displacement, etype, filetype, datarep, ierr)
    CHECK(displacement == 0 .and. datarep == 'native')
    call MPI_File_get_size(fh, size, ierr)
    CHECK(size == 4_MPI_OFFSET_KIND*nx*ny*nz*ranks)
    call MPI_File_close(fh, ierr)
    CHECK(ierr == MPI_SUCCESS)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (suffix == '.z') then
        CHECK(is_container(path))
        CHECK(disk_size(path) < size/2)
    else
        CHECK(disk_size(path) == size)
    end if

    call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, fh, ierr)
    CHECK(ierr == MPI_SUCCESS)
    call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_REAL, slab, 'native', MPI_INFO_NULL, ierr)
    b = -9
    call MPI_File_read_all(fh, b, nx*ny*nz, MPI_REAL, MPI_STATUS_IGNORE, ierr)
    CHECK(ierr == MPI_SUCCESS)
    CHECK(maxval(abs(real(a, 8) - real(b, 8))) <= bound)
    CHECK(any(a /= b) .eqv. suffix == '.z')
    ! The next slab, without the view.
    call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_REAL, MPI_REAL, 'native', MPI_INFO_NULL, ierr)
    b = -9
    call MPI_File_read_at(fh, int(mod(rank + 1, ranks), MPI_OFFSET_KIND)*nx*ny*nz, b, nx, MPI_REAL, status, ierr)
    CHECK(ierr == MPI_SUCCESS)
    CHECK(abs(b(5, 1, 1) - field(5, 1, 1 + mod(rank + 1, ranks)*nz)) <= bound)
    CHECK(b(1, 2, 1) == -9)
    call MPI_File_close(fh, ierr)
    call MPI_Type_free(slab, ierr)
end subroutine

! Explicit offsets, pointers, nonblocking, split, ordered; exact types bit for bit.
subroutine test_calls(suffix)
    use testing
    implicit none
    character(*), intent(in) :: suffix
    integer, parameter :: n = 3000
    integer :: k, got
    integer :: whole(n)
    integer, volatile :: back(n) ! Open MPI 6.0.0rc2 says that MPI_File_read leaves it alone, and gfortran believes it
    double precision :: d(n), e(n)
    integer(MPI_OFFSET_KIND) :: at, base, size
    integer(MPI_ADDRESS_KIND) :: address(1)
    logical :: flag
    FILE_T :: fh
    TYPE_T :: absolute
    REQUEST_T :: request
    STATUS_T :: status

    d = [(sin(0.01d0*(k + rank*n)), k=1, n)]
    whole = [(k*7 + rank, k=1, n)]
    base = int(rank, MPI_OFFSET_KIND)*n*8
    call open_new('calls'//suffix, MPI_INFO_NULL, fh)
    call MPI_File_iwrite_at(fh, base, d, n, MPI_DOUBLE_PRECISION, request, ierr)
    CHECK(ierr == MPI_SUCCESS)
    call MPI_Wait(request, status, ierr)
    CHECK(ierr == MPI_SUCCESS .and. request == MPI_REQUEST_NULL)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, got, ierr)
    CHECK(got == n)
    e = -9
    call MPI_File_iread_at(fh, base, e, n, MPI_DOUBLE_PRECISION, request, ierr)
    flag = .false.
    do while (.not. flag)
        call MPI_Test(request, flag, status, ierr)
    end do
    CHECK(maxval(abs(d - e)) <= bound)

    ! Integers behind all of that, from an absolute address, at the individual pointer.
    call MPI_Get_address(whole, address(1), ierr)
    call MPI_Type_create_hindexed(1, [n], address, MPI_INTEGER, absolute, ierr)
    call MPI_Type_commit(absolute, ierr)
    at = int(ranks, MPI_OFFSET_KIND)*n*8 + int(rank, MPI_OFFSET_KIND)*n*4
    call MPI_File_seek(fh, at, MPI_SEEK_SET, ierr)
    call MPI_File_write(fh, MPI_BOTTOM, 1, absolute, MPI_STATUS_IGNORE, ierr)
    CHECK(ierr == MPI_SUCCESS)
    call MPI_Type_free(absolute, ierr)
    call MPI_File_get_position(fh, size, ierr)
    CHECK(size == at + 4*n)
    call MPI_File_sync(fh, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_seek(fh, -4_MPI_OFFSET_KIND*n, MPI_SEEK_END, ierr)
    back = 0
    call MPI_File_read(fh, back, n, MPI_INTEGER, status, ierr)
    CHECK(all(back == [(k*7 + ranks - 1, k=1, n)]))
    call MPI_File_get_size(fh, size, ierr)
    CHECK(size == int(ranks, MPI_OFFSET_KIND)*n*12)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)

    ! Split, then ordered. Both start at what is the end now.
    call MPI_File_write_at_all_begin(fh, size + int(rank, MPI_OFFSET_KIND)*n*4, whole, n, MPI_INTEGER, ierr)
    call MPI_File_write_at_all_end(fh, whole, status, ierr)
    CHECK(ierr == MPI_SUCCESS)
    call MPI_Get_count(status, MPI_INTEGER, got, ierr)
    CHECK(got == n)
    call MPI_File_seek_shared(fh, size, MPI_SEEK_SET, ierr)
    back = 0
    call MPI_File_read_ordered(fh, back, n, MPI_INTEGER, status, ierr)
    CHECK(ierr == MPI_SUCCESS)
    CHECK(all(back == whole))
    call MPI_File_get_position_shared(fh, at, ierr)
    CHECK(at == size + int(ranks, MPI_OFFSET_KIND)*n*4)

    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_set_size(fh, 100_MPI_OFFSET_KIND, ierr)
    call MPI_File_get_size(fh, size, ierr)
    CHECK(size == 100)
    call MPI_File_close(fh, ierr)
    CHECK(ierr == MPI_SUCCESS)
    CHECK(is_container('calls'//suffix) .eqv. suffix == '.z')
end subroutine

! A bound as a hint, and errors: returned, and given to the program's own handler.
subroutine test_hints_and_errors(suffix)
    use testing
    implicit none
    character(*), intent(in) :: suffix
    real :: a(1000), b(1000)
    character(MPI_MAX_INFO_VAL) :: value
    integer :: k, class
    logical :: flag
    FILE_T :: fh
    INFO_T :: info
    HANDLER_T :: handler

    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'zmpi_error_bound', 'lossless', ierr)
    call open_new('hints'//suffix, info, fh)
    call MPI_Info_free(info, ierr)
    a = [(sin(0.3*k + rank), k=1, 1000)]
    call MPI_File_write_at_all(fh, int(rank, MPI_OFFSET_KIND)*4000, a, 1000, MPI_REAL, MPI_STATUS_IGNORE, ierr)
    b = -9
    call MPI_File_read_at_all(fh, int(rank, MPI_OFFSET_KIND)*4000, b, 1000, MPI_REAL, MPI_STATUS_IGNORE, ierr)
    CHECK(all(a == b))
    call MPI_File_get_info(fh, info, ierr)
    call MPI_Info_get(info, 'zmpi_error_bound', MPI_MAX_INFO_VAL, value, flag, ierr)
    if (suffix == '.z') then
        CHECK(flag .and. value == 'lossless')
    end if
    call MPI_Info_free(info, ierr)
    call MPI_File_close(fh, ierr)

    call MPI_File_open(MPI_COMM_WORLD, 'hints'//suffix, MPI_MODE_RDONLY, MPI_INFO_NULL, fh, ierr)
    call MPI_File_write_at(fh, 0_MPI_OFFSET_KIND, a, 1000, MPI_REAL, MPI_STATUS_IGNORE, ierr)
    CHECK(ierr /= MPI_SUCCESS)
    call MPI_Error_class(ierr, class, k)
    CHECK(class == MPI_ERR_READ_ONLY .or. class == MPI_ERR_ACCESS)
    call MPI_File_create_errhandler(on_error, handler, ierr)
    call MPI_File_set_errhandler(fh, handler, ierr)
    handled = 0
    handled_size = -1
    call MPI_File_write_at(fh, 0_MPI_OFFSET_KIND, a, 1000, MPI_REAL, MPI_STATUS_IGNORE, ierr)
    CHECK(handled == 1 .and. handled_class == class)
    ! MPICH 4.0 calls it without a valid handle, on any file.
    if (suffix == '.bin') plain_size = handled_size
    CHECK(handled_size == plain_size)
    CHECK(handled_size == -1 .or. handled_size == int(ranks, MPI_OFFSET_KIND)*4000)
    call MPI_File_close(fh, ierr)
    call MPI_Errhandler_free(handler, ierr)
end subroutine

subroutine test_gather
    use testing
    implicit none
    integer, parameter :: n = 30000
    real, allocatable :: mine(:), all(:, :)
    integer :: k, r, root
    allocate (mine(n), all(n, 0:ranks - 1))
    root = ranks - 1
    mine = [(sin(0.01*k) + rank, k=1, n)]
    all = -9
    if (rank == root) then
        all(:, root) = mine
        call MPI_Gather(MPI_IN_PLACE, 0, MPI_REAL, all, n, MPI_REAL, root, MPI_COMM_WORLD, ierr)
        CHECK(ierr == MPI_SUCCESS)
        do r = 0, ranks - 1
            CHECK(maxval(abs([(sin(0.01*k) + r, k=1, n)] - all(:, r))) <= bound*1.001)
        end do
        CHECK(ranks == 1 .or. any(all(:, 0) /= [(sin(0.01*k), k=1, n)]))
    else
        call MPI_Gather(mine, n, MPI_REAL, all, n, MPI_REAL, root, MPI_COMM_WORLD, ierr)
    end if
end subroutine

! MPI_Finalize wrote the report: MPI_Init and it went through libzmpi.so.
subroutine test_report
    use testing
    implicit none
    integer :: unit, stat
    logical :: files, gathers
    character(400) :: line
    files = .false.
    gathers = .false.
    open (newunit=unit, file='report.json', action='read', status='old', iostat=stat)
    do while (stat == 0)
        read (unit, '(a)', iostat=stat) line
        files = files .or. index(line, 'view.z') > 0
        gathers = gathers .or. index(line, 'MPI_Gather') > 0
    end do
    if (files .and. (gathers .or. ranks == 1)) return
    print '(a,2l2)', 'FAIL: report.json: file, gather:', files, gathers
    error stop
end subroutine

program io
    use testing
    implicit none
#ifndef BINDING_MODULE
    integer :: provided
#endif
#ifdef BINDING_MODULE
    call MPI_Init(ierr)
#else
    call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierr)
#endif
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call test_views('.bin')
    call test_views('.z')
    call test_calls('.bin')
    call test_calls('.z')
    call test_hints_and_errors('.bin')
    call test_hints_and_errors('.z')
    call test_gather
#ifdef BINDING_F08
    call MPI_Finalize() ! the error code is optional there
#else
    call MPI_Finalize(ierr)
#endif
    if (rank == 0) call test_report
end program
