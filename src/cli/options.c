/* Parses options. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "common_options.h"
#include "lang/guess.h"
#include "lang/lang_memory.h"

enum { CLI_MOST_OPTIONS = 64 };

/* Short options of every subcommand. The leading ':' makes getopt_long report a missing value by ':'. */
#define SHORT_OPTIONS ":hV"

static void bad(const char *verb, const char *option, const char *value, const char *expected)
{
    exit(cli_usage_error(verb, "--%s \"%s\": expected %s", option, value, expected));
}

static long number(const char *verb, const char *option, const char *text, long least, long most)
{
    int64_t v;
    char expected[64];
    const char *rest = text;
    snprintf(expected, sizeof expected, "a whole number from %ld to %ld", least, most);
    if (!lang_parse_int(&rest, &v) || *rest || v < least || v > most)
        bad(verb, option, text, expected);
    return (long)v;
}

static uint64_t bytes(const char *verb, const char *option, const char *text)
{
    uint64_t v = 0;
    if (!cubed_parse_bytes(text, &v)) bad(verb, option, text, "a size such as 500MB or 2GiB");
    return v;
}

/* Returns the index of a value among the fixed values of a common option. */
static int choice(const char *verb, const char *option, const char *text)
{
    const cli_option *o = cli_common_options;
    while (strcmp(o->name, option) != 0) o++;
    const char *list = o->arg, *word;
    for (int i = 0, n; cli_next_word(&list, &word, &n); i++) {
        if ((int)strlen(text) == n && strncmp(word, text, (size_t)n) == 0) return i;
    }
    bad(verb, option, text, o->arg);
    return -1;
}

void cli_add_reference(cli_common *c, const char *prefix)
{
    c->references = cli_resize(c->references, (size_t)(c->nreferences + 1) * sizeof *c->references);
    c->references[c->nreferences++] = prefix;
}

static void store_common(const char *verb, int key, cli_common *c)
{
    switch (key) {
    case KEY_ALLOWED:
        c->allowed_mem = bytes(verb, "allowed-mem", optarg);
        if (c->allowed_mem == 0) bad(verb, "allowed-mem", optarg, "more than 0");
        break;
    case KEY_RESERVED: c->reserved_mem = bytes(verb, "reserved-mem", optarg); break;
    case KEY_WORK_DIR: c->work_dir = optarg; break;
    case KEY_EXECUTOR:
        if (!cli_executor_has_target(optarg)) choice(verb, "executor", optarg);
        c->executor = optarg;
        break;
    case KEY_EXECUTOR_OPTION:
        c->executor_options = cli_resize(c->executor_options, (size_t)(c->nexecutor_options + 1) *
                                                                  sizeof *c->executor_options);
        c->executor_options[c->nexecutor_options++] = optarg;
        break;
    case KEY_WORKERS:
        c->max_workers = (unsigned)number(verb, "max-workers", optarg, 1, 100000);
        break;
    case KEY_REFERENCES: cli_add_reference(c, optarg); break;
    case KEY_MACHINES: c->other_machines = true; break;
    case KEY_RETRIES: c->retries = (int)number(verb, "retries", optarg, 0, 255); break;
    case KEY_RESUME: c->resume = true; break;
    case KEY_UPDATE: c->update = true; break;
    case KEY_PARTIALS: c->partials = optarg; break;
    case KEY_OVERWRITE: c->overwrite = true; break;
    case KEY_TAKE_OVER: c->take_over = true; break;
    case KEY_DURABLE: c->durable = true; break;
    case KEY_PROGRESS:
        /* Values in the option's description are in the order of cli_progress_mode. */
        c->progress = (cli_progress_mode)choice(verb, "progress", optarg);
        break;
    case KEY_PLAN: c->plan_only = true; break;
    case KEY_PLAN_SVG: c->plan_svg = optarg; break;
    case KEY_EXPLAIN: c->explain = true; break;
    case KEY_PRICES: c->prices = optarg; break;
    case KEY_SAVE_PLAN: c->save_plan = optarg; break;
    case KEY_EVENTS: c->events = optarg; break;
    case KEY_REPORT: c->report = optarg; break;
    case KEY_STATUS: c->status = optarg; break;
    case KEY_JSON: c->json = true; break;
    case KEY_NO_OPTIMIZE: c->optimize = false; break;
    case KEY_ISA: c->isa = optarg; break;
    case KEY_THROUGH_BYTES: c->through_bytes = true; break;
    default: break;
    }
}

