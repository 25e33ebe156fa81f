# Each tests/unit/test_*.c is a program with cmocka. Other *.c files in this folder are shared by the programs.
pkg_check_modules(cmocka IMPORTED_TARGET cmocka)
if(NOT cmocka_FOUND)
  message(STATUS "cmocka was not found: the unit tests are not built")
  return()
endif()

file(GLOB test_sources CONFIGURE_DEPENDS tests/unit/test_*.c)
if(NOT CUBED_HAVE_HTTP)
  list(FILTER test_sources EXCLUDE REGEX "/test_remote")
endif()
foreach(codec LZMA ZFP)
  if(NOT CUBED_HAVE_${codec})
    string(TOLOWER ${codec} name)
    list(FILTER test_sources EXCLUDE REGEX "/test_codec_${name}")
  endif()
endforeach()
file(GLOB support_sources CONFIGURE_DEPENDS tests/unit/*.c)
# Parts of the library, if the build has them (CUBED_SHAKE, MemorySanitizer).
list(FILTER support_sources EXCLUDE REGEX "/test_[^/]*$")
list(REMOVE_ITEM support_sources
  ${PROJECT_SOURCE_DIR}/tests/unit/shake.c ${PROJECT_SOURCE_DIR}/tests/unit/msan.c)

add_library(cubed_internal INTERFACE)
target_include_directories(cubed_internal INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(cubed_internal SYSTEM INTERFACE
  ${PROJECT_SOURCE_DIR}/third_party/pocketfft)
target_link_libraries(cubed_internal INTERFACE cubed_static cubed_flags ${dependency_targets})
if(support_sources)
  add_library(cubed_test_support STATIC ${support_sources})
  target_link_libraries(cubed_test_support PUBLIC cubed_internal PkgConfig::cmocka)
endif()

# Each test has a copy of the library: LLD links them in a third of the time of GNU ld.
find_program(CUBED_LLD ld.lld)
mark_as_advanced(CUBED_LLD)
if(CUBED_LLD AND NOT CMAKE_CROSSCOMPILING AND NOT APPLE)
  set(fast_linker -fuse-ld=lld)
endif()

foreach(source IN LISTS test_sources)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_link_options(${name} PRIVATE ${fast_linker})
  target_link_libraries(${name} PRIVATE
    $<TARGET_NAME_IF_EXISTS:cubed_test_support> cubed_internal PkgConfig::cmocka)
  if(name STREQUAL test_block_fft) # which includes it
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${optimize_hot};${sanitize_pocketfft}")
  endif()
  if(name MATCHES "^test_(batch|cli|expr|report)")
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:cubed_cli_objects>)
    target_link_libraries(${name} PRIVATE cubed_lang)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
endforeach()

if(CMAKE_CROSSCOMPILING_EMULATOR)
  # QEMU emulates /proc/PID/stat only for the process itself, so owners of other processes seem to have ended.
  set_tests_properties(test_owner PROPERTIES DISABLED TRUE)
endif()
if(CUBED_SLOW)
  foreach(source IN LISTS test_sources)
    cmake_path(GET source STEM name)
    target_compile_definitions(${name} PRIVATE SLOW=${CUBED_SLOW})
  endforeach()
elseif(CMAKE_CROSSCOMPILING_EMULATOR OR CUBED_SANITIZE)
  target_compile_definitions(test_opt_rechunk PRIVATE SLOW=20)
endif()
# Start the longest tests first, even if no times of earlier runs are known.
set_tests_properties(test_system_faults test_codec_memory test_opt_rechunk test_protocol PROPERTIES COST 10)

if(CUBED_HAVE_PCODEC AND TARGET test_codec_memory)
  target_compile_definitions(test_codec_memory PRIVATE CB_HAVE_PCODEC)
endif()

if(TARGET test_remote_memory)
  # The server of this test uses TLS.
  pkg_check_modules(libssl REQUIRED IMPORTED_TARGET libssl)
  target_link_libraries(test_remote_memory PRIVATE PkgConfig::libssl PkgConfig::libcrypto)
  target_link_libraries(test_remote_credentials PRIVATE PkgConfig::libcrypto) # makes a key
  if(CUBED_CURL_FILE)
    target_compile_definitions(test_remote_memory PRIVATE CB_CURL_LIBRARY="${CUBED_CURL_FILE}")
  endif()
endif()

target_link_options(test_expr_memory PRIVATE
  -Wl,--wrap=lang_alloc,--wrap=lang_resize,--wrap=lang_vprintf,--wrap=lang_printf,--wrap=json_loads,--wrap=json_loadb)

target_link_options(test_cli_faults PRIVATE -Wl,--wrap=realloc,--wrap=lang_alloc,--wrap=cli_resize)

if(TARGET test_files_faults)
  target_compile_definitions(test_files_faults PRIVATE XXH_INLINE_ALL CORPUS="${PROJECT_SOURCE_DIR}/fuzz/corpus")
endif()
# Replace Jansson's parsers, so that they can be made to fail (tests/unit/failing_json.h).
foreach(name IN ITEMS test_memory_faults test_files_faults test_catalogue_faults test_export_faults test_run_faults
    test_processes test_new_file test_remote_credentials test_remote_faults)
  if(TARGET ${name})
    target_link_options(${name} PRIVATE -Wl,--wrap=json_loads,--wrap=json_loadb)
    if(NOT name MATCHES "^test_remote")
      target_link_options(${name} PRIVATE -Wl,--wrap=realloc)
    endif()
  endif()
endforeach()

if(TARGET test_memory_faults) # with CUBED_ALL_FAULTS
  set_tests_properties(test_memory_faults test_system_faults test_catalogue_faults test_files_faults test_run_faults
    PROPERTIES TIMEOUT 1800)
endif()
if(TARGET test_remote_faults) # libcurl, which is loaded later, takes these functions from the program
  foreach(function IN ITEMS connect send recv)
    target_link_options(test_remote_faults PRIVATE -Wl,--export-dynamic-symbol=${function})
  endforeach()
endif()

target_link_options(test_export_faults PRIVATE -Wl,--wrap=cb_store_get)
target_link_options(test_new_file PRIVATE -Wl,--wrap=cb_owner_alive)
target_link_options(test_run_faults PRIVATE -Wl,--wrap=cb_owner_alive)
if(CUBED_HAVE_NETCDF)
  target_link_options(test_export_faults PRIVATE -Wl,--wrap=cb_library_load)
  target_compile_definitions(test_export_faults PRIVATE CB_HAVE_NETCDF)
  target_include_directories(test_export_faults SYSTEM PRIVATE ${NETCDF_INCLUDE_DIR})
endif()
target_link_options(test_batch PRIVATE -Wl,--wrap=fopen,--wrap=fclose)
if(TARGET test_system_faults)
  target_link_options(test_system_faults PRIVATE -Wl,--wrap=pthread_create)
endif()

# tests/cli/*.txt are tables of commands and their output. `run_commands CUBED TABLE --update` updates a table.
add_executable(run_commands tests/cli/run_commands.c)
target_link_libraries(run_commands PRIVATE cubed_flags)
set_target_properties(run_commands PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(TARGET cubed_cli AND NOT CMAKE_CROSSCOMPILING) # an emulator runs no command of a shell
  file(GLOB tables CONFIGURE_DEPENDS tests/cli/*.txt)
  if(NOT CUBED_HAVE_NETCDF)
    list(FILTER tables EXCLUDE REGEX "/netcdf[^/]*$")
  endif()
  foreach(table IN LISTS tables)
    cmake_path(GET table STEM name)
    add_test(NAME cli_${name} COMMAND run_commands $<TARGET_FILE:cubed_cli> ${table})
    set_tests_properties(cli_${name} PROPERTIES LABELS unit TIMEOUT 300)
  endforeach()
endif()

# The example of a kernel in a shared object, which a test also uses.
add_library(example_kernel MODULE examples/map_blocks/kernel.c)
target_include_directories(example_kernel PRIVATE include)
target_link_libraries(example_kernel PRIVATE cubed_flags)
set_target_properties(example_kernel PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_executable(example_map_blocks examples/map_blocks/main.c examples/map_blocks/kernel.c)
target_link_libraries(example_map_blocks PRIVATE cubed cubed_flags)
set_target_properties(example_map_blocks PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_test(NAME example_map_blocks COMMAND example_map_blocks $<TARGET_FILE:example_kernel>)
set_tests_properties(example_map_blocks PROPERTIES LABELS unit PASS_REGULAR_EXPRESSION "shared: 0.5")
foreach(name IN ITEMS test_batch test_map_blocks)
  target_compile_definitions(${name} PRIVATE KERNEL_LIBRARY="$<TARGET_FILE:example_kernel>")
  add_dependencies(${name} example_kernel)
endforeach()

# The examples of extensions of the library. tools/check_install builds them as users would.
set(example_complete_more examples/extensions/codec.c examples/extensions/store.c)
foreach(name block complete executor forks source)
  add_executable(example_${name} examples/extensions/${name}.c ${example_${name}_more})
  target_link_libraries(example_${name} PRIVATE cubed cubed_flags)
  set_target_properties(example_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME example_${name} COMMAND example_${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  set_tests_properties(example_${name} PROPERTIES LABELS unit)
endforeach()
