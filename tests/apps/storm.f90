! storm - an atmospheric model as CM1 and WRF are built: columns are cut among ranks in x and y, winds stand on the
! faces of cells, and each output is one record of a netCDF-4 file that all ranks write together.
!
!     mpirun -n 4 storm NX NY NZ OUTPUTS OUT.nc [FROM.nc]
!
! With FROM.nc it goes on after that file's last record. Temperature and vapour are carried by a given wind, upwind and
! with some diffusion, so that no difference between two states ever grows, and any number of ranks gives the same file.
! It is an ordinary program of MPI and netCDF's Fortran interface.
module storm_model
    use mpi
    use netcdf
    implicit none

    integer, parameter :: steps_each = 5 ! between two outputs
    real, parameter :: dt = 0.2, mixing = 0.05, pi = 3.14159265

    type :: variables
        integer :: time, z, mask, sst, th, qv, p, u, v, w
    end type

    integer :: size_x, size_y, nz, outputs ! of the whole grid
    integer :: lx, ly, x0, y0              ! this rank's columns, and those before them
    integer :: rank, ranks, grid, place(2), cut(2), west, east, south, north, ierr
    integer :: file
    real :: now = 0
    real, allocatable :: th(:, :, :), qv(:, :, :) ! with a halo in x and y
    character(1024) :: path, from
    type(variables) :: id

