/* The common options: one table for parsing, help, man pages and completion. */
#include "common_options.h"

#include "cli.h"

const cli_option cli_common_options[] = {
    {"allowed-mem", "SIZE",
     "memory that each worker may use (default 2GB, or what the machine has)", KEY_ALLOWED},
    {"reserved-mem", "SIZE", "part of it kept for code and libraries (default 16MiB)",
     KEY_RESERVED},
    {"work-dir", "DIR", "for intermediates that do not fit in memory (default: a private one)",
     KEY_WORK_DIR},
    {"executor", "threads|single-threaded|processes|lambda:FUNCTION|http:URL",
     "what runs the tasks (default threads)", KEY_EXECUTOR},
    {EXECUTOR_OPTION, "NAME=VALUE",
     "an option of it, as often as there are: max_workers, retries, silence (seconds; 600), "
     "task_timeout (seconds; processes, lambda, http), use_backups (lambda, http), function "
     "(lambda), "
     "url, token_command, token_file, token_from and audience (http)",
     KEY_EXECUTOR_OPTION},
    {"max-workers", "N", "workers (default: one per core)", KEY_WORKERS},
    {CLI_REFERENCES_OPTION, "PREFIX", CLI_REFERENCES_HELP, KEY_REFERENCES},
    {"other-machines", NULL,
     "plan for workers on other machines: this one's memory is no limit of theirs", KEY_MACHINES},
    {"retries", "N", "of a task after an input/output error (default 2)", KEY_RETRIES},
    {"resume", NULL, "go on where the same command was interrupted: chunks that exist stay",
     KEY_RESUME},
    {"update", NULL,
     "recompute only chunks whose sources have changed or grown since the same command with "
     "--update; implies --overwrite, for results that have to be recomputed as a whole",
     KEY_UPDATE},
    {"overwrite", NULL, "replace what is at the target", KEY_OVERWRITE},
    {CLI_TAKE_OVER_OPTION, NULL,
     "take the target from an unfinished run of another machine or container at once: make sure "
     "that it has ended",
     KEY_TAKE_OVER},
    {"durable", NULL, "results survive a power failure: sync every file that is written (slow)",
     KEY_DURABLE},
    {"progress", "auto|bar|plain|none", "how it is shown (default auto: a bar on a terminal)",
     KEY_PROGRESS},
    {"plan", NULL, "show stages, tasks, bytes and memory, and do not run; needs no target",
     KEY_PLAN},
    {"plan-svg", "FILE", "draw the plan as SVG (a FILE.dot gets source for Graphviz)",
     KEY_PLAN_SVG},
    {"explain", NULL, "with --plan, also say why arrays are stored and stages are apart",
     KEY_EXPLAIN},
    {"prices", "FILE", "with --plan, prices of requests to object stores, as JSON", KEY_PRICES},
    {"save-plan", "FILE", "write the plan for `cubed run` and `cubed worker`, and do not run",
     KEY_SAVE_PLAN},
    {"events", "FILE", "write what happens as JSON lines", KEY_EVENTS},
    {"report", "FILE", "write one HTML page: the plan, tasks by worker, and the memory of each",
     KEY_REPORT},
    {"json", NULL, "print results and figures as JSON", KEY_JSON},
    {"no-optimize", NULL, "run every operation as a stage of its own", KEY_NO_OPTIMIZE},
    {"isa", "x86-64-v2|x86-64-v3|x86-64-v4", "instruction set (default: the best)", KEY_ISA},
    {"through-bytes", NULL, "check: save the plan to bytes, load it, and run that",
     KEY_THROUGH_BYTES},
    {NULL, NULL, NULL, 0}};
