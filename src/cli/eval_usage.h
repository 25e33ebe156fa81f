/* Keys of the options of `cubed eval` and `cubed plot`, whose descriptions are in eval_usage.c. */
#ifndef CUBED_CLI_EVAL_USAGE_H
#define CUBED_CLI_EVAL_USAGE_H

#include "cli.h"

enum {
    KEY_IN = CLI_OWN_KEY,
    KEY_ALONG,
    KEY_OVERLAP,
    KEY_OUT,
    KEY_DECODE,
    KEY_RAW,
    KEY_FORMAT,
    KEY_CODECS,
    KEY_REGION,
    KEY_APPEND,
    KEY_COLORS,
    KEY_TITLE,
    KEY_CSV,
    KEY_CHUNKS,
    KEY_STACK
};

#endif