contains

    subroutine ok(status)
        integer, intent(in) :: status
        if (status == NF90_NOERR) return
        print '(a,i0,2a)', 'storm: rank ', rank, ': ', trim(nf90_strerror(status))
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    integer function number(argument)
        integer, intent(in) :: argument
        character(32) :: text
        integer :: stat
        call get_command_argument(argument, text)
        read (text, *, iostat=stat) number
        if (stat /= 0 .or. number < 1 .or. number > 100000) then
            print '(a)', 'usage: storm NX NY NZ OUTPUTS OUT.nc [FROM.nc]'
            call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
        end if
    end function

    subroutine arguments()
        size_x = number(1)
        size_y = number(2)
        nz = number(3)
        outputs = number(4)
        call get_command_argument(5, path)
        call get_command_argument(6, from)
    end subroutine

    subroutine split(extent, parts, part, before, mine)
        integer, intent(in) :: extent, parts, part
        integer, intent(out) :: before, mine
        before = extent*part/parts
        mine = extent*(part + 1)/parts - before
    end subroutine

    subroutine decompose()
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
        cut = 0
        call MPI_Dims_create(ranks, 2, cut, ierr)
        call MPI_Cart_create(MPI_COMM_WORLD, 2, cut, [.true., .true.], .false., grid, ierr)
        call MPI_Comm_rank(grid, rank, ierr)
        call MPI_Cart_coords(grid, rank, 2, place, ierr)
        call MPI_Cart_shift(grid, 0, 1, west, east, ierr)
        call MPI_Cart_shift(grid, 1, 1, south, north, ierr)
        call split(size_x, cut(1), place(1), x0, lx)
        call split(size_y, cut(2), place(2), y0, ly)
    end subroutine

    ! Where something stands in the grid, 0 to 1 in each direction.
    elemental real function across(i, before, extent)
        real, intent(in) :: i
        integer, intent(in) :: before, extent
        across = (i + before - 0.5)/extent
    end function

    ! A warm bubble over moist ground.
    subroutine begin_state()
        integer :: i, j, k
        real :: x, y, z, r
        do k = 1, nz
            do j = 1, ly
                do i = 1, lx
                    x = across(real(i), x0, size_x)
                    y = across(real(j), y0, size_y)
                    z = across(real(k), 0, nz)
                    r = sqrt((x - 0.5)**2 + (y - 0.5)**2 + (z - 0.2)**2)/0.2
                    th(i, j, k) = 300 + 40*z*z + merge(3*cos(pi/2*r)**2, 0.0, r < 1)
                    qv(i, j, k) = 0.014*exp(-4*z)*(1 + 0.1*sin(2*pi*x)*cos(4*pi*y))
                end do
            end do
        end do
    end subroutine

    ! The wind at faces: a vortex whose axis leans with time, and an updraft in it.
    elemental real function wind_u(x, y, z)
        real, intent(in) :: x, y, z
        wind_u = 0.6*sin(2*pi*y)*cos(pi*z) + 0.3*sin(2*pi*x + 0.1*now)
    end function

    elemental real function wind_v(x, y, z)
        real, intent(in) :: x, y, z
        wind_v = -0.6*sin(2*pi*x)*cos(pi*z) + 0.2*cos(2*pi*y - 0.1*now)
    end function

    elemental real function wind_w(x, y, z)
        real, intent(in) :: x, y, z
        wind_w = 0.8*sin(pi*z)*exp(-20*((x - 0.5)**2 + (y - 0.5)**2))
    end function

    ! The halo of one field: its columns at the edges to the neighbours, which the grid has on all sides.
    subroutine exchange(a)
        real, intent(inout) :: a(0:, 0:, :)
        real :: give_x(ly, nz), take_x(ly, nz), give_y(lx, nz), take_y(lx, nz)
        give_x = a(lx, 1:ly, :)
        call swap(give_x, take_x, ly*nz, east, west)
        a(0, 1:ly, :) = take_x
        give_x = a(1, 1:ly, :)
        call swap(give_x, take_x, ly*nz, west, east)
        a(lx + 1, 1:ly, :) = take_x
        give_y = a(1:lx, ly, :)
        call swap(give_y, take_y, lx*nz, north, south)
        a(1:lx, 0, :) = take_y
        give_y = a(1:lx, 1, :)
        call swap(give_y, take_y, lx*nz, south, north)
        a(1:lx, ly + 1, :) = take_y
    end subroutine

    subroutine swap(give, take, count, to, source)
        integer, intent(in) :: count, to, source
        real, intent(in) :: give(count)
        real, intent(out) :: take(count)
        call MPI_Sendrecv(give, count, MPI_REAL, to, 0, take, count, MPI_REAL, source, 0, grid, MPI_STATUS_IGNORE, ierr)
    end subroutine

    ! One step of the wind, upwind, and of diffusion.
    subroutine carry(a)
        real, intent(inout) :: a(0:, 0:, :)
        real :: old(0:lx + 1, 0:ly + 1, nz), x, y, z, u, v, w, below, above
        integer :: i, j, k
        old = a
        do k = 1, nz
            do j = 1, ly
                do i = 1, lx
                    x = across(real(i), x0, size_x)
                    y = across(real(j), y0, size_y)
                    z = across(real(k), 0, nz)
                    u = wind_u(x, y, z)*dt
                    v = wind_v(x, y, z)*dt
                    w = wind_w(x, y, z)*dt
                    below = old(i, j, max(k - 1, 1))
                    above = old(i, j, min(k + 1, nz))
                    a(i, j, k) = old(i, j, k) &
                        - max(u, 0.0)*(old(i, j, k) - old(i - 1, j, k)) - min(u, 0.0)*(old(i + 1, j, k) - old(i, j, k)) &
                        - max(v, 0.0)*(old(i, j, k) - old(i, j - 1, k)) - min(v, 0.0)*(old(i, j + 1, k) - old(i, j, k)) &
                        - w*(old(i, j, k) - below) &
                        + mixing*dt*(old(i - 1, j, k) + old(i + 1, j, k) + old(i, j - 1, k) + old(i, j + 1, k) &
                        + below + above - 6*old(i, j, k))
                end do
            end do
        end do
    end subroutine

    integer function new_variable(name, kind, dimensions, units)
        character(*), intent(in) :: name, units
        integer, intent(in) :: kind, dimensions(:)
        call ok(nf90_def_var(file, name, kind, dimensions, new_variable))
        call ok(nf90_put_att(file, new_variable, 'units', units))
    end function

    subroutine create()
        integer :: t, x, y, z, x_face, y_face, z_face
        call ok(nf90_create(path, ior(NF90_NETCDF4, NF90_CLOBBER), file, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL))
        call ok(nf90_def_dim(file, 'time', NF90_UNLIMITED, t))
        call ok(nf90_def_dim(file, 'x', size_x, x))
        call ok(nf90_def_dim(file, 'y', size_y, y))
        call ok(nf90_def_dim(file, 'z', nz, z))
        call ok(nf90_def_dim(file, 'x_face', size_x + 1, x_face))
        call ok(nf90_def_dim(file, 'y_face', size_y + 1, y_face))
        call ok(nf90_def_dim(file, 'z_face', nz + 1, z_face))
        id%time = new_variable('time', NF90_DOUBLE, [t], 's')
        id%z = new_variable('z', NF90_FLOAT, [z], 'm')
        id%mask = new_variable('land', NF90_INT, [x, y], '1')
        id%sst = new_variable('sst', NF90_FLOAT, [x, y, t], 'K')
        id%th = new_variable('th', NF90_FLOAT, [x, y, z, t], 'K')
        id%qv = new_variable('qv', NF90_FLOAT, [x, y, z, t], 'kg/kg')
        id%p = new_variable('p', NF90_FLOAT, [x, y, z, t], 'Pa')
        id%u = new_variable('u', NF90_FLOAT, [x_face, y, z, t], 'm/s')
        id%v = new_variable('v', NF90_FLOAT, [x, y_face, z, t], 'm/s')
        id%w = new_variable('w', NF90_FLOAT, [x, y, z_face, t], 'm/s')
        call ok(nf90_put_att(file, NF90_GLOBAL, 'title', 'a storm'))
        call ok(nf90_enddef(file))
        for_all: block
            integer :: every(10), i
            every = [id%time, id%z, id%mask, id%sst, id%th, id%qv, id%p, id%u, id%v, id%w]
            do i = 1, size(every)
                call ok(nf90_var_par_access(file, every(i), NF90_COLLECTIVE))
            end do
        end block for_all
        call write_constants()
    end subroutine

    logical function is_land(i, j)
        integer, intent(in) :: i, j
        is_land = sin(9*across(real(i), x0, size_x)) + cos(7*across(real(j), y0, size_y)) > 1
    end function

    ! The first rank has the heights, each one its part of the map.
    subroutine write_constants()
        real :: height(nz)
        integer :: land(lx, ly), i, j, k
        height = [(100.0*k - 50, k=1, nz)]
        call ok(nf90_put_var(file, id%z, height, start=[1], count=[merge(nz, 0, rank == 0)]))
        do j = 1, ly
            do i = 1, lx
                land(i, j) = merge(1, 0, is_land(i, j))
            end do
        end do
        call ok(nf90_put_var(file, id%mask, land, start=[x0 + 1, y0 + 1], count=[lx, ly]))
    end subroutine

    ! Temperature of the sea; over land what netCDF has for a missing value.
    subroutine write_sea(record)
        integer, intent(in) :: record
        real :: sst(lx, ly)
        integer :: i, j
        do j = 1, ly
            do i = 1, lx
                sst(i, j) = merge(NF90_FILL_FLOAT, 0.9*th(i, j, 1) + 15*cos(pi*across(real(j), y0, size_y)), is_land(i, j))
            end do
        end do
        call ok(nf90_put_var(file, id%sst, sst, start=[x0 + 1, y0 + 1, record], count=[lx, ly, 1]))
    end subroutine

    ! Pressure at cells, winds at faces: the last rank of a row has one face more.
    subroutine write_fields(record)
        integer, intent(in) :: record
        real :: p(lx, ly, nz), u(lx + 1, ly, nz), v(lx, ly + 1, nz), w(lx, ly, nz + 1), x(lx + 1), y(ly + 1), z(nz + 1)
        integer :: i, j, k, ux, vy
        x = [(across(real(i), x0, size_x), i=1, lx + 1)]
        y = [(across(real(j), y0, size_y), j=1, ly + 1)]
        z = [(across(real(k), 0, nz), k=1, nz + 1)]
        do k = 1, nz + 1
            do j = 1, ly + 1
                u(:, min(j, ly), min(k, nz)) = wind_u(x - 0.5/size_x, y(min(j, ly)), z(min(k, nz)))
                v(:, j, min(k, nz)) = wind_v(x(1:lx), y(j) - 0.5/size_y, z(min(k, nz)))
                w(:, min(j, ly), k) = wind_w(x(1:lx), y(min(j, ly)), z(k) - 0.5/nz)
            end do
        end do
        do k = 1, nz
            p(:, :, k) = 1e5*exp(-z(k)) - 30*(th(1:lx, 1:ly, k) - 300)
        end do
        ux = lx + merge(1, 0, place(1) == cut(1) - 1)
        vy = ly + merge(1, 0, place(2) == cut(2) - 1)
        call put(id%p, p, record)
        call put(id%u, u(1:ux, :, :), record)
        call put(id%v, v(:, 1:vy, :), record)
        call put(id%w, w, record)
    end subroutine

    subroutine put(variable, a, record)
        integer, intent(in) :: variable, record
        real, intent(in) :: a(:, :, :)
        call ok(nf90_put_var(file, variable, a, start=[x0 + 1, y0 + 1, 1, record], count=[shape(a), 1]))
    end subroutine

    subroutine write_record(record)
        integer, intent(in) :: record
        call ok(nf90_put_var(file, id%time, [dble(now)], start=[record], count=[merge(1, 0, rank == 0)]))
        call put(id%th, th(1:lx, 1:ly, :), record)
        call put(id%qv, qv(1:lx, 1:ly, :), record)
        call write_sea(record)
        call write_fields(record)
        call ok(nf90_sync(file))
    end subroutine

    subroutine get(old, name, record, a)
        integer, intent(in) :: old, record
        character(*), intent(in) :: name
        real, intent(inout) :: a(0:, 0:, :)
        real :: inner(lx, ly, nz)
        integer :: variable
        call ok(nf90_inq_varid(old, name, variable))
        call ok(nf90_var_par_access(old, variable, NF90_COLLECTIVE))
        call ok(nf90_get_var(old, variable, inner, start=[x0 + 1, y0 + 1, 1, record], count=[lx, ly, nz, 1]))
        a(1:lx, 1:ly, :) = inner
    end subroutine

    subroutine restart()
        integer :: old, dimension, records, variable
        double precision :: last(1)
        call ok(nf90_open(from, NF90_NOWRITE, old, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL))
        call ok(nf90_inq_dimid(old, 'time', dimension))
        call ok(nf90_inquire_dimension(old, dimension, len=records))
        call ok(nf90_inq_varid(old, 'time', variable))
        call ok(nf90_get_var(old, variable, last, start=[records], count=[1]))
        now = real(last(1))
        call get(old, 'th', records, th)
        call get(old, 'qv', records, qv)
        call ok(nf90_close(old))
    end subroutine

    subroutine run()
        integer :: first, output, step
        call MPI_Init(ierr)
        call arguments()
        call decompose()
        allocate (th(0:lx + 1, 0:ly + 1, nz), qv(0:lx + 1, 0:ly + 1, nz))
        call begin_state()
        if (from /= '') call restart()
        call create()
        first = nint(now/(steps_each*dt))
        do output = 1, outputs
            do step = 1, steps_each
                call exchange(th)
                call exchange(qv)
                call carry(th)
                call carry(qv)
                now = (steps_each*(first + output - 1) + step)*dt
            end do
            call write_record(output)
        end do
        call ok(nf90_close(file))
        call MPI_Finalize(ierr)
    end subroutine
end module

program storm
    use storm_model, only: run
    implicit none
    call run()
end program
