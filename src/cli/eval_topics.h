/* Functions of expressions by subject, for the help of `cubed eval`. */
#ifndef CUBED_CLI_EVAL_TOPICS_H
#define CUBED_CLI_EVAL_TOPICS_H

#include "cli.h"

/* The last row has no name. */
extern const cli_topic eval_topics[];

#endif
