# pkg-config names. The installed CMake package and cubed.pc repeat this list for static linking.
set(CUBED_DEPENDENCIES blosc libzstd zlib liblz4 jansson)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(CUBED_X86 ON)
  list(APPEND CUBED_DEPENDENCIES sleef)
else()
  set(CUBED_X86 OFF)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# Of xxHash only the header is used.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
include_directories(SYSTEM ${XXHASH_INCLUDE_DIR})
# Its functions are inlined by force, which compilers that are to keep code as it is refuse.
add_compile_definitions($<$<CONFIG:Debug>:XXH_NO_INLINE_HINTS=1>)

# bzip2 comes without a pkg-config file in many distributions.
find_package(BZip2 REQUIRED)

set(dependency_targets Threads::Threads m bz2)
foreach(dependency IN LISTS CUBED_DEPENDENCIES)
  pkg_check_modules(${dependency} REQUIRED IMPORTED_TARGET ${dependency})
  list(APPEND dependency_targets PkgConfig::${dependency})
endforeach()