/* Refuses options whose required options are missing, and options that exclude each other. */
static void check_common(const char *verb, cli_common *c)
{
    const char *wrong = NULL;
    cli_take_executor_options(verb, c);
    if (c->explain && !c->plan_only)
        wrong = "--explain describes a plan: give it with --plan";
    else if (c->prices && !c->plan_only)
        wrong = "--prices is for the costs of a plan: give it with --plan";
    else if (c->plan_only && c->events)
        wrong = "--events describes a run: leave out --plan";
    else if (c->partials && !c->update && !c->plan_only && !c->save_plan)
        wrong = "--partials is for updates: give it with --update";
    if (wrong) exit(cli_usage_error(verb, "%s", wrong));
}

static bool repeats(const cli_usage *u, const char *name)
{
    const char *list = u->repeats ? u->repeats : "", *word;
    for (int n; cli_next_word(&list, &word, &n);) {
        if ((int)strlen(name) == n && strncmp(word, name, (size_t)n) == 0) return true;
    }
    return false;
}

/* Refuses repeated options before any work. Scans all options, and restarts getopt_long for the caller. */
static void check_repeated(int argc, char **argv, const cli_usage *u, const struct option *longs)
{
    bool seen[CLI_MOST_OPTIONS] = {false};
    int key, index = -1;
    const char *twice = NULL;
    opterr = 0;
    while ((key = getopt_long(argc, argv, SHORT_OPTIONS, longs, &index)) != -1) {
        if (key == CLI_HELP_KEY || key == CLI_VERSION_KEY || key == 'h' || key == 'V' ||
            key == ':' || key == '?') {
            /* getopt_long will report another error first, so none is reported here */
            twice = NULL;
            break;
        }
        bool may = !longs[index].has_arg || strcmp(longs[index].name, EXECUTOR_OPTION) == 0 ||
                   strcmp(longs[index].name, CLI_REFERENCES_OPTION) == 0 ||
                   repeats(u, longs[index].name);
        if (seen[index] && !may) twice = longs[index].name;
        seen[index] = true;
    }
    optind = 0; /* restart getopt_long */
    if (twice) exit(cli_usage_error(argv[0], "--%s is given twice", twice));
}

/* Reports the option at which getopt_long stopped, and exits. */
static void unknown_option(char **argv, const struct option *longs)
{
    lang_guess g;
    const char *arg = argv[optind - 1];
    /* An unknown short option may be followed by further options in the same argument. getopt_long has not yet advanced
     * then. */
    if (optopt && isprint(optopt) && !(arg[0] == '-' && strchr(arg, optopt))) arg = argv[optind];
    if (arg[0] == '-' && arg[1] != '-')
        exit(cli_usage_error(
            argv[0], "unknown option %s (write -- before an expression that starts with -)", arg));
    char *name = cli_printf("%.*s", (int)strcspn(arg, "="), arg);
    lang_guess_init(&g, name + strspn(name, "-"));
    for (; longs->name; longs++) lang_guess_list(&g, longs->name);
    if (g.best[0])
        exit(cli_usage_error(argv[0], "unknown option %s (did you mean --%s?)", name, g.best));
    exit(cli_usage_error(argv[0], "unknown option %s", arg));
}

static const char *option_name(const struct option *longs, int key)
{
    while (longs->val != key) longs++;
    return longs->name;
}

int cli_next_option(int argc, char **argv, const cli_usage *u, cli_common *c)
{
    struct option longs[CLI_MOST_OPTIONS];
    const cli_option *lists[2] = {u->own, u->common ? cli_common_options : NULL};
    int n = 0;
    for (int l = 0; l < 2; l++) {
        for (const cli_option *o = lists[l]; o && o->name; o++)
            longs[n++] =
                (struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->key};
    }
    longs[n++] = (struct option){"help", no_argument, NULL, CLI_HELP_KEY};
    longs[n++] = (struct option){"version", no_argument, NULL, CLI_VERSION_KEY};
    longs[n] = (struct option){NULL, 0, NULL, 0};
    if (optind == 1) check_repeated(argc, argv, u, longs);
    for (;;) {
        opterr = 0;
        int key = getopt_long(argc, argv, SHORT_OPTIONS, longs, NULL);
        if (key == ':') exit(cli_usage_error(argv[0], "%s needs a value", argv[optind - 1]));
        if (key == '?') unknown_option(argv, longs);
        if (key == CLI_HELP_KEY || key == 'h') {
            cli_print_help(stdout, u);
            exit(EXIT_SUCCESS);
        }
        if (key == CLI_VERSION_KEY || key == 'V') exit(cli_show_version());
        if (key != -1 && optarg && !*optarg)
            exit(cli_usage_error(argv[0], "--%s needs a value, got an empty one",
                                 option_name(longs, key)));
        if (key == -1) {
            for (int i = optind; i < argc; i++) {
                if (!*argv[i])
                    exit(cli_usage_error(argv[0], "argument %d is empty", i - optind + 1));
            }
            if (c) check_common(argv[0], c);
        }
        if (key == -1 || key >= CLI_OWN_KEY) return key;
        store_common(argv[0], key, c);
    }
}
