/* Removing what a test wrote. Needs _GNU_SOURCE, for nftw. */
#ifndef CB_TESTS_REMOVE_DIR_H
#define CB_TESTS_REMOVE_DIR_H

#include <ftw.h>
#include <stdio.h>

static inline int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

/* A directory with all that is in it. 0, or what failed. */
static inline int remove_dir(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
