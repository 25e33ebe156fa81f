/* Removes the files of a test. Needs _GNU_SOURCE, for nftw. */
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

/* Removes a directory with its contents. Returns 0, or the error. */
static inline int remove_dir(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
