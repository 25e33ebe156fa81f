/* Writes a file of a test. Needs cmocka. */
#ifndef CB_TESTS_TEXT_FILE_H
#define CB_TESTS_TEXT_FILE_H

#include <stdio.h>

/* Writes a text to the file `name` in the directory `dir`. */
static inline void write_text_file(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

#endif
