# Compiler and linker flags of all targets, as a target to link to.
add_library(cubed_flags INTERFACE)
target_compile_options(cubed_flags INTERFACE
  -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla
  -fno-strict-aliasing
  # Values must be the same on all machines, with or without fused multiply-add.
  -ffp-contract=off
  $<$<BOOL:${CUBED_WERROR}>:-Werror>)

if(CUBED_CHECK_LOCKS)
  # For src/base/lock.h: without late parsing, an attribute in C cannot name a member of the same structure.
  target_compile_options(cubed_flags INTERFACE
    -Wthread-safety -fexperimental-late-parse-attributes -DCB_CHECK_LOCKS)
endif()

if(CUBED_PORTABLE)
  # Leave out functions that are never called, so that wheels are small.
  target_compile_options(cubed_flags INTERFACE -include ${PROJECT_SOURCE_DIR}/cmake/portable.h
    -ffunction-sections -fdata-sections)
  target_link_options(cubed_flags INTERFACE LINKER:--gc-sections)
endif()

if(CUBED_SHAKE)
  # This header is included before the text of a source, so define here the macro that sources define before their first header.
  target_compile_options(cubed_flags INTERFACE -D_GNU_SOURCE= -include ${PROJECT_SOURCE_DIR}/tests/unit/shake.h)
endif()

if(CUBED_SANITIZE)
  # Optimise the files in which tests spend their time. All other files compile quickly.
  set(optimize_hot -O1)
  set(sanitize -fsanitize=${CUBED_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(cubed_flags INTERFACE ${sanitize})
  target_link_options(cubed_flags INTERFACE ${sanitize})
  if(CUBED_SANITIZE MATCHES "undefined")
    # Code adds 0 to NULL if a plan has no factors.
    set(sanitize_pocketfft -fno-sanitize=pointer-overflow)
    if(CMAKE_C_COMPILER_ID MATCHES "Clang") # GCC has no checks of unsigned integers
      # Detect sizes that wrap around or lose bits. Ninja and ccache detect a change of the list only if its name changes.
      set(wrapping ${PROJECT_SOURCE_DIR}/tests/unit/wrapping.txt)
      file(SHA1 ${wrapping} hash)
      configure_file(${wrapping} ${PROJECT_BINARY_DIR}/wrapping-${hash}.txt COPYONLY)
      target_compile_options(cubed_flags INTERFACE -fsanitize=unsigned-integer-overflow,implicit-conversion
        -fno-sanitize-recover=all -fsanitize-ignorelist=${PROJECT_BINARY_DIR}/wrapping-${hash}.txt)
    endif()
  endif()
else()
  # A shared library that is built with sanitizers has undefined symbols, which the executable defines.
  set(undefined_is_error -Wl,-z,defs)
endif()

# The compiler must vectorise the loops of kernels. Values must conform to IEEE 754, so -ffast-math must not be used. Integer
# overflow wraps around, as in NumPy.
set(kernel_flags -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv
  $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-O3>
  ${optimize_hot}
  # Clang warns about every loop that it was told to vectorise and does not, which are all such loops in a debug build.
  $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
