! zmpi_reader.f90 - zmpi_reader.h for Fortran 2018: read the files that zmpi writes (containers), without MPI. Compile it
! with your program, since compilers do not read each other's modules:
!
!     gfortran -c $PREFIX/include/zmpi_reader.f90
!     gfortran plot.f90 zmpi_reader.o -lzmpi_codec
!
! A file may be used by several threads at once; only zmpi_close must be the last call of it. `status` is 0, or a number of
! zmpi_codec.h's enum zmpi_status, and `message` then one line that names the file and what is wrong.
module zmpi_reader
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: zmpi_file, zmpi_open, zmpi_size, zmpi_read, zmpi_refresh, zmpi_close

    type :: zmpi_file
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    integer, parameter :: text_length = 512

    ! The structures of zmpi_reader.h.
    type, bind(c) :: reader_error
        integer(c_int) :: status, system
        integer(c_int64_t) :: record
        character(kind=c_char) :: text(text_length)
    end type

    type, bind(c) :: reader_options
        integer(c_size_t) :: size
        integer(c_int) :: threads, flags
    end type

    type, bind(c) :: reader_info
        integer(c_size_t) :: size
        integer(c_int64_t) :: logical_size, physical_size, records, containers, scanned
        integer(c_int) :: whole, written
    end type

    interface
        function c_open(path, options, file, error) bind(c, name="zmpi_reader_open") result(status)
            import
            character(kind=c_char), intent(in) :: path(*)
            type(reader_options), intent(in) :: options
            type(c_ptr), intent(out) :: file
            type(reader_error), intent(out) :: error
            integer(c_int) :: status
        end function

        subroutine c_close(file) bind(c, name="zmpi_reader_close")
            import
            type(c_ptr), value :: file
        end subroutine

        function c_info(file, info, error) bind(c, name="zmpi_reader_info") result(status)
            import
            type(c_ptr), value :: file
            type(reader_info), intent(inout) :: info
            type(reader_error), intent(out) :: error
            integer(c_int) :: status
        end function

        function c_read(file, offset, dst, size, error) bind(c, name="zmpi_reader_read") result(status)
            import
            type(c_ptr), value :: file
            integer(c_int64_t), value :: offset
            type(*) :: dst(*)
            integer(c_size_t), value :: size
            type(reader_error), intent(out) :: error
            integer(c_int) :: status
        end function

        function c_refresh(file, changed, error) bind(c, name="zmpi_reader_refresh") result(status)
            import
            type(c_ptr), value :: file
            integer(c_int), intent(out) :: changed
            type(reader_error), intent(out) :: error
            integer(c_int) :: status
        end function
    end interface

contains

    ! Without `threads` as many decode as there are CPUs for this process.
    subroutine zmpi_open(path, file, status, message, threads)
        character(*), intent(in) :: path
        type(zmpi_file), intent(out) :: file
        integer, intent(out) :: status
        character(*), intent(out), optional :: message
        integer, intent(in), optional :: threads
        type(reader_options) :: options
        type(reader_error) :: error
        options = reader_options(c_sizeof(options), 0, 0)
        if (present(threads)) options%threads = threads
        status = c_open(path // c_null_char, options, file%handle, error)
        call tell(error, message)
    end subroutine

    ! Bytes that can be read: what the program wrote, not what the file takes.
    subroutine zmpi_size(file, bytes, status, message)
        type(zmpi_file), intent(in) :: file
        integer(c_int64_t), intent(out) :: bytes
        integer, intent(out) :: status
        character(*), intent(out), optional :: message
        type(reader_info) :: info
        type(reader_error) :: error
        info = reader_info(c_sizeof(info), 0, 0, 0, 0, 0, 0, 0)
        status = c_info(file%handle, info, error)
        bytes = info%logical_size
        call tell(error, message)
    end subroutine

    ! `bytes` bytes from byte `offset` (the first is 0) on, to an array of any type without gaps.
    subroutine zmpi_read(file, offset, values, bytes, status, message)
        type(zmpi_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, bytes
        type(*) :: values(*)
        integer, intent(out) :: status
        character(*), intent(out), optional :: message
        type(reader_error) :: error
        status = c_read(file%handle, offset, values, int(bytes, c_size_t), error)
        call tell(error, message)
    end subroutine

    ! Look again at a file that a program writes meanwhile.
    subroutine zmpi_refresh(file, changed, status, message)
        type(zmpi_file), intent(in) :: file
        logical, intent(out) :: changed
        integer, intent(out) :: status
        character(*), intent(out), optional :: message
        type(reader_error) :: error
        integer(c_int) :: is_new
        status = c_refresh(file%handle, is_new, error)
        changed = status == 0
        if (changed) changed = is_new /= 0
        call tell(error, message)
    end subroutine

    subroutine zmpi_close(file)
        type(zmpi_file), intent(inout) :: file
        call c_close(file%handle)
        file%handle = c_null_ptr
    end subroutine

    subroutine tell(error, message)
        type(reader_error), intent(in) :: error
        character(*), intent(out), optional :: message
        integer :: i
        if (.not. present(message)) return
        message = ""
        do i = 1, min(text_length, len(message))
            if (error%text(i) == c_null_char) exit
            message(i:i) = error%text(i)
        end do
    end subroutine
end module
