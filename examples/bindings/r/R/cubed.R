# Functions of the catalogue become R functions when the package is loaded: cubed$mean(x, axis = 1).
# The first axis is 1, and the last one is -1. Nothing is computed before as.array, as.vector or write_zarr.

cubed <- new.env()
catalogue <- new.env()
settings <- list2env(list(now = list(allowed_mem = 0, max_workers = 0, work_dir = "")))

# Numbers of enum cubed_value_kind and of bits of cubed_param.flags.
KINDS <- c(none = 0L, array = 1L, arrays = 2L, bool = 3L, int = 4L, float = 5L, complex = 6L, ints = 7L, floats = 9L,
           string = 10L)
FLAGS <- c(position_only = 2L, variadic = 8L, axis = 16L, engine = 32L)

has <- function(param, flag) bitwAnd(param$flags, FLAGS[[flag]]) != 0L
accepts <- function(param, kind) bitwAnd(param$accepts, bitwShiftL(1L, KINDS[[kind]])) != 0L

.onLoad <- function(libname, pkgname) {
  .Call(C_start, topenv())
  for (f in .Call(C_functions)) {
    params <- lapply(f[[2]], function(p) list(name = p[[1]][1], notes = p[[1]][2], expected = p[[1]][3], flags = p[[2]],
                                              accepts = p[[3]], default = p[[4]]))
    catalogue[[f[[1]][1]]] <- list(name = f[[1]][1], category = f[[1]][2], summary = f[[1]][3], returns = f[[1]][4],
                                   params = params)
    cubed[[f[[1]][1]]] <- make_function(f[[1]][1], params)
  }
}

make_function <- function(name, params) {
  shown <- Filter(function(p) !has(p, "engine"), params)
  defaults <- lapply(shown, function(p) {
    if (has(p, "axis") && is.numeric(p$default) && p$default >= 0) p$default + 1 else p$default
  })
  names(defaults) <- vapply(shown, function(p) if (has(p, "variadic")) "..." else p$name, "")
  if ("..." %in% names(defaults)) defaults["..."] <- list(quote(expr = ))
  body <- bquote({
    frame <- parent.frame()
    invoke(.(name), lapply(as.list(match.call(expand.dots = TRUE))[-1L], eval, frame))
  })
  as.function(c(defaults, body), envir = topenv())
}

stop_cubed <- function(status, message, argument) {
  stop(errorCondition(message, status = status, argument = argument, class = "cubed_error"))
}

# Returns the kind and the value of an argument, as its parameter accepts them. The library checks both.
value_of <- function(x, param) {
  whole <- is.numeric(x) && all(x == floor(x) & abs(x) <= 2^53)
  from_zero <- function(i) if (has(param, "axis")) i - (i > 0) else i
  takes_numbers <- accepts(param, "int") || accepts(param, "float") || accepts(param, "bool")
  if (is.null(x)) return(list("none", x))
  if (is.character(x) && length(x) == 1) return(list("string", x))
  if (is.list(x)) return(list("arrays", lapply(x, as_cubed)))
  if (inherits(x, "cubed_array") || !is.null(dim(x)) || (accepts(param, "array") && !(length(x) == 1 && takes_numbers)))
    return(list("array", as_cubed(x)))
  if (length(x) != 1) return(if (accepts(param, "ints") && whole) list("ints", from_zero(as.double(x)))
                             else list("floats", as.double(x)))
  if (has(param, "axis") && x == 0) stop(param$name, ": axes count from 1, and from the last one as -1")
  if (is.logical(x)) return(list("bool", x))
  if (is.complex(x)) return(list("complex", x))
  if (whole && (is.integer(x) || !accepts(param, "float"))) list("int", from_zero(as.double(x))) else list("float", x)
}

# Calls a function of the catalogue with R values.
invoke <- function(name, args) {
  params <- catalogue[[name]]$params
  names <- if (is.null(names(args))) rep("", length(args)) else names(args)
  known <- vapply(params, `[[`, "", "name")
  variadic <- which(vapply(params, function(p) has(p, "variadic"), NA))
  places <- if (length(variadic)) pmin(seq_along(args), variadic) else seq_along(args)
  at <- ifelse(names == "", places, match(names, known))
  other <- list(name = "", flags = 0L, accepts = 0L)
  values <- Map(function(x, i) value_of(x, if (is.na(i) || i > length(params)) other else params[[i]]), args, at)
  by_place <- vapply(at, function(i) !is.na(i) && i <= length(params) && has(params[[i]], "position_only"), NA)
  if (length(params) && has(params[[length(params)]], "engine")) {
    values <- c(values, list(list("int", settings$now$allowed_mem)))
    names <- c(names, known[length(known)])
    by_place <- c(by_place, FALSE)
  }
  kinds <- KINDS[vapply(values, `[[`, "", 1)]
  named <- ifelse(by_place, "", names)
  results <- tryCatch(.Call(C_call, name, lapply(values, `[[`, 2), kinds, named), cubed_error = function(e) {
    stop(replace(e, "argument", c("", names)[e$argument + 1]))
  })
  if (length(results) == 1 && is.null(names(results))) results[[1]] else results
}

cubed_help <- function(name) {
  f <- catalogue[[name]]
  if (is.null(f)) stop("cubed has no function '", name, "'; ls(cubed) lists them")
  shown <- Filter(function(p) !has(p, "engine"), f$params)
  lines <- vapply(shown, function(p) paste0("  ", p$name, ": ", p$notes, " Expects ", p$expected, "."), "")
  writeLines(c(paste0(f$name, ": ", f$summary), lines, paste0("Returns: ", f$returns)))
}

