# pkg-config names. The installed CMake package and cubed.pc repeat this list for static linking.
set(CUBED_DEPENDENCIES blosc libzstd zlib liblz4 jansson)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(CUBED_ISA x86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(CUBED_ISA aarch64)
else()
  set(CUBED_ISA base)
endif()
if(NOT CUBED_ISA STREQUAL base)
  list(APPEND CUBED_DEPENDENCIES sleef)
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

# Stores of other machines, where both are there.
option(CUBED_HTTP "Build the stores that need libcurl and OpenSSL, if they are found" ON)
if(CUBED_HTTP)
  pkg_check_modules(libcurl IMPORTED_TARGET libcurl>=7.84)
  pkg_check_modules(libcrypto IMPORTED_TARGET libcrypto>=3.0)
endif()
if(libcurl_FOUND AND libcrypto_FOUND)
  set(CUBED_HAVE_HTTP ON)
  list(APPEND CUBED_DEPENDENCIES libcurl libcrypto)
  list(APPEND dependency_targets PkgConfig::libcurl PkgConfig::libcrypto)
  add_compile_definitions(CB_HAVE_HTTP)
else()
  set(CUBED_HAVE_HTTP OFF)
  message(STATUS "Without libcurl and OpenSSL: stores of other machines (s3://, https://) are not built")
endif()

# The codec lzma, where its library is there.
option(CUBED_LZMA "Build the codec lzma, if liblzma is found" ON)
if(CUBED_LZMA)
  pkg_check_modules(liblzma IMPORTED_TARGET liblzma>=5.2)
endif()
if(liblzma_FOUND)
  set(CUBED_HAVE_LZMA ON)
  list(APPEND CUBED_DEPENDENCIES liblzma)
  list(APPEND dependency_targets PkgConfig::liblzma)
  add_compile_definitions(CB_HAVE_LZMA)
else()
  set(CUBED_HAVE_LZMA OFF)
  message(STATUS "Without liblzma: the codec lzma is not built")
endif()

# Writing NetCDF: its header is needed here, and the library where a file is written, which loads it then.
option(CUBED_NETCDF "Build what writes NetCDF, if libnetcdf is found" ON)
set(CUBED_HAVE_NETCDF OFF)
if(CUBED_NETCDF)
  find_path(NETCDF_INCLUDE_DIR netcdf.h)
  find_library(NETCDF_LIBRARY netcdf)
  if(NETCDF_INCLUDE_DIR AND NETCDF_LIBRARY)
    set(CUBED_HAVE_NETCDF ON)
    file(REAL_PATH ${NETCDF_LIBRARY} netcdf_file)
    cmake_path(GET netcdf_file FILENAME CUBED_NETCDF_FILE)
  endif()
endif()
if(NOT CUBED_HAVE_NETCDF)
  message(STATUS "Without libnetcdf: NetCDF is read, and not written")
endif()
