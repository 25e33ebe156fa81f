# The command in one file, for workers on machines and in images that have only the C library. All libraries are linked
# statically except those of glibc, which look up hosts and users by modules of the machine. Libraries without a static version
# stay shared, and are put next to the command: Debian has no static SLEEF. The machine's libcurl and libcrypto are loaded when a
# URL is used. They can be linked statically as well: tools/wheel builds a static libcurl, which is selected by
# -DCURL_LIBRARY=$PWD/build/libcurl/lib/libcurl.a with PKG_CONFIG_PATH=$PWD/build/libcurl/lib/pkgconfig.
set(standalone_names snappy bz2)
set(standalone_dirs)
foreach(dependency IN LISTS CUBED_DEPENDENCIES)
  if(NOT dependency MATCHES "^lib(curl|crypto)$")
    list(APPEND standalone_names ${${dependency}_LIBRARIES})
  endif()
  list(APPEND standalone_dirs ${${dependency}_LIBRARY_DIRS})
endforeach()
if(CUBED_HAVE_ZFP)
  list(APPEND standalone_names zfp)
endif()
if(CUBED_HAVE_HTTP AND NOT CUBED_CURL_FILE)
  # Link the given static libcurl. The libcurl of a distribution would also need the libraries of all its protocols.
  set(STANDALONE_curl ${CURL_LIBRARY})
  list(APPEND standalone_names curl ssl crypto)
endif()
set(standalone_libraries)
set(standalone_shared)
set(standalone_beside)
foreach(name IN LISTS standalone_names)
  find_library(STANDALONE_${name} NAMES lib${name}.a HINTS ${standalone_dirs})
  mark_as_advanced(STANDALONE_${name})
  if(STANDALONE_${name})
    list(APPEND standalone_libraries ${STANDALONE_${name}})
  elseif(name STREQUAL snappy)
    # Without development files, the library can only be linked by the file name of the version that blosc uses.
    list(APPEND standalone_shared ${name})
    list(APPEND standalone_libraries -l:libsnappy.so.1)
  else()
    list(APPEND standalone_shared ${name})
    list(APPEND standalone_libraries ${name})
    find_library(STANDALONE_SHARED_${name} NAMES ${name} HINTS ${standalone_dirs})
    mark_as_advanced(STANDALONE_SHARED_${name})
    list(APPEND standalone_beside ${STANDALONE_SHARED_${name}})
  endif()
endforeach()
if(STANDALONE_snappy)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libstdc++.a
    OUTPUT_VARIABLE standalone_cxx OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND standalone_libraries ${standalone_cxx} -static-libgcc)
endif()
if(CUBED_HAVE_PCODEC)
  # Code in Rust needs GCC's library for unwinding.
  list(APPEND standalone_libraries cubed_pcodec -static-libgcc)
endif()
if(CUBED_HAVE_ZFP)
  # The loader looks for the libraries that zfp needs next to the command only if the command itself names them.
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libgomp.so.1
    OUTPUT_VARIABLE standalone_gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND standalone_shared gomp)
  list(APPEND standalone_libraries
    -Wl,--push-state,--no-as-needed ${standalone_gomp} -Wl,--pop-state)
  list(APPEND standalone_beside ${standalone_gomp})
endif()
list(JOIN standalone_shared "\n" standalone_text)
file(WRITE ${PROJECT_BINARY_DIR}/standalone/shared "${standalone_text}\n")

add_executable(cubed_standalone EXCLUDE_FROM_ALL ${cli_main} $<TARGET_OBJECTS:cubed_cli_objects>)
target_include_directories(cubed_standalone PRIVATE include src)
# Link the file of the library, because its target would also link shared libraries.
add_dependencies(cubed_standalone cubed_lang cubed_static)
target_link_libraries(cubed_standalone PRIVATE cubed_flags
  -Wl,--start-group $<TARGET_FILE:cubed_lang> $<TARGET_FILE:cubed_static> ${standalone_libraries} -Wl,--end-group Threads::Threads m)
target_link_options(cubed_standalone PRIVATE LINKER:--gc-sections LINKER:--as-needed -s)
set_target_properties(cubed_standalone PROPERTIES
  OUTPUT_NAME cubed LINK_DEPENDS $<TARGET_FILE:cubed_static> BUILD_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/standalone)
# Copy the libraries under the names by which the loader looks for them.
foreach(library IN LISTS standalone_beside)
  file(REAL_PATH ${library} file)
  cmake_path(GET file FILENAME name)
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" name ${name})
  add_custom_command(TARGET cubed_standalone POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy ${file} ${PROJECT_BINARY_DIR}/standalone/${name})
endforeach()
