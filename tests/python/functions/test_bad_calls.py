"""Wrong calls of the functions of the catalogue.

Functions are called without a required argument, with one too many, an unknown one, one that is
given twice, one of another kind, an axis that the array does not have, and a choice that there is
not. Python raises what NumPy raises; messages of expressions name the argument.
"""

import contextlib
import inspect
import re
import sys
from typing import NamedTuple

import cubed
import numpy as np
import pytest
from conftest import ROOT, run

sys.path.insert(0, str(ROOT / "docs"))
import catalogue

SQUARE = [[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]]
NUMBERS = {"BOOL", "INT", "FLOAT", "COMPLEX"}


class Call(NamedTuple):
    """A wrong call of a function: values by position and by name, and the error of Python."""

    function: catalogue.read
    fault: str
    args: tuple
    named: dict
    error: type[Exception]
    argument: str | None  #: the name that messages of expressions have

    def __str__(self):
        return f"{self.function.name}: {self.fault}"


def good(p):
    """A value that the parameter takes, in the place of a required one."""
    if "ARRAY" in p.accepts:
        return "array"
    if "ARRAYS" in p.accepts:
        return ["array", "array"]
    if p.choices:
        return p.choices[0]
    if "INT" in p.accepts:
        return 1
    if "INTS" in p.accepts:
        return (1,)
    return None


def shown(f):
    return [p for p in f.params if "ENGINE" not in p.flags]


def calls(f):
    params = shown(f)
    required = [p for p in params if p.default is None]
    values = tuple(good(p) for p in required)
    if any(v is None for v in values) or any("VARIADIC" in p.flags for p in params):
        return
    if required:
        yield Call(f, "missing", (), {}, TypeError, required[0].name)
    yield Call(f, "unknown", values, {"no_such_name": 1}, TypeError, "no_such_name")
    by_place = [p for p in params if "KEYWORD_ONLY" not in p.flags]
    # The package has more parameters of these by position.
    if len(by_place) == len(params) and f.name not in ("corrcoef", "rechunk"):
        more = (*values, *(None for _ in params), None)
        yield Call(f, "one too many", more, {}, TypeError, None)
    if required and "POSITION_ONLY" not in required[0].flags:
        yield Call(f, "twice", values, {required[0].name: values[0]}, TypeError, required[0].name)
    for p in params:
        if p.default is None or "POSITION_ONLY" in p.flags:
            continue
        if "AXIS" in p.flags:
            yield Call(
                f, f"{p.name} out of range", values, {p.name: 7}, np.exceptions.AxisError, None
            )
            yield Call(f, f"{p.name} of a fraction", values, {p.name: 1.5}, TypeError, p.name)
        elif p.choices and not p.accepts & NUMBERS:
            yield Call(f, f"{p.name} unknown", values, {p.name: "no such"}, ValueError, p.name)
        elif p.name == "chunks":
            yield Call(f, "chunks unknown", values, {p.name: "text"}, ValueError, p.name)
        elif p.accepts & NUMBERS and "ARRAY" not in p.accepts and not p.choices:
            yield Call(f, f"{p.name} no number", values, {p.name: "text"}, TypeError, p.name)


CALLS = [call for f in catalogue.FUNCTIONS for call in calls(f)]
#: Functions of Python with parameters of their own.
PYTHON = [
    call
    for call in CALLS
    if call.function.name not in catalogue.METHODS and catalogue.in_python(call.function)
]


def in_numpy(f):
    for place in (np.fft, np.linalg, np):
        if callable(function := getattr(place, f.name, None)):
            return function
    return None


def filled(value, array):
    if value == "array":
        return array
    return [filled(v, array) for v in value] if isinstance(value, list) else value


def raised(function, call, array):
    """The type of the error of a call; None if there is none."""
    args = [filled(v, array) for v in call.args]
    named = {k: filled(v, array) for k, v in call.named.items()}
    try:
        function(*args, **named)
    except Exception as error:
        return type(error)
    return None


def test_the_table_is_long():
    assert len(CALLS) >= 300


#: Errors of other types than NumPy's, with the reason.
OTHERWISE = {
    "cov: ddof no number": "NumPy makes an integer of the string",
    "cov: axis out of range": "NumPy has no axes of observations",
    "corrcoef: axis out of range": "as cov",
    "cumulative_sum: include_initial no number": "NumPy looks at the axis first",
    "cumulative_prod: include_initial no number": "NumPy looks at the axis first",
    "fft2: s no number": "NumPy counts the characters of the string first",
    "ifft2: s no number": "as fft2",
    "irfft2: s no number": "as fft2",
    "rfft2: s no number": "as fft2",
    "tensordot: axes no number": "NumPy counts the characters of the string",
    "tensorsolve: axes out of range": "NumPy takes lists alone",
    "geomspace: num no number": "NumPy looks for zeros first",
    "geomspace: endpoint no number": "as num",
    "geomspace: axis no number": "as num",
    "gradient: edge_order no number": "only 1 and 2 are orders",
    "packbits: axis out of range": "floats are refused first",
    "unpackbits: axis out of range": "as packbits",
    "repeat: axis out of range": "numbers of repeats that are floats are refused first",
    "vander: N no number": "NumPy looks at the dimensions of the array first",
    "vander: increasing no number": "as N",
    "pad: unknown": "NumPy calls a name that the mode does not take a wrong value",
    "pad: constant_values no number": "NumPy calls a string a wrong value",
    "pad: end_values no number": "the mode does not take it, which NumPy calls a wrong value",
    "pad: stat_length no number": "as end_values",
    "reshape: copy no number": "NumPy calls a string a wrong value",
    "rot90: axes out of range": "an axis is no pair of axes",
    "transpose: axes out of range": "an axis is no permutation",
    "vector_norm: ord no number": "NumPy has names of norms of matrices here",
    "power_divergence: lambda_ no number": "it has names of statistics, as SciPy's",
}


