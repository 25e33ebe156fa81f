#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "cubed/sys/message.h"
#include "report/report_text.h"
#include "report/visible.h"

/* Maximum size of a plan file in bytes. */
#define MAX_PLAN ((size_t)1 << 30)

char *cli_visible(const char *text, bool lines) { return cli_must(text_visible(text, lines)); }

void cli_say(FILE *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = cli_vprintf(fmt, ap), *visible = cli_visible(text, true);
    va_end(ap);
    fputs(visible, f);
    cli_free(text);
    cli_free(visible);
}

const char *cli_temp_dir(void)
{
    const char *base = getenv("TMPDIR");
    return base && *base ? base : "/tmp";
}

char *cli_temp_name(const char *name) { return cli_printf("%s/%s", cli_temp_dir(), name); }

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

bool cli_is_url(const char *text)
{
    return strstr(text, "://") || strncasecmp(text, "file:", 5) == 0;
}

bool cli_is_there(const char *place)
{
    size_t n, store;
    (void)cubed_url_path(place, &n, &store);
    char *name = cli_printf("%.*s", (int)store, place);
    const bool there = cli_is_url(name) || access(name, F_OK) == 0;
    cli_free(name);
    return there;
}

typedef struct object_bytes {
    void **data;
    size_t *size;
} object_bytes;

static cubed_status keep_bytes(void *sink, const void *data, size_t size, cubed_error *err)
{
    const object_bytes *to = sink;
    (void)err;
    *to->data = cli_alloc(size);
    *to->size = size;
    if (size > 0) memcpy(*to->data, data, size);
    return CUBED_OK;
}

cubed_status cli_read_url(cubed_context *ctx, const char *url, size_t max, void **data,
                          size_t *size, cubed_error *err)
{
    object_bytes to = {data, size};
    *data = NULL;
    *size = 0;
    return cubed_object_read(ctx, url, max, keep_bytes, &to, err);
}

int cli_read_plan(const char *verb, cubed_context *ctx, const char *file, void **data, size_t *size)
{
    struct stat info;
    cubed_error err = CUBED_ERROR_INIT;
    if (cli_is_url(file)) {
        const cubed_status st = cli_read_url(ctx, file, MAX_PLAN, data, size, &err);
        return st == CUBED_OK ? EXIT_SUCCESS : cli_report(verb, &err);
    }
    if (stat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
        cli_say(stderr,
                "cubed %s: %s is a directory: expected the file of a plan, which --save-plan "
                "writes; `cubed info %s` shows what a store holds\n",
                verb, file, file);
        return EXIT_FAILURE;
    }
    const int e = cli_read_file(file, data, size);
    if (e == ENOENT)
        cli_say(stderr, "cubed %s: %s does not exist: write a plan with --save-plan\n", verb, file);
    else if (e)
        cli_say(stderr, "cubed %s: cannot read %s: %s\n", verb, file, strerror(e));
    return e ? EXIT_FAILURE : EXIT_SUCCESS;
}

bool cli_parse_milliseconds(const char *text, uint32_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    const double seconds = strtod(text, &end);
    if (*end || !(seconds >= 0.001 && seconds <= 4294967)) return false;
    *out = (uint32_t)(seconds * 1000 + 0.5);
    return true;
}

const char *cli_format_bytes(double bytes, char text[32]) { return text_bytes(bytes, text); }

/* Writes the number at the start of `text`. Also writes a readable size if the number is a large number of bytes. Returns the
 * text after the number. */
static const char *put_number(FILE *f, const char *text, char before)
{
    char *end, size[32];
    const double v = strtod(text, &end);
    const size_t n = strspn(text, "0123456789");
    fprintf(f, "%.*s", (int)n, text);
    if (before != '(' && v >= 1e4 && end == text + n && strncmp(end, " bytes", 6) == 0) {
        fprintf(f, " bytes (%s)", cli_format_bytes(v, size));
        return text + n + 6;
    }
    return text + n;
}

/* Prints an error of the library. Replaces names of limits by the names of the options, and adds readable sizes to numbers
 * of bytes. */
static void put_message(FILE *f, const char *text)
{
    static const char *const names[] = {"allowed_mem", "reserved_mem", "max_workers", "work_dir"};
    char before = ' ';
    while (*text) {
        if (isdigit((unsigned char)*text)) {
            text = put_number(f, text, before);
            before = '0';
            continue;
        }
        size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz_"), n = word ? word : 1;
        bool option = false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            option = option || (strlen(names[i]) == n && strncmp(text, names[i], n) == 0);
        if (option) fputs("--", f);
        for (size_t i = 0; i < n; i++) fputc(option && text[i] == '_' ? '-' : text[i], f);
        before = text[n - 1];
        text += n;
    }
}

/* Suggests exactly the memory that was found to suffice, because more memory may lead to another plan. */
static void put_enough(FILE *f, uint64_t bytes)
{
    const bool mega = bytes % 1000000 == 0, kilo = bytes % 1000 == 0;
    fprintf(f, "try: --allowed-mem %" PRIu64 "%s\n",
            mega   ? bytes / 1000000
            : kilo ? bytes / 1000
                   : bytes,
            mega   ? "MB"
            : kilo ? "kB"
                   : "");
}

int cli_report(const char *verb, const cubed_error *err)
{
    char *text = cli_visible(err->message, true);
    fprintf(stderr, "cubed %s: ", verb);
    put_message(stderr, text);
    fputc('\n', stderr);
    cli_free(text);
    if (err->status == CUBED_E_BUDGET && err->enough_mem > 0 &&
        strstr(err->message, "allow at least"))
        put_enough(stderr, err->enough_mem);
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

void cli_note(cubed_error *err, const char *text)
{
    const size_t n = strlen(err->message);
    snprintf(err->message + n, sizeof err->message - n, "%s", text);
}

int cli_usage_error(const char *verb, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = cli_vprintf(fmt, ap), *visible = cli_visible(text, true);
    va_end(ap);
    fprintf(stderr, "cubed %s: %s\ntry: cubed %s --help\n", verb, visible, verb);
    cli_free(text);
    cli_free(visible);
    return EXIT_USAGE;
}

int cli_argument_error(const char *verb, const char *expected, int n)
{
    return cli_usage_error(verb, "expected %s, got %d argument%s", expected, n, n == 1 ? "" : "s");
}

int cli_show_version(void)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    printf("cubed %s\n", cubed_version());
    if (cubed_context_new(NULL, &ctx, &err) != CUBED_OK) return cli_report("--version", &err);
    printf("instruction set: %s\n%s\n", cubed_context_isa(ctx), cubed_libraries());
    cubed_context_unref(ctx);
    return EXIT_SUCCESS;
}

bool cli_next_word(const char **list, const char **word, int *length)
{
    if (!**list) return false;
    *word = *list;
    *length = (int)strcspn(*list, "|");
    *list += *length;
    if (**list) ++*list;
    return true;
}

char *cli_join_url(const char *url, const char *name)
{
    size_t n, store;
    const char *path = cubed_url_path(url, &n, &store);
    return cli_printf("%.*s::%.*s%s%s", (int)store, url, (int)n, path, n ? "/" : "", name);
}
