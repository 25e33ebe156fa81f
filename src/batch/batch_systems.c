/* Files for batch systems: a description of each job array, and scripts that start the arrays in the order of their
 * dependencies, list the unfinished ones and cancel them. The array tasks of a job array differ only in a number, which
 * `cubed worker --of` reads from an environment variable. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "batch/batch.h"

#define BEAM_JOB "cubed.runtime.beam_job"

const char *batch_get(const batch_choice *c, const char *name)
{
    for (int i = 0; i < c->noptions; i++) {
        if (strcmp(c->options[i].name, name) == 0) return c->options[i].value;
    }
    return NULL;
}

/* Keeps the first error, because later calls change errno. */
static void note_failure(batch_submission *s, int error)
{
    if (!s->failed) s->failed = error;
}

static FILE *begin_file(batch_submission *s, const char *name, const char *suffix)
{
    char path[PATH_MAX + sizeof s->jobs->name + 16];
    snprintf(path, sizeof path, "%s/%s%s", s->dir, name, suffix);
    FILE *f = fopen(path, "w");
    if (!f) note_failure(s, errno);
    return f;
}

static void end_file(batch_submission *s, FILE *f)
{
    if (!f) return;
    if (ferror(f)) note_failure(s, EIO);
    if (fclose(f) != 0) note_failure(s, errno);
}

static void write_file(batch_submission *s, const char *name, const char *fmt, ...)
    CUBED_PRINTF(3, 4);

static void write_file(batch_submission *s, const char *name, const char *fmt, ...)
{
    va_list ap;
    FILE *f = begin_file(s, name, "");
    if (!f) return;
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    end_file(s, f);
}

/* Writes the beginning of the script `start`. A user may run `start` again, because workers skip completed tasks. */
static void put_begin(FILE *f, const batch_submission *s)
{
    fprintf(f,
            "%s worker %s/plan.cubed --begin --run %s%s%s >run\n: >jobs\nmkdir -p failed\n"
            "rm -f failed/* cancelled\n",
            s->program, s->dir, s->run, s->take_over ? " --take-over" : "", s->allowed);
}

/* Writes the script that runs one array task. Its arguments are the name of the job array and the arguments of `cubed worker`.
 * The script retries after transient failures and records the exit status of the last failure. It forwards SIGTERM to the worker,
 * so that the worker ends before its job. */
static void write_part(batch_submission *s)
{
    write_file(
        s, "part",
        "#!/bin/sh\n# Runs a part of a job array: its name, and arguments of cubed worker.\n"
        "cd %s || exit\n%s%s%s"
        "part=$1.${CUBED_TASK_INDEX:-${SLURM_ARRAY_TASK_ID:-${PBS_ARRAY_INDEX:-0}}}\n"
        "shift\nretries=${CUBED_PART_RETRIES:-%d}\ntries=${SLURM_RESTART_COUNT:-0}\n"
        "while :; do\n"
        "    %s worker %s/plan.cubed \"$@\" &\n"
        "    worker=$!\n"
        "    told=\n"
        "    trap 'told=yes; kill -TERM \"$worker\" 2>/dev/null' TERM\n"
        "    wait \"$worker\"\n"
        "    code=$?\n"
        "    # A signal ends the wait, not the worker. 127: the worker's status is known already.\n"
        "    while [ \"$told\" ]; do\n"
        "        told=\n"
        "        wait \"$worker\"\n"
        "        last=$?\n"
        "        [ \"$last\" -eq 127 ] || code=$last\n"
        "    done\n"
        "    trap - TERM\n"
        "    if [ \"$code\" -eq 0 ]; then rm -f \"failed/$part\"; exit 0; fi\n"
        "    [ ! -d failed ] || echo \"$code\" >\"failed/$part\"\n"
        "    # 75: it may pass. 124: a task took too long. 137: killed, mostly for memory.\n"
        "    [ \"$code\" -eq 75 ] || [ \"$code\" -eq 124 ] ||\n"
        "        { [ \"$code\" -gt 128 ] && [ \"$code\" -ne 137 ]; } || exit \"$code\"\n"
        "    [ \"$tries\" -lt \"$retries\" ] && [ ! -e cancelled ] || exit \"$code\"\n"
        "    tries=$((tries + 1))\n"
        "    echo \"$part ended with status $code: retry $tries of $retries\" >&2\n"
        "    if [ -n \"${SLURM_JOB_ID:-}\" ] && scontrol requeue \"$SLURM_JOB_ID\"; then\n"
        "        sleep 60 # Slurm ends this job and starts it again, maybe elsewhere\n"
        "        exit \"$code\"\n    fi\n    sleep 1\ndone\n",
        s->dir, *s->allowed ? "export CUBED_PYTHON=" : "", *s->allowed ? s->python : "",
        *s->allowed ? "\n" : "", s->retries, s->program, s->dir);
}

