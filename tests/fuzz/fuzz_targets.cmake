# Fuzz targets: for libFuzzer, or run over their corpus. Included by tests/CMakeLists.txt.

# zmpi_fuzz_target(NAME SOURCE...): for libFuzzer with ZMPI_FUZZ, else a regression test.
function(zmpi_fuzz_target name)
    set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    add_executable(fuzz_${name} ${ARGN})
    # The entry point's prototype is libFuzzer's, which has no header for it.
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
    target_link_libraries(fuzz_${name} PRIVATE zmpi_flags zmpi_codec)
    if(ZMPI_FUZZ)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/main.c)
        if(name MATCHES "^(csl|opened|settings)$") # each takes a while, and no instruction set matters
            zmpi_add_test(fuzz.${name} LABEL fuzz COMMAND fuzz_${name} -runs=1500 -seed=1 ${corpus})
            return()
        endif()
        set(runs -runs=5000 -seed=1)
        set(other ${runs})
        if(ZMPI_SANITIZE AND zmpi_disable) # half of the mutations with each set, because it takes much longer
            set(runs -runs=2500 -seed=1)
            set(other -runs=2500 -seed=2)
        elseif(CMAKE_CROSSCOMPILING) # an emulator takes longer still
            set(runs -runs=1000 -seed=1)
            set(other -runs=1000 -seed=2)
        endif()
        zmpi_add_test(fuzz.${name} LABEL fuzz COMMAND fuzz_${name} ${runs} ${corpus})
        foreach(disable ${zmpi_disable})
            zmpi_add_test(fuzz.${name}.no-${disable} LABEL fuzz ENV ZMPI_DISABLE=${disable}
                COMMAND fuzz_${name} ${other} ${corpus})
        endforeach()
    endif()
endfunction()

if(fuzz IN_LIST ZMPI_TEST_GROUPS)
    file(GLOB sources CONFIGURE_DEPENDS fuzz/*.c)
    list(FILTER sources EXCLUDE REGEX "/main\\.c$")
    if(CMAKE_CROSSCOMPILING OR NOT TARGET csl_sim) # the simulator has no code for one machine
        list(FILTER sources EXCLUDE REGEX "/csl\\.c$")
    endif()
    if(CMAKE_CROSSCOMPILING) # nor is the tool for it
        list(FILTER sources EXCLUDE REGEX "/opened\\.c$")
    endif()
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        string(REGEX REPLACE "^fuzz_" "" name ${name})
        zmpi_fuzz_target(${name} ${source})
    endforeach()
    if(TARGET fuzz_opened) # what opens files in the tool and in the view
        set(files tool/convert/convert.c tool/copy.c tool/field_name.c tool/io.c tool/overwritten.c tool/program/preload.c tool/mount/mount_file.c view/view_memory.c view/view_known.c)
        list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/codec/)
        target_sources(fuzz_opened PRIVATE ${files})
    endif()
    if(TARGET fuzz_csl)
        target_link_libraries(fuzz_csl PRIVATE csl_sim)
    endif()
endif()
