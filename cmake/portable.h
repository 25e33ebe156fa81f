/* Of functions with more than one version in glibc, the first: with others, what is built runs with glibc 2.35 and later
   alone. hypot's differ in errno, which nobody reads, and in nothing else. */
#if defined(__linux__) && defined(__x86_64__)
__asm__(".symver hypot,hypot@GLIBC_2.2.5");
__asm__(".symver hypotf,hypotf@GLIBC_2.2.5");
#elif defined(__linux__) && defined(__aarch64__)
__asm__(".symver hypot,hypot@GLIBC_2.17");
__asm__(".symver hypotf,hypotf@GLIBC_2.17");
#endif
