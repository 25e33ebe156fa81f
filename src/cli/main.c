#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lang/function_hints.h"
#include "lang/guess.h"
#include "operators.h"

static int cmd_help(int argc, char **argv);
static int cmd_completion(int argc, char **argv);
static void reject_verb(const char *name);

enum { KEY_MAN = CLI_OWN_KEY, KEY_MAN_DIR, KEY_COMPLETE };

static const cli_option help_options[] = {
    {"man", NULL, "print a man page, of the subcommand or of the whole command", KEY_MAN},
    {"man-dir", "DIR", "write all man pages to a directory", KEY_MAN_DIR},
    {"complete", "TEXT", "list the completions of an unfinished expression, for shells",
     KEY_COMPLETE},
    {NULL, NULL, NULL, 0}};

static const cli_usage help_usage = {
    .synopsis = "help [SUBCOMMAND|FUNCTION|CATEGORY|options] [--man]",
    .text = "Lists the subcommands, or describes one, as `cubed SUBCOMMAND --help` does. Also "
            "describes a "
            "function of expressions, or lists the functions of a category, such as fft or linalg. "
            "`cubed help options` describes the options of all subcommands that run plans.",
    .examples = "  cubed help eval\n  cubed help svd\n  cubed help linalg\n  cubed help eval --man "
                "| man -l -\n",
    .words = CLI_WORDS_TOPICS,
    .own = help_options};

static const cli_usage completion_usage = {
    .synopsis = "completion bash|zsh|fish",
    .text =
        "Prints a script with which the shell completes subcommands, options and their values. An "
        "installation puts this script where shells look for it.",
    .examples = "  . <(cubed completion bash)\n"
                "  cubed completion fish > ~/.config/fish/completions/cubed.fish\n",
    .words = "bash|zsh|fish"};

static const cli_verb verbs[] = {
    {"info", "show the contents of a Zarr store or file", cmd_info, &cmd_info_usage},
    {"eval", "evaluate expressions over arrays", cmd_eval, &cmd_eval_usage},
    {"apply", "apply a function to all variables of a file: cubed monmean in.nc out.nc", cmd_apply,
     &cmd_apply_usage},
    {"remap", "remap variables to another horizontal grid", cmd_remap, &cmd_remap_usage},
    {"plot", "draw the results of expressions as a picture", cmd_plot, &cmd_plot_usage},
    {"rechunk", "store arrays with other chunks", cmd_rechunk, &cmd_rechunk_usage},
    {"copy", "store arrays elsewhere, or in another format", cmd_copy, &cmd_copy_usage},
    {"run", "run a saved plan", cmd_run, &cmd_run_usage},
    {"clean", "remove the leftovers of interrupted or killed runs", cmd_clean, &cmd_clean_usage},
    {"worker", "run tasks of a saved plan", cmd_worker, &cmd_worker_usage},
    {"submit", "run a saved plan as job arrays of a batch system", cmd_submit, &cmd_submit_usage},
    {"status", "print or show the progress of a run", cmd_status, &cmd_status_usage},
    {"attach", "wait for a submitted run", cmd_attach, &cmd_attach_usage},
    {"cancel", "cancel a submitted run's jobs", cmd_cancel, &cmd_cancel_usage},
    {"executors", "list executors and engines that run tasks", cmd_executors, &cmd_executors_usage},
    {"lambda-package", "write the code of an AWS Lambda function that is a worker",
     cmd_lambda_package, &cmd_lambda_package_usage},
    {"demo", "run a workload on artificial data", cmd_demo, &cmd_demo_usage},
    {"help", "describe a subcommand, as text or as a man page", cmd_help, &help_usage},
    {"completion", "print the completion script of a shell", cmd_completion, &completion_usage},
    {NULL, NULL, NULL, NULL}};

static const cli_verb *find_verb(const char *name)
{
    for (const cli_verb *v = verbs; v->name; v++) {
        if (strcmp(v->name, name) == 0) return v;
    }
    return NULL;
}

/* Writes DIR/cubed.1 if `verb` is NULL, DIR/cubed-SUBCOMMAND.1, or, for `functions`, DIR/cubed-functions.7. */
static bool write_man(const char *dir, const cli_verb *verb, bool functions)
{
    char *name = functions
                     ? cli_printf("%s/cubed-functions.7", dir)
                     : cli_printf("%s/cubed%s%s.1", dir, verb ? "-" : "", verb ? verb->name : "");
    FILE *f = fopen(name, "w");
    if (f && functions)
        cli_print_functions_man(f);
    else if (f)
        cli_print_man(f, verbs, verb);
    bool ok = f && !ferror(f);
    if (f && fclose(f) != 0) ok = false;
    if (!ok) cli_say(stderr, "cubed help: cannot write %s: %s\n", name, strerror(errno));
    cli_free(name);
    return ok;
}

static bool is_category(const char *name)
{
    for (const cubed_function *f = cubed_function_next(NULL); f; f = cubed_function_next(f)) {
        if (strcmp(f->category, name) == 0) return true;
    }
    return false;
}

