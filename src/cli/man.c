/* Help as man pages. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cubed/catalogue.h"

/* Writes text verbatim. Escapes characters that roff would otherwise replace by typographic ones. */
static void put_text(FILE *f, const char *s, bool keep_lines)
{
    bool start = true;
    for (; *s; s++) {
        if (start && !keep_lines) s += strspn(s, " ");
        if (start && (*s == '.' || *s == '\'')) fputs("\\&", f);
        start = *s == '\n';
        switch (*s) {
        case 0: return;
        case '\\': fputs("\\e", f); break;
        case '-': fputs("\\-", f); break;
        case '\'': fputs("\\(aq", f); break;
        case '`': fputs("\\(ga", f); break;
        case '^': fputs("\\(ha", f); break;
        case '~': fputs("\\(ti", f); break;
        case '|': fputs("|\\:", f); break; /* lines may be broken here */
        default: fputc(*s, f);
        }
    }
}

static void put_entry(FILE *f, const char *prefix, const char *name, const char *arg,
                      const char *text)
{
    fputs(".TP\n\\fB", f);
    put_text(f, prefix, true);
    put_text(f, name, true);
    fputs("\\fR", f);
    if (arg) {
        fputs(" \\fI", f);
        put_text(f, arg, true);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    put_text(f, text, false);
    fputc('\n', f);
}

static void put_options(FILE *f, const char *title, const cli_option *list)
{
    fprintf(f, ".SH %s\n", title);
    for (; list->name; list++) put_entry(f, "--", list->name, list->arg, list->help);
}

/* Writes the title. `verb` is NULL on the page of the command. */
static void put_title(FILE *f, const char *verb, int section, const char *summary)
{
    fputs(".TH CUBED", f);
    if (verb) fputc('-', f);
    for (const char *s = verb; s && *s; s++) fputc(toupper((unsigned char)*s), f);
    fprintf(f,
            " %d \"\" \"cubed %s\" \"Cubed\"\n.ad l\n.nh\n.SH NAME\ncubed%s%s \\- %s\n.SH "
            "SYNOPSIS\n",
            section, cubed_version(), verb ? "\\-" : "", verb ? verb : "", summary);
}

static void put_exit_status(FILE *f)
{
    fputs(".SH EXIT STATUS\n"
          "0: done. 1: failed. 2: wrong usage. 130: interrupted.\n",
          f);
}

static void put_command_page(FILE *f, const cli_verb *verbs)
{
    put_title(f, NULL, 1, "bounded\\-memory computation on N\\-dimensional Zarr arrays");
    fputs("\\fBcubed\\fR \\fISUBCOMMAND\\fR ...\n.br\n\\fBcubed\\fR \\-\\-version\n"
          ".SH DESCRIPTION\n"
          "Computes on arrays that are larger than memory, inside a memory bound that is known "
          "before anything runs.\n.SH SUBCOMMANDS\n",
          f);
    for (const cli_verb *v = verbs; v->name; v++) put_entry(f, "", v->name, NULL, v->summary);
    put_exit_status(f);
    fputs(".SH SEE ALSO\n", f);
    for (const cli_verb *v = verbs; v->name; v++) fprintf(f, "\\fBcubed\\-%s\\fR(1),\n", v->name);
    fputs("\\fBcubed\\-functions\\fR(7)\n", f);
}

void cli_print_man(FILE *f, const cli_verb *verbs, const cli_verb *verb)
{
    if (!verb) {
        put_command_page(f, verbs);
        return;
    }
    const cli_usage *u = verb->usage;
    put_title(f, verb->name, 1, verb->summary);
    fputs("\\fBcubed\\fR ", f);
    put_text(f, u->synopsis, true);
    fputs("\n.SH DESCRIPTION\n", f);
    put_text(f, u->text, false);
    fputc('\n', f);
    for (const cli_topic *t = u->topics; t && t->name; t++)
        put_entry(f, "", t->name, NULL, t->text);
    if (u->own && u->own->name) put_options(f, "OPTIONS", u->own);
    if (u->common) put_options(f, "RUNNING", cli_common_options);
    put_exit_status(f);
    if (u->examples) {
        fputs(".SH EXAMPLES\n.nf\n", f);
        put_text(f, u->examples, true);
        fputs(".fi\n", f);
    }
    fputs(".SH SEE ALSO\n\\fBcubed\\fR(1)\n", f);
}

/* --- Functions of expressions ------------------------------------------------------------------------- */

static void put_param(FILE *f, const char *name, const char *text)
{
    put_entry(f, "", name, NULL, text);
}

/* Writes a paragraph with a function's signature and summary, and an indented list of its parameters and results. */
static void put_function(FILE *f, const cubed_function *function)
{
    char *signature = NULL;
    size_t size;
    FILE *line = open_memstream(&signature, &size);
    if (!line) return;
    cli_print_signature(line, function);
    fclose(line);
    put_entry(f, "", signature, NULL, function->summary);
    free(signature); /* check_layers: allow call: open_memstream returns memory of malloc */
    fputs(".RS\n", f);
    cli_each_param(function, put_param, f);
    put_entry(f, "", function->results[0] ? "arrays" : "array", NULL, function->returns);
    fputs(".RE\n", f);
}

void cli_print_functions_man(FILE *f)
{
    const char *category = "";
    put_title(f, "functions", 7, "functions of expressions");
    fputs("\\fBcubed eval\\fR \\fIEXPRESSION\\fR ...\n.SH DESCRIPTION\n"
          "Expressions of \\fBcubed\\-eval\\fR(1) call these functions. `cubed help FUNCTION` "
          "prints one of them.\n",
          f);
    for (const cubed_function *c = cubed_function_next(NULL); c; c = cubed_function_next(c)) {
        if (strcmp(c->category, category) != 0) {
            category = c->category;
            fputs(".SH ", f);
            for (const char *s = category; *s; s++) fputc(toupper((unsigned char)*s), f);
            fputc('\n', f);
        }
        put_function(f, c);
    }
    fputs(".SH SEE ALSO\n\\fBcubed\\fR(1), \\fBcubed\\-eval\\fR(1)\n", f);
}
