# tls.cmake -- the target guildhall::tls: guildhall/tls.h, over mbedTLS 2.28 or 3.6. Always a static library.

# guildhall_find_mbedtls([REQUIRED]): the target guildhall_mbedtls, unless there is one.
function(guildhall_find_mbedtls)
    if(TARGET guildhall_mbedtls)
        return()
    endif()
    find_path(GUILDHALL_mbedtls_INCLUDE mbedtls/ssl.h)
    set(found "${GUILDHALL_mbedtls_INCLUDE}")
    foreach(name mbedtls mbedx509 mbedcrypto)
        find_library(GUILDHALL_${name}_LIBRARY ${name})
        mark_as_advanced(GUILDHALL_${name}_LIBRARY)
        if(NOT GUILDHALL_${name}_LIBRARY)
            set(found "")
        endif()
    endforeach()
    mark_as_advanced(GUILDHALL_mbedtls_INCLUDE)
    if(found)
        add_library(guildhall_mbedtls INTERFACE IMPORTED)
        set_target_properties(guildhall_mbedtls PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${found}"
            INTERFACE_LINK_LIBRARIES
            "${GUILDHALL_mbedtls_LIBRARY};${GUILDHALL_mbedx509_LIBRARY};${GUILDHALL_mbedcrypto_LIBRARY}")
    elseif("REQUIRED" IN_LIST ARGN)
        message(FATAL_ERROR "guildhall::tls needs mbedTLS, with <mbedtls/ssl.h>: install it, or give GUILDHALL_MBEDTLS")
    endif()
endfunction()

# All of mbedTLS 3 in the library itself, as platform/tls/mbedtls_config.h wants it, so that it never calls the heap.
function(guildhall_add_mbedtls_sources target folder)
    get_filename_component(folder "${folder}" ABSOLUTE)
    file(GLOB sources "${folder}/library/*.c")
    if(NOT sources OR NOT EXISTS "${folder}/include/mbedtls/build_info.h")
        message(FATAL_ERROR "GUILDHALL_MBEDTLS: no sources of mbedTLS 3 in ${folder}")
    endif()
    set(ours "${CMAKE_CURRENT_BINARY_DIR}/third_party/mbedtls")
    configure_file(platform/tls/mbedtls_config.h "${ours}/mbedtls/mbedtls_config.h" COPYONLY)
    target_sources(${target} PRIVATE ${sources})
    target_include_directories(${target} BEFORE PRIVATE "${ours}" "${folder}/include" "${folder}/library")
endfunction()

function(guildhall_add_tls)
    file(GLOB sources CONFIGURE_DEPENDS platform/tls/*.c)
    add_library(guildhall_tls STATIC ${sources})
    add_library(guildhall::tls ALIAS guildhall_tls)
    set_target_properties(guildhall_tls PROPERTIES EXPORT_NAME tls C_STANDARD 11 C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    target_include_directories(guildhall_tls PUBLIC
        $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/platform/tls/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(guildhall_tls PUBLIC guildhall)
    if(GUILDHALL_MBEDTLS)
        guildhall_add_mbedtls_sources(guildhall_tls "${GUILDHALL_MBEDTLS}")
    else()
        guildhall_find_mbedtls(REQUIRED)
        target_link_libraries(guildhall_tls PRIVATE guildhall_mbedtls)
    endif()
endfunction()