static int cmd_help(int argc, char **argv)
{
    bool man = false;
    const char *dir = NULL, *expression = NULL;
    int key;
    while ((key = cli_next_option(argc, argv, &help_usage, NULL)) != -1) {
        if (key == KEY_MAN) man = true;
        if (key == KEY_MAN_DIR) dir = optarg;
        if (key == KEY_COMPLETE) expression = optarg;
    }
    if (expression) {
        cli_print_expression_words(stdout, expression);
        return EXIT_SUCCESS;
    }
    if (argc - optind > (dir ? 0 : 1) || (dir && man))
        return cli_usage_error("help", "expected one SUBCOMMAND%s",
                               dir ? " or --man, or else --man-dir" : "");
    const cli_verb *v = optind < argc ? find_verb(argv[optind]) : NULL;
    const cubed_function *function = optind < argc && !v ? cubed_function_find(argv[optind]) : NULL;
    if (optind < argc && !man && strcmp(argv[optind], "options") == 0) {
        cli_print_common_options(stdout);
        return EXIT_SUCCESS;
    }
    if (optind < argc && !v && !man) {
        /* A function and a category may have the same name, such as fft. */
        if (function) {
            cli_print_function(stdout, function);
            if (is_category(function->name)) fputs("\n", stdout);
        }
        if (cli_print_category(stdout, argv[optind]) || function) return EXIT_SUCCESS;
    }
    if (optind < argc && !v && !man && cli_print_unlisted(stdout, argv[optind]))
        return EXIT_SUCCESS;
    if (optind < argc && !v) {
        reject_verb(argv[optind]);
        return EXIT_USAGE;
    }
    bool ok = true;
    if (dir) {
        ok = write_man(dir, NULL, false) && write_man(dir, NULL, true);
        for (v = verbs; v->name && ok; v++) ok = write_man(dir, v, false);
    } else if (man) {
        cli_print_man(stdout, verbs, v);
    } else if (v) {
        cli_print_help(stdout, v->usage);
    } else {
        cli_print_overview(stdout, verbs);
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int cmd_completion(int argc, char **argv)
{
    while (cli_next_option(argc, argv, &completion_usage, NULL) != -1) continue;
    if (argc - optind != 1)
        return cli_usage_error("completion", "expected the name of one shell: bash, zsh or fish");
    if (!cli_print_completion(stdout, verbs, argv[optind]))
        return cli_usage_error("completion", "\"%s\": expected bash, zsh or fish", argv[optind]);
    return EXIT_SUCCESS;
}

static void guess_operator(void *ctx, const char *name) { lang_guess_list(ctx, name); }

/* Reports an unknown subcommand, with a suggestion. */
static void reject_verb(const char *name)
{
    char text[GUESS_TEXT];
    lang_guess g;
    lang_guess_init(&g, name);
    for (const cli_verb *v = verbs; v->name; v++) lang_guess_list(&g, v->name);
    operator_each(guess_operator, &g);
    char hint[2 * GUESS_TEXT];
    const char *guess =
        g.best[0] ? lang_guess_text(&g, text) : expr_function_hint(name, hint, sizeof hint);
    cli_say(stderr, "cubed: \"%s\" is not a subcommand%s\n", name, guess);
    if (*guess)
        fputs("try: cubed --help\n", stderr);
    else
        cli_print_overview(stderr, verbs);
}

/* Converts fsspec's "zip://PATH::ARCHIVE" to ARCHIVE::PATH, and zip://ARCHIVE to ARCHIVE, also after "NAME=". */
static char *unchained(char *arg)
{
    const char *url = strstr(arg, "zip:");
    while (url && url > arg && url[-1] != '=') url = strstr(url + 1, "zip:");
    const bool link = url && strncmp(url, "zip://", 6) == 0;
    if (!link && (!url || strncmp(url, "zip::", 5) != 0)) return arg;
    const char *path = url + (link ? strlen("zip://") : strlen("zip"));
    const char *archive = strstr(path, "::");
    if (!archive) return cli_printf("%.*s%s", (int)(url - arg), arg, path);
    while (path < archive && *path == '/') path++;
    return cli_printf("%.*s%s%s%.*s", (int)(url - arg), arg, archive + 2,
                      path < archive ? "::" : "", (int)(archive - path), path);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        cli_print_overview(stderr, verbs);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    cli_set_json_memory();
    for (int i = 2; i < argc; i++) argv[i] = unchained(argv[i]);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "-V") == 0) name = "--version";
    const cli_verb *v = find_verb(name);
    int code;
    if (strcmp(name, "--version") == 0) {
        if (argc > 2) return cli_usage_error("help", "--version takes no arguments");
        code = cli_show_version();
    } else if (v) {
        code = v->run(argc - 1, argv + 1);
    } else if (argc > 2 && cli_is_function(name)) {
        name = "apply";
        code = cmd_apply(argc - 1, argv + 1);
    } else if (argc > 2 && cli_is_generator(name)) {
        code = cmd_generate(argc - 1, argv + 1);
    } else {
        reject_verb(name);
        return EXIT_USAGE;
    }
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "cubed %s: cannot write to standard output: %s\n", name, strerror(errno));
    return EXIT_FAILURE;
}
