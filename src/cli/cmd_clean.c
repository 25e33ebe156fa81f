#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { KEY_DRY_RUN = CLI_OWN_KEY, KEY_DETACHED };

static const cli_option own[] = {{"dry-run", NULL, "only say what would be removed", KEY_DRY_RUN},
                                 {"detached", NULL,
                                  "also runs that `cubed worker` began and that were not finished",
                                  KEY_DETACHED},
                                 {NULL, NULL, NULL, 0}};

const cli_usage cmd_clean_usage = {
    .synopsis = "clean PLACE... [--dry-run] [--detached]",
    .text =
        "Removes what runs that were interrupted or killed left: chunks of arrays that were never "
        "finished,\nintermediates, and files under temporary names (.cubed-tmp-*) and uploads "
        "whose writer is gone. PLACE is a store that results went to (STORE or "
        "STORE::PATH), or a work\ndirectory. Arrays that are whole stay, and so does what runs at "
        "work have there;\nruns whose leftovers are removed cannot be resumed.",
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
    if (what == CUBED_LEFTOVER_RUN) {
        cli_say(stdout, "left an unfinished run of workers in %s%s%s: --detached removes it\n",
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
    while ((key = cli_next_option(argc, argv, &cmd_clean_usage, NULL)) != -1)
        t.flags |= key == KEY_DETACHED ? CUBED_CLEAN_DETACHED : CUBED_CLEAN_DRY_RUN;
    if (optind == argc) return cli_usage_error("clean", "expected a PLACE");
    int code = cli_context("clean", &c, &ctx);
    for (; optind < argc && code == EXIT_SUCCESS; optind++) {
        t.place = argv[optind];
        if (!cli_is_there(t.place)) {
            cli_say(stderr, "cubed clean: there is nothing at %s\n", t.place);
            t.n++; /* said already */
        } else if (cubed_clean(ctx, t.place, t.flags, tell, &t, &err) != CUBED_OK)
            code = cli_report("clean", &err);
    }
    if (code == EXIT_SUCCESS && t.n == 0) puts("nothing is left over");
    cubed_context_unref(ctx);
    return code;
}
