#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* check_layers: allow call: the command's own memory; there is nothing to go back to without it */
static void *must(void *p)
{
    if (p) return p;
    fputs("cubed: out of memory\n", stderr);
    exit(EXIT_FAILURE);
}

void *cli_alloc(size_t size)
{
    return must(calloc(1, size ? size : 1)); /* check_layers: allow call: see must() */
}

void *cli_resize(void *p, size_t size)
{
    return must(realloc(p, size ? size : 1)); /* check_layers: allow call: see must() */
}

void cli_free(void *p) { free(p); /* check_layers: allow call: the other half of cli_alloc */ }

char *cli_strdup(const char *s) { return cli_printf("%s", s); }

char *cli_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = cli_alloc((size_t)(n > 0 ? n : 0) + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)(n > 0 ? n : 0) + 1, fmt, ap);
    va_end(ap);
    return s;
}

char *cli_temp_name(const char *name)
{
    const char *base = getenv("TMPDIR");
    return cli_printf("%s/%s", base && *base ? base : "/tmp", name);
}

int cli_read_file(const char *file, void **data, size_t *size)
{
    FILE *f = fopen(file, "rb");
    char part[65536];
    size_t n;
    *data = NULL;
    *size = 0;
    if (!f) return errno;
    while ((n = fread(part, 1, sizeof part, f)) > 0) {
        *data = cli_resize(*data, *size + n);
        memcpy((char *)*data + *size, part, n);
        *size += n;
    }
    int e = ferror(f) ? EIO : 0;
    fclose(f);
    if (e) cli_free(*data);
    return e;
}

bool cli_parse_int(const char **text, int64_t *out)
{
    const char *digits = *text + (**text == '-');
    char *end;
    if (!isdigit((unsigned char)*digits)) return false;
    errno = 0;
    *out = strtoll(*text, &end, 10);
    if (errno != 0) return false;
    *text = end;
    return true;
}

bool cli_parse_bytes(const char *text, uint64_t *out)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1},
                 {"B", 1},
                 {"kB", 1e3},
                 {"KB", 1e3},
                 {"MB", 1e6},
                 {"GB", 1e9},
                 {"TB", 1e12},
                 {"k", 1e3},
                 {"M", 1e6},
                 {"G", 1e9},
                 {"T", 1e12},
                 {"KiB", 1024.0},
                 {"MiB", 1048576.0},
                 {"GiB", 1073741824.0},
                 {"TiB", 1099511627776.0}};
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return false;
    double v = strtod(text, &end);
    while (*end == ' ') end++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].name) != 0) continue;
        v *= units[i].factor;
        if (!(v >= 0) || v > 9e18) return false;
        *out = (uint64_t)v;
        return true;
    }
    return false;
}

const char *cli_format_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int u = 0;
    for (; bytes >= 999.5 && u < 5; u++) bytes /= 1000;
    snprintf(text, 32, u && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[u]);
    return text;
}

int cli_report(const char *verb, const cubed_error *err)
{
    fprintf(stderr, "cubed %s: %s\n", verb, err->message);
    return err->status == CUBED_E_CANCELLED ? EXIT_INTERRUPTED : EXIT_FAILURE;
}

cubed_status cli_reject(cubed_error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    err->status = CUBED_E_ARG;
    return CUBED_E_ARG;
}

int cli_usage_error(const char *verb, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "cubed %s: ", verb);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\ntry: cubed %s --help\n", verb);
    return EXIT_USAGE;
}
