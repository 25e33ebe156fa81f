/* Completion scripts. They complete subcommands, options and fixed values, and otherwise names of files. */
#include <string.h>

#include "cli.h"
#include "cubed/catalogue.h"

typedef enum value_kind {
    VALUE_ABSENT,
    VALUE_NONE,
    VALUE_WORDS,
    VALUE_DIRS,
    VALUE_FILES
} value_kind;

static value_kind kind_of(const char *arg)
{
    static const char *const in_files[] = {"FILE", "STORE", "PLAN"};
    if (!arg) return VALUE_ABSENT;
    if (strchr(arg, '|')) return VALUE_WORDS;
    if (strcmp(arg, "DIR") == 0) return VALUE_DIRS;
    for (size_t i = 0; i < sizeof in_files / sizeof *in_files; i++) {
        if (strstr(arg, in_files[i])) return VALUE_FILES;
    }
    return VALUE_NONE;
}

/* Returns true for words such as "lambda:FUNCTION", which describe values but are not values themselves. */
static bool describes_values(const char *word, int n)
{
    for (int i = 0; i < n; i++) {
        if (word[i] >= 'A' && word[i] <= 'Z') return true;
    }
    return false;
}

static bool is_verb(const cli_verb *verbs, const char *name)
{
    while (verbs->name && strcmp(verbs->name, name) != 0) verbs++;
    return verbs->name != NULL;
}

/* Writes functions and their categories, each after a blank. Omits names of subcommands, and categories that have the name of a
 * function. */
static void put_functions(FILE *f, const cli_verb *verbs)
{
    const char *category = "";
    for (const cubed_function *c = cubed_function_next(NULL); c; c = cubed_function_next(c)) {
        if (strcmp(c->category, category) != 0 && !cubed_function_find(c->category))
            fprintf(f, " %s", c->category);
        category = c->category;
        if (!is_verb(verbs, c->name)) fprintf(f, " %s", c->name);
    }
}

/* Writes "a|b" as "a b". If `words` stands for subcommands or topics, writes all subcommands, and for topics also all functions.
 * */
static void put_words(FILE *f, const cli_verb *verbs, const char *words)
{
    const char *word;
    int n;
    const char *sep = "";
    if (strcmp(words, CLI_WORDS_VERBS) == 0 || strcmp(words, CLI_WORDS_TOPICS) == 0) {
        for (const cli_verb *v = verbs; v->name; v++) {
            fprintf(f, "%s%s", sep, v->name);
            sep = " ";
        }
        if (strcmp(words, CLI_WORDS_TOPICS) == 0) put_functions(f, verbs);
        return;
    }
    while (cli_next_word(&words, &word, &n)) {
        if (describes_values(word, n)) continue;
        fprintf(f, "%s%.*s", sep, n, word);
        sep = " ";
    }
}

static bool takes_expressions(const cli_verb *v)
{
    return v->usage->words && strcmp(v->usage->words, CLI_WORDS_EXPRESSION) == 0;
}

/* Writes a string inside single quotes. Writes a backslash before each character of `special`, and `apostrophe` for a quote. */
static void put_quoted(FILE *f, const char *s, const char *special, const char *apostrophe)
{
    for (; *s; s++) {
        if (*s == '\'') {
            fputs(apostrophe, f);
            continue;
        }
        if (strchr(special, *s)) fputc('\\', f);
        fputc(*s, f);
    }
}

/* Returns one of a subcommand's lists of options: 0 is its own list, 1 the common list, then NULL. */
static const cli_option *options_of(const cli_usage *u, int list)
{
    static const cli_option none[] = {{NULL, NULL, NULL, 0}};
    if (list == 0) return u->own ? u->own : none;
    if (list == 1) return u->common ? cli_common_options : none;
    return NULL;
}

/* --- bash --------------------------------------------------------------------------------------------- */

