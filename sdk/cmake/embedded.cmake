# embedded.cmake -- the target guildhall::embedded: guildhall/embedded.h, over Lua 5.1. Always a static library.

# guildhall_find_lua([REQUIRED]): the target guildhall_lua, unless there is one.
function(guildhall_find_lua)
    if(TARGET guildhall_lua)
        return()
    endif()
    find_path(GUILDHALL_lua_INCLUDE lua.h PATH_SUFFIXES lua5.1 lua51 lua-5.1)
    find_library(GUILDHALL_lua_LIBRARY NAMES lua5.1 lua51 lua-5.1)
    mark_as_advanced(GUILDHALL_lua_INCLUDE GUILDHALL_lua_LIBRARY)
    if(GUILDHALL_lua_INCLUDE AND GUILDHALL_lua_LIBRARY)
        set(libraries "${GUILDHALL_lua_LIBRARY}")
        if(UNIX)
            list(APPEND libraries m)
        endif()
        add_library(guildhall_lua INTERFACE IMPORTED)
        set_target_properties(guildhall_lua PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${GUILDHALL_lua_INCLUDE}"
            INTERFACE_LINK_LIBRARIES "${libraries}")
    elseif("REQUIRED" IN_LIST ARGN)
        message(FATAL_ERROR "guildhall::embedded needs Lua 5.1, with lua.h: install it")
    endif()
endfunction()

function(guildhall_add_embedded)
    file(GLOB sources CONFIGURE_DEPENDS platform/embedded/*.c)
    add_library(guildhall_embedded STATIC ${sources})
    add_library(guildhall::embedded ALIAS guildhall_embedded)
    set_target_properties(guildhall_embedded PROPERTIES EXPORT_NAME embedded C_STANDARD 11 C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    target_include_directories(guildhall_embedded
        PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/platform/embedded/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
        PRIVATE platform/embedded)
    target_link_libraries(guildhall_embedded PUBLIC guildhall)
    guildhall_find_lua(REQUIRED)
    target_link_libraries(guildhall_embedded PRIVATE guildhall_lua)
endfunction()
