# cubed._core, for pip (see pyproject.toml). One binary serves Python 3.11 and later.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
file(GLOB core_sources CONFIGURE_DEPENDS python/core/*.c src/report/*.c)
add_library(python_core MODULE ${core_sources})
target_include_directories(python_core PRIVATE src)
target_include_directories(python_core SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(python_core PRIVATE cubed_static cubed_flags ${dependency_targets})
set_target_properties(python_core PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX ".abi3.so")
install(TARGETS python_core LIBRARY DESTINATION cubed COMPONENT python)
