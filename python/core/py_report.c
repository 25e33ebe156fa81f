/* The reports of the command, for the package: drawings of plans, and records of their runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "report/report.h"

/* String that a writer writes through a stream. */
typedef struct text {
    char *bytes;
    size_t size;
    FILE *stream;
} text;

static bool text_open(text *t)
{
    t->bytes = NULL;
    t->stream = open_memstream(&t->bytes, &t->size);
    if (!t->stream) PyErr_NoMemory();
    return t->stream != NULL;
}

/* Closes the stream. Returns the string, or NULL after an error. */
static PyObject *text_close(text *t, cubed_status st, const cubed_error *err)
{
    bool lost = ferror(t->stream) != 0;
    PyObject *out = NULL;
    if (fclose(t->stream) != 0) lost = true;
    if (st != CUBED_OK)
        core_raise(err);
    else if (lost)
        PyErr_NoMemory();
    else
        out = PyUnicode_DecodeUTF8(t->bytes, (Py_ssize_t)t->size, "replace");
    free(t->bytes);
    return out;
}

PyObject *core_draw_plan(const cubed_plan *plan, const char *format)
{
    text t;
    cubed_status st = CUBED_OK;
    cubed_error err = CUBED_ERROR_INIT;
    const bool dot = strcmp(format, "dot") == 0, inside = strcmp(format, "inside") == 0;
    const bool table = strcmp(format, "table") == 0;
    if (!dot && !inside && !table && strcmp(format, "svg") != 0)
        return core_unknown("format", format, "svg, dot, table or inside");
    if (!text_open(&t)) return NULL;
    if (dot)
        report_plan_dot(plan, t.stream);
    else if (table)
        st = report_plan_table(plan, t.stream, &err);
    else
        st = report_plan_svg(plan, inside, t.stream, &err);
    return text_close(&t, st, &err);
}

/* Gets the requests without the GIL, because it may ask stores. */
static void get_requests(const cubed_plan *plan, bool apart, report_requests *out)
{
    Py_BEGIN_ALLOW_THREADS;
    report_get_requests(plan, apart, out);
    Py_END_ALLOW_THREADS;
}

PyObject *core_plan_requests(const cubed_plan *plan, bool apart)
{
    text t;
    report_requests requests;
    get_requests(plan, apart, &requests);
    if (!text_open(&t)) return NULL;
    report_put_requests(plan, &requests, t.stream);
    return text_close(&t, CUBED_OK, NULL);
}

bool core_record(cubed_plan *plan, bool apart, report **out)
{
    cubed_error err = CUBED_ERROR_INIT;
    report_requests requests;
    report_close(*out);
    *out = NULL;
    if (report_open(plan, out, &err) != CUBED_OK) {
        core_raise(&err);
        return false;
    }
    get_requests(plan, apart, &requests);
    report_expect(*out, &requests);
    return true;
}

PyObject *core_draw_record(const report *r, const char *name)
{
    static const struct {
        const char *name;
        report_drawing which;
    } rows[] = {
        {"timeline", REPORT_TIMELINE}, {"memory", REPORT_MEMORY}, {"progress", REPORT_PROGRESS}};
    const size_t n = sizeof rows / sizeof *rows;
    size_t i = 0;
    text t;
    while (i < n && strcmp(rows[i].name, name) != 0) i++;
    if (i == n) return core_unknown("name", name, "timeline, memory or progress");
    if (!text_open(&t)) return NULL;
    report_draw(r, rows[i].which, t.stream);
    return text_close(&t, CUBED_OK, NULL);
}

PyObject *core_report(const report *r, const report_run *run)
{
    text t;
    cubed_error err = CUBED_ERROR_INIT;
    if (!text_open(&t)) return NULL;
    return text_close(&t, report_write(r, run, t.stream, &err), &err);
}

PyObject *core_status(const report *r, const report_state *state)
{
    text t;
    if (!text_open(&t)) return NULL;
    report_write_status(r, state, t.stream);
    return text_close(&t, CUBED_OK, NULL);
}
