"""Recipes of functions and services in packaging/: their references, and their arguments."""

import json
import pathlib
import re

import pytest
from cubed.runtime import http_worker, lambda_worker

yaml = pytest.importorskip("yaml", reason="reads the recipes")
FOLDER = pathlib.Path(__file__).resolve().parents[3] / "packaging"


class Loader(yaml.SafeLoader):
    """CloudFormation's functions become (name, argument)."""


def _function(loader, name, node):
    if isinstance(node, yaml.ScalarNode):
        return name, loader.construct_scalar(node)
    return name, loader.construct_sequence(node, deep=True)


Loader.add_multi_constructor("!", _function)


def calls(value):
    """All calls of functions in a document, also those in calls."""
    if isinstance(value, tuple):
        yield value
        yield from calls(value[1])
    elif isinstance(value, dict):
        for item in value.values():
            yield from calls(item)
    elif isinstance(value, list):
        for item in value:
            yield from calls(item)


@pytest.fixture(scope="module")
def template():
    return yaml.load((FOLDER / "lambda/template.yaml").read_text(), Loader)


def test_references_of_the_template(template):
    """Each name is defined, and each definition is used."""
    known = set(template["Parameters"]) | set(template["Resources"])
    used, conditions = set(), set()
    for name, argument in calls(template):
        if name == "Ref":
            used.add(argument)
        elif name == "GetAtt":
            used.add(argument.partition(".")[0])
        elif name == "Sub":
            used |= {n.partition(".")[0] for n in re.findall(r"\$\{([\w:.]+)\}", argument)}
        elif name == "If":
            conditions.add(argument[0])
        else:
            assert name in ("Not", "Equals", "Join"), name
    used = {n for n in used if not n.startswith("AWS::")}
    assert used <= known
    assert set(template["Parameters"]) <= used
    assert conditions == set(template["Conditions"])


def test_rights_of_the_template(template):
    """What uploads in parts, encrypted buckets and inputs need, and nothing with a wildcard."""
    statements = [
        s[1][1] if isinstance(s, tuple) else s
        for policy in template["Resources"]["Role"]["Properties"]["Policies"]
        for s in policy["PolicyDocument"]["Statement"]
    ]
    actions = [
        a
        for s in statements
        for a in ([s["Action"]] if isinstance(s["Action"], str) else s["Action"])
    ]
    uploads = {"s3:AbortMultipartUpload", "s3:ListBucketMultipartUploads"}
    assert uploads | {"kms:GenerateDataKey", "kms:Decrypt", "s3:GetObject"} <= set(actions)
    assert not [a for a in actions if "*" in a]
    worker = template["Resources"]["Worker"]["Properties"]
    assert worker["ReservedConcurrentExecutions"][0] == "If"
    assert template["Resources"]["Logs"]["Properties"]["RetentionInDays"] == ("Ref", "LogDays")


def arguments_of(path):
    document = (
        yaml.safe_load(path.read_text()) if path.suffix == ".yaml" else json.loads(path.read_text())
    )
    if path.name == "service.yaml":
        container = document["spec"]["template"]["spec"]["containers"][0]
        assert container["startupProbe"]["httpGet"]["path"] == "/health"
        assert document["spec"]["template"]["spec"]["containerConcurrency"] == 1
    elif path.name == "container-app.yaml":
        container = document["properties"]["template"]["containers"][0]
        assert container["env"] == [{"name": "PORT", "value": "8080"}]
        assert document["properties"]["configuration"]["ingress"]["targetPort"] == 8080
    else:
        handler = document["customHandler"]
        assert handler["enableForwardingHttpRequest"] is True
        assert handler["description"]["defaultExecutablePath"] == "cubed"
        given = handler["description"]["arguments"]
        assert given[:2] == ["worker", "--http=env"]
        return given[1:]
    return ["--http=env", *container["args"]]


@pytest.mark.parametrize(
    "name", ["cloud-run/service.yaml", "azure/container-app.yaml", "azure/function/host.json"]
)
def test_arguments_of_services(name, monkeypatch, capsys):
    """The worker takes them, until it looks for the issuer's keys."""
    asked = []

    def verifier(issuer, audience, jwks, subjects):
        asked.append((issuer, audience, jwks, subjects))
        raise ValueError("the test has no keys")

    monkeypatch.setattr(http_worker, "Verifier", verifier)
    monkeypatch.setenv("PORT", "8080")
    with pytest.raises(SystemExit):
        http_worker.main(arguments_of(FOLDER / name))
    assert "the test has no keys" in capsys.readouterr().err
    ((issuer, audience, jwks, subjects),) = asked
    assert issuer.startswith("https://")
    assert audience
    assert jwks is None
    assert len(subjects) == 1


@pytest.mark.parametrize("name", ["lambda/Containerfile", "cloud-run/Containerfile"])
def test_images(name):
    """Instructions are known, what is copied is what the page says, and the entry point exists."""
    text = re.sub(r"\\\n\s*", "", (FOLDER / name).read_text())
    lines = [line.split(None, 1) for line in text.splitlines() if line and line[0] != "#"]
    assert [word for word, _ in lines if word not in ("COPY", "RUN", "ENV", "USER", "WORKDIR")] == [
        "FROM",
        "ENTRYPOINT",
    ]
    assert [rest.split()[0] for word, rest in lines if word == "COPY"] == [
        "dist/",
        "requirements.txt",
    ]
    entry = json.loads(dict(lines)["ENTRYPOINT"])
    if name.startswith("lambda"):
        assert entry == ["python", "-m", lambda_worker.__name__]
    else:
        assert entry == ["cubed", "worker", "--http", "env"]