# Sets allowed_mem (bytes of each worker), max_workers and work_dir; 0 and "" are the defaults.
cubed_options <- function(...) {
  now <- modifyList(settings$now, list(...))
  if (length(now) != 3) stop("expected allowed_mem, max_workers and work_dir")
  invisible(settings$now <- now)
}

as_cubed <- function(x) {
  if (inherits(x, "cubed_array")) return(x)
  if (!is.numeric(x) && !is.logical(x) && !is.complex(x)) stop("expected numbers or logical values, got ", class(x)[1])
  if (!is.double(x) && !is.complex(x) && anyNA(x)) stop("NA is no ", typeof(x), " value here: use as.double() first")
  shape <- if (!is.null(dim(x))) dim(x) else if (length(x) == 1) double() else length(x)
  .Call(C_make, if (is.logical(x)) as.raw(x) else c(unclass(x)), as.double(shape))
}

open_zarr <- function(url) .Call(C_open_array, url)

PLAN <- c("tasks", "projected_mem", "allowed_mem", "bytes_read", "measured_mem", "seconds")
write_zarr <- function(x, url, overwrite = FALSE) {
  invisible(setNames(.Call(C_run, as_cubed(x), url, overwrite, settings$now), PLAN))
}
plan_info <- function(x) setNames(.Call(C_run, x, NULL, FALSE, settings$now), PLAN)[1:4]

dtype <- function(x) .Call(C_info, x)[[1]]
chunks <- function(x) .Call(C_info, x)[[3]]
dim.cubed_array <- function(x) .Call(C_info, x)[[2]]
length.cubed_array <- function(x) prod(dim(x))
print.cubed_array <- function(x, ...) {
  cat("<cubed array> ", dtype(x), " [", toString(dim(x)), "], chunks [", toString(chunks(x)), "]\n", sep = "")
  invisible(x)
}

# R has logical, 32-bit integer, double and complex values. The transpose in C order is R's column-major order.
as.array.cubed_array <- function(x, ...) {
  as <- switch(dtype(x), int8 = , int16 = , int32 = , uint8 = , uint16 = c("int32", "integer"),
               bool = c("int32", "logical"), complex64 = , complex128 = c("complex128", "complex"), c("float64", "double"))
  turned <- if (length(dim(x)) > 1) invoke("permute_dims", list(x, rev(seq_along(dim(x))))) else x
  values <- .Call(C_compute, turned, as[1], vector(as[2], length(x)), settings$now)
  if (as[1] == "int32" && anyNA(values)) warning("NA stands for the int32 value -2147483648")
  if (grepl("int64", dtype(x)) && any(abs(values) > 2^53)) warning("integers above 2^53 were rounded to doubles")
  if (length(dim(x)) > 1) array(values, dim(x)) else values
}
as.vector.cubed_array <- function(x, mode = "any") as.vector(as.array(x), mode)

# A subscript of an axis may be missing, or be evenly spaced as in seq_len(extent)[subscript]. Use cubed$take for others.
`[.cubed_array` <- function(x, ..., drop = TRUE) {
  n <- dim(x)
  given <- as.list(substitute(list(...)))[-1L]
  frame <- parent.frame()
  if (length(given) != length(n)) stop("expected ", length(n), " subscripts, got ", length(given))
  is_missing <- vapply(given, identical, NA, quote(expr = ))
  parts <- vapply(seq_along(n), function(axis) {
    if (is_missing[axis]) return(c(1, n[axis], 1))
    i <- seq_len(n[axis])[eval(given[[axis]], frame)]
    if (anyNA(i)) stop("subscript of axis ", axis, " is out of bounds: it has ", n[axis], " elements")
    if (length(unique(diff(i))) > 1) stop("subscripts of axis ", axis, " are not evenly spaced: use cubed$take")
    c(c(i, 1)[1], length(i), c(diff(i), 1)[1])
  }, numeric(3))
  .Call(C_slice, x, parts[1, ] - 1, parts[2, ], parts[3, ], drop & parts[2, ] == 1 & !is_missing)
}

OPERATORS <- c("+" = "add", "-" = "subtract", "*" = "multiply", "/" = "divide", "^" = "pow", "%%" = "remainder",
               "%/%" = "floor_divide", "==" = "equal", "!=" = "not_equal", "<" = "less", "<=" = "less_equal",
               ">" = "greater", ">=" = "greater_equal", "&" = "logical_and", "|" = "logical_or")
Ops.cubed_array <- function(e1, e2) {
  if (!missing(e2)) return(invoke(OPERATORS[[.Generic]], list(e1, e2)))
  invoke(c("-" = "negative", "+" = "positive", "!" = "logical_not")[[.Generic]], list(e1))
}
Math.cubed_array <- function(x, ...) {
  name <- if (.Generic == "ceiling") "ceil" else .Generic
  if (is.null(catalogue[[name]])) stop("arrays of cubed have no ", .Generic, "; ls(cubed) lists functions")
  invoke(name, list(x, ...))
}
Summary.cubed_array <- function(x, ..., na.rm = FALSE) {
  invoke(paste0(if (na.rm && !.Generic %in% c("all", "any")) "nan", .Generic), list(x))
}
mean.cubed_array <- function(x, ...) cubed$mean(x, ...)
t.cubed_array <- function(x) invoke("matrix_transpose", list(x))
