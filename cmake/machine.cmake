# Refuses machines that the library does not support, before anything is compiled.
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  math(EXPR bits "8 * ${CMAKE_SIZEOF_VOID_P}")
  message(FATAL_ERROR "cubed needs a 64-bit processor, but addresses of this compiler have ${bits} bits: sizes of arrays "
    "and of memory would not fit. Choose a 64-bit target, for example without -m32")
endif()
if(CMAKE_C_BYTE_ORDER STREQUAL "BIG_ENDIAN")
  message(FATAL_ERROR "cubed needs a little-endian processor, but ${CMAKE_SYSTEM_PROCESSOR} is big-endian: some codecs and "
    "attributes would have wrong values. Big-endian data are read and written on any little-endian processor")
endif()
