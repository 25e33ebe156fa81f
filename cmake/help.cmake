# Man pages and completion scripts, which the command prints from the tables of its options. They are not made by
# cross-compilers and sanitizers, because their commands do not run here, or only with special settings.
if(CMAKE_CROSSCOMPILING OR CUBED_SANITIZE)
  return()
endif()

set(help_dir ${PROJECT_BINARY_DIR}/help)
add_custom_command(OUTPUT ${help_dir}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${help_dir}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${help_dir}/man
  COMMAND cubed_cli help --man-dir ${help_dir}/man
  COMMAND cubed_cli completion bash > ${help_dir}/cubed.bash
  COMMAND cubed_cli completion zsh > ${help_dir}/cubed.zsh
  COMMAND cubed_cli completion fish > ${help_dir}/cubed.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${help_dir}/made
  DEPENDS cubed_cli VERBATIM
  COMMENT "Printing man pages and completion scripts")
add_custom_target(cubed_help ALL DEPENDS ${help_dir}/made)
