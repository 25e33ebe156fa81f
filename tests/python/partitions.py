"""Runs that are cut off from their store or their workers: by a proxy that delays bytes, by a
separate network, by clocks.
"""

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

#: A user who is not root may make namespaces within one of users.
OWN_USERS = ("unshare", "--user", "--map-root-user")
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


def allowed(*command):
    """Whether a command is installed, and this system allows the namespaces that it makes."""
    return (
        bool(shutil.which(command[0]))
        and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    )


class Stopped:
    """The processes of a run are stopped, and go on."""

    def __init__(self, process):
        self.process = process

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def begin(self):
        self.signal(signal.SIGSTOP)

    def end(self):
        self.signal(signal.SIGCONT)


class Proxy:
    """A TCP proxy on the loopback, which holds all bytes back while a partition lasts.

    What ends a partition says what becomes of the bytes that are held. They go "through". A
    "reset" loses them, and closes the connections. "late" closes the client's ends only: the bytes
    reach the server, and the client, which does not know it, sends its requests again.
    """

    def __init__(self, port, how):
        self.to, self.how = port, how
        self.through = threading.Event()
        self.through.set()
        self.lock = threading.Lock()
        self.resets = 0
        self.clients, self.servers = set(), set()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listening.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.to))
                for s in (client, server):
                    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self.lock:
                    self.clients.add(client)
                    self.servers.add(server)
                    resets = self.resets
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self.pump, args=(*ends, resets), daemon=True).start()

    def pump(self, source, to, resets):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self.through.wait()
                if resets != self.resets:
                    return
                to.sendall(data)
            self.through.wait()
            to.shutdown(socket.SHUT_WR)

    def __repr__(self):
        return f"a proxy: {self.how}"

    def begin(self):
        self.through.clear()

    def end(self):
        if not self.through.is_set() and self.how != "through":
            self.close_all(self.clients)
            if self.how == "reset":
                self.resets += 1
                self.close_all(self.servers)
        self.through.set()

    def close_all(self, sockets):
        """Ends connections by RST, as a zero time to linger says."""
        with self.lock:
            for s in sockets:
                with contextlib.suppress(OSError):
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    s.shutdown(socket.SHUT_RD)  # wakes the thread that reads
                s.close()
            sockets.clear()

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self.through.set()
        self.close_all(self.clients)
        self.close_all(self.servers)


class Network:
    """Two network namespaces, of a server and of a run, and a cable between them."""

    ADDRESS, FAR_ADDRESS = "10.77.0.1", "10.77.0.2"

    def __init__(self):
        wait = ("sh", "-c", "echo; exec sleep 1000")
        self.near = self.hold(*OWN_USERS, "--net", *wait)
        self.far = None
        try:
            self.far = self.hold(*self.within(self.near), "unshare", "--net", *wait)
            self.ip(f"link add near type veth peer name far netns {self.far.pid}")
            for where, name, address in (
                (self.near, "near", self.ADDRESS), (self.far, "far", self.FAR_ADDRESS),
            ):  # fmt: skip
                self.ip("link set lo up", where)
                self.ip(f"addr add {address}/24 dev {name}", where)
                self.ip(f"link set {name} up", where)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def hold(*command):
        """A process that keeps a namespace, once it is there."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        process.stdout.readline()
        return process

    @staticmethod
    def within(process):
        return ("nsenter", f"--target={process.pid}", "--user", "--net", "--preserve-credentials")

    def ip(self, arguments, where=None):
        command = [*self.within(where or self.near), "ip", *arguments.split()]
        subprocess.run(command, check=True, capture_output=True)

    def wait_for(self, port, process):
        """Looks for the port, in base 16, among those that the namespace listens on."""
        until = time.monotonic() + 30
        tables = [Path(f"/proc/{self.near.pid}/net/{name}") for name in ("tcp", "tcp6")]
        while not any(f":{port:04X} " in table.read_text() for table in tables):
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.02)

    def __repr__(self):
        return "a network"

    def begin(self):
        self.ip("link set near down")

    def end(self):
        self.ip("link set near up")

    def close(self):
        for process in filter(None, (self.far, self.near)):
            process.kill()
            process.wait()
            process.stdout.close()


class Clock:
    """A clock that differs from the machine's by some seconds, for the processes of a run."""

    def __init__(self, file, seconds):
        self.file = file
        self.set(seconds)

    def set(self, seconds):
        new = self.file.with_suffix(".new")
        new.write_text(f"{seconds:+d}")
        new.replace(self.file)

    def command(self, *command):
        """Monotonic clocks and times of files are not moved. The library's shared memory stays in
        a directory of the namespace: it would remain after a process that is killed. The files of
        the test, which may be below that directory, are mounted again."""
        script = """
            exec 9<"$0" && mount -t tmpfs tmpfs /dev/shm || exit
            [ -d "$0" ] ||
                { mkdir -p "$0" && mount --no-canonicalize --bind /proc/self/fd/9 "$0"; } || exit
            exec "$@" 9<&-
        """
        variables = (
            f"LD_PRELOAD={FAKETIME}", f"FAKETIME_TIMESTAMP_FILE={self.file}",
            "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1",
            "NO_FAKE_STAT=1",
        )  # fmt: skip
        own = (*OWN_USERS, "--mount", "sh", "-c", script, str(self.file.parent))
        return [*own, "env", *variables, *command]
