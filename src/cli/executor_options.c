/* Values of --executor-option K=V: the options of executors that this program supports, with the names of executor_options in the
 * Python package. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lang/lang_memory.h"

static bool set_workers(cli_common *c, const char *value)
{
    int64_t n;
    if (!lang_parse_int(&value, &n) || *value || n < 1 || n > 100000) return false;
    c->max_workers = (unsigned)n;
    return true;
}

static bool set_retries(cli_common *c, const char *value)
{
    int64_t n;
    if (!lang_parse_int(&value, &n) || *value || n < 0 || n > 255) return false;
    c->retries = (int)n;
    return true;
}

static bool set_backups(cli_common *c, const char *value)
{
    c->no_backups = strcmp(value, "false") == 0;
    return c->no_backups || strcmp(value, "true") == 0;
}

static bool set_timeout(cli_common *c, const char *value)
{
    return cli_parse_milliseconds(value, &c->task_timeout_ms);
}

bool cli_parse_silence(const char *text, uint32_t *seconds)
{
    int64_t n;
    if (!lang_parse_int(&text, &n) || *text || n < 1 || n > 1000000) return false;
    *seconds = (uint32_t)n;
    return true;
}

static bool set_silence(cli_common *c, const char *value)
{
    return cli_parse_silence(value, &c->silence_seconds);
}

static bool set_function(cli_common *c, const char *value)
{
    c->executor = cli_printf("lambda:%s", value); /* never freed */
    return *value != 0;
}

static bool set_url(cli_common *c, const char *value)
{
    c->executor = cli_printf("http:%s", value); /* never freed */
    return *value != 0;
}

static const struct row {
    const char *name, *expected;
    const char *executors; /* executors that have the option, as "a|b"; NULL for all */
    bool (*set)(cli_common *c, const char *value);
    /* if `set` is NULL: environment variable with the value, which the context reads when it is created */
    const char *variable;
} rows[] = {
    {"max_workers", "a whole number from 1 to 100000", NULL, set_workers, NULL},
    {"retries", "a whole number from 0 to 255", NULL, set_retries, NULL},
    {"use_backups", "true or false", "lambda|http", set_backups, NULL},
    {"task_timeout", CLI_MILLISECONDS, "processes|lambda|http", set_timeout, NULL},
    {CLI_SILENCE_OPTION, CLI_SILENCE, NULL, set_silence, NULL},
    {"function", "the name of a function of AWS Lambda", "lambda", set_function, NULL},
    {"url", "the URL of an endpoint", "http", set_url, NULL},
    {"token_command", "a command that prints a token", "http", NULL, "CUBED_HTTP_TOKEN_COMMAND"},
    {"token_file", "the path of a file", "http", NULL, "CUBED_HTTP_TOKEN_FILE"},
    {"token_from", "google, azure or none", "http", NULL, "CUBED_HTTP_TOKEN_FROM"},
    {"audience", "the audience of tokens", "http", NULL, "CUBED_HTTP_AUDIENCE"},
};
enum { NROWS = (int)(sizeof rows / sizeof *rows) };

/* Executors whose name includes a target after a colon. */
static const struct target {
    const char *executor, *option, *expected;
} targets[] = {{"lambda", "function", "NAME"}, {"http", "url", "URL"}};
enum { NTARGETS = (int)(sizeof targets / sizeof *targets) };

bool cli_executor_has_target(const char *executor)
{
    for (int i = 0; i < NTARGETS; i++) {
        const size_t n = strlen(targets[i].executor);
        if (strncmp(executor, targets[i].executor, n) == 0 &&
            (!executor[n] || (executor[n] == ':' && executor[n + 1])))
            return true;
    }
    return false;
}

/* Refuses the name of an executor without the target that it needs. */
static void check_target(const char *verb, const char *executor)
{
    for (int i = 0; i < NTARGETS; i++) {
        const struct target *t = &targets[i];
        if (strcmp(executor, t->executor) == 0)
            exit(cli_usage_error(verb,
                                 "--executor %s: expected --executor-option %s=%s, or --executor "
                                 "%s:%s",
                                 t->executor, t->option, t->expected, t->executor, t->expected));
    }
}

static bool has(const struct row *r, const char *executor, size_t length)
{
    const char *list = r->executors, *word;
    int n;
    if (!list) return true;
    while (cli_next_word(&list, &word, &n)) {
        if ((size_t)n == length && strncmp(word, executor, length) == 0) return true;
    }
    return false;
}

static bool set(const struct row *r, cli_common *c, const char *value)
{
    return r->set ? r->set(c, value) : *value && setenv(r->variable, value, 1) == 0;
}

static void no_such_option(const char *verb, const char *executor, size_t length,
                           const char *option, size_t option_length)
{
    char *names = cli_strdup("");
    for (int i = 0; i < NROWS; i++) {
        if (!has(&rows[i], executor, length)) continue;
        char *longer = cli_printf("%s%s%s", names, *names ? ", " : "", rows[i].name);
        cli_free(names);
        names = longer;
    }
    exit(cli_usage_error(verb,
                         "--executor-option \"%s\": executor %.*s has no option %.*s, expected %s",
                         option, (int)length, executor, (int)option_length, option, names));
}

static void take(const char *verb, cli_common *c, const char *executor, const char *option)
{
    const size_t length = strcspn(executor, ":"), n = strcspn(option, "=");
    if (option[n] != '=')
        exit(cli_usage_error(verb, "--executor-option \"%s\": expected NAME=VALUE", option));
    for (int i = 0; i < NROWS; i++) {
        const struct row *r = &rows[i];
        if (strlen(r->name) != n || strncmp(r->name, option, n) != 0) continue;
        if (!has(r, executor, length)) break;
        if (set(r, c, option + n + 1)) return;
        exit(cli_usage_error(verb, "--executor-option \"%s\": expected %s", option, r->expected));
    }
    no_such_option(verb, executor, length, option, n);
}

void cli_take_executor_options(const char *verb, cli_common *c)
{
    const char *executor = c->executor ? c->executor : cubed_executor_name(NULL, 0);
    for (int i = 0; i < c->nexecutor_options; i++) {
        const char *option = c->executor_options[i];
        const size_t n = strcspn(option, "=");
        for (int k = 0; k < i; k++) {
            if (strncmp(c->executor_options[k], option, n + 1) == 0)
                exit(
                    cli_usage_error(verb, "--executor-option %.*s is given twice", (int)n, option));
        }
        take(verb, c, executor, option);
    }
    cli_free(c->executor_options);
    c->executor_options = NULL;
    c->nexecutor_options = 0;
    if (c->executor) check_target(verb, c->executor);
}