@pytest.mark.parametrize("call", PYTHON, ids=str)
def test_errors_of_python(call):
    _, function = catalogue.in_python(call.function)
    ours = raised(function, call, cubed.asarray(SQUARE, chunks=2))
    assert ours, "no error"
    if str(call) in OTHERWISE:
        assert issubclass(ours, (TypeError, ValueError))
        return
    assert issubclass(ours, call.error), ours
    in_place = in_numpy(call.function)
    if {"chunks", "device"} & call.named.keys():
        return  # arguments that not all functions of NumPy have
    # NumPy takes anything for a bool.
    if theirs := in_place and raised(in_place, call, np.array(SQUARE)):
        assert issubclass(ours, theirs) or issubclass(theirs, ours), (ours, theirs)


def spelled(value):
    if value == "array":
        return str(SQUARE)
    if isinstance(value, list):
        return f"({', '.join('ones((3, 3))' for _ in value)})"
    return repr(value)


#: Expressions give groupby other arguments: labels, of which they make the numbers of groups.
IN_EXPRESSIONS = [call for call in CALLS if call.function.name != "groupby"]


@pytest.mark.parametrize("call", IN_EXPRESSIONS, ids=str)
def test_errors_of_expressions(call):
    parts = [spelled(v) for v in call.args]
    parts += [f"{name}={spelled(v)}" for name, v in call.named.items()]
    names = ", ".join(call.function.results)
    text = f"{call.function.name}({', '.join(parts)})"
    done = run("eval", f"{names} = {text}" if names else text, "--plan")
    assert done.code == 1
    # What is no value of any kind is refused at its place, before the function is looked at.
    first = done.err.split("\n")[0]
    assert not call.argument or call.argument in first or "expected a whole number" in first
    if call.fault == "axis out of range":
        assert f" {call.function.name}: " in first


def test_errors_name_the_function_that_was_called():
    """Not one that it is made of, such as argmax, cumulative_sum, quantile and max."""
    x = cubed.asarray(SQUARE, chunks=2)
    for name in ("nanargmax", "cumsum", "nancumprod", "nanmedian", "ptp", "count_nonzero"):
        with pytest.raises(np.exceptions.AxisError, match=f"^{name}: axis 7 is out of range"):
            getattr(cubed, name)(x, axis=7)
    with pytest.raises(TypeError, match="^cumsum is not defined for datetime64"):
        cubed.cumsum(cubed.asarray(np.array(["2001"], "M8[s]")))
    with pytest.raises(ValueError, match="^argwhere: x has no axes"):
        cubed.argwhere(cubed.asarray(1))


AXIS = re.compile(r"axis\d?|axis[abc]|axes|source|destination")
#: Names of masked functions, and the names of the methods that they stand for.
ALIASES = {"amax": "max", "amin": "min", "anomalies": "anom", "product": "prod"}
SAMPLES = (np.array(SQUARE), np.array(SQUARE, int), np.array(SQUARE) > 1, np.array([0, 1, 1]))


def functions_with_axes():
    """The functions of the package that have a parameter for an axis, each once."""
    found = {}
    for name, place in {**catalogue.PLACES, "cubed.ma": cubed.ma}.items():
        for n in getattr(place, "__all__", dir(place)):
            f = getattr(place, n)
            if n.startswith("_") or not inspect.isfunction(f) or f in found:
                continue
            if any(AXIS.fullmatch(p) for p in inspect.signature(f).parameters):
                found[f] = f"{name}.{n}"
    return found


def working_call(function, required):
    """Values of the required parameters that the function takes; None if there are none."""
    for sample in SAMPLES:
        x = cubed.asarray(sample, chunks=2)
        for second in (x, 1, [0, 1]):
            values = [
                0 if AXIS.fullmatch(p) else second if k else x for k, p in enumerate(required)
            ]
            for given in (values, [[x, x], *values[1:]]):
                with contextlib.suppress(Exception):
                    function(*given)
                    return given
    return None


@pytest.mark.filterwarnings("ignore")
def test_errors_of_axes_name_the_function_that_was_called():
    """Also functions that are made of others in Python, such as diagonal and push."""
    tried, wrong = 0, []
    for function, name in functions_with_axes().items():
        parameters = inspect.signature(function).parameters.values()
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        required = [p.name for p in parameters if p.default is p.empty and p.kind not in kinds]
        values = working_call(function, required)
        for p in parameters:
            if values is None or not AXIS.fullmatch(p.name):
                continue
            args, named = list(values), {}
            if p.name in required:
                args[required.index(p.name)] = 7
            elif p.kind is not p.POSITIONAL_ONLY:
                named = {p.name: 7}
            try:
                function(*args, **named)
            except np.exceptions.AxisError as error:
                tried += 1
                called = ALIASES.get(function.__name__, function.__name__)
                if not re.match(rf"{called}\b", str(error)):
                    wrong.append(f"{name}({p.name}=7): {error}")
            except (TypeError, ValueError):
                pass
    assert not wrong, "\n".join(wrong)
    assert tried >= 150


def test_integers_beyond_the_type_are_no_ends_of_differences():
    x = np.array([1, 2, 4], "u1")
    for function, array in ((np.ediff1d, x), (cubed.ediff1d, cubed.asarray(x))):
        with pytest.raises(TypeError):
            function(array, to_begin=300)
