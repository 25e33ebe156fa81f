/* Grids and weights in files, for `cubed remap` and functions with CDO's names. */
#ifndef CUBED_CLI_GRID_FILE_H
#define CUBED_CLI_GRID_FILE_H

/* Returns the grid description that `word` stands for: the text of a grid description file, or the axes of latitude and longitude
 * of a file or store with coordinates. Any other word, such as the name of a grid, is returned itself. Ends the command with an
 * error for a file without a grid. The caller frees the text. */
char *grid_file_text(const char *word);

#endif
