/* Names of temporary files and directories. `tools/test` sets TMPDIR to a file system in memory. */
#ifndef CB_TESTS_TEST_PATH_H
#define CB_TESTS_TEST_PATH_H

#include <stdio.h>
#include <stdlib.h>

/* Writes the path of "name" in TMPDIR, or in /tmp, into buffer, and returns buffer. A path that does not fit is truncated. */
static inline char *test_path(char *buffer, size_t size, const char *name)
{
    const char *dir = getenv("TMPDIR");
    (void)snprintf(buffer, size, "%s/%s", dir && *dir ? dir : "/tmp", name);
    return buffer;
}

#endif
