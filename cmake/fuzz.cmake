# fuzz/fuzz_NAME.c: one LLVMFuzzerTestOneInput each. The inputs in fuzz/corpus/NAME are replayed as
# ordinary tests; with CUBED_FUZZ, fuzzers that go on from them are built, too.
file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)
if(NOT CUBED_HAVE_HTTP)
  list(FILTER fuzz_sources EXCLUDE REGEX "/fuzz_(http|listing)\\.c$")
endif()

foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM fuzzer)
  string(REPLACE fuzz_ "" name ${fuzzer})
  set(executables replay_${name})
  add_executable(replay_${name} ${source} fuzz/replay.c)
  target_compile_definitions(replay_${name} PRIVATE FUZZ_REPLAY)
  if(CUBED_FUZZ)
    add_executable(${fuzzer} ${source})
    target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    list(APPEND executables ${fuzzer})
  endif()
  foreach(executable IN LISTS executables)
    target_include_directories(${executable} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${executable} PRIVATE cubed_lang cubed_static cubed_flags ${dependency_targets})
    set_target_properties(${executable} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  endforeach()
  add_test(NAME ${fuzzer} COMMAND replay_${name} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
  set_tests_properties(${fuzzer} PROPERTIES LABELS fuzz TIMEOUT 300)
endforeach()

# No plan opens a file.
foreach(executable IN ITEMS replay_plan fuzz_plan)
  if(TARGET ${executable})
    target_link_options(${executable} PRIVATE -Wl,--wrap=cb_store_open,--wrap=cb_store_open_allowed)
  endif()
endforeach()
