# Flags of everything that is built here, as a target to link to.
add_library(cubed_flags INTERFACE)
target_compile_options(cubed_flags INTERFACE
  -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla
  -fno-strict-aliasing
  # The same values on every machine, whether it has fused multiply-add or not.
  -ffp-contract=off
  $<$<BOOL:${CUBED_WERROR}>:-Werror>)

if(CUBED_CHECK_LOCKS)
  # src/base/lock.h: without late parsing an attribute in C cannot name a member of the same structure.
  target_compile_options(cubed_flags INTERFACE
    -Wthread-safety -fexperimental-late-parse-attributes -DCB_CHECK_LOCKS)
endif()

if(CUBED_PORTABLE)
  # What is never called is left out: wheels are small.
  target_compile_options(cubed_flags INTERFACE -include ${PROJECT_SOURCE_DIR}/cmake/portable.h
    -ffunction-sections -fdata-sections)
  target_link_options(cubed_flags INTERFACE LINKER:--gc-sections)
endif()

if(CUBED_SHAKE)
  # The header is the first that is included: what sources define before their first header is defined for it, too.
  target_compile_options(cubed_flags INTERFACE -D_GNU_SOURCE= -include ${PROJECT_SOURCE_DIR}/tests/unit/shake.h)
endif()

if(CUBED_SANITIZE)
  # Where tests spend their time; the rest compiles quickly.
  set(optimize_hot -O1)
  set(sanitize -fsanitize=${CUBED_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(cubed_flags INTERFACE ${sanitize})
  target_link_options(cubed_flags INTERFACE ${sanitize})
  if(CUBED_SANITIZE MATCHES "undefined")
    # It adds 0 to NULL where a plan has no factors.
    set(sanitize_pocketfft -fno-sanitize=pointer-overflow)
    if(CMAKE_C_COMPILER_ID MATCHES "Clang") # GCC has no checks of unsigned integers
      # Sizes that wrap around or lose bits. Ninja and ccache see a change of the list by its name alone.
      set(wrapping ${PROJECT_SOURCE_DIR}/tests/unit/wrapping.txt)
      file(SHA1 ${wrapping} hash)
      configure_file(${wrapping} ${PROJECT_BINARY_DIR}/wrapping-${hash}.txt COPYONLY)
      target_compile_options(cubed_flags INTERFACE -fsanitize=unsigned-integer-overflow,implicit-conversion
        -fno-sanitize-recover=all -fsanitize-ignorelist=${PROJECT_BINARY_DIR}/wrapping-${hash}.txt)
    endif()
  endif()
else()
  # A shared library linked with sanitizers leaves their symbols to the executable.
  set(undefined_is_error -Wl,-z,defs)
endif()

# Kernels are plain loops that the compiler must vectorise, with IEEE values: never -ffast-math.
# Integer overflow wraps, as in NumPy.
set(kernel_flags -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv
  $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-O3>
  ${optimize_hot}
  # Clang warns of every loop that it may vectorise but does not, such as all in a debug build.
  $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