/* Writes the script that lists failed array tasks with the reason and the end of the log of each. `states` is a shell command
 * that prints an array task and its state in the batch system on each line. */
static void write_failures(batch_submission *s, const char *states)
{
    write_file(
        s, "failures",
        "#!/bin/sh\n# Lists parts that failed, why, and the ends of their logs.\ncd %s || exit\n"
        "states=$(%s)\n"
        "why() {\n    case $1 in\n    1) echo 'an error' ;;\n    12) echo 'out of memory' ;;\n"
        "    75) echo 'a failure that may pass' ;;\n    124) echo 'a task took too long' ;;\n"
        "    127) echo 'the command was not found' ;;\n    130 | 143) echo 'interrupted' ;;\n"
        "    137) echo 'killed, mostly for lack of memory' ;;\n"
        "    *) echo 'see its log' ;;\n    esac\n}\n"
        "n=0\nfor part in $({ ls failed 2>/dev/null; echo \"$states\" | cut -d' ' -f1; } | sort "
        "-u)\n"
        "do\n    n=$((n + 1))\n    [ \"$n\" -le 5 ] || continue\n"
        "    state=$(echo \"$states\" | sed -n \"s/^$part //p\" | head -n 1)\n"
        "    if [ -e \"failed/$part\" ]; then\n        code=$(cat \"failed/$part\")\n"
        "        echo \"$part failed with exit status $code ($(why \"$code\"))${state:+, "
        "$state}\"\n"
        "    else\n        echo \"$part failed: $state\"\n    fi\n"
        "    if [ -s \"$part.log\" ]; then\n        echo \"$part.log ends with:\"\n"
        "        tail -n 5 \"$part.log\" | cut -c 1-300 | sed 's/^/    /'\n    fi\ndone\n"
        "[ \"$n\" -le 5 ] || echo \"and $((n - 5)) more\"\n",
        s->dir, states);
}

static FILE *begin_start(batch_submission *s)
{
    FILE *f = begin_file(s, "start", "");
    if (!f) return NULL;
    fprintf(f, "#!/bin/sh\nset -eu\ncd %s\n", s->dir);
    put_begin(f, s);
    return f;
}

/* Writes the shell variables, such as $job0, of the jobs that must end before job j. `first` precedes the first variable, and
 * `sep` each further one. */
static void put_after(FILE *f, const batch_submission *s, const batch_job *j, const char *first,
                      const char *sep)
{
    for (int i = 0; i < j->nafter; i++)
        fprintf(f, "%s$job%d", i ? sep : first, (int)(&s->jobs[j->after[i]] - s->jobs));
}

static void put_options(FILE *f, const batch_submission *s, const char *fmt_name,
                        const char *between)
{
    for (int i = 0; i < s->choice->noptions; i++)
        fprintf(f, "%s%s%s%s\n", fmt_name, s->choice->options[i].name, between,
                s->choice->options[i].value);
}

/* --- Slurm -------------------------------------------------------------------------------------------- */

