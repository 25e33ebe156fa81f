/* Prints help as text. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

enum { LEAST_WIDTH = 40, MOST_WIDTH = 100, OPTION_COLUMN = 25, TOPIC_COLUMN = 16 };

/* Returns the number of characters per line: the width of the terminal, within limits. Without a terminal, returns the
 * maximum. */
static int line_width(FILE *f)
{
    struct winsize w;
    const int file = fileno(f);
    if (file < 0 || ioctl(file, TIOCGWINSZ, &w) != 0 || w.ws_col == 0) return MOST_WIDTH;
    return w.ws_col < LEAST_WIDTH ? LEAST_WIDTH : w.ws_col > MOST_WIDTH ? MOST_WIDTH : w.ws_col;
}

void cli_put_filled(FILE *f, const char *text, int column)
{
    const int width = line_width(f);
    int at = column;
    for (;;) {
        text += strspn(text, " \n");
        int n = (int)strcspn(text, " \n");
        if (n == 0) break;
        if (at > column && at + 1 + n > width) {
            fprintf(f, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', f);
            at++;
        }
        fprintf(f, "%.*s", n, text);
        at += n;
        text += n;
    }
    fputc('\n', f);
}

void cli_put_entry(FILE *f, const char *left, const char *text, int column)
{
    if ((int)strlen(left) + 4 <= column)
        fprintf(f, "  %-*s", column - 2, left);
    else
        fprintf(f, "  %s\n%*s", left, column, "");
    cli_put_filled(f, text, column);
}

static void put_options(FILE *f, const char *title, const cli_option *list)
{
    fprintf(f, "\n%s:\n", title);
    for (; list->name; list++) {
        char *left =
            cli_printf("--%s%s%s", list->name, list->arg ? " " : "", list->arg ? list->arg : "");
        cli_put_entry(f, left, list->help, OPTION_COLUMN);
        cli_free(left);
    }
}

/* Lists the names of the common options. Only `cubed help options` describes them. */
static void put_common_names(FILE *f)
{
    char *names = cli_strdup("");
    for (const cli_option *o = cli_common_options; o->name; o++) {
        char *longer = cli_printf("%s%s--%s", names, *names ? ", " : "", o->name);
        cli_free(names);
        names = longer;
    }
    fputs("\nrunning (`cubed help options` describes these):\n  ", f);
    cli_put_filled(f, names, 2);
    cli_free(names);
}

void cli_print_common_options(FILE *f)
{
    fputs("Options of subcommands that run plans.\n", f);
    put_options(f, "running", cli_common_options);
}

void cli_print_help(FILE *f, const cli_usage *u)
{
    fprintf(f, "usage: cubed %s\n\n", u->synopsis);
    cli_put_filled(f, u->text, 0);
    if (u->topics) fputc('\n', f);
    for (const cli_topic *t = u->topics; t && t->name; t++)
        cli_put_entry(f, t->name, t->text, TOPIC_COLUMN);
    if (u->own && u->own->name) put_options(f, "options", u->own);
    if (u->common) put_common_names(f);
    if (u->examples) fprintf(f, "\nexamples:\n%s", u->examples);
}

void cli_print_overview(FILE *f, const cli_verb *verbs)
{
    fputs("usage: cubed SUBCOMMAND ...\n\nBounded-memory computation on N-dimensional Zarr "
          "arrays.\n\n"
          "subcommands:\n",
          f);
    for (; verbs->name; verbs++) fprintf(f, "  %-14s %s\n", verbs->name, verbs->summary);
    fputs("\ncubed SUBCOMMAND --help (or -h) says more. cubed --version (or -V) shows what it is "
          "built "
          "from.\n",
          f);
}
