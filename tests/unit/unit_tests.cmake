# Criterion programs: the codec, CUDA kernels in the emulator, the simulated engine. Included by tests/CMakeLists.txt.

# Values of ZMPI_DISABLE that tests of the codec are repeated with.
set(zmpi_disable "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(zmpi_disable avx512vbmi avx512 avx2)
    if(ZMPI_SANITIZE) # they do not see vector kernels (codec/CMakeLists.txt)
        set(zmpi_disable avx2)
    elseif(EXISTS /proc/cpuinfo) # what this machine lacks changes nothing if it is off
        file(STRINGS /proc/cpuinfo cpu REGEX "^flags.*" LIMIT_COUNT 1)
        if(NOT cpu MATCHES " avx512vbmi ")
            list(REMOVE_ITEM zmpi_disable avx512vbmi)
        endif()
        if(NOT cpu MATCHES " avx512vl ")
            list(REMOVE_ITEM zmpi_disable avx512)
        endif()
    endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(zmpi_disable neon)
endif()

# zmpi_unit_label(TEST FOLDER): `ctest -L '^unit/FOLDER$'` runs it, too.
function(zmpi_unit_label test folder)
    if(TEST ${ZMPI_TEST_PREFIX}${test})
        set_property(TEST ${ZMPI_TEST_PREFIX}${test} APPEND PROPERTY LABELS unit/${folder})
    endif()
endfunction()

# zmpi_unit_test(NAME SOURCE): a Criterion program. The target unit-FOLDER builds all of a folder.
function(zmpi_unit_test name)
    get_filename_component(folder ${ARGV1} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    add_executable(unit_${name} ${ARGN})
    target_link_libraries(unit_${name} PRIVATE zmpi_flags zmpi_codec PkgConfig::CRITERION)
    target_include_directories(unit_${name} PRIVATE unit)
    set(test unit.${name})
    if(name MATCHES "^(huffman)_(.*)$")
        set(test ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
    endif()
    set(files "")
    if(name STREQUAL "golden") # __FILE__ is no absolute path where a compiler's cache shortened it
        set(files ZMPI_GOLDEN=${PROJECT_SOURCE_DIR}/tests/golden)
    endif()
    zmpi_add_test(${test} LABEL unit COMMAND unit_${name}
        ENV ${files})
    zmpi_unit_label(${test} ${folder})
    if(NOT TARGET unit-${folder})
        add_custom_target(unit-${folder})
    endif()
    add_dependencies(unit-${folder} unit_${name})
    # Once more for each instruction set, newest first, with this and newer ones switched off.
    if(name MATCHES "^(promise|modes|stream|damage|golden|fields|huffman_stream)$")
        foreach(disable ${zmpi_disable})
            zmpi_add_test(${test}.no-${disable} LABEL unit COMMAND unit_${name} ENV ${files} ZMPI_DISABLE=${disable})
            zmpi_unit_label(${test}.no-${disable} ${folder})
        endforeach()
    endif()
endfunction()

# zmpi_emulated_tests(FOLDER/NAME...): unit tests with AVX-512 made of C (emulated/immintrin.h): the same source of the kernels.
function(zmpi_emulated_tests)
    set(kernels kernels/avx512/avx512.c kernels/avx512/avx512_32.c kernels/avx512/avx512_64.c kernels/avx512/avx512vbmi_32.c kernels/avx512/avx512vbmi_64.c kernels/avx512/hash_avx512.c huffman/huffman_avx512.c interp/interp_rans_avx512.c interp/interp_loops_avx512.c enhance/enhance_net_avx512.c)
    list(TRANSFORM kernels PREPEND ${PROJECT_SOURCE_DIR}/codec/)
    add_library(emulated_avx512 OBJECT ${kernels})
    target_include_directories(emulated_avx512 BEFORE PRIVATE emulated)
    target_include_directories(emulated_avx512 SYSTEM PRIVATE ${SIMDE_INCLUDE_DIR} ${XXHASH_INCLUDE_DIR})
    target_include_directories(emulated_avx512 PRIVATE ${PROJECT_SOURCE_DIR}/codec)
    # No warnings: what is inlined in the real ones is called here, vectors are passed in memory.
    target_compile_options(emulated_avx512 PRIVATE -std=c17 -O2 -ffp-contract=off -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt -w -Wno-psabi)
    foreach(source ${ARGN})
        get_filename_component(name ${source} NAME)
        add_executable(emulated_${name} unit/${source}.c $<FILTER:$<TARGET_OBJECTS:zmpi_codec>,EXCLUDE,/[^/]*avx512[^/]*$>)
        target_include_directories(emulated_${name} PRIVATE unit ${PROJECT_SOURCE_DIR}/codec ${XXHASH_INCLUDE_DIR})
        target_link_libraries(emulated_${name} PRIVATE zmpi_flags emulated_avx512 PkgConfig::CRITERION
            Threads::Threads ${CMAKE_DL_LIBS} m)
        zmpi_add_test(unit.${name}.emulated LABEL unit COMMAND emulated_${name})
    endforeach()
endfunction()

# A device that decodes, and fails when it is told to: for unit/device/offload.c and mpi/api/api_decode.c.
if(NOT ZMPI_FUZZ AND NOT CMAKE_CROSSCOMPILING)
    add_library(test_decoder MODULE plugins/decoder.c)
    set_target_properties(test_decoder PROPERTIES C_VISIBILITY_PRESET hidden PREFIX lib OUTPUT_NAME zmpi_decoder
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tests/decoder)
    target_include_directories(test_decoder PRIVATE ${PROJECT_SOURCE_DIR}/codec)
    target_link_libraries(test_decoder PRIVATE zmpi_flags zmpi_codec_library)
    target_link_options(test_decoder PRIVATE -Wl,--exclude-libs,ALL)
endif()

if(unit IN_LIST ZMPI_TEST_GROUPS)
    file(GLOB sources CONFIGURE_DEPENDS unit/*/*.c)
    if(CMAKE_CROSSCOMPILING)
        add_library(PkgConfig::CRITERION INTERFACE IMPORTED)
        target_include_directories(PkgConfig::CRITERION INTERFACE cross)
        # What the machine can change; the others need plug-ins, or too long in an emulator.
        list(FILTER sources INCLUDE REGEX "/(bound|damage|golden|kernels|kernels_blocks|kernels_exceptions|kernels_integers16|kernels_sums|modes|promise|enhance_streams|enhance_net)\\.c$")
    else()
        pkg_check_modules(CRITERION IMPORTED_TARGET criterion)
        if(NOT CRITERION_FOUND)
            message(FATAL_ERROR "Unit tests need libcriterion-dev (CONTRIBUTING.md lists what tests need); -DBUILD_TESTING=OFF builds no tests")
        endif()
    endif()
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        zmpi_unit_test(${name} ${source})
    endforeach()
    if(TARGET unit_flare_model)
        target_link_libraries(unit_flare_model PRIVATE zmpi_flare_model)
    endif()
    # Since 0.7.4: before that it lacks some of what the kernels use.
    find_path(SIMDE_INCLUDE_DIR simde/x86/avx512/ternarylogic.h DOC "Folder of simde/, to test AVX-512 kernels on machines without it")
    mark_as_advanced(SIMDE_INCLUDE_DIR)
    if(SIMDE_INCLUDE_DIR AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND ZMPI_AVX512 AND NOT ZMPI_SANITIZE)
        zmpi_emulated_tests(kernels/kernels kernels/kernels_blocks kernels/kernels_exceptions kernels/kernels_integers16
            kernels/kernels_sums huffman/huffman_loops interp/interp enhance/enhance_net)
    endif()
    if(TARGET unit_offload)
        add_dependencies(unit_offload test_decoder)
        target_compile_definitions(unit_offload PRIVATE ZMPI_TEST_DECODERS="$<TARGET_FILE_DIR:test_decoder>")
    endif()
endif()

# zmpi_cuda_test(NAME SOURCE... [EMULATOR TARGET] [TIMEOUT SECONDS] [ENV NAME=VALUE...]): a Criterion program that runs
# kernels, or code around them, in the emulator. A name's first _ becomes a dot: emulator_scan.c is cuda.emulator.scan.
function(zmpi_cuda_test name)
    cmake_parse_arguments(PARSE_ARGV 1 T "" "EMULATOR;TIMEOUT" "ENV")
    if(NOT T_EMULATOR)
        set(T_EMULATOR zmpi_emulator)
    endif()
    add_executable(cuda_${name} ${T_UNPARSED_ARGUMENTS})
    target_link_libraries(cuda_${name} PRIVATE zmpi_flags zmpi_codec ${T_EMULATOR} PkgConfig::CRITERION)
    target_include_directories(cuda_${name} PRIVATE ${XXHASH_INCLUDE_DIR} ${PROJECT_SOURCE_DIR}/tests/cuda)
    set(program cuda_${name})
    string(REGEX REPLACE "^([^_]*)_" "\\1." name ${name})
    zmpi_add_test(cuda.${name} LABEL cuda TIMEOUT "${T_TIMEOUT}" COMMAND ${program} ENV ${T_ENV}
        ASAN_OPTIONS=handle_segv=0) # that the host faults on device memory is tested
endfunction()

if(unit IN_LIST ZMPI_TEST_GROUPS)
    file(GLOB sources CONFIGURE_DEPENDS cuda/*.c)
    if(CMAKE_CROSSCOMPILING) # kernels are the same C there, and take minutes in qemu
        list(FILTER sources INCLUDE REGEX "/emulator_")
    endif()
    if(ZMPI_SANITIZE) # two emulators in one program are each variable twice
        list(FILTER sources EXCLUDE REGEX "/driver\\.c$")
    endif()
    if(ZMPI_CODEC_ONLY) # cuda/CMakeLists.txt, which says what these need, is left out
        list(FILTER sources EXCLUDE REGEX "/(driver|plugin[a-z_]*)\\.c$")
    endif()
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        zmpi_cuda_test(${name} ${source})
        if(name MATCHES "^kernels_")
            target_link_libraries(cuda_${name} PRIVATE cuda_kernels)
        endif()
    endforeach()
    zmpi_cuda_test(emulator_words_ucontext cuda/emulator_words.c EMULATOR zmpi_emulator_ucontext)
    # nvcc takes the same kernels: here for the oldest GPU, and one of those that compute with them most.
    find_program(NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(NVCC)
    if(NVCC AND NOT ZMPI_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
        zmpi_add_test(cuda.nvcc LABEL cuda COMMAND ${NVCC} -std=c++17 --fmad=false -Werror all-warnings
            -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90 -Xcompiler=-Wall,-Wextra
            -I${PROJECT_SOURCE_DIR}/gpu/kernels -c ${PROJECT_SOURCE_DIR}/tests/cuda/compile.cu -o compile.o)
    endif()
endif()

# The engine in hardware, where it is simulated.
if(unit IN_LIST ZMPI_TEST_GROUPS AND TARGET zmpi_rtl)
    file(GLOB sources CONFIGURE_DEPENDS rtl/*.c)
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        add_executable(rtl_${name} ${source})
        set(engine zmpi_rtl)
        if(name MATCHES "^flare")
            set(engine zmpi_flare_rtl zmpi_flare_model)
        endif()
        target_link_libraries(rtl_${name} PRIVATE zmpi_flags ${engine} zmpi_codec PkgConfig::CRITERION)
        target_include_directories(rtl_${name} PRIVATE unit)
        zmpi_add_test(rtl.${name} LABEL rtl TIMEOUT 1800 COMMAND rtl_${name}) # ZMPI_TEST_LONG: all fields by FLARE's engine
    endforeach()
    zmpi_add_test(rtl.lint LABEL rtl COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/rtl/lint.sh ${PROJECT_SOURCE_DIR}/smartnic/rtl)
endif()