static void write_slurm(batch_submission *s)
{
    char states[512];
    FILE *start = begin_start(s);
    for (int i = 0; i < s->njobs && start; i++) {
        const batch_job *j = &s->jobs[i];
        FILE *f = begin_file(s, j->name, ".sbatch");
        if (!f) break;
        fprintf(f,
                "#!/bin/bash\n#SBATCH --job-name=cubed-%s-%s\n#SBATCH --array=0-%" PRId64
                "%%%u\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n#SBATCH --mem=%" PRIu64
                "M\n#SBATCH --output=%s/%s.%%a.log\n#SBATCH --open-mode=append\n#SBATCH --requeue\n"
                "#SBATCH --signal=B:TERM@60\n",
                s->run, j->name, j->n - 1, s->workers, s->mebibytes, s->dir, j->name);
        put_options(f, s, "#SBATCH --", "=");
        fprintf(f, "exec %s/part %s %s\n", s->dir, j->name, j->args);
        end_file(s, f);
        fprintf(start, "job%d=$(sbatch --parsable --kill-on-invalid-dep=yes", i);
        put_after(start, s, j, " --dependency=afterok:", ":");
        fprintf(start, " %s.sbatch)\njob%d=${job%d%%%%;*}\necho \"$job%d\" >>jobs\n", j->name, i, i,
                i);
    }
    end_file(s, start);
    write_file(s, "status",
               "#!/bin/sh\ncd %s\nsqueue --noheader --jobs=\"$(paste -sd, jobs)\" "
               "--format='%%i %%j %%T %%r' 2>/dev/null || true\n",
               s->dir);
    write_file(s, "cancel", "#!/bin/sh\ncd %s\n: >cancelled\nxargs scancel <jobs\n", s->dir);
    write_part(s);
    /* Prints "stage-0.7 TIMEOUT" for job 123_7 named cubed-RUN-stage-0. */
    snprintf(
        states, sizeof states,
        "sacct --noheader --parsable2 --allocations --jobs=\"$(paste -sd, jobs)\" "
        "--format=JobID,JobName%%80,State 2>/dev/null | sed -n "
        "'s/^[0-9]*_\\([0-9]*\\)|cubed-%s-\\([a-z0-9-]*\\)|\\(TIMEOUT\\|OUT_OF_MEMORY\\|FAILED\\|"
        "NODE_FAIL\\|BOOT_FAIL\\|DEADLINE\\|PREEMPTED\\).*/\\2.\\1 \\3/p'",
        s->run);
    write_failures(s, states);
}

/* --- PBS ---------------------------------------------------------------------------------------------- */

static void write_pbs(batch_submission *s)
{
    FILE *start = begin_start(s);
    for (int i = 0; i < s->njobs && start; i++) {
        const batch_job *j = &s->jobs[i];
        FILE *f = begin_file(s, j->name, ".pbs");
        if (!f) break;
        fprintf(f,
                "#!/bin/sh\n#PBS -N cubed-%s\n#PBS -l select=1:ncpus=1:mem=%" PRIu64
                "mb\n#PBS -j oe\n#PBS -o %s/\n",
                j->name, s->mebibytes, s->dir);
        /* The service requires at least two array tasks. */
        if (j->n > 1) fprintf(f, "#PBS -J 0-%" PRId64 "\n", j->n - 1);
        put_options(f, s, "#PBS -", " ");
        if (j->n == 1) fputs("export CUBED_TASK_INDEX=0\n", f);
        fprintf(f, "exec %s/part %s %s >>%s/%s.${PBS_ARRAY_INDEX:-0}.log 2>&1\n", s->dir, j->name,
                j->args, s->dir, j->name);
        end_file(s, f);
        fprintf(start, "job%d=$(qsub", i);
        put_after(start, s, j, " -W depend=afterok:", ":");
        fprintf(start, " %s.pbs)\necho \"$job%d\" >>jobs\n", j->name, i);
    }
    end_file(s, start);
    write_file(s, "status",
               "#!/bin/sh\ncd %s\nxargs qstat <jobs 2>/dev/null | tail -n +3 || true\n", s->dir);
    write_file(s, "cancel", "#!/bin/sh\ncd %s\n: >cancelled\nxargs qdel <jobs\n", s->dir);
    write_part(s);
    write_failures(s, "true");
}

/* --- HTCondor ----------------------------------------------------------------------------------------- */

