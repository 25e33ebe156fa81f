/* Draws pictures in a Python process, with the module cubed.plot of the package, which uses Xarray and Matplotlib. */
#include "picture.h"

#include <stdlib.h>

#include "python.h"

int picture_check(const char *verb)
{
    static const python_module needed[] = {
        {"cubed", "the package cubed"}, {"xarray", "Xarray"}, {"matplotlib", "Matplotlib"}};
    return python_check(verb, needed, 3, "draws", "plot");
}

cubed_status picture_draw(const cli_picture *p, cubed_context *ctx, const char *store,
                          const char *draft, const char *file, cubed_error *err)
{
    char *colors = cli_printf("--colors=%s", p->colors ? p->colors : "");
    char *title = cli_printf("--title=%s", p->title ? p->title : "");
    const char *arguments[] = {"-m", "cubed.plot", colors, title, "--", store, draft, NULL};
    const int code = python_run(arguments);
    cubed_status st = cubed_zarr_remove(ctx, store, err);
    if (st == CUBED_OK && code != 0) {
        err->status = st = CUBED_E_IO;
        snprintf(err->message, sizeof err->message,
                 "%s was not drawn: see above (%s ended with %d)", file, python_name(), code);
    }
    cli_free(colors);
    cli_free(title);
    return st;
}
