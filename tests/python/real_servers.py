"""Servers of others, each on a free port of this machine: object stores, and Apache Beam's.

versitygw, fake-gcs-server, azurite and prism are found on the PATH, where Go and npm put them, or
in build/servers (``tools/servers`` installs them there, and Beam's job server for Spark), moto in
the environment. Each is ended by its process.
"""

import base64
import contextlib
import email.utils
import hmac
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from conftest import forget_credentials

OWN = Path(__file__).resolve().parents[2] / "build/servers"
KEY, SECRET, REGION = "AKIDTEST", "secret/of+the=test", "eu-north-1"


def program(name, folder):
    places = [None, Path.home() / folder, OWN / folder.removeprefix("go/")]
    found = next(filter(None, (shutil.which(name, path=p) for p in places)), None)
    if not found:
        pytest.skip(f"{name} is neither on the PATH nor in ~/{folder}: tools/servers installs it")
    return found


def s3_variables(port):
    return {
        "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }  # fmt: skip


def moto(port, place):
    pytest.importorskip("moto", reason="the package moto[server] is not installed")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    return command, s3_variables(port)


def moto_bucket(port):
    import boto3

    client = boto3.client(
        "s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id=KEY,
        aws_secret_access_key=SECRET, region_name=REGION,
    )  # fmt: skip
    place = {"LocationConstraint": REGION}
    client.create_bucket(Bucket="bucket", CreateBucketConfiguration=place)


def versitygw(port, place):
    found = program("versitygw", "go/bin")
    for part in ("data/bucket", "meta"):
        (place / part).mkdir(parents=True)
    who = ["--access", KEY, "--secret", SECRET, "--region", REGION]
    where = ["posix", "--sidecar", str(place / "meta"), str(place / "data")]
    return [found, "--port", f"127.0.0.1:{port}", *who, *where], s3_variables(port)


def google(port, place):
    found = program("fake-gcs-server", "go/bin")
    args = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    return [found, *args], {"STORAGE_EMULATOR_HOST": f"127.0.0.1:{port}"}


def google_bucket(port):
    url = f"http://127.0.0.1:{port}/storage/v1/b"
    json_type = {"content-type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(url, b'{"name": "bucket"}', json_type)).close()


def azure(port, place):
    found = program("azurite-blob", "node_modules/.bin")
    args = ["--inMemoryPersistence", "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    account, key = "account1", base64.b64encode(b"0" * 64).decode()
    line = f"AccountName={account};AccountKey={key}"
    variables = {
        "AZURITE_ACCOUNTS": f"{account}:{key}",
        "AZURE_STORAGE_CONNECTION_STRING": f"BlobEndpoint=http://127.0.0.1:{port}/{account};{line}",
    }
    return [found, *args, "--silent", "--skipApiVersionCheck"], variables


def azure_bucket(port):
    date = email.utils.formatdate(usegmt=True)
    text = "PUT" + "\n" * 5 + "none/none" + "\n" * 7
    text += f"x-ms-date:{date}\nx-ms-version:2021-12-02\n/account1/account1/bucket\n"
    sign = hmac.digest(b"0" * 64, (text + "restype:container").encode(), "sha256")
    headers = {
        "x-ms-date": date, "x-ms-version": "2021-12-02", "content-type": "none/none",
        "authorization": f"SharedKey account1:{base64.b64encode(sign).decode()}",
    }  # fmt: skip
    url = f"http://127.0.0.1:{port}/account1/bucket?restype=container"
    urllib.request.urlopen(urllib.request.Request(url, b"", headers, method="PUT")).close()


#: The scheme; what gives the command and the variables that say where it is; what makes a bucket.
SERVERS = {
    "moto": ("s3", moto, moto_bucket),
    "versitygw": ("s3", versitygw, None),
    "fake-gcs-server": ("gs", google, google_bucket),
    "azurite": ("az", azure, azure_bucket),
}


def wait_for(port, process):
    for _ in range(1800):  # moto needs a minute to start on a busy machine
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None
        time.sleep(0.1)
    raise AssertionError("the server does not answer")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(name, place, monkeypatch, log=subprocess.DEVNULL):
    """The URL of an empty bucket of a server that this process and those it starts know. `log` gets
    the server's output, in which moto and versitygw have a line for each request."""
    scheme, make, make_bucket = SERVERS[name]
    port = free_port()
    command, variables = make(port, place)
    forget_credentials(monkeypatch)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(port, process)
        if make_bucket:
            make_bucket(port)
        yield f"{scheme}://bucket"
    finally:
        process.terminate()
        process.wait()


def prism(port, place):
    return [program("prism", "go/bin"), f"-job_port={port}", "-serve_http=false"], {}


#: What Spark reaches into, which Java 17 closes.
OPENED = ("java.lang", "java.lang.invoke", "java.nio", "java.util", "sun.nio.ch")


def beam_on_spark(port, place):
    """Beam's server for Apache Spark, and Spark of this machine in it. It would listen on all
    addresses of the machine."""
    java, jars = shutil.which("java"), OWN / "beam-spark"
    if not java or not next(jars.glob("beam-runners-spark-*.jar"), None):
        pytest.skip("no Java, or no job server in build/servers: tools/servers --engines")
    source, library = Path(__file__).with_name("on_loopback.c"), place / "on_loopback.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    opens = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED]
    main = "org.apache.beam.runners.spark.SparkJobServerDriver"
    ports = [f"--job-port={port}", "--artifact-port=0", "--expansion-port=0"]
    options = ["--job-host=127.0.0.1", *ports, f"--artifacts-dir={place / 'artifacts'}"]
    command = [java, "-Xmx800m", *opens, "-cp", f"{jars}/*", main, *options]
    variables = {"LD_PRELOAD": str(library), "SPARK_LOCAL_IP": "127.0.0.1"}
    return [*command, "--spark-master-url=local[2]"], variables


#: Job servers of Apache Beam.
JOB_SERVERS = {"prism": prism, "spark": beam_on_spark}


@contextlib.contextmanager
def job_server(name, place):
    """HOST:PORT of one that runs pipelines."""
    port = free_port()
    command, variables = JOB_SERVERS[name](port, place)
    with (place / f"{name}.log").open("w") as log:
        env = {**os.environ, **variables}
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        wait_for(port, server)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
