/* Grids and weights in files, for `cubed remap` and functions with CDO's names. */
#ifndef CUBED_CLI_GRID_FILE_H
#define CUBED_CLI_GRID_FILE_H

/* Returns the target for remap in an expression that `word` means: the text of a grid description file, or the path of another
 * file or store. Any other word, such as the name of a grid, is returned itself. The caller frees the text. */
char *grid_file_text(const char *word);

#endif
