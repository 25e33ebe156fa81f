/* Grids and weights in files, for `cubed remap` and functions with CDO's names. */
#ifndef CUBED_CLI_GRID_FILE_H
#define CUBED_CLI_GRID_FILE_H

/* Converts a word of the command line to the target argument of remap in an expression. If the word is the path of a grid
 * description file, returns the text of the file. Otherwise returns the word, which may be the name of a grid. If it is the
 * path of another file or store and has no slash, "./" is put in front. The caller frees the string. */
char *grid_file_text(const char *word);

#endif
