#include "grid_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Returns true if a local file begins like a grid description. Does not read the whole file, which may be large. */
static bool is_description(const char *file)
{
    char begin[4096];
    FILE *f = cli_is_url(file) ? NULL : fopen(file, "rb");
    const size_t n = f ? fread(begin, 1, sizeof begin - 1, f) : 0;
    if (f) fclose(f);
    begin[n] = 0;
    return strlen(begin) == n && strstr(begin, "gridtype");
}

char *grid_file_text(const char *word)
{
    void *data = NULL;
    size_t size = 0;
    if (cli_is_url(word) || !cli_is_there(word)) return cli_strdup(word);
    if (!is_description(word) || cli_read_file(word, &data, &size) != 0) {
        cli_free(data);
        /* "./" marks the word as a file, because a grid may have the same name. */
        return strchr(word, '/') ? cli_strdup(word) : cli_printf("./%s", word);
    }
    char *text = cli_printf("%.*s", (int)(size < INT_MAX ? size : INT_MAX), (const char *)data);
    cli_free(data);
    /* The text becomes a string in an expression. Quotes can be dropped, because descriptions do not need them. */
    for (char *c = text; *c; c++) {
        if (*c == '"') *c = ' ';
    }
    return text;
}
