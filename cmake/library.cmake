# The library: compiled once as objects, then linked as libcubed.so and libcubed.a.

set(library_folders base dtype mem store/core store/local store/http store/auth store/services place files codec zarr
    export kernel linalg block context plan plan/kinds chunks exec/plan exec/vm exec/operators opt ops cf grid array_api catalogue run/places run/executors
    run/driver)
set(library_sources)
foreach(folder IN LISTS library_folders)
  file(GLOB found CONFIGURE_DEPENDS src/${folder}/*.c)
  list(APPEND library_sources ${found})
endforeach()
if(NOT CUBED_HAVE_HTTP)
  list(FILTER library_sources EXCLUDE REGEX "/src/store/(auth/(credentials[a-z_]*|sigv4)|http/(curl|digest|http_(client|redirect|reply|sockets))|services/(azure|gcs|remote|remote_dialect|remote_sweep|s3|s3_listing|s3_upload|web))\\.c$|/src/run/(driver/lambda_worker|executors/(lambda|invoke|http_endpoints))\\.c$")
endif()
if(CUBED_CURL_FILE)
  set_source_files_properties(src/store/http/curl.c src/store/http/http_client.c src/store/http/http_redirect.c
    src/store/http/http_sockets.c src/store/auth/credentials_fetch.c
    PROPERTIES COMPILE_DEFINITIONS "CB_CURL_LIBRARY=\"${CUBED_CURL_FILE}\"")
  set_source_files_properties(src/store/http/digest.c
    PROPERTIES COMPILE_DEFINITIONS "CB_CRYPTO_LIBRARY=\"${CUBED_CRYPTO_FILE}\"")
endif()
if(NOT CUBED_HAVE_LZMA)
  list(FILTER library_sources EXCLUDE REGEX "/src/codec/lzma\\.c$")
endif()
if(NOT CUBED_HAVE_ZFP)
  list(FILTER library_sources EXCLUDE REGEX "/src/codec/zfp\\.c$")
endif()
if(NOT CUBED_HAVE_PCODEC)
  list(FILTER library_sources EXCLUDE REGEX "/src/codec/pcodec\\.c$")
endif()
if(CUBED_HAVE_NETCDF)
  list(FILTER library_sources EXCLUDE REGEX "/src/export/netcdf_none\\.c$")
  set_source_files_properties(src/export/netcdf_library.c src/codec/libraries.c PROPERTIES
    COMPILE_DEFINITIONS "CB_NETCDF_LIBRARY=\"${CUBED_NETCDF_FILE}\"")
  set_source_files_properties(src/export/netcdf.c src/export/netcdf_attrs.c src/export/netcdf_library.c
    src/codec/libraries.c PROPERTIES INCLUDE_DIRECTORIES ${NETCDF_INCLUDE_DIR})
else()
  list(FILTER library_sources EXCLUDE REGEX "/src/export/netcdf(_attrs|_library)?\\.c$")
endif()
if(CUBED_HAVE_PCODEC)
  # Set the definition only for these files. All other objects are the same as in the package, which is built without pcodec.
  set_property(SOURCE src/codec/codec_registry.c src/codec/libraries.c src/codec/pcodec.c
    APPEND PROPERTY COMPILE_DEFINITIONS CB_HAVE_PCODEC)
endif()
if(CUBED_SHAKE)
  list(APPEND library_sources ${PROJECT_SOURCE_DIR}/tests/unit/shake.c)
endif()
if(CUBED_SANITIZE MATCHES "memory")
  # Other libraries are built without MemorySanitizer. So calls of their functions go to msan.c, which calls them.
  list(APPEND library_sources ${PROJECT_SOURCE_DIR}/tests/unit/msan.c)
  file(GLOB callers src/codec/*.c)
  foreach(function IN ITEMS
      ZSTD_decompressDCtx ZSTD_decompress ZSTD_decompressStream ZSTD_compress2 ZSTD_getCParams ZSTD_getFrameHeader
      LZ4_decompress_safe LZ4_compress_fast_extState inflate deflate BZ2_bzDecompress BZ2_bzCompress
      blosc_decompress_ctx blosc_compress_ctx blosc_cbuffer_validate blosc_cbuffer_sizes json_loads json_loadb)
    set_property(SOURCE ${callers} src/files/file.c src/files/icechunk.c src/files/parquet.c src/base/json.c
      APPEND PROPERTY COMPILE_DEFINITIONS ${function}=msan_${function})
  endforeach()
endif()
set(isa_sources ${library_sources})
list(FILTER library_sources EXCLUDE REGEX "\\.isa\\.c$")
list(FILTER isa_sources INCLUDE REGEX "/kernel/[^/]*\\.isa\\.c$")

set(kernel_sources ${library_sources})
list(FILTER kernel_sources INCLUDE REGEX "/src/(kernel/|linalg/|codec/shuffle)")
set_source_files_properties(${kernel_sources} PROPERTIES COMPILE_OPTIONS "${kernel_flags}")

# Versions of libraries whose headers do not contain their version.
set_property(SOURCE src/codec/libraries.c APPEND PROPERTY COMPILE_DEFINITIONS
  "CUBED_BZIP2_VERSION=\"${BZIP2_VERSION_STRING}\"" "CUBED_PCO_VERSION=\"${CUBED_PCO_VERSION}\"")
# Products of matrices use fused multiply-add for their sums of products.
set_source_files_properties(src/kernel/gemm.isa.c src/kernel/matvec.isa.c PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)

set(hot_sources ${library_sources})
list(FILTER hot_sources INCLUDE REGEX "/src/(kernel|linalg|block|opt)/")
set_property(SOURCE ${hot_sources} APPEND PROPERTY COMPILE_OPTIONS ${optimize_hot})

function(add_objects target)
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE cubed_flags ${dependency_targets})
  set_property(GLOBAL APPEND PROPERTY cubed_objects $<TARGET_OBJECTS:${target}>)
endfunction()

# Every *.isa.c is compiled once per instruction set. CB_ISA is the name of the set in function names (add_v3), and
# CB_ISA_LEVEL is its rank: 0 is the baseline of the machine.
function(add_kernels isa level)
  if(isa_sources)
    add_objects(cubed_kernel_${isa} ${isa_sources})
    target_compile_definitions(cubed_kernel_${isa} PRIVATE CB_ISA=${isa} CB_ISA_LEVEL=${level})
    target_compile_options(cubed_kernel_${isa} PRIVATE ${kernel_flags} ${ARGN})
  endif()
endfunction()

# Code of other projects is compiled without our warnings.
add_library(cubed_pocketfft OBJECT third_party/pocketfft/interface.c)
set_target_properties(cubed_pocketfft PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(cubed_pocketfft PRIVATE -w -ffp-contract=off ${optimize_hot} ${sanitize} ${sanitize_pocketfft})
set_property(GLOBAL APPEND PROPERTY cubed_objects $<TARGET_OBJECTS:cubed_pocketfft>)

add_objects(cubed_objects ${library_sources})
target_include_directories(cubed_objects SYSTEM PRIVATE third_party/pocketfft)
if(CUBED_ISA STREQUAL x86)
  add_kernels(v2 2 -march=x86-64-v2)
  add_kernels(v3 3 -march=x86-64-v3)
  add_kernels(v4 4 -march=x86-64-v4 -mprefer-vector-width=512)
elseif(CUBED_ISA STREQUAL aarch64)
  add_kernels(neon 1)
else()
  add_kernels(base 0)
endif()

# Makes a shared library from all objects, with a version node NODE for its functions. So a program that contains another
# libcubed in addition to the package calls the functions of the right library.
function(add_shared target node)
  get_property(objects GLOBAL PROPERTY cubed_objects)
  add_library(${target} SHARED ${objects})
  target_link_options(${target} PRIVATE ${undefined_is_error})
  if(NOT APPLE)
    set(CUBED_NODE ${node})
    configure_file(cmake/cubed.map.in ${target}.map @ONLY)
    target_link_options(${target} PRIVATE LINKER:--version-script=${PROJECT_BINARY_DIR}/${target}.map)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${PROJECT_BINARY_DIR}/${target}.map)
  endif()
endfunction()

get_property(objects GLOBAL PROPERTY cubed_objects)
add_shared(cubed CUBED_${PROJECT_VERSION_MAJOR})
add_library(cubed_static STATIC ${objects})
set_target_properties(cubed PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
set_target_properties(cubed_static PROPERTIES OUTPUT_NAME cubed)
foreach(library cubed cubed_static)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:cubed_flags> ${dependency_targets})
endforeach()
