"""A real Redis or Valkey, real tensords and followers on ports of their own, which may be killed and started
again. Without redis-server or tensord-follow the test is skipped."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

TENSORD = os.environ.get("TENSORD", "build/tensord")
# One or several, as of other builds; tests take them in turn.
FOLLOWERS = [
    path
    for path in os.environ.get("FOLLOWERS", os.path.join(os.path.dirname(TENSORD), "tensord-follow")).split()
    if os.path.exists(path)
]
REDIS = shutil.which("redis-server") or shutil.which("valkey-server")
PATIENCE = 60


def need_all():
    """Ends the program as skipped where something is not there."""
    missing = [] if REDIS else ["redis-server"]
    if not FOLLOWERS:
        missing.append("tensord-follow (built where libhiredis-dev is)")
    if missing:
        print("skipped:", ", ".join(missing), "is not there")
        sys.exit(77)


def free_port():
    """Below those that the system gives to clients, so that nobody takes it while its owner is down."""
    while True:
        port = random.randrange(12000, 32000)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def wait_until(what, text, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (value := what()):
        if time.monotonic() > end:
            raise AssertionError(f"{text}: not within {patience} s")
        time.sleep(0.01)
    return value


class Process:
    """A program on `port` of 127.0.0.1 that may die and come back."""

    def __init__(self, folder, name, port=None):
        self.folder, self.name, self.port = folder, name, port or free_port()
        self.log = os.path.join(folder, name + ".log")
        self.process = None

    def command(self):
        raise NotImplementedError

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        return self

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def stop(self):
        """SIGTERM; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=PATIENCE)

    def text(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False


class Client:
    """Redis' protocol on one connection, made anew when it broke. For one thread."""

    def __init__(self, port):
        self.port, self.socket, self.file = port, None, None

    def close(self):
        if self.socket:
            self.file.close()
            self.socket.close()
        self.socket = None

    def _reply(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis is gone")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            return "error"
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2]
        return [self._reply() for _ in range(int(rest))]

    def ask(self, *words):
        """Answers as bytes, numbers and lists; "error" for an error. OSError: it is gone."""
        try:
            if not self.socket:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=10)
                self.file = self.socket.makefile("rb")
            raw = [w if isinstance(w, bytes) else str(w).encode() for w in words]
            self.socket.sendall(
                b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in raw)
            )
            return self._reply()
        except (OSError, ValueError):
            self.close()
            raise ConnectionError("Redis is gone") from None


class Redis(Process):
    """Writes each entry to disk before it answers."""

    def __init__(self, folder, *settings, port=None):
        super().__init__(folder, "redis", port)
        self.settings = settings
        self.client = Client(self.port)
        self.ask = self.client.ask
        self.last_ms = 0

    def command(self):
        return [
            REDIS, "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.folder,
            "--appendonly", "yes", "--appendfsync", "always", "--save", "", *self.settings,
        ]  # fmt: skip

    def start(self):
        super().start()
        wait_until(self.is_ready, "Redis is ready")
        return self

    def is_ready(self):
        """By a connection of its own: the other one is another thread's. LOADING is an error too."""
        client = Client(self.port)
        try:
            return client.ask("PING") == b"PONG" or "--requirepass" in self.settings
        except OSError:
            return False
        finally:
            client.close()

    def next_id(self):
        """No two in one millisecond, so that the follower's metrics tell them apart."""
        self.last_ms = max(self.last_ms + 1, time.time_ns() // 1000000)
        return f"{self.last_ms}-0"

    def add(self, path, body=b"", method="POST", id=None, **fields):
        words = ["method", method, "path", path, "body", body]
        for name, value in fields.items():
            words += [name.replace("_", "-"), value]
        return self.ask("XADD", "updates", id or self.next_id(), *words)


class Server(Process):
    def __init__(self, folder, name, *settings):
        super().__init__(folder, name)
        self.settings = settings

    def command(self):
        listen = [] if any("--listen" in s for s in self.settings) else [f"--listen=127.0.0.1:{self.port}"]
        return [TENSORD, *listen, "--log_requests=false", *self.settings]

    def start(self):
        super().start()
        wait_until(lambda: self.answers() or self.process.poll() is not None, "the server listens")
        if self.process.poll() is not None:
            raise AssertionError(self.text())
        return self

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.read()

    def post(self, path):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def position(self, path):
        """Of the source `updates`, of a tensor or over all; (0, 0): none, or no such tensor."""
        wait_until(self.is_ready, "the server is ready")
        try:
            text = json.loads(self.get(path))["positions"].get("updates", "0-0")
        except urllib.error.HTTPError:
            text = "0-0"
        return tuple(int(n) for n in text.split("-"))

    def is_ready(self):
        try:
            return self.get("/v2/health/ready") is not None
        except OSError:
            return False

    def saved_positions(self):
        """Of the sources, as they are in the folder `tensor_dir`; none: there is no such file."""
        folder = next(s.split("=")[1] for s in self.settings if s.startswith("--tensor_dir="))
        try:
            with open(os.path.join(folder, ".tensord-positions")) as lines:
                return {source: position for position, source, _ in (line.split(" ") for line in lines)}
        except OSError:
            return {}

    def version(self, name):
        """0: there is none, or no server."""
        try:
            return json.loads(self.get(f"/v2/tensors/{name}"))["version"]
        except OSError:
            return 0

    def data(self, name):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v2/tensors/{name}/data",
            headers={"Accept": "application/octet-stream"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()


class Follower(Process):
    def __init__(self, folder, name, server, redis, *settings, program=None):
        super().__init__(folder, name)
        self.program = program or FOLLOWERS[0]
        self.arguments = [
            f"--server={server if isinstance(server, str) else f'http://127.0.0.1:{server.port}'}",
            f"--redis={redis if isinstance(redis, str) else f'redis://127.0.0.1:{redis.port}'}",
            f"--metrics_listen=127.0.0.1:{self.port}", "--least_pause=10ms", "--most_pause=200ms", *settings,
        ]  # fmt: skip

    def command(self):
        return [self.program, *self.arguments]

    def start(self):
        super().start()
        wait_until(lambda: self.answers() or self.process.poll() is not None, "the follower listens")
        return self

    def metrics(self):
        text = self.get("/metrics")[1]
        rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
        return {name.removeprefix("tensord_follow_"): float(value) for name, value in rows}

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as a:
                return a.status, a.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()

    def reaches(self, id):
        """Waits until the entry is done with."""
        millis = int(id.split(b"-")[0])

        def is_there():
            if self.process.poll() is not None:
                raise AssertionError(f"the follower ended:\n{self.text()}")
            try:
                return self.metrics()["position_seconds"] * 1000 >= millis - 0.5
            except OSError:
                return False

        wait_until(is_there, f"{self.name} reaches {id}")

    def ends(self):
        """Waits for its own end; its exit status."""
        return self.process.wait(timeout=PATIENCE)


class Rig:
    """Everything that a test starts, in a folder of its own; ended and removed with it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tensord-follow.")
        self.all = []

    def start(self, process):
        self.all.append(process)
        return process.start()

    def close(self):
        for process in self.all:
            process.kill()
            if isinstance(process, Redis):
                process.client.close()
        shutil.rmtree(self.folder, ignore_errors=True)
