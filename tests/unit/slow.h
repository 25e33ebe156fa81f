/* Factor by which tests are slower with sanitizers, and in emulators, whose build defines it. Tests reduce the number of cases
 * by this factor. */
#ifndef CB_TESTS_SLOW_H
#define CB_TESTS_SLOW_H

#include "base/sanitizers.h"

#ifndef SLOW
#if defined(CB_HAVE_ASAN) || defined(CB_HAVE_TSAN) || defined(CB_HAVE_MSAN)
#define SLOW 10
#else
#define SLOW 1
#endif
#endif

#endif
