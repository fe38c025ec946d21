# third_party.cmake -- where hiredis and xxHash are. Used by the build, and by find_package(guildhall) for those who link
# the static library.

# guildhall_find_hiredis([REQUIRED]): the target hiredis::hiredis, unless there is one.
function(guildhall_find_hiredis)
    guildhall_find_library(hiredis hiredis/read.h ${ARGN})
endfunction()

# guildhall_find_xxhash([REQUIRED]): the target xxhash::xxhash, unless there is one.
function(guildhall_find_xxhash)
    guildhall_find_library(xxhash xxhash.h ${ARGN})
endfunction()

function(guildhall_find_library name header)
    if(TARGET ${name}::${name})
        return()
    endif()
    find_path(GUILDHALL_${name}_INCLUDE ${header})
    find_library(GUILDHALL_${name}_LIBRARY ${name})
    mark_as_advanced(GUILDHALL_${name}_INCLUDE GUILDHALL_${name}_LIBRARY)
    if(GUILDHALL_${name}_INCLUDE AND GUILDHALL_${name}_LIBRARY)
        add_library(${name}::${name} UNKNOWN IMPORTED)
        set_target_properties(${name}::${name} PROPERTIES IMPORTED_LOCATION "${GUILDHALL_${name}_LIBRARY}"
            INTERFACE_INCLUDE_DIRECTORIES "${GUILDHALL_${name}_INCLUDE}")
    elseif("REQUIRED" IN_LIST ARGN)
        message(FATAL_ERROR "guildhall needs ${name}, with <${header}>: install it, or give the folder of its sources")
    endif()
endfunction()

# The three sources of hiredis' reader, in the library itself. The code says <hiredis/read.h>, and the folder may have
# any name: a small header leads the way.
function(guildhall_add_hiredis_sources target folder)
    get_filename_component(folder "${folder}" ABSOLUTE)
    foreach(source alloc.c sds.c read.c)
        if(NOT EXISTS "${folder}/${source}")
            message(FATAL_ERROR "GUILDHALL_HIREDIS: no ${source} in ${folder}")
        endif()
        target_sources(${target} PRIVATE "${folder}/${source}")
        set_source_files_properties("${folder}/${source}" PROPERTIES COMPILE_DEFINITIONS "_DEFAULT_SOURCE")
    endforeach()
    set(forwarding "${CMAKE_CURRENT_BINARY_DIR}/third_party")
    file(WRITE "${forwarding}/hiredis/read.h" "#include \"${folder}/read.h\"\n")
    target_include_directories(${target} PRIVATE "${forwarding}")
endfunction()
