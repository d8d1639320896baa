# Libraries that zmpi can do without. Debian 13's pnetcdf.pc names a folder of the machine that built it, and CMake stops where
# an imported target has such a folder.
#
# zmpi_optional_library(NAME MODULE HEADER): pkg-config's MODULE as PkgConfig::NAME, without folders that do not exist.
# NAME_FOUND is false, too, where a program with HEADER cannot be compiled and linked so.
macro(zmpi_optional_library name module header)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
    if(${name}_FOUND)
        _zmpi_optional_check(${name} ${module} ${header})
        if(NOT ${name}_USABLE)
            set(${name}_FOUND FALSE)
        endif()
    endif()
endmacro()

function(_zmpi_optional_check name module header)
    get_target_property(folders PkgConfig::${name} INTERFACE_INCLUDE_DIRECTORIES)
    set(there "")
    foreach(folder ${folders})
        if(IS_DIRECTORY ${folder})
            list(APPEND there ${folder})
        endif()
    endforeach()
    set_target_properties(PkgConfig::${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${there}")
    if(NOT DEFINED ${name}_USABLE OR NOT "${${name}_TRIED}" STREQUAL "${there};${${name}_LINK_LIBRARIES}")
        set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}_optional.c)
        file(WRITE ${source} "#include <${header}>\nint main(void) { return 0; }\n")
        unset(${name}_USABLE CACHE)
        try_compile(${name}_USABLE ${CMAKE_CURRENT_BINARY_DIR}/${name}_optional ${source}
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${there}" COMPILE_DEFINITIONS ${${name}_CFLAGS_OTHER}
            LINK_LIBRARIES ${${name}_LINK_LIBRARIES})
        set(${name}_TRIED "${there};${${name}_LINK_LIBRARIES}" CACHE INTERNAL "What ${name}_USABLE is of")
    endif()
    if(NOT ${name}_USABLE)
        message(STATUS "pkg-config names ${module}, but no program with <${header}> can be built so: it is not used")
    endif()
endfunction()
