/* Options for the description and storage of results: names, attributes, packing, chunks, compression and history. */
#ifndef CUBED_CLI_OUTPUT_OPTIONS_H
#define CUBED_CLI_OUTPUT_OPTIONS_H

#include "chunk_spec.h"
#include "cli.h"
#include "packed.h"

enum {
    KEY_RENAME = CLI_OWN_KEY + 200,
    KEY_ATTR,
    KEY_CALENDAR,
    KEY_PACK,
    KEY_DEFLATE,
    KEY_ZSTD,
    KEY_SHUFFLE,
    KEY_NO_HISTORY
};

/* Rows for the specific options of a subcommand; --rename and --attr may be repeated (cli_usage.repeats). */
#define OUTPUTS_OPTIONS                                                                            \
    {"rename", "OLD:NEW",                                                                          \
     "rename a variable, and the dimension of the same name; VAR:ATTR:NEW renames an attribute, "  \
     ":ATTR:NEW an attribute of the file",                                                         \
     KEY_RENAME},                                                                                  \
        {"attr", "VAR:NAME=VALUE",                                                                 \
         "set an attribute to a number, a JSON list or a string; without VAR, an attribute of "    \
         "the file; without VALUE, remove the attribute",                                          \
         KEY_ATTR},                                                                                \
        {"calendar", "NAME", "set the CF calendar of times, without changing their numbers",       \
         KEY_CALENDAR},                                                                            \
        {"pack", "TYPE[,scale=S,offset=O]",                                                        \
         "store floating-point results as int8, int16, int32, uint8 or uint16 with scale_factor "  \
         "and add_offset (default: from the range of values, which an additional pass computes)",  \
         KEY_PACK},                                                                                \
        {"deflate", "LEVEL", "compress by deflate at level 0 to 9 (0: no compression)",            \
         KEY_DEFLATE},                                                                             \
        {"zstd", "LEVEL", "compress by zstd at level 1 to 22", KEY_ZSTD},                          \
        {"shuffle", NULL, "with --deflate or --zstd, first reorder the bytes by significance",     \
         KEY_SHUFFLE},                                                                             \
    {                                                                                              \
        "no-history", NULL, "do not write the command to the attribute history", KEY_NO_HISTORY    \
    }
#define OUTPUTS_REPEATS "rename|attr"

typedef struct outputs {
    char *command; /* line for the attribute history; NULL: the attribute is not written */
    bool no_history;
    int nedits;
    struct outputs_edit *edit; /* --rename and --attr, as given */
    const char *calendar;
    bool has_times; /* at least one array had times, to which the calendar applies */
    packed pack;
    int level; /* level of the compressor; -1: not given */
    bool zstd, shuffle;
    int ncodecs;
    char **codecs; /* strings that targets borrow */
} outputs;
#define OUTPUTS_INIT                                                                               \
    {                                                                                              \
        .level = -1                                                                                \
    }

/* Reads an option. Returns NULL, or an error message, which the caller frees. */
char *outputs_take(outputs *o, int key, const char *value);
/* Returns the name of the first option that the command line contains, for messages; NULL if it contains none. */
const char *outputs_given(const outputs *o);
/* Returns true if an option changes arrays. Then an array must not be copied byte by byte, because the copy would not have the
 * change. */
bool outputs_change_arrays(const outputs *o);
void outputs_free(outputs *o);

/* Changes the name and the attributes of a result, and names of its dimensions. *name is replaced. */
CUBED_MUST_CHECK cubed_status outputs_edit_array(outputs *o, char **name, cubed_array **x,
                                                 cubed_error *err);
/* Returns the attributes of the group around results: `attrs` (NULL: no attributes), edited, with history and conventions. The
 * caller frees the string, which is NULL if there are no attributes. */
char *outputs_group_attrs(outputs *o, const char *attrs, bool conventions);
/* Returns why an option was not used by any array or group; NULL if all options were used. Call it when all arrays and groups
 * are edited. The caller frees the string. */
char *outputs_unused(const outputs *o);
/* Returns the codecs of a target by --deflate, --zstd and --shuffle; NULL if they are not given. The text is valid until
 * outputs_free. */
const char *outputs_codecs(outputs *o, cubed_dtype dtype, int zarr_format);

#endif