static void write_condor(batch_submission *s)
{
    FILE *dag = begin_file(s, "run", ".dag"), *start = begin_start(s);
    for (int i = 0; i < s->njobs && dag && start; i++) {
        const batch_job *j = &s->jobs[i];
        FILE *f = begin_file(s, j->name, ".sub");
        if (!f) break;
        fprintf(f,
                "executable = %s/part\narguments = \"%s %s\"\nenvironment = "
                "\"CUBED_TASK_INDEX=$(Process) CUBED_PART_RETRIES=0\"\nrequest_cpus = "
                "1\nrequest_memory = %" PRIu64
                "\nmax_retries = %d\nshould_transfer_files = NO\noutput = %s/%s.$(Process).log\n"
                "error = %s/%s.$(Process).log\nlog = %s/condor.log\n",
                s->dir, j->name, j->args, s->mebibytes, s->retries, s->dir, j->name, s->dir,
                j->name, s->dir);
        put_options(f, s, "", " = ");
        fprintf(f, "queue %" PRId64 "\n", j->n);
        end_file(s, f);
        fprintf(dag, "JOB %s %s.sub\n", j->name, j->name);
        for (int k = 0; k < j->nafter; k++)
            fprintf(dag, "PARENT %s CHILD %s\n", s->jobs[j->after[k]].name, j->name);
    }
    if (start) fprintf(start, "condor_submit_dag -f -batch-name cubed-%s run.dag\n", s->run);
    end_file(s, dag);
    end_file(s, start);
    write_file(s, "status",
               "#!/bin/sh\ncondor_q -constraint 'JobBatchName == \"cubed-%s\"' -af ClusterId "
               "ProcId JobStatus\n",
               s->run);
    write_file(s, "cancel", "#!/bin/sh\ncondor_rm -constraint 'JobBatchName == \"cubed-%s\"'\n",
               s->run);
    write_part(s);
    write_failures(s, "true");
}

/* --- Flux --------------------------------------------------------------------------------------------- */

/* Flux gets one allocation, in which a script runs the stages one after another. */
static void write_flux(batch_submission *s)
{
    FILE *f = begin_file(s, "stages", ".sh"), *start = begin_start(s);
    if (f) fprintf(f, "#!/bin/sh\nset -eu\ncd %s\n", s->dir);
    for (int i = 0; i < s->njobs && f; i++) {
        const batch_job *j = &s->jobs[i];
        fprintf(f,
                "flux submit --wait --cc=0-%" PRId64
                " --cores=1 --job-name=cubed-%s-%s --env=CUBED_TASK_INDEX={cc} "
                "--output=%s/%s.{cc}.log %s/part %s %s\n",
                j->n - 1, s->run, j->name, s->dir, j->name, s->dir, j->name, j->args);
    }
    if (start) {
        fprintf(start, "flux batch --nslots=%u --cores-per-slot=1 --job-name=cubed-%s", s->workers,
                s->run);
        for (int i = 0; i < s->choice->noptions; i++)
            fprintf(start, " --%s=%s", s->choice->options[i].name, s->choice->options[i].value);
        fprintf(start, " --output=%s/stages.log stages.sh >jobs\n", s->dir);
    }
    end_file(s, f);
    end_file(s, start);
    write_file(s, "status",
               "#!/bin/sh\nflux jobs --no-header --filter=pending,running --name=cubed-%s "
               "--format='{id} {status}'\n",
               s->run);
    write_file(s, "cancel", "#!/bin/sh\ncd %s\n: >cancelled\nxargs flux cancel <jobs\n", s->dir);
    write_part(s);
    write_failures(s, "true");
}

/* --- Services with JSON descriptions -------------------------------------------------------------------- */

/* Appends `item` to a list, or sets it as a member of an object. Takes ownership of `item`. Frees *to and sets it to NULL if out
 * of memory, so that no incomplete description is written. */
static void append(json_t **to, json_t *item)
{
    if (json_array_append_new(*to, item) == 0) return;
    json_decref(*to);
    *to = NULL;
}

static void set(json_t **to, const char *name, json_t *item)
{
    if (json_object_set_new(*to, name, item) == 0) return;
    json_decref(*to);
    *to = NULL;
}

