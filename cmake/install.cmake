# Files that `cmake --install` installs: both libraries, headers, the executable, man pages, a
# pkg-config file and a CMake package. The installed files may be moved together.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cubed)

install(DIRECTORY include/cubed DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
if(TARGET cubed_cli)
  install(TARGETS cubed_cli)
endif()
if(TARGET cubed_help)
  install(DIRECTORY ${help_dir}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    FILES_MATCHING PATTERN "*.1")
  install(FILES ${help_dir}/man/cubed-functions.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
  install(FILES ${help_dir}/cubed.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cubed)
  install(FILES ${help_dir}/cubed.zsh
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _cubed)
  install(FILES ${help_dir}/cubed.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# There are three export sets, because only programs that link statically need the development files of the dependencies, and
# only programs that use the expression language need those of jansson.
install(TARGETS cubed EXPORT cubed-shared)
install(TARGETS cubed_static EXPORT cubed-static)
install(TARGETS cubed_lang EXPORT cubed-lang)
foreach(kind shared static lang)
  install(EXPORT cubed-${kind} NAMESPACE cubed:: DESTINATION ${package_dir}
    FILE cubed-${kind}-targets.cmake)
endforeach()

configure_package_config_file(cmake/cubed-config.cmake.in cubed-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(cubed-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cubed-config.cmake ${PROJECT_BINARY_DIR}/cubed-config-version.cmake
  DESTINATION ${package_dir})

# libcurl and OpenSSL are linked as shared libraries even if libcubed is static. So the development files of their own
# dependencies are not required.
set(pc_dependencies ${CUBED_DEPENDENCIES})
set(pc_libs "")
if(CUBED_HAVE_ZFP)
  set(pc_libs " -lzfp")
endif()
if(CUBED_HAVE_PCODEC)
  install(FILES ${CUBED_PCODEC_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  string(APPEND pc_libs " -lcubed_pcodec")
endif()
if(CUBED_HAVE_HTTP)
  list(REMOVE_ITEM pc_dependencies libcurl libcrypto)
  if(NOT CUBED_CURL_FILE)
    string(APPEND pc_libs " -lcrypto -lcurl")
  endif()
endif()
list(JOIN pc_dependencies " " pc_requires)
file(RELATIVE_PATH pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/cubed.pc.in cubed.pc @ONLY)
configure_file(cmake/cubed-lang.pc.in cubed-lang.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cubed.pc ${PROJECT_BINARY_DIR}/cubed-lang.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
