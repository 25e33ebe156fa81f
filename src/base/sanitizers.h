/* Detects the sanitizers of this build. GCC and Clang define different macros. */
#ifndef CB_BASE_SANITIZERS_H
#define CB_BASE_SANITIZERS_H

#if defined(__SANITIZE_ADDRESS__)
#define CB_HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CB_HAVE_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define CB_HAVE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CB_HAVE_TSAN 1
#endif
#endif

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define CB_HAVE_MSAN 1
#endif
#endif

#endif