static void write_json(batch_submission *s, const char *name, json_t *doc)
{
    FILE *f = begin_file(s, name, ".json");
    if (!doc) note_failure(s, ENOMEM);
    if (f && doc) {
        if (json_dumpf(doc, f, JSON_INDENT(2)) != 0) note_failure(s, ferror(f) ? EIO : ENOMEM);
        fputc('\n', f);
    }
    end_file(s, f);
    json_decref(doc);
}

/* Returns the words of the worker's command: "cubed", "worker", the plan and the job's arguments. */
static json_t *command_of(const batch_submission *s, const batch_job *j)
{
    json_t *list = json_array();
    char args[sizeof j->args], *left = args, *word;
    memcpy(args, j->args, sizeof args);
    append(&list, json_string("cubed"));
    append(&list, json_string("worker"));
    append(&list, json_sprintf("%s/plan.cubed", s->dir));
    while ((word = strtok_r(left, " ", &left)) != NULL) append(&list, json_string(word));
    return list;
}

/* Returns the environment of a stage's only task, for services that do not number a single task. */
static json_t *first_index(void)
{
    return json_pack("[{s:s,s:s}]", "name", "CUBED_TASK_INDEX", "value", "0");
}

/* Creates a job name of lower-case letters, digits and "-", which are the characters that the services accept. */
static void name_of(const batch_submission *s, const batch_job *j, char name[80])
{
    snprintf(name, 80, "cubed-%s-%s", s->run, j->name);
    for (char *c = name; *c; c++) {
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
        if (*c == '_' || *c == '.') *c = '-';
    }
}

static const char *kubernetes_space(const batch_submission *s)
{
    const char *space = batch_get(s->choice, "namespace");
    return space ? space : "default";
}

/* Returns a job with one container. `more` has the job's other fields, such as its number of tasks; the function takes ownership
 * of it. */
static json_t *kubernetes_job(const batch_submission *s, const char *name, json_t *command,
                              json_t *more)
{
    const char *claim = batch_get(s->choice, "claim"), *mount = batch_get(s->choice, "mount");
    const char *account = batch_get(s->choice, "service-account");
    char memory[32];
    snprintf(memory, sizeof memory, "%" PRIu64 "Mi", s->mebibytes);
    json_t *container =
        json_pack("{s:s,s:s,s:o,s:{s:{s:s,s:s},s:{s:s}},s:[{s:s,s:s}]}", "name", "worker", "image",
                  batch_get(s->choice, "image"), "command", command, "resources", "requests", "cpu",
                  "1", "memory", memory, "limits", "memory", memory, "volumeMounts", "name",
                  "shared", "mountPath", mount ? mount : s->dir);
    json_t *pod = json_pack("{s:s,s:[o],s:[{s:s,s:{s:s}}]}", "restartPolicy", "Never", "containers",
                            container, "volumes", "name", "shared", "persistentVolumeClaim",
                            "claimName", claim);
    if (account) set(&pod, "serviceAccountName", json_string(account));
    set(&more, "template", json_pack("{s:o}", "spec", pod));
    return json_pack("{s:s,s:s,s:{s:s,s:s,s:{s:s}},s:o}", "apiVersion", "batch/v1", "kind", "Job",
                     "metadata", "name", name, "namespace", kubernetes_space(s), "labels",
                     "cubed-run", s->run, "spec", more);
}

/* Kubernetes has no dependencies between jobs. So the script `start` waits for each stage, or a driver job does if the
 * submitting process does not wait (`leaves`). */
