/* Selects the first version of functions that have several versions in glibc. With later versions, programs would need glibc 2.35
   or later. The versions of hypot differ only in errno, which the library does not read. */
#if defined(__linux__) && defined(__x86_64__)
__asm__(".symver hypot,hypot@GLIBC_2.2.5");
__asm__(".symver hypotf,hypotf@GLIBC_2.2.5");
#elif defined(__linux__) && defined(__aarch64__)
__asm__(".symver hypot,hypot@GLIBC_2.17");
__asm__(".symver hypotf,hypotf@GLIBC_2.17");
#endif
