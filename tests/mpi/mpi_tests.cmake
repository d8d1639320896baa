# How MPI programs are built and run. Included by tests/CMakeLists.txt.

# With Open MPI every program runs on each of its MPI-IO implementations: ROMIO, whose name tells its version, if it is
# there, and OMPIO. MPICH has only ROMIO.
if(MPI_C_COMPILER MATCHES "mpich" OR MPI_C_LIBRARIES MATCHES "libmpich")
    set(mpi_io mpich)
    set(mpi_flags "")
else()
    get_filename_component(mpi_folder ${MPI_C_COMPILER} DIRECTORY)
    find_program(OMPI_INFO ompi_info HINTS ${mpi_folder} REQUIRED)
    mark_as_advanced(OMPI_INFO)
    execute_process(COMMAND ${OMPI_INFO} --parsable OUTPUT_VARIABLE mpi_info ERROR_QUIET)
    string(REGEX MATCHALL "mca:io:romio[0-9]*" mpi_io "${mpi_info}")
    list(TRANSFORM mpi_io REPLACE ".*:" "")
    list(APPEND mpi_io ompio)
    list(REMOVE_DUPLICATES mpi_io)
    if(ZMPI_TEST_IO_COUNT)
        list(SUBLIST mpi_io 0 ${ZMPI_TEST_IO_COUNT} mpi_io)
    endif()
    list(JOIN mpi_io " " mpi_io_words)
    set(mpi_flags --oversubscribe)
endif()
set(mpi_env
    OMPI_ALLOW_RUN_AS_ROOT=1
    ZMPI_EXACT_BELOW=0 # tests of bounds have small arrays; mpi.exact_below has the default
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    "ZMPI_TEST_IO=${mpi_io_words}" # of Open MPI
    # Waiting ranks must not take the few cores of a test machine from working ones.
    OMPI_MCA_mpi_yield_when_idle=1
    OMPI_MCA_hwloc_base_binding_policy=none
    # Containers often forbid reading another process's memory; this MPI says so on stderr, every time.
    OMPI_MCA_btl_vader_single_copy_mechanism=none
    # Jobs are short, so they do not search for devices and the machine's topology. The choice for the ranks of one machine is
    # the same.
    OMPI_MCA_pml=ob1
    PMIX_MCA_gds=hash
    UCX_TLS=self,sm
    HWLOC_PLUGINS_PATH=/nonexistent
    "HWLOC_SYNTHETIC=core:2 pu:1"
    # MPI libraries keep memory until the process ends.
    ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0)

set(preload $<TARGET_FILE:zmpi>)
# Waiting ranks poll, and take the few cores of a test machine from working ones.
if(mpi_io STREQUAL "mpich")
    add_library(mpi_idle SHARED mpi/idle/ucx.c)
else()
    add_library(mpi_idle SHARED mpi/idle/opal.c)
endif()
target_link_libraries(mpi_idle PRIVATE zmpi_flags ${CMAKE_DL_LIBS})
string(APPEND preload :$<TARGET_FILE:mpi_idle>)
if(NOT ZMPI_SANITIZE)
    list(APPEND mpi_env LD_PRELOAD=$<TARGET_FILE:mpi_idle>) # of programs without libzmpi.so in front
endif()
# Test programs look at containers themselves; the plain view is for all others.
if(ZMPI_SANITIZE)
    list(APPEND mpi_env ZMPI_VIEW=off)
else()
    add_library(mpi_real SHARED mpi/real/real.c)
    target_link_libraries(mpi_real PRIVATE zmpi_flags zmpi_codec_library ${CMAKE_DL_LIBS})
    target_compile_options(mpi_real PRIVATE -fno-optimize-sibling-calls)
    set(preload $<TARGET_FILE:mpi_real>:${preload})
endif()
if(ZMPI_SANITIZE MATCHES "address")
    # Its runtime insists on being the first library of the process.
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
        OUTPUT_VARIABLE libasan OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(preload ${libasan}:${preload})
endif()

