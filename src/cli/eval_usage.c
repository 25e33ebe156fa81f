/* The descriptions of `cubed eval` and `cubed plot`. */
#include "eval_usage.h"

#include "eval_topics.h"
#include "output_options.h"

/* Help for inputs, for both subcommands. */
static const char in_text[] =
    "an array and its name in the expression, or a group whose arrays have their own names";
static const char along_text[] =
    "dimension along which the files of an input 'era5-*.nc' are joined (default time)";
static const char stack_text[] =
    "new first dimension of the arrays of several files, with one element per file, such as the "
    "members of an ensemble";
static const char overlap_text[] =
    "if files overlap, use the elements of the file that begins first or last (default error)";
static const char raw_text[] =
    "compute with elements as they are stored, without scale_factor, add_offset, _FillValue, "
    "missing_value and _Unsigned (CF)";
static const char decode_text[] = "the opposite of --raw, and the default";

static const cli_option own[] = {
    {"in", "[NAME=]STORE[::PATH]", in_text, KEY_IN},
    {"along", "DIM", along_text, KEY_ALONG},
    {"stack", "DIM", stack_text, KEY_STACK},
    {"overlap", "first|last|error", overlap_text, KEY_OVERLAP},
    {"raw", NULL, raw_text, KEY_RAW},
    {"decode", NULL, decode_text, KEY_DECODE},
    {"out", "STORE[::PATH]",
     "target of the results: a Zarr store, FILE.zip or FILE.nc (default: a small result is "
     "printed; --plan shows any)",
     KEY_OUT},
    {"csv", NULL,
     "print results as comma-separated values, one element per line, with their coordinates",
     KEY_CSV},
    {"format", "2|3",
     "Zarr format of results (default 3, or that of the run that --resume continues)", KEY_FORMAT},
    {"codecs", "JSON", "v3 codec list or v2 compressor of results (default zstd, level 1)",
     KEY_CODECS},
    {"region", "NAME=START:STOP,...",
     "write the result to this region of the array at --out, which must exist (START:STOP,... by "
     "position)",
     KEY_REGION},
    {"append", "DIM",
     "append the results along this dimension to the Zarr store or NetCDF file at --out, which "
     "must exist",
     KEY_APPEND},
    {"chunks", "SPEC",
     "chunk lengths of results by dimension: time=100,lat=-1, or by position: 100,-1; -1: the "
     "whole axis",
     KEY_CHUNKS},
    OUTPUTS_OPTIONS,
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_eval_usage = {
    .words = CLI_WORDS_EXPRESSION,
    .synopsis = "eval EXPRESSION [STORE] [--in [NAME=]STORE[::PATH]]... [--out STORE[::PATH]]",
    .repeats = "in|" OUTPUTS_REPEATS,
    .text = "Evaluates NumPy-like expressions over arrays of Zarr stores and of files (NetCDF, "
            "HDF5, ZIP); 'era5-*.nc' joins several files, in the order of their coordinate. "
            "Statements are separated by ';': each assigned name is a result, unless it starts "
            "with '_'. A name may be assigned only once. A result without a name gets the name of "
            "the only variable that it reads; coordinates do not count. If it reads no variable or "
            "several, or if two results would share a name, its name is \"result\". An input that "
            "no expression uses is an error. Operands are broadcast by position, as in NumPy. "
            "Dimension names and attributes are kept if they also apply to the result.",
    .topics = eval_topics,
    .examples =
        "  cubed eval 'mean(t2m, dim=\"time\")' era5.zarr\n"
        "  cubed eval 'mean(t2m, dim=\"time\")' 'era5-*.nc'\n"
        "  cubed eval 'uu=mean(u*u, dim=\"month\"); uv=mean(u*v, dim=\"month\")' winds.zarr "
        "--out q.zarr\n"
        "  cubed eval 't - mean(t, axis=0, keepdims=True)' --in t=era5.zarr::t2m --out "
        "anomaly.zarr --plan\n",
    .own = own,
    .common = true};

static const cli_option own_of_plot[] = {
    {"in", "[NAME=]STORE[::PATH]", in_text, KEY_IN},
    {"along", "DIM", along_text, KEY_ALONG},
    {"stack", "DIM", stack_text, KEY_STACK},
    {"overlap", "first|last|error", overlap_text, KEY_OVERLAP},
    {"raw", NULL, raw_text, KEY_RAW},
    {"decode", NULL, decode_text, KEY_DECODE},
    {"out", "FILE", "image file; its suffix gives the format: .png, .svg or .pdf", KEY_OUT},
    {"colors", "NAME", "Matplotlib colour map, such as RdBu_r (default: chosen by the values)",
     KEY_COLORS},
    {"title", "TEXT", "title above the plot", KEY_TITLE},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_plot_usage = {
    .words = CLI_WORDS_EXPRESSION,
    .synopsis = "plot EXPRESSION [STORE] [--in [NAME=]STORE[::PATH]]... --out FILE.png",
    .repeats = "in",
    .text =
        "Evaluates expressions as `cubed eval` does, and draws the results over their coordinates: "
        "a map if a result has two dimensions, a series if it has one. Several series along one "
        "dimension share a diagram. A result with more elements than the plot has points is drawn "
        "as means of neighbouring elements.\nXarray and Matplotlib draw the plot, through the "
        "Python package: pip install '.[plot]' in a clone of Cubed installs all three. They must "
        "be installed for python3, or for the Python that the variable CUBED_PYTHON names.",
    .examples = "  cubed plot 'mean(t2m, dim=\"time\")' era5.zarr --out map.png\n"
                "  cubed plot 'low = min(t2m, (\"lat\", \"lon\")); "
                "high = max(t2m, (\"lat\", \"lon\"))' era5.zarr --out r.svg\n",
    .own = own_of_plot,
    .common = true};