static void write_kubernetes(batch_submission *s)
{
    const char *space = kubernetes_space(s);
    const batch_job driver = {.name = "driver"};
    char name[80];
    FILE *start = begin_start(s), *stages = s->leaves ? begin_file(s, "stages", "") : start;
    if (s->leaves && stages) fprintf(stages, "#!/bin/sh\nset -eu\ncd %s\n", s->dir);
    for (int i = 0; i < s->njobs && stages; i++) {
        const batch_job *j = &s->jobs[i];
        const int64_t most = j->n < s->workers ? j->n : s->workers;
        name_of(s, j, name);
        write_json(s, j->name,
                   kubernetes_job(s, name, command_of(s, j),
                                  json_pack("{s:s,s:I,s:I,s:i}", "completionMode", "Indexed",
                                            "completions", (json_int_t)j->n, "parallelism",
                                            (json_int_t)most, "backoffLimitPerIndex", s->retries)));
        fprintf(stages,
                "kubectl delete --namespace %s --ignore-not-found job/%s\n"
                "kubectl apply -f %s.json\nuntil kubectl wait --namespace %s "
                "--for=condition=complete --timeout=30s job/%s 2>/dev/null; do\n"
                "    if kubectl wait --namespace %s --for=condition=failed --timeout=0s job/%s "
                "2>/dev/null; then exit 1; fi\ndone\n",
                space, name, j->name, space, name, space, name);
    }
    name_of(s, &driver, name);
    if (s->leaves) {
        end_file(s, stages);
        write_json(s, driver.name,
                   kubernetes_job(s, name, json_pack("[s,s+]", "sh", s->dir, "/stages"),
                                  json_pack("{s:i}", "backoffLimit", s->retries)));
        if (start)
            fprintf(start,
                    "kubectl delete --namespace %s --ignore-not-found job/%s\n"
                    "kubectl apply -f driver.json\n",
                    space, name);
    }
    end_file(s, start);
    write_file(
        s, "status",
        "#!/bin/sh\nkubectl get jobs --namespace %s -l cubed-run=%s -o "
        "jsonpath='{range .items[?(@.status.active)]}{.metadata.name}{\" active\\n\"}{end}'\n",
        space, s->run);
    /* Delete the driver before the jobs, because it would start further jobs. */
    write_file(s, "cancel",
               "#!/bin/sh\nkubectl delete --namespace %s --ignore-not-found --cascade=foreground "
               "job/%s\nkubectl delete jobs --namespace %s -l cubed-run=%s\n",
               space, name, space, s->run);
}

static void write_aws_batch(batch_submission *s)
{
    FILE *start = begin_start(s);
    for (int i = 0; i < s->njobs && start; i++) {
        const batch_job *j = &s->jobs[i];
        char name[80], memory[32];
        name_of(s, j, name);
        snprintf(memory, sizeof memory, "%" PRIu64, s->mebibytes);
        json_t *doc = json_pack("{s:s,s:s,s:s,s:{s:o,s:[{s:s,s:s},{s:s,s:s}]},s:{s:i}}", "jobName",
                                name, "jobQueue", batch_get(s->choice, "queue"), "jobDefinition",
                                batch_get(s->choice, "definition"), "containerOverrides", "command",
                                command_of(s, j), "resourceRequirements", "type", "VCPU", "value",
                                "1", "type", "MEMORY", "value", memory, "retryStrategy", "attempts",
                                1 + s->retries);
        /* The service requires at least two array tasks. */
        if (j->n > 1)
            set(&doc, "arrayProperties", json_pack("{s:I}", "size", (json_int_t)j->n));
        else if (json_object_set_new(json_object_get(doc, "containerOverrides"), "environment",
                                     first_index()) != 0)
            note_failure(s, ENOMEM);
        write_json(s, j->name, doc);
        fprintf(start, "job%d=$(aws batch submit-job --cli-input-json file://%s.json", i, j->name);
        put_after(start, s, j, " --depends-on jobId=", " jobId=");
        fprintf(start, " --query jobId --output text)\necho \"$job%d\" >>jobs\n", i);
    }
    end_file(s, start);
    write_file(s, "status",
               "#!/bin/sh\ncd %s\naws batch describe-jobs --jobs $(cat jobs) --output text --query "
               "\"jobs[?status!='SUCCEEDED' && status!='FAILED'].[jobId,jobName,status]\"\n",
               s->dir);
    write_file(s, "cancel",
               "#!/bin/sh\ncd %s\nfor job in $(cat jobs); do aws batch terminate-job --job-id "
               "\"$job\" --reason 'cubed cancel'; done\n",
               s->dir);
}

