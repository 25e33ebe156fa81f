/* Runs the commands of a table and compares what they print with what the table says.
 *
 * A line "$ COMMAND" is run by sh in a new directory, that of all commands of the table, with the built
 * `cubed` first in PATH. The lines below are what it prints, and, where its exit code is not 0, its errors
 * and "[CODE]"; DIR is that directory. "*" in a line that ends with " (glob)" stands for anything. Lines that
 * start with "# ", and empty ones in front of the next command, are skipped. With --update the table is
 * written anew with what was printed. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/remove_dir.h"

/* NULL at the end of the file, else a line with its end, until the next call. */
static char *read_line(FILE *f)
{
    static char *line;
    static size_t size;
    return getline(&line, &size, f) < 0 ? NULL : line;
}

static bool is_text(const char *line) /* a comment, or nothing */
{
    return strncmp(line, "# ", 2) == 0 || line[0] == '\n';
}

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

typedef struct text {
    char *bytes;
    size_t size;
    FILE *f;
} text;

static void open_text(text *t)
{
    *t = (text){0};
    t->f = open_memstream(&t->bytes, &t->size);
    if (!t->f) die("open_memstream");
}

static const char *close_text(text *t)
{
    if (fclose(t->f) != 0) die("fclose");
    return t->bytes;
}

/* All of it, with an end of the last line, and DIR for the directory. */
static void copy_lines(FILE *from, const char *dir, FILE *to)
{
    char last = '\n';
    for (char *line; (line = read_line(from));) {
        last = line[strlen(line) - 1];
        for (char *at; (at = strstr(line, dir)); line = at + strlen(dir))
            fprintf(to, "%.*sDIR", (int)(at - line), line);
        fputs(line, to);
    }
    if (last != '\n') fputc('\n', to);
}

/* What a command prints, and its exit code. */
static void run(const char *command, const char *dir, text *out)
{
    open_text(out);
    (void)fflush(NULL);
    text wrapped;
    open_text(&wrapped);
    fprintf(wrapped.f, "exec 2>.errors\n%s", command);
    FILE *p = popen(close_text(&wrapped), "r"); // NOLINT(cert-env33-c): commands are what is tested
    if (!p) die("popen");
    copy_lines(p, dir, out->f);
    const int status = pclose(p);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code) {
        FILE *errors = fopen(".errors", "r");
        if (!errors) die(".errors");
        copy_lines(errors, dir, out->f);
        fclose(errors);
        fprintf(out->f, "[%d]\n", code);
    }
    free(wrapped.bytes);
    close_text(out);
}

/* Whether one line, up to its end, is what is expected. */
static bool same_line(const char *want, size_t nwant, const char *got, size_t ngot)
{
    static const char mark[] = " (glob)";
    const size_t n = sizeof mark - 1;
    if (nwant < n || memcmp(want + nwant - n, mark, n) != 0)
        return nwant == ngot && memcmp(want, got, nwant) == 0;
    char *pattern = strndup(want, nwant - n), *line = strndup(got, ngot);
    if (!pattern || !line) die("strndup");
    const bool same = fnmatch(pattern, line, FNM_NOESCAPE) == 0;
    free(pattern);
    free(line);
    return same;
}

static bool same(const char *want, const char *got)
{
    while (*want && *got) {
        const size_t nwant = strcspn(want, "\n"), ngot = strcspn(got, "\n");
        if (!same_line(want, nwant, got, ngot)) return false;
        want += nwant + (want[nwant] == '\n');
        got += ngot + (got[ngot] == '\n');
    }
    return *want == *got;
}

/* Puts the directory of the command in front of PATH. */
static void find_command(const char *command)
{
    char dir[PATH_MAX];
    if (!realpath(command, dir)) die(command);
    *strrchr(dir, '/') = '\0';
    text path;
    open_text(&path);
    fprintf(path.f, "%s:%s", dir, getenv("PATH"));
    if (setenv("PATH", close_text(&path), 1) != 0) die("setenv");
    /* The date in the attribute `history` of results. */
    if (setenv("SOURCE_DATE_EPOCH", "0", 1) != 0) die("setenv");
    free(path.bytes);
}

typedef struct command {
    text line, expected;
    int number; /* of its line */
} command;

/* The next command of the table; comments go to `copy`. */
static bool next_command(FILE *f, int *number, char **ahead, command *c, FILE *copy)
{
    char *line = *ahead ? *ahead : read_line(f);
    *ahead = NULL;
    for (; line && line[0] != '$'; line = read_line(f)) {
        if (!is_text(line)) {
            fprintf(stderr, "line %d belongs to no command: %s", *number, line);
            exit(EXIT_FAILURE);
        }
        fputs(line, copy);
        ++*number;
    }
    if (!line) return false;
    c->number = *number;
    open_text(&c->line);
    open_text(&c->expected);
    fputs(line + 1, c->line.f);
    ++*number;
    for (bool more = strstr(line, "\\\n"); more && (line = read_line(f)); ++*number) {
        more = strstr(line, "\\\n");
        fputs(line, c->line.f);
    }
    while ((line = read_line(f)) && line[0] != '$' && !is_text(line)) {
        fputs(line, c->expected.f);
        ++*number;
    }
    *ahead = line;
    close_text(&c->line);
    close_text(&c->expected);
    return true;
}

int main(int argc, char **argv)
{
    const bool update = argc == 4 && strcmp(argv[3], "--update") == 0;
    if (argc != 3 && !update) {
        fprintf(stderr, "usage: %s CUBED TABLE [--update]\n", argv[0]);
        return 2;
    }
    FILE *f = fopen(argv[2], "r");
    if (!f) die(argv[2]);
    char table[PATH_MAX], dir[] = "/tmp/commands-XXXXXX";
    if (!realpath(argv[2], table)) die(argv[2]);
    find_command(argv[1]);
    if (!mkdtemp(dir) || chdir(dir) != 0) die(dir);

    text copy;
    open_text(&copy);
    int number = 1, ran = 0, wrong = 0;
    char *ahead = NULL, *kept = NULL;
    for (command c; next_command(f, &number, &ahead, &c, copy.f); ran++) {
        /* The line ahead is the reader's, who reads what is printed, too. */
        free(kept);
        kept = ahead ? strdup(ahead) : NULL;
        text out;
        run(c.line.bytes, dir, &out);
        const bool right = same(c.expected.bytes, out.bytes);
        if (!right && !update) {
            printf("%s:%d: $%sexpected:\n%sprinted:\n%s\n", table, c.number, c.line.bytes,
                   c.expected.bytes, out.bytes);
        }
        wrong += !right;
        fprintf(copy.f, "$%s%s", c.line.bytes, right ? c.expected.bytes : out.bytes);
        free(c.line.bytes);
        free(c.expected.bytes);
        free(out.bytes);
        ahead = kept;
    }
    free(kept);
    fclose(f);
    close_text(&copy);
    if (update) {
        f = fopen(table, "w");
        if (!f || fputs(copy.bytes, f) < 0 || fclose(f) != 0) die(table);
    }
    free(copy.bytes);
    if (chdir("/") != 0 || remove_dir(dir) != 0) die(dir);
    printf("%d commands, %d %s\n", ran, wrong, update ? "updated" : "wrong");
    return ran == 0 || (wrong && !update);
}