static void bash_verb(FILE *f, const cli_verb *verbs, const cli_verb *v)
{
    fprintf(f, "    %s)\n        options='--help", v->name);
    for (int l = 0; options_of(v->usage, l); l++) {
        for (const cli_option *o = options_of(v->usage, l); o->name; o++)
            fprintf(f, " --%s", o->name);
    }
    fputs("'\n", f);
    if (takes_expressions(v)) {
        fputs("        kind=expression\n", f);
    } else if (v->usage->words) {
        fputs("        ((COMP_CWORD == 2)) && kind=words words='", f);
        put_words(f, verbs, v->usage->words);
        fputs("'\n", f);
    }
    fputs("        case $prev in\n", f);
    for (int l = 0; options_of(v->usage, l); l++) {
        for (const cli_option *o = options_of(v->usage, l); o->name; o++) {
            static const char *const kinds[] = {NULL, "none", "words", "dirs", "files"};
            value_kind kind = kind_of(o->arg);
            if (kind == VALUE_ABSENT) continue;
            fprintf(f, "        --%s) kind=%s", o->name, kinds[kind]);
            if (kind == VALUE_WORDS) {
                fputs(" words='", f);
                put_words(f, verbs, o->arg);
                fputc('\'', f);
            }
            fputs(" options= ;;\n", f);
        }
    }
    fputs("        esac\n        ;;\n", f);
}

static void print_bash(FILE *f, const cli_verb *verbs)
{
    fputs("# Completion of cubed in bash, made by `cubed completion bash`.\n"
          "_cubed() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local verb=${COMP_WORDS[1]} options= kind=files words=\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        verb= kind=words words='",
          f);
    put_words(f, verbs, CLI_WORDS_VERBS);
    fputs(" --help --version'\n"
          "    elif [[ $cur == = ]]; then # bash takes --option=value for three words\n"
          "        cur=\n"
          "    elif [[ $prev == = ]]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    case $verb in\n",
          f);
    for (const cli_verb *v = verbs; v->name; v++) bash_verb(f, verbs, v);
    fputs("    esac\n"
          "    [[ $options && $cur == -* ]] && kind=words words=$options\n"
          "    case $kind in\n"
          "    words) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
          "    dirs) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
          "    files) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
          "    expression) # without the quote that it begins with\n"
          "        mapfile -t COMPREPLY < <(\"${COMP_WORDS[0]}\" help --complete "
          "\"${cur#[\\'\\\"]}\" 2>/dev/null)\n"
          "        compopt -o nospace 2>/dev/null\n"
          "        [[ $cur == [\\'\\\"]* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < "
          "<(compgen -f -- "
          "\"$cur\")\n"
          "        ;;\n"
          "    esac\n"
          "    if [[ $kind == files || $kind == dirs ]]; then\n"
          "        compopt -o filenames 2>/dev/null # fails outside of a completion\n"
          "    fi\n"
          "    return 0\n"
          "}\n"
          "complete -F _cubed cubed\n",
          f);
}

/* --- zsh ---------------------------------------------------------------------------------------------- */

#define ZSH_APOSTROPHE "'\\''"

static void zsh_option(FILE *f, const cli_verb *verbs, const cli_option *o)
{
    fprintf(f, " \\\n            '*--%s[", o->name);
    put_quoted(f, o->help, "[]:\\", ZSH_APOSTROPHE);
    fputc(']', f);
    value_kind kind = kind_of(o->arg);
    if (kind != VALUE_ABSENT) {
        fputc(':', f);
        put_quoted(f, kind == VALUE_WORDS ? o->name : o->arg, ":\\", ZSH_APOSTROPHE);
        fputc(':', f);
        if (kind == VALUE_DIRS) fputs("_files -/", f);
        if (kind == VALUE_FILES) fputs("_files", f);
        if (kind == VALUE_NONE) fputc(' ', f);
        if (kind == VALUE_WORDS) {
            fputc('(', f);
            put_words(f, verbs, o->arg);
            fputc(')', f);
        }
    }
    fputc('\'', f);
}

