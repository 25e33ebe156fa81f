/* The `cubed` command: declarations shared by its subcommands. Only the public API is used. */
#ifndef CUBED_CLI_H
#define CUBED_CLI_H

#include <getopt.h>
#include <limits.h>
#include <stdio.h>

#include "cubed/cubed.h"

enum { EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* --- Subcommands: argv[0] is the subcommand; the exit code is returned. ----------------------------- */

typedef struct cli_option cli_option;
typedef struct cli_usage cli_usage;

typedef struct cli_verb {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
    const cli_usage *usage;
} cli_verb;

int cmd_info(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_remap(int argc, char **argv);
int cmd_rechunk(int argc, char **argv);
int cmd_copy(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_clean(int argc, char **argv);
int cmd_worker(int argc, char **argv);
int cmd_submit(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_cancel(int argc, char **argv);
int cmd_executors(int argc, char **argv);
int cmd_lambda_package(int argc, char **argv);
int cmd_demo(int argc, char **argv);

extern const cli_usage cmd_info_usage, cmd_eval_usage, cmd_apply_usage, cmd_plot_usage,
    cmd_remap_usage, cmd_rechunk_usage, cmd_copy_usage, cmd_run_usage, cmd_clean_usage,
    cmd_worker_usage, cmd_submit_usage, cmd_status_usage, cmd_attach_usage, cmd_cancel_usage,
    cmd_executors_usage, cmd_lambda_package_usage, cmd_demo_usage;

/* Runs `cubed eval` for another subcommand, argv[0]. `command` is the command line for the attribute `history`; the function
 * takes ownership of it. */
int cli_evaluate(int argc, char **argv, char *command);
/* Builds the first result of a `cubed eval` with these arguments as a lazy array, without computing it. If `dim` is not NULL,
 * builds the coordinate of this dimension of the result instead; *out is NULL if there is no such coordinate. The caller
 * releases *out. Returns an exit code. */
int cli_build_result(int argc, char **argv, const char *dim, cubed_array **out);

/* Returns true if FUNCTION[,ARGUMENT...] names a function of expressions (operation.c). */
bool cli_is_function(const char *spec);

/* cli_is_generator returns true if GENERATOR,GRID has the form of CDO's operators that create a file of weights, such as
 * gencon,r360x180. cmd_generate is the command that creates the file (cmd_remap.c). */
bool cli_is_generator(const char *spec);
int cmd_generate(int argc, char **argv);

/* --- Regions -------------------------------------------------------------------------------------------- */

/* Sets *target to write x into a part of the existing array at `url` (cubed_region_target). `text` is the user's specification of
 * the part. */
cubed_status cli_region_target(cubed_context *ctx, const char *text, cubed_array *x,
                               const char *url, cubed_target *target, cubed_error *err);

/* --- Options ------------------------------------------------------------------------------------------ */

typedef enum cli_progress_mode {
    PROGRESS_AUTO,
    PROGRESS_BAR,
    PROGRESS_PLAIN,
    PROGRESS_NONE
} cli_progress_mode;

/* Settings of drawings of `cubed plot`; NULL: the defaults of Xarray and Matplotlib. */
typedef struct cli_picture {
    const char *colors, *title;
} cli_picture;

/* The options of all subcommands that run plans. */
typedef struct cli_common {
    uint64_t allowed_mem;
    uint64_t reserved_mem;
    const char *work_dir;
    const char *executor;
    unsigned max_workers;
    bool other_machines;
    int retries;
    uint32_t task_timeout_ms; /* 0: none */
    uint32_t silence_seconds; /* see cubed_run_options; 0: the default */
    bool no_backups;
    const char **
        executor_options; /* options as given by the user; they are parsed when all options are known */
    int nexecutor_options;
    const char **references; /* prefixes of --allow-references */
    int nreferences;
    bool overwrite, durable, resume, update, take_over, optimize, plan_only, explain, json,
        through_bytes;
    cli_progress_mode progress;
    const char *partials; /* STORE of a group for partial results; NULL: not kept */
    const char *plan_svg, *prices, *save_plan, *events, *report, *status, *isa;
    const cli_picture *picture; /* how results are drawn; NULL: results are not drawn */
    /* Recreates the targets' arrays for another allowed_mem: cubed_plan_options.remake. NULL: not possible. */
    cubed_status (*remake)(void *ctx, uint64_t allowed_mem, cubed_array **arrays, cubed_error *err);
    void *remake_ctx;
} cli_common;
#define CLI_COMMON_INIT                                                                            \
    {                                                                                              \
        .reserved_mem = CUBED_DEFAULT_RESERVED_MEM, .retries = 2, .optimize = true                 \
    }

/* Returns the memory of a task in addition to reserved_mem; 0: the library decides. */
static inline uint64_t cli_task_mem(const cli_common *c)
{
    return c->allowed_mem > c->reserved_mem ? c->allowed_mem - c->reserved_mem : 0;
}

/* One option, for getopt_long, help, man pages and completion. `arg` NULL: no value; "a|b|c": one of these; a name with
 * FILE, STORE, PLAN or DIR in it: a path. */
struct cli_option {
    const char *name;
    const char *arg;
    const char *help;
    int key;
};

/* Keys of a subcommand's specific options start here. */
enum { CLI_OWN_KEY = 1000, CLI_HELP_KEY = 999, CLI_VERSION_KEY = 998 };

/* A list in a help text: "name: text". */
typedef struct cli_topic {
    const char *name, *text;
} cli_topic;

/* The description of a subcommand. Texts are wrapped: a line break counts as a space. */
struct cli_usage {
    const char *synopsis;    /* without "cubed" */
    const char *text;        /* the purpose of the subcommand */
    const cli_topic *topics; /* a list after the text; ends with a NULL name, may be NULL */
    const char *examples;    /* verbatim lines, may be NULL */
    const char *words;       /* "a|b": allowed first arguments; NULL: anything */
    const cli_option *own;   /* ends with a NULL name, may be NULL */
    bool common;             /* accepts the common options as well */
    /* "a|b": the specific options with a value that may be repeated, or NULL. */
    const char *repeats;
};

/* Special `words`. VERBS: the subcommands. TOPICS: the subcommands, functions and categories of functions. EXPRESSION: an
 * expression. */
#define CLI_WORDS_VERBS      "VERB"
#define CLI_WORDS_TOPICS     "TOPIC"
#define CLI_WORDS_EXPRESSION "EXPRESSION"

extern const cli_option cli_common_options[];

/* --- Help: text, man pages and completion. Lists of subcommands end with a NULL name. --------------- */

/* Appends a part to the path of STORE[::PATH]. The caller frees the string. */
char *cli_join_url(const char *url, const char *name);

void cli_print_help(FILE *f, const cli_usage *u);
/* Prints the options of all subcommands that run plans. */
void cli_print_common_options(FILE *f);
/* Prints text, wrapped to the width of the help. Each line starts at `column`; the output is at this column already. */
void cli_put_filled(FILE *f, const char *text, int column);
/* Prints an entry of a list: its name, and a text that starts at `column`, on a separate line if the name is too long. */
void cli_put_entry(FILE *f, const char *left, const char *text, int column);
/* Describes a function of expressions (function_help.c). */
void cli_print_function(FILE *f, const cubed_function *function);
/* Prints a call with all parameters and their defaults: "q, r = qr(x, mode='reduced')". */
void cli_print_signature(FILE *f, const cubed_function *function);
/* Calls `put` for each parameter of a function that users can pass, with its name and its description. */
void cli_each_param(const cubed_function *function,
                    void (*put)(FILE *f, const char *name, const char *text), FILE *f);
/* Prints the help of a function of expressions that has no row in the catalogue. Returns false for other names. */
bool cli_print_unlisted(FILE *f, const char *name);
/* Lists the functions of a category with their summaries. Returns false if there is no such category. */
bool cli_print_category(FILE *f, const char *category);
void cli_print_overview(FILE *f, const cli_verb *verbs);
/* Prints a man page in roff of one subcommand, or of the command (`verb` NULL). */
void cli_print_man(FILE *f, const cli_verb *verbs, const cli_verb *verb);
/* Prints a man page in roff of the functions of expressions. */
void cli_print_functions_man(FILE *f);
/* Prints a completion script. Returns false if the shell is unsupported. */
bool cli_print_completion(FILE *f, const cli_verb *verbs, const char *shell);
/* Prints the completions of the last name of an unfinished expression, one per line (expression_words.c). */
void cli_print_expression_words(FILE *f, const char *text);
/* Gets the next word of a list such as "a|b|c": *word points into the list, *length is the word's length. Moves *list to the
 * rest of the list. Returns false after the last word. */
bool cli_next_word(const char **list, const char **word, int *length);

/* Returns the key of the next option, or -1 after the last one. Stores common options in *c (NULL if the subcommand has none). A
 * wrong option ends the command with EXIT_USAGE, and --help ends it with 0. */
int cli_next_option(int argc, char **argv, const cli_usage *usage, cli_common *c);
/* Prints the version, the instruction set and the libraries on stdout; returns an exit code. */
int cli_show_version(void);
/* Reports an error in the command line and how to get help; returns EXIT_USAGE. */
int cli_usage_error(const char *verb, const char *fmt, ...) CUBED_PRINTF(2, 3);
/* Reports that a subcommand got n arguments that are not options, and that it expected the arguments described by `expected`.
 * Returns EXIT_USAGE. */
int cli_argument_error(const char *verb, const char *expected, int n);
/* Parses a time in seconds, such as "90" or "0.5". */
bool cli_parse_milliseconds(const char *text, uint32_t *out);
#define CLI_MILLISECONDS "a number of seconds from 0.001 to 4294967"
/* Returns true if the executor's name has a target after a colon, such as "lambda:FUNCTION", or lacks a target that it needs,
 * such as "http". */
bool cli_executor_has_target(const char *executor);
/* Parses the values of --executor-option (c->executor_options), and stores them in *c. Call it after all options are read,
 * because the executor, which another option chooses, determines the allowed values. A wrong value ends the command. */
void cli_take_executor_options(const char *verb, cli_common *c);
/* Adds a prefix of --allow-references. */
void cli_add_reference(cli_common *c, const char *prefix);
#define CLI_REFERENCES_OPTION "allow-references"
#define CLI_REFERENCES_HELP                                                                        \
    "allow documents on other machines (kerchunk, Icechunk) to refer to objects below this path "  \
    "or URL (repeatable); by default they may refer only to their own host or bucket"
#define CLI_TAKE_OVER_OPTION "take-over"
/* The option --silence SECONDS of subcommands that run no tasks, and the executor option of this name. */
#define CLI_SILENCE_OPTION "silence"
#define CLI_SILENCE_HELP                                                                           \
    "seconds without a heartbeat after which a run on another machine counts as gone "             \
    "(default 600)"
#define CLI_SILENCE "seconds, a whole number from 1 to 1000000"
bool cli_parse_silence(const char *text, uint32_t *seconds);
/* Divides `n` tasks into `of` nearly equal parts. Sets *first and *last to the range of part number `index`: tasks *first to
 * *last - 1. */
static inline void cli_part_of(int64_t n, int64_t index, int64_t of, int64_t *first, int64_t *last)
{
    const int64_t each = n / of, more = n % of;
    *first = index * each + (index < more ? index : more);
    *last = *first + each + (index < more);
}
/* Formats bytes as "1.5 GB"; returns `text`. */
const char *cli_format_bytes(double bytes, char text[32]);
/* Reports in *err which user input does not fit the arrays; returns CUBED_E_ARG. */
cubed_status cli_reject(cubed_error *err, const char *fmt, ...) CUBED_PRINTF(2, 3);
/* Appends text to the message of an error, truncated if it does not fit. */
void cli_note(cubed_error *err, const char *text);
/* Reports an error of the library on stderr; returns the exit code for it. */
int cli_report(const char *verb, const cubed_error *err);

/* --- Memory: a command that is out of memory ends ------------------------------------------------------- */

/* Returns p, or ends the command if p is NULL. */
void *cli_must(void *p);
/* Makes Jansson end the command if memory is exhausted. */
void cli_set_json_memory(void);
void *cli_alloc(size_t size); /* zeroed */
void *cli_resize(void *p, size_t size);
char *cli_strdup(const char *s);
/* Returns the text without secrets of URLs, and with control characters escaped ("\x1b"), except newlines if `lines`. The
 * caller frees the string. */
char *cli_visible(const char *text, bool lines);
/* Maximum bytes of variable-length strings that the command holds in memory. */
#define CLI_TEXT_BYTES ((size_t)64 << 20)
/* Prints formatted text safely for terminals: control characters in arguments, names and messages are escaped, except
 * newlines. */
void cli_say(FILE *f, const char *fmt, ...) CUBED_PRINTF(2, 3);
char *cli_printf(const char *fmt, ...) CUBED_PRINTF(1, 2);
char *cli_vprintf(const char *fmt, va_list ap);
void cli_free(void *p);
/* Returns the system's temporary directory, the default for folders of runs. */
const char *cli_temp_dir(void);
/* Returns a template for mkdtemp in the temporary directory. The caller frees the string. */
char *cli_temp_name(const char *name);

/* --- Running ------------------------------------------------------------------------------------------ */

/* Set by SIGINT and SIGTERM after cli_catch_signals; a second signal ends the process. */
extern cubed_cancel cli_cancel;
void cli_catch_signals(void);

/* The work of a subcommand: the arrays and groups that it writes, and the options. */
typedef struct cli_job {
    const char *verb;
    cubed_context *ctx;
    const cli_common *common;
    const cubed_target *targets;
    int ntargets;
    const cubed_plan_group *groups;
    int ngroups;
} cli_job;
/* Plans the targets, and runs the plan, or only shows or saves the plan, according to the options. Targets in memory must have
 * memory already. Returns an exit code. *ran is true if the results exist afterwards. `stats` may be NULL. */
int cli_execute(const cli_job *job, bool *ran, cubed_run_stats *stats, cubed_plan_info *info);
/* Computes all elements of x into `data` before the command's main work. Prints nothing and leaves no files. */
cubed_status cli_compute(cubed_context *ctx, cubed_array *x, void *data, const cli_common *c,
                         cubed_error *err);
/* Computes n arrays in one run, all elements of x[i] into data[i], before the command's main work. A source that several arrays
 * share is read once. Prints nothing and leaves no files. */
cubed_status cli_compute_all(cubed_context *ctx, cubed_array *const *x, void *const *data, int n,
                             const cli_common *c, cubed_error *err);
/* Checks plans that would run one after another, without running them (cubed_plan_check). */
cubed_status cli_check_plans(cubed_context *ctx, const cubed_target *targets, const int *counts,
                             int nplans, const cubed_plan_group *groups, int ngroups,
                             const cli_common *c, cubed_error *err);
/* Handles --plan, --explain and --plan-svg, and prints the warnings of the plan on stderr. `mem_after`: memory for writing a
 * file after all tasks are done, or 0. */
cubed_status cli_show_plan(const cubed_plan *plan, const cli_common *c, uint64_t mem_after,
                           cubed_error *err);
/* Converts the options of the command to the options of a plan: memory, workers, work directory and others. */
cubed_plan_options cli_plan_options(const cli_common *c);
/* Warns on stderr if the memory that this process already uses, plus the plan's memory, exceeds the allowed memory of all
 * workers, because reserved_mem is too small. Does nothing if workers enforce their limits themselves. */
void cli_warn_of_reserve(const char *verb, const cubed_plan *plan, const cli_common *c);
/* Runs a plan according to the options. */
cubed_status cli_run_plan(cubed_plan *plan, const cli_common *c, cubed_run_stats *stats,
                          cubed_error *err);
/* Gets the path of this program, for workers. */
cubed_status cli_own_path(char path[PATH_MAX], cubed_error *err);
/* Reads a whole file, to be freed with cli_free. Returns an errno, or 0. */
int cli_read_file(const char *file, void **data, size_t *size);
/* Reads a whole object of at most `max` bytes at a URL, to be freed with cli_free. */
cubed_status cli_read_url(cubed_context *ctx, const char *url, size_t max, void **data,
                          size_t *size, cubed_error *err);
bool cli_is_url(const char *text);
/* Returns false for STORE or STORE::PATH if STORE is a local path that does not exist. */
bool cli_is_there(const char *place);
/* Reads a saved plan from a file or URL, to be freed with cli_free; returns an exit code. */
int cli_read_plan(const char *verb, cubed_context *ctx, const char *file, void **data,
                  size_t *size);
/* Creates a context with the environment variables and the options --isa and --allow-references, and frees c->references.
 * Returns an exit code; *out is NULL after an error. */
int cli_context(const char *verb, cli_common *c, cubed_context **out);

/* Shows progress on stderr, and writes events as JSON lines, from the library's events. */
typedef struct cli_progress cli_progress;
cli_progress *cli_progress_open(const cubed_plan *plan, cli_progress_mode mode, FILE *events);
void cli_progress_event(void *progress, const cubed_event *event);
void cli_progress_close(cli_progress *p);

struct report_requests; /* report/report.h */
/* Gets the requests of a plan to stores on other machines with the chosen executor, their cost, and the use of workers. */
CUBED_MUST_CHECK cubed_status cli_get_traffic(const cubed_plan *plan, const cli_common *c,
                                              struct report_requests *out, cubed_error *err);
void cli_print_plan(FILE *f, const cubed_plan *plan, const struct report_requests *traffic,
                    uint64_t mem_after);
/* Prints the reasons why the plan has several stages: why intermediates are stored, and why stages that read the same array are
 * separate. */
void cli_explain_plan(FILE *f, const cubed_plan *plan);
void cli_print_plan_json(FILE *f, const cubed_plan *plan, const struct report_requests *traffic,
                         uint64_t mem_after);

#endif