static void write_cloud_run(batch_submission *s)
{
    const char *region = batch_get(s->choice, "region");
    FILE *start = begin_start(s);
    for (int i = 0; i < s->njobs && start; i++) {
        const batch_job *j = &s->jobs[i];
        char name[80], memory[32];
        name_of(s, j, name);
        snprintf(memory, sizeof memory, "%" PRIu64 "Mi", s->mebibytes);
        json_t *container = json_pack("{s:s,s:o,s:{s:{s:s,s:s}}}", "image",
                                      batch_get(s->choice, "image"), "command", command_of(s, j),
                                      "resources", "limits", "cpu", "1", "memory", memory);
        const int64_t most = j->n < s->workers ? j->n : s->workers;
        write_json(s, j->name,
                   json_pack("{s:s,s:s,s:{s:s},s:{s:{s:{s:I,s:I,s:{s:{s:i,s:s,s:[o]}}}}}}",
                             "apiVersion", "run.googleapis.com/v1", "kind", "Job", "metadata",
                             "name", name, "spec", "template", "spec", "taskCount",
                             (json_int_t)j->n, "parallelism", (json_int_t)most, "template", "spec",
                             "maxRetries", s->retries, "timeoutSeconds", "3600", "containers",
                             container));
        fprintf(start,
                "gcloud run jobs replace %s.json --region %s\necho %s >>jobs\n"
                "gcloud run jobs execute %s --region %s --wait\n",
                j->name, region, name, name, region);
    }
    end_file(s, start);
    write_file(s, "status",
               "#!/bin/sh\ncd %s\nfor job in $(cat jobs); do gcloud run jobs executions list "
               "--job \"$job\" --region %s; done\n",
               s->dir, region);
    write_file(s, "cancel",
               "#!/bin/sh\ncd %s\nfor job in $(cat jobs); do gcloud run jobs delete \"$job\" "
               "--region %s --quiet; done\n",
               s->dir, region);
}

/* Machines of Coiled cannot read the run's directory, so `start` appends the plan to the script that each task runs. Coiled Batch
 * has no dependencies between jobs, and does not report failed tasks. So `start` checks that all tasks of a stage are complete
 * before it continues. */
static void write_coiled_batch(batch_submission *s)
{
    const char *space = batch_get(s->choice, "workspace");
    const char *within = space ? " --workspace " : "";
    if (!space) space = "";
    /* Minimum memory of a machine in MiB: 1 GiB is for the operating system, and Coiled accepts machines with up to 11 % less
     * memory. */
    const uint64_t least = (s->mebibytes + 1024) * 9 / 8;
    FILE *start = begin_start(s);
    for (int i = 0; i < s->njobs && start; i++) {
        const batch_job *j = &s->jobs[i];
        char name[80];
        /* the last job would only end the run, so the script ends the run itself */
        if (i == s->njobs - 1) {
            fprintf(start, "%s worker %s/plan.cubed %s\n", s->program, s->dir, j->args);
            break;
        }
        FILE *f = begin_file(s, j->name, ".sh");
        if (!f) break;
        fprintf(f,
                "#!/bin/bash\n# COILED ntasks %" PRId64 "\n# COILED max-workers %u\n"
                "# COILED max-retries %d\n",
                j->n, s->workers, s->retries);
        if (!batch_get(s->choice, "memory") && !batch_get(s->choice, "vm-type"))
            fprintf(f, "# COILED memory %" PRIu64 "MiB-%" PRIu64 "MiB\n", least, 4 * least + 16384);
        put_options(f, s, "# COILED ", " ");
        if (j->n == 1) fprintf(f, "export CUBED_TASK_INDEX=0\n");
        fprintf(f,
                "work() { cubed worker \"$plan\" %s; }\nplan=$(mktemp) || exit\n"
                "base64 -d >\"$plan\" <<'END'\n",
                j->args);
        end_file(s, f);
        name_of(s, j, name);
        fprintf(
            start,
            "{ cat %s.sh; base64 plan.cubed; printf 'END\\nwork\\n'; } >%s-plan.sh\n"
            "job=%s-$(date +%%s)\necho \"$job\" >>jobs\n"
            "coiled batch run --wait --name \"$job\" %s-plan.sh\n"
            "if ! %s status %s | grep -q '^stage %s: \\([0-9]*\\) of \\1 tasks'; then\n"
            "    echo \"%s is not done, see: coiled batch logs%s%s $job\" >&2\n    exit 1\nfi\n",
            j->name, j->name, name, j->name, s->program, s->dir, j->name + strlen("stage-"),
            j->name, within, space);
    }
    end_file(s, start);
    write_file(s, "status",
               "#!/bin/sh\ncd %s\nfor job in $(cat jobs); do COLUMNS=200 coiled batch status%s%s "
               "\"$job\" | grep -wE 'pending|assigned|running'; done\ntrue\n",
               s->dir, within, space);
    write_file(s, "cancel",
               "#!/bin/sh\ncd %s\nfor job in $(cat jobs); do coiled cluster stop%s%s \"$job\"; "
               "done\n",
               s->dir, within, space);
}