static void print_zsh(FILE *f, const cli_verb *verbs)
{
    fputs("#compdef cubed\n"
          "# Completion of cubed in zsh, made by `cubed completion zsh`.\n"
          "_cubed_expression() {\n"
          "    local -a found\n"
          "    found=(${(f)\"$(command $service help --complete \"$PREFIX\" 2>/dev/null)\"})\n"
          "    compadd -Q -S '' -- $found\n"
          "}\n"
          "_cubed() {\n"
          "    local -a verbs\n"
          "    verbs=(\n",
          f);
    for (const cli_verb *v = verbs; v->name; v++) {
        fprintf(f, "        '%s:", v->name);
        put_quoted(f, v->summary, ":\\", ZSH_APOSTROPHE);
        fputs("'\n", f);
    }
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe verb verbs\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $words[1] in\n",
          f);
    for (const cli_verb *v = verbs; v->name; v++) {
        fprintf(f, "    %s)\n        _arguments '*--help[say more]'", v->name);
        for (int l = 0; options_of(v->usage, l); l++) {
            for (const cli_option *o = options_of(v->usage, l); o->name; o++)
                zsh_option(f, verbs, o);
        }
        if (v->usage->words && !takes_expressions(v)) {
            fputs(" \\\n            '1:word:(", f);
            put_words(f, verbs, v->usage->words);
            fputs(")'", f);
        }
        fprintf(f, " \\\n            '*:%s'\n        ;;\n",
                takes_expressions(v) ? "expression:{ _cubed_expression; [[ $QIPREFIX ]] || _files }"
                                     : "file:_files");
    }
    fputs("    esac\n"
          "}\n"
          "# Loaded as a function of the completion system, or read by a start-up file.\n"
          "if [[ $funcstack[1] == _cubed ]]; then\n"
          "    _cubed \"$@\"\n"
          "else\n"
          "    compdef _cubed cubed\n"
          "fi\n",
          f);
}

/* --- fish --------------------------------------------------------------------------------------------- */

static void fish_option(FILE *f, const cli_verb *verbs, const cli_verb *v, const cli_option *o)
{
    fprintf(f, "complete -c cubed -n '__cubed_verb %s' -l %s", v->name, o->name);
    static const char *const kinds[] = {"", " -x", " -x", " -x -a '(__fish_complete_directories)'",
                                        " -r -F"};
    value_kind kind = kind_of(o->arg);
    fputs(kinds[kind], f);
    if (kind == VALUE_WORDS) {
        fputs(" -a '", f);
        put_words(f, verbs, o->arg);
        fputc('\'', f);
    }
    fputs(" -d '", f);
    put_quoted(f, o->help, "\\", "\\'");
    fputs("'\n", f);
}

static void print_fish(FILE *f, const cli_verb *verbs)
{
    fputs("# Completion of cubed in fish, made by `cubed completion fish`.\n"
          "function __cubed_verb\n"
          "    set -l words (commandline -opc)\n"
          "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
          "end\n"
          "function __cubed_expression\n"
          "    string replace -r '^[\\'\"]' '' -- (commandline -ct)\n"
          "end\n"
          "function __cubed_position\n"
          "    test (count (commandline -opc)) -eq $argv[1]\n"
          "end\n"
          "complete -c cubed -n '__cubed_position 1' -f -l help -d 'say more'\n"
          "complete -c cubed -n '__cubed_position 1' -f -l version -d 'what it is built from'\n",
          f);
    for (const cli_verb *v = verbs; v->name; v++) {
        fprintf(f, "complete -c cubed -n '__cubed_position 1' -f -a %s -d '", v->name);
        put_quoted(f, v->summary, "\\", "\\'");
        fprintf(f, "'\ncomplete -c cubed -n '__cubed_verb %s' -l help -d 'say more'\n", v->name);
        if (takes_expressions(v)) {
            fprintf(f,
                    "complete -c cubed -n '__cubed_verb %s' -a "
                    "'(cubed help --complete (__cubed_expression) 2>/dev/null)'\n",
                    v->name);
        } else if (v->usage->words) {
            fprintf(f, "complete -c cubed -n '__cubed_verb %s; and __cubed_position 2' -f -a '",
                    v->name);
            put_words(f, verbs, v->usage->words);
            fputs("'\n", f);
        }
        for (int l = 0; options_of(v->usage, l); l++) {
            for (const cli_option *o = options_of(v->usage, l); o->name; o++)
                fish_option(f, verbs, v, o);
        }
    }
}

bool cli_print_completion(FILE *f, const cli_verb *verbs, const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(FILE *f, const cli_verb *verbs);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) != 0) continue;
        shells[i].print(f, verbs);
        return true;
    }
    return false;
}
