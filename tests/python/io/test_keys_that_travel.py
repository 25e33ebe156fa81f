"""Keys that are given as values are reported where they would be stored; keys that are given by
reference are stored nowhere.
"""

import copy
import pickle
import warnings

import cubed
import numpy as np
import pytest
from cubed.base import _remote
from cubed.runtime import worker

CANARY = "canary-9f3b7d21"
#: What is not a secret is not warned of.
BY_REFERENCE = {"profile": "mine", "region": "eu-north-1", "anon": False}


def spec(tmp_path, **more):
    return cubed.Spec(tmp_path, allowed_mem="100MB", **more)


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({"storage_options": {"key": "K", "secret": CANARY}}, "'key', 'secret'"),
        ({"storage_options": {"client_kwargs": {"aws_session_token": CANARY}}}, "'aws_session_tok"),
        (
            {
                "executor_name": "lambda",
                "executor_options": {"function": "f", "storage_options": {"secret": CANARY}},
            },
            "'secret'",
        ),
    ],
)
def test_pickles_warn_of_keys(tmp_path, more, names):
    given = spec(tmp_path, **more)
    array = cubed.from_array(np.arange(4), chunks=2, spec=given)
    for value in (given, array, [array]):
        with pytest.warns(RuntimeWarning, match=f"options {names}.* are in its pickle") as caught:
            pickle.dumps(value)
        assert not any(CANARY in str(w.message) for w in caught)
        assert caught[0].filename == __file__
    assert CANARY not in repr(given)


def test_references_travel_without_a_warning(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", CANARY)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", CANARY)
    given = spec(tmp_path, storage_options=BY_REFERENCE)
    array = cubed.from_array(np.arange(4), chunks=2, spec=given) + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stored = [pickle.dumps(given), pickle.dumps(array), pickle.dumps(copy.copy(given))]
        stored.append(array.plan().save())
    stored += [worker.message(bytes(120), "s3://bucket/work", "key")]
    assert not any(CANARY.encode() in data for data in stored)


def test_names_of_secrets():
    names = _remote.secret_names(
        {
            "key": "K",
            "secret": "",
            "a": {"password": "p", "user": "u"},
            "region": "r",
            "token": None,
        }
    )
    assert names == ["'key'", "'password'"]
    assert _remote.secret_names(None) == []
