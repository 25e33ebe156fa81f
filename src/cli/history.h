/* The attribute `history` of results, as CDO and NCO write it: a line for each command, the newest first. */
#ifndef CUBED_CLI_HISTORY_H
#define CUBED_CLI_HISTORY_H

#include <stdbool.h>

/* Returns a command line in the syntax of a shell, without secrets: users and passwords of URLs, and values of executor options.
 * argv[0] is the subcommand. The caller frees the string. */
char *history_command(int argc, char **argv);
/* Returns the attributes of a group in which the date and the command are put in front of `history`. The date is that of the
 * environment variable SOURCE_DATE_EPOCH (seconds since 1970, UTC) if it is set; otherwise it is the local time. The caller frees
 * the string.
 *
 * attrs        JSON text of an object; NULL: there are no attributes
 * conventions  adds `Conventions` if the attributes have none */
char *history_add(const char *attrs, const char *command, bool conventions);

#endif