/* Beam gets one pipeline with a step for each job array, which the Python package submits. The pipeline contains the plan, so
 * its machines need no access to the run's directory. */
static void write_beam(batch_submission *s)
{
    json_t *jobs = json_array(), *options = json_array();
    for (int i = 0; i < s->njobs; i++) {
        const batch_job *j = &s->jobs[i];
        json_t *after = json_array();
        for (int k = 0; k < j->nafter; k++) append(&after, json_string(s->jobs[j->after[k]].name));
        append(&jobs, json_pack("{s:s,s:s,s:I,s:o}", "name", j->name, "args", j->args, "elements",
                                (json_int_t)j->n, "after", after));
    }
    for (int i = 0; i < s->choice->noptions; i++)
        append(&options,
               json_sprintf("--%s=%s", s->choice->options[i].name, s->choice->options[i].value));
    write_json(s, "pipeline", json_pack("{s:o,s:o}", "options", options, "jobs", jobs));
    FILE *start = begin_file(s, "start", "");
    if (start) {
        fprintf(start, "#!/bin/sh\nset -eu\ncd %s\n'%s' -m " BEAM_JOB " check %s\n", s->dir,
                s->python, s->dir);
        put_begin(start, s);
        fprintf(start, "'%s' -m " BEAM_JOB " start %s\n", s->python, s->dir);
    }
    end_file(s, start);
    write_file(s, "status", "#!/bin/sh\n'%s' -m " BEAM_JOB " status %s\n", s->python, s->dir);
    write_file(s, "cancel", "#!/bin/sh\n'%s' -m " BEAM_JOB " cancel %s\n", s->python, s->dir);
}

const batch_system batch_systems[] = {
    {"slurm", "tested live", NULL, NULL, 1000, 0.7, "sbatch squeue scancel", BATCH_LEAVES, false,
     write_slurm, false},
    {"pbs", "contract only", NULL, NULL, 10000, 1, "qsub qstat qdel", BATCH_LEAVES, false,
     write_pbs, false},
    {"htcondor", "contract only", NULL, NULL, 0, 1, "condor_submit_dag condor_q condor_rm",
     BATCH_LEAVES, false, write_condor, false},
    {"flux", "contract only", NULL, NULL, 0, 0.1, "flux", BATCH_LEAVES, false, write_flux, false},
    {"kubernetes", "contract only", "image claim", "mount namespace service-account", 100000, 2,
     "kubectl", BATCH_LEAVES_DRIVER, false, write_kubernetes, false},
    {"aws-batch", "contract only", "queue definition", "", 10000, 5, "aws", BATCH_LEAVES, false,
     write_aws_batch, false},
    {"cloud-run", "contract only", "image region", "", 10000, 5, "gcloud", BATCH_STAYS, false,
     write_cloud_run, false},
    {"coiled-batch", "contract only", NULL, NULL, 10000, 10, "coiled", BATCH_STAYS, true,
     write_coiled_batch, false},
    {"beam", "tested live", NULL, NULL, 10000, 1, "python3", BATCH_LEAVES, false, write_beam, true},
    {.name = NULL}};

const batch_system *batch_find(const char *name)
{
    for (const batch_system *e = batch_systems; e->name; e++) {
        if (strcmp(e->name, name) == 0) return e;
    }
    return NULL;
}