# zmpi_mpi_test(NAME RANKS "1;2;3;4" PROGRAM [ARGUMENT...] [PLAIN] [ANYIO] [PRELOAD TARGET] [TIMEOUT SECONDS] [ENV NAME=VALUE...])
#
# Runs PROGRAM (a target or a path) under mpirun once per rank count and MPI-IO implementation (one if ANYIO, for programs
# without files), with libzmpi.so preloaded unless PLAIN, and TARGET behind it. ENV must come last.
function(zmpi_mpi_test name)
    if(NOT mpi IN_LIST ZMPI_TEST_GROUPS)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 T "PLAIN;ANYIO" "RANKS;TIMEOUT;PRELOAD" "ENV")
    if(T_ANYIO)
        list(GET mpi_io 0 mpi_io)
    endif()
    list(POP_FRONT T_UNPARSED_ARGUMENTS program)
    if(TARGET ${program})
        set(program $<TARGET_FILE:${program}>)
    endif()
    if(ZMPI_SANITIZE MATCHES "address" AND T_PRELOAD STREQUAL "zmpi_test_memory") # in front of the runtime, whose malloc it calls
        set(preload $<TARGET_FILE:${T_PRELOAD}>:${preload})
    elseif(T_PRELOAD)
        set(preload ${preload}:$<TARGET_FILE:${T_PRELOAD}>)
    endif()
    set(view "")
    if(NOT T_PLAIN)
        set(program ${CMAKE_COMMAND} -E env LD_PRELOAD=${preload} ${program})
    else()
        set(view ZMPI_VIEW=off) # mpi/real is not in front
    endif()
    string(REPLACE "," ";" ranks "${T_RANKS}")
    foreach(n ${ranks})
        if(ZMPI_TEST_RANKS AND NOT n IN_LIST ZMPI_TEST_RANKS)
            continue()
        endif()
        foreach(io ${mpi_io})
            set(env ${mpi_env} ${view} ${T_ENV})
            if(NOT io MATCHES "mpich|abi")
                list(APPEND env OMPI_MCA_io=${io})
            endif()
            math(EXPR halves "(${n} + 1) / 2") # a job spends most of its time starting, which does not fill a core
            zmpi_add_test(mpi.${name}.np${n}.${io} LABEL mpi PROCESSORS ${halves} TIMEOUT "${T_TIMEOUT}" ENV ${env}
                COMMAND ${MPIEXEC_EXECUTABLE} ${mpi_flags} ${MPIEXEC_NUMPROC_FLAG} ${n}
                    ${program} ${T_UNPARSED_ARGUMENTS})
        endforeach()
    endforeach()
endfunction()

# A program's first comment says how it runs, one line per test; without such a line it runs on 1 to 4 ranks:
#
#     zmpi-test: [NAME] RANKS 1,2,3,4 [PLAIN] [ANYIO] [PRELOAD TARGET] [TIMEOUT SECONDS] [ARGS ARGUMENT...] [ENV NAME=VALUE...]
#
# NAME tells several lines of one program apart.
function(zmpi_mpi_program source)
    get_filename_component(file ${source} NAME_WE)
    set(program mpi_${file})
    add_executable(${program} ${source})
    set_target_properties(${program} PROPERTIES OUTPUT_NAME ${file} ENABLE_EXPORTS ON) # overlap.c has a pwrite
    target_link_libraries(${program} PRIVATE zmpi_flags)
    target_include_directories(${program} PRIVATE mpi ${PROJECT_SOURCE_DIR}/codec ${PROJECT_SOURCE_DIR}/pmpi ${PROJECT_BINARY_DIR}/pmpi/zmpi) # coll_choice.c
    add_dependencies(${program} zmpi) # which makes headers there
    set(plain "")
    if(file MATCHES "^api_")
        target_link_libraries(${program} PRIVATE zmpi)
        set(plain PLAIN)
    endif()
    target_link_libraries(${program} PRIVATE MPI::MPI_C m)
    zmpi_mpi_program_tests(${source} ${program} ${plain})
endfunction()

# zmpi_mpi_program_tests(SOURCE PROGRAM [PLAIN]): what the comment says.
function(zmpi_mpi_program_tests source program)
    get_filename_component(file ${source} NAME_WE)
    set(plain ${ARGN})
    file(STRINGS ${source} lines REGEX "zmpi-test:")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    if(NOT lines)
        set(lines "zmpi-test: RANKS 1,2,3,4")
    endif()
    foreach(line ${lines})
        string(REGEX REPLACE "^.*zmpi-test:|\\*/$" "" line "${line}")
        separate_arguments(line UNIX_COMMAND "${line}")
        cmake_parse_arguments(L "PLAIN;ANYIO" "RANKS;TIMEOUT;PRELOAD" "ARGS;ENV" ${line})
        if(L_PRELOAD AND mpi_io MATCHES "abi") # it is for the other ABI
            continue()
        endif()
        set(anyio "")
        if(L_ANYIO)
            set(anyio ANYIO)
        endif()
        if(NOT L_RANKS)
            message(FATAL_ERROR "${source}: zmpi-test line without RANKS")
        endif()
        if(L_PLAIN)
            set(plain PLAIN)
        endif()
        list(JOIN L_UNPARSED_ARGUMENTS "." variant)
        string(REGEX REPLACE "\\.$" "" name "${file}.${variant}")
        zmpi_mpi_test(${name} RANKS ${L_RANKS} ${program} ${L_ARGS} ${plain} ${anyio}
            PRELOAD "${L_PRELOAD}" TIMEOUT "${L_TIMEOUT}" ENV ${L_ENV})
    endforeach()
endfunction()
