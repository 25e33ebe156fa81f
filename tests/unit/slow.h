/* How many times longer tests take, which so many times fewer cases make up for: by sanitizers, and by emulators, whose build
 * defines it. */
#ifndef CB_TESTS_SLOW_H
#define CB_TESTS_SLOW_H

#include "base/sanitizers.h"

#ifndef SLOW
#if defined(CB_HAVE_ASAN) || defined(CB_HAVE_TSAN)
#define SLOW 10
#else
#define SLOW 1
#endif
#endif

#endif
