#include "history.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"

#define CONVENTIONS "CF-1.6" /* version of the conventions that CDO's files state */

/* Prefix of options whose values may be secrets. The last part is omitted, because getopt_long accepts abbreviated names. */
static const char secret[] = "--executor-";

static bool is_secret(const char *arg) { return strncmp(arg, secret, sizeof secret - 1) == 0; }

/* Quotes an argument for a shell if necessary. */
static char *quoted(const char *arg)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./,:=+@%-";
    if (*arg && !arg[strspn(arg, plain)]) return cli_strdup(arg);
    char *out = cli_strdup("'");
    for (;;) {
        const size_t n = strcspn(arg, "'");
        char *longer = cli_printf("%s%.*s%s", out, (int)n, arg, arg[n] ? "'\\''" : "'");
        cli_free(out);
        out = longer;
        if (!arg[n]) return out;
        arg += n + 1;
    }
}

char *history_command(int argc, char **argv)
{
    char *line = cli_strdup("cubed");
    bool hide = false;
    for (int i = 0; i < argc; i++) {
        char *open = cli_strdup(hide ? "..." : argv[i]);
        hide = !hide && is_secret(argv[i]) && !strchr(argv[i], '=');
        if (is_secret(open) && strchr(open, '=')) strchr(open, '=')[1] = 0;
        char *visible = cli_visible(open, false), *word = quoted(visible);
        char *longer = cli_printf("%s %s", line, word);
        cli_free(open);
        cli_free(visible);
        cli_free(word);
        cli_free(line);
        line = longer;
    }
    return line;
}

/* Writes the date in the format of C's asctime, like CDO and NCO. */
static void put_date(char *text, size_t size)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL;
    const long long set = epoch && *epoch ? strtoll(epoch, &end, 10) : -1;
    const bool is_set = set >= 0 && !*end;
    const time_t now = is_set ? (time_t)set : time(NULL);
    struct tm t = {.tm_mon = 0};
    if (is_set)
        gmtime_r(&now, &t);
    else
        localtime_r(&now, &t);
    snprintf(text, size, "%s %s %02d %02d:%02d:%02d %d", days[t.tm_wday % 7], months[t.tm_mon % 12],
             t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, t.tm_year + 1900);
}

char *history_add(const char *attrs, const char *command, bool conventions)
{
    json_t *doc = attrs ? lang_attributes(attrs) : json_object();
    char date[96];
    (void)cli_must(doc);
    put_date(date, sizeof date);
    const json_t *old = json_object_get(doc, "history");
    /* An attribute that is not a string, such as NetCDF's list of strings, is written as JSON. */
    char *other = old && !json_is_string(old) ? json_dumps(old, JSON_ENCODE_ANY) : NULL;
    const char *earlier = other ? other : json_string_value(old);
    char *line = cli_printf("%s: %s%s%s", date, command, earlier && *earlier ? "\n" : "",
                            earlier ? earlier : "");
    expr_json_drop_attribute(doc, "history");
    json_object_set_new(doc, "history", cli_must(json_string(line)));
    if (conventions && !json_object_get(doc, "Conventions"))
        json_object_set_new(doc, "Conventions", cli_must(json_string(CONVENTIONS)));
    char *text = cli_must(json_dumps(doc, JSON_REAL_PRECISION(17)));
    cli_free(other);
    cli_free(line);
    json_decref(doc);
    return text;
}
