# Files that pip installs in addition to the Python files (see pyproject.toml): cubed._core, whose binary works with Python 3.11
# and later, the command, and the library that both use. This library has another name than libcubed.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
set(package_dir ${PROJECT_BINARY_DIR}/package)

add_shared(python_library CUBED_PACKAGE)
set_target_properties(python_library PROPERTIES OUTPUT_NAME cubed_package
  LIBRARY_OUTPUT_DIRECTORY ${package_dir})
target_include_directories(python_library PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(python_library PRIVATE cubed_flags ${dependency_targets})

file(GLOB core_sources CONFIGURE_DEPENDS python/core/*.c src/report/*.c)
add_library(python_core MODULE ${core_sources})
target_include_directories(python_core PRIVATE src)
target_include_directories(python_core SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(python_core PRIVATE cubed_lang python_library cubed_flags PkgConfig::jansson Threads::Threads m)
set_target_properties(python_core PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX ".abi3.so" INSTALL_RPATH "$ORIGIN")
target_link_options(python_core PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/core.map)
set_target_properties(python_core PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/core.map)

add_executable(python_command ${cli_main} $<TARGET_OBJECTS:cubed_cli_objects>)
target_include_directories(python_command PRIVATE src)
target_link_libraries(python_command PRIVATE cubed_lang python_library cubed_flags PkgConfig::jansson m)
set_target_properties(python_command PROPERTIES OUTPUT_NAME cubed
  RUNTIME_OUTPUT_DIRECTORY ${package_dir}/bin INSTALL_RPATH "$ORIGIN/..")

install(TARGETS python_core python_library LIBRARY DESTINATION cubed COMPONENT python)
install(TARGETS python_command RUNTIME DESTINATION cubed/bin COMPONENT python)
if(SKBUILD_SCRIPTS_DIR)
  install(PROGRAMS python/command RENAME cubed DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
endif()
