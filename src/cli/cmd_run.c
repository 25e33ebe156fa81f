#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_values.h"
#include "engines.h"
#include "python_tasks.h"

enum { KEY_ALLOW_CODE = CLI_OWN_KEY, KEY_ENGINE, KEY_OPTION, KEY_DETACH };

static const cli_option own[] = {
    {"allow-code", NULL,
     "allow the plan to run code of the shared objects that it names, and with --engine also its "
     "Python functions; such code can do anything",
     KEY_ALLOW_CODE},
    {"engine", "slurm|pbs|htcondor|flux|kubernetes|aws-batch|cloud-run|beam",
     "run the plan as job arrays of this batch system, and wait for them", KEY_ENGINE},
    {"engine-option", "NAME=VALUE",
     "option of the batch system, as for `cubed submit` (repeatable)", KEY_OPTION},
    {"detach", NULL, "with --engine: do not wait for the jobs", KEY_DETACH},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_run_usage = {
    .synopsis = "run PLAN [options]",
    .text = "Runs a plan that --save-plan wrote, from any directory. The plan determines tasks and "
            "targets, and whether targets are durable or replace existing arrays. So --overwrite, "
            "--durable, --no-optimize and --save-plan are refused.\nThe limits and the work "
            "directory of the "
            "plan apply unless the options below change them.\nWith --engine the command creates a "
            "directory in the work directory, which all nodes must see, with the files of `cubed "
            "submit`. `cubed status`, `cubed attach` and `cubed cancel` accept this directory. "
            "Remove it when you no longer need it.",
    .examples =
        "  cubed rechunk a.zarr b.zarr --chunks -1,10 --work-dir /scratch/me --save-plan p.cubed\n"
        "  cubed run p.cubed --executor processes --max-workers 4 --allowed-mem 1GB\n"
        "  cubed run p.cubed --engine slurm --engine-option partition=long --detach\n",
    .repeats = "engine-option",
    .own = own,
    .common = true};

static void report(const cubed_plan *plan, const cubed_run_stats *stats, const cli_common *c)
{
    cubed_plan_info info;
    cubed_plan_get_info(plan, &info);
    if (c->json) {
        json_t *o = json_object();
        json_object_set_new(o, "_run", values_run_json(stats, &info));
        json_dumpf(o, stdout, JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(o);
        return;
    }
    char mem[32], projected[32];
    if (stats->num_tasks == 0 && info.num_tasks > 0) {
        puts(c->update ? "nothing to do: no chunk of the sources has changed"
                       : "nothing to do: an earlier run has finished this plan");
        return;
    }
    printf("%" PRId64 " tasks in %.2f s, task memory %s of %s projected\n", stats->num_tasks,
           stats->seconds, cli_format_bytes((double)stats->measured_mem, mem),
           cli_format_bytes((double)stats->projected_mem, projected));
}

/* Returns the name of a given option that would change a saved plan. Returns NULL if there is none. */
static const char *not_for_saved(const cli_common *c)
{
    return c->durable     ? "--durable"
           : c->overwrite ? "--overwrite"
           : !c->optimize ? "--no-optimize"
           : c->partials  ? "--partials"
                          : NULL;
}

/* Returns the name of a given option that a batch system does not support or handles differently. Returns NULL if there is
 * none. */
static const char *not_for_engine(const cli_common *c)
{
    return c->executor          ? "--executor"
           : c->resume          ? "--resume"
           : c->update          ? "--update"
           : c->take_over       ? "--take-over"
           : c->plan_only       ? "--plan"
           : c->plan_svg        ? "--plan-svg"
           : c->events          ? "--events"
           : c->report          ? "--report"
           : c->status          ? "--status"
           : c->json            ? "--json"
           : c->isa             ? "--isa"
           : c->task_timeout_ms ? "--executor-option"
           : c->silence_seconds ? "--executor-option"
                                : NULL;
}

static int run_on_engine(cubed_plan *plan, const cli_common *c, const batch_choice *choice,
                         bool detach)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = cli_plan_options(c);
    /* not limited by this machine, because jobs run on other machines */
    o.max_workers = c->max_workers;
    o.other_machines = true;
    if (cubed_plan_set_limits(plan, &o, &err) != CUBED_OK) return cli_report("run", &err);
    return engine_run("run", choice, plan, c->max_workers, c->retries, detach);
}

static cubed_status run(cubed_plan *plan, cli_common *c, cubed_error *err)
{
    cubed_run_stats stats;
    cubed_plan_options o = cli_plan_options(c);
    cubed_status st = cubed_plan_set_limits(plan, &o, err);
    if (st == CUBED_OK) st = cli_show_plan(plan, c, 0, err);
    if (st != CUBED_OK || c->plan_only) return st;
    /* Not NULL, so the run may keep intermediates. The saved plan names their directory. */
    c->work_dir = "";
    cli_warn_of_reserve("run", plan, c);
    st = cli_run_plan(plan, c, &stats, err);
    if (st == CUBED_OK) report(plan, &stats, c);
    return st;
}

int cmd_run(int argc, char **argv)
{
    cli_common c = CLI_COMMON_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = NULL;
    cubed_plan *plan = NULL;
    void *data = NULL;
    size_t size;
    bool allow_code = false, detach = false;
    python_functions python;
    batch_choice choice = {.engine = NULL};
    int key, code = EXIT_SUCCESS;
    c.reserved_mem = 0;
    while ((key = cli_next_option(argc, argv, &cmd_run_usage, &c)) != -1) {
        allow_code = allow_code || key == KEY_ALLOW_CODE;
        detach = detach || key == KEY_DETACH;
        if (key == KEY_ENGINE) code = engine_choose("run", optarg, &choice);
        if (key == KEY_OPTION) code = engine_add_option("run", optarg, &choice);
        if (code != EXIT_SUCCESS) return code;
    }
    if (!choice.engine && (detach || choice.noptions))
        return cli_usage_error("run", "%s is for batch systems, expected --engine NAME with it",
                               detach ? "--detach" : "--engine-option");
    if (choice.engine && not_for_engine(&c))
        return cli_usage_error("run", "--engine: %s is not for jobs of batch systems",
                               not_for_engine(&c));
    if (choice.engine) code = engine_check_run("run", &choice, detach);
    if (choice.engine && code == EXIT_SUCCESS) code = engine_check("run", &choice);
    if (code != EXIT_SUCCESS) return code;
    if (not_for_saved(&c))
        return cli_usage_error("run",
                               "a saved plan is run as it was saved: give %s with --save-plan",
                               not_for_saved(&c));
    if (c.save_plan) return cli_usage_error("run", "--save-plan: the plan is saved already");
    if (c.plan_only && c.report)
        return cli_usage_error("run", "--report describes a run: leave out --plan");
    if (c.plan_only && c.status)
        return cli_usage_error("run", "--status describes a run: leave out --plan");
    if (argc - optind != 1) return cli_argument_error("run", "PLAN", argc - optind);
    code = cli_context("run", &c, &ctx);
    if (code == EXIT_SUCCESS) code = cli_read_plan("run", ctx, argv[optind], &data, &size);
    if (code == EXIT_SUCCESS) {
        cli_catch_signals();
        cubed_status st = python_load_plan(ctx, &python, data, size, allow_code, &plan, &err);
        if (st == CUBED_OK && python.found && !choice.engine && !c.plan_only)
            st = python_refuse(&err);
        if (st == CUBED_E_FORMAT)
            cli_say(stderr, "cubed run: %s was not written by --save-plan, or not whole\n",
                    argv[optind]);
        if (st == CUBED_OK && choice.engine)
            code = run_on_engine(plan, &c, &choice, detach);
        else if (st == CUBED_OK)
            st = run(plan, &c, &err);
        if (st != CUBED_OK) code = cli_report("run", &err);
    }
    cubed_plan_unref(plan);
    cubed_context_unref(ctx);
    cli_free(data);
    return code;
}
