#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { KEY_DRY_RUN = CLI_OWN_KEY, KEY_DETACHED, KEY_SILENCE, KEY_TAKE_OVER };

static const cli_option own[] = {
    {"dry-run", NULL, "only print what would be removed", KEY_DRY_RUN},
    {"detached", NULL, "also remove runs that `cubed worker` began and that were not finished",
     KEY_DETACHED},
    {CLI_SILENCE_OPTION, "SECONDS", CLI_SILENCE_HELP, KEY_SILENCE},
    {CLI_TAKE_OVER_OPTION, NULL,
     "also remove unfinished runs of other machines and containers that may still be running: make "
     "sure that these runs have ended",
     KEY_TAKE_OVER},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_clean_usage = {
    .synopsis = "clean PLACE... [options]",
    .text = "Removes leftovers of interrupted or killed runs: chunks of arrays that were never "
            "finished,\nintermediates, and files under temporary names (.cubed-tmp-*) and uploads "
            "whose writer has ended. PLACE is a store with results (STORE or STORE::PATH), or a "
            "work\ndirectory. Complete arrays and the data of active runs stay. Runs whose "
            "leftovers\nare removed cannot be resumed.",
    .examples =
        "  cubed clean out.zarr /scratch/me --dry-run\n  cubed clean out.zarr /scratch/me\n",
    .own = own};

typedef struct told {
    const char *place;
    unsigned flags;
    int n;
} told;

static void tell(void *ctx, const char *path, cubed_leftover what)
{
    static const char *const names[] = {"an unfinished array", "intermediates", "a temporary file",
                                        "an unfinished upload"};
    told *t = ctx;
    t->n++;
    if (what == CUBED_LEFTOVER_SILENT) {
        cli_say(stdout,
                "kept an unfinished run of another machine in %s%s%s: the store ignores the "
                "conditions of puts, so the run may still write; make sure that the run has ended, "
                "then use --take-over to remove it\n",
                t->place, *path ? ": " : "", path);
        return;
    }
    if (what == CUBED_LEFTOVER_RUN) {
        cli_say(stdout, "kept an unfinished run of workers in %s%s%s: --detached removes it\n",
                t->place, *path ? ": " : "", path);
        return;
    }
    cli_say(stdout, "%s %s of %s%s%s\n",
            t->flags & CUBED_CLEAN_DRY_RUN ? "would remove" : "removed", names[what], t->place,
            *path ? ": " : "", path);
}

int cmd_clean(int argc, char **argv)
{
    told t = {.n = 0};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    cli_common c = CLI_COMMON_INIT;
    int key;
    cubed_takeover_options takeover = CUBED_TAKEOVER_OPTIONS_INIT;
    while ((key = cli_next_option(argc, argv, &cmd_clean_usage, NULL)) != -1) {
        if (key == KEY_DETACHED) t.flags |= CUBED_CLEAN_DETACHED;
        if (key == KEY_DRY_RUN) t.flags |= CUBED_CLEAN_DRY_RUN;
        if (key == KEY_TAKE_OVER) takeover.take_over = true;
        if (key == KEY_SILENCE && !cli_parse_silence(optarg, &takeover.silence_seconds))
            return cli_usage_error("clean", "--silence \"%s\": expected " CLI_SILENCE, optarg);
    }
    if (optind == argc) return cli_usage_error("clean", "expected a PLACE");
    int code = cli_context("clean", &c, &ctx);
    for (; optind < argc && code == EXIT_SUCCESS; optind++) {
        t.place = argv[optind];
        if (!cli_is_there(t.place)) {
            cli_say(stderr, "cubed clean: there is nothing at %s\n", t.place);
            t.n++; /* count it as reported, so that the message after the loop is not printed */
        } else if (cubed_clean(ctx, t.place, t.flags, &takeover, tell, &t, &err) != CUBED_OK)
            code = cli_report("clean", &err);
    }
    if (code == EXIT_SUCCESS && t.n == 0) puts("nothing is left over");
    cubed_context_unref(ctx);
    return code;
}
