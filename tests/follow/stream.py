"""tensord-follow: what it does with each entry and each answer, what it goes on after, and what ends it."""

import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from support.rig import FOLLOWERS, Follower, Redis, Rig, Server, free_port, need_all, wait_until

ADD = "/v2/models/tensor_scatter_add/infer?tensor=t&into=t"
PUT = "/v2/tensors/t?datatype=INT64&shape=4"
STOPPED = 3


def one_more(row):
    return json.dumps({"inputs": {"indices": [[row]], "updates": {"datatype": "INT64", "data": [1]}}})


class Case(unittest.TestCase):
    def setUp(self):
        self.rig = Rig()
        self.addCleanup(self.rig.close)
        self.redis = self.rig.start(Redis(self.rig.folder))

    def server(self, *settings):
        return self.rig.start(Server(self.rig.folder, "server", *settings))

    def follower(self, server, *settings, redis=None, program=None):
        name = f"follower{len(self.rig.all)}"
        follower = Follower(self.rig.folder, name, server, redis or self.redis, *settings, program=program)
        return self.rig.start(follower)

    def fill(self, count=3):
        """A table and some updates; the last entry's id."""
        id = self.redis.add(PUT, bytes(32), "PUT")
        for i in range(count):
            id = self.redis.add(ADD, one_more(i % 4))
        return id


class Entries(Case):
    def test_each_is_applied_once_in_order(self):
        for program in FOLLOWERS:
            with self.subTest(program):
                self.redis.ask("DEL", "updates")
                server = self.rig.start(Server(self.rig.folder, "server"))
                follower = self.follower(server, program=program)
                follower.reaches(self.fill(5))
                self.assertEqual(server.data("t"), b"".join(n.to_bytes(8, "little") for n in (2, 1, 1, 1)))
                self.assertEqual(follower.stop(), 0, follower.text())
                # Another one goes on where the server stands.
                follower = self.follower(server, program=program)
                follower.reaches(self.redis.add(ADD, one_more(0)))
                metrics = follower.metrics()
                self.assertEqual((metrics["applied_total"], metrics["repeated_total"]), (1, 0))
                self.assertEqual(server.version("t"), 7)
                self.assertEqual(follower.get("/health")[0], 200)
                self.assertEqual(follower.get("/other")[0], 404)
                wait_until(lambda f=follower: f.metrics()["lag_seconds"] == 0, "it is abreast")
                self.assertEqual(follower.stop(), 0, follower.text())
                server.kill()

    def test_every_kind_of_write(self):
        server = self.server()
        follower = self.follower(server)
        self.redis.add("/v2/tensors/a?datatype=INT8&shape=2", b"\1\2", "PUT")
        self.redis.add("/v2/tensors/b", '{"datatype": "INT8", "shape": [2]}', "PUT", content_type="application/json")
        self.redis.add("/v2/tensors/b/data?rows=1:2&datatype=INT8&shape=1", b"\7", "PUT")
        self.redis.add("/v2/tensors/c?move=a", method="PUT")
        head = json.dumps(
            {"inputs": [
                {"name": "indices", "datatype": "INT32", "shape": [1, 1], "parameters": {"binary_data_size": 4}},
                {"name": "updates", "datatype": "INT8", "shape": [1], "parameters": {"binary_data_size": 1}},
            ]}
        ).encode()  # fmt: skip
        self.redis.add(
            ADD.replace("=t", "=c"), head + b"\1\0\0\0\5", inference_header_content_length=len(head)
        )
        follower.reaches(self.redis.add("/v2/tensors/b", method="DELETE"))
        self.assertEqual(follower.metrics()["rejected_total"], 0, follower.text())
        self.assertEqual((server.version("a"), server.version("b")), (0, 0))
        self.assertEqual(server.data("c"), b"\1\7")

    def test_what_is_no_request_is_passed_over(self):
        server = self.server()
        follower = self.follower(server)
        self.fill(1)
        wrong = [
            ["body", "x"], ["path", "http://x/v2/tensors/t"], ["path", "/v2/tensors/t HTTP/1.1"],
            ["path", "/v2/tensors/t\r\nX: y"], ["path", "/metrics"], ["path", PUT + "&ttl=1s", "method", "PUT"],
            ["path", ADD, "path", ADD], ["path", ADD, "method", "GET"], ["path", ADD, "bodi", "x"],
            ["path", ADD, "content-type", "a\nb"], ["path", ADD, "content-type", "a" * 257],
            ["path", ADD, "if-match", "*"], ["path", "/v2/" + "a" * 9000],
            # Of the server's own judging.
            ["path", ADD, "body", one_more(9)], ["path", ADD, "body", "{"], ["path", ADD.replace("=t", "=none")],
        ]  # fmt: skip
        for fields in wrong:
            self.assertNotEqual(self.redis.ask("XADD", "updates", self.redis.next_id(), *fields), "error")
        follower.reaches(self.redis.add(ADD, one_more(1)))
        metrics = follower.metrics()
        self.assertEqual(metrics["rejected_total"], len(wrong), follower.text())
        self.assertEqual(server.version("t"), 3)
        self.assertEqual(follower.stop(), 0)

    def test_a_server_that_lost_its_tables_gets_them_again(self):
        server = self.server()
        follower = self.follower(server)
        follower.reaches(self.fill())
        server.kill()
        wait_until(lambda: follower.get("/health")[0] == 503, "it is seen")
        server.start()
        # Nothing new comes: the silence alone makes it ask.
        wait_until(lambda: server.version("t") == 4, "the table is there again")
        self.assertEqual(follower.metrics()["went_back_total"], 1)

    def kept(self, *settings):
        """A server with a folder and a follower, abreast with some entries."""
        folder = os.path.join(self.rig.folder, "kept")
        os.mkdir(folder)
        server = self.server(f"--tensor_dir={folder}", *settings)
        follower = self.follower(server)
        follower.reaches(self.fill())
        return server, follower

    def goes_on(self, server, follower):
        """After a restart of the server, with a stream that lost all but the last entry that it has."""
        self.redis.ask("XTRIM", "updates", "MAXLEN", "1")
        server.start()
        wait_until(lambda: server.version("t") == 4, "it is loaded")
        follower.reaches(self.redis.add(ADD, one_more(0)))
        self.assertEqual(server.version("t"), 5)
        metrics = follower.metrics()
        self.assertEqual((metrics["applied_total"], metrics["repeated_total"]), (5, 0), follower.text())
        self.assertEqual(follower.stop(), 0, follower.text())

    def test_a_server_with_files_goes_on_where_it_was(self):
        for load in "start", "first_use":
            with self.subTest(load):
                server, follower = self.kept(f"--tensor_load={load}")
                self.assertEqual(server.stop(), 0, server.text())
                self.goes_on(server, follower)
                server.kill()
                shutil.rmtree(os.path.join(self.rig.folder, "kept"))
                self.redis.ask("DEL", "updates")

    def test_a_killed_server_with_files_goes_on_after_its_snapshots(self):
        server, follower = self.kept("--snapshot_interval=50ms")
        last = self.redis.ask("XREVRANGE", "updates", "+", "-", "COUNT", "1")[0][0].decode()
        wait_until(lambda: server.saved_positions().get("updates") == last, "all is saved")
        server.kill()
        self.goes_on(server, follower)

    def test_a_killed_server_gets_again_what_its_files_lack(self):
        server, follower = self.kept()
        server.post("/v2/tensors/t/snapshot")
        follower.reaches(self.redis.add("/v2/tensors/u?datatype=INT8&shape=2", b"\1\2", "PUT"))
        follower.reaches(self.redis.add(ADD, one_more(1)))
        server.kill()
        self.redis.ask("XTRIM", "updates", "MINID", server.saved_positions()["updates"])
        server.start()
        wait_until(lambda: server.version("u") == 1 and server.version("t") == 5, "both are as they were")
        self.assertEqual(follower.metrics()["repeated_total"], 0, follower.text())
        self.assertEqual(follower.stop(), 0, follower.text())


class Ends(Case):
    def test_entries_that_were_removed_end_it(self):
        server = self.server()
        self.fill()
        self.redis.ask("XTRIM", "updates", "MAXLEN", "2")
        follower = self.follower(server)
        self.assertEqual(follower.ends(), STOPPED)
        self.assertIn("were removed", follower.text())
        follower = self.follower(server, "--removed=accept")
        wait_until(lambda: follower.metrics()["rejected_total"] == 2, "both are refused: no table")

    def test_what_the_server_has_may_be_removed(self):
        server = self.server()
        follower = self.follower(server)
        follower.reaches(self.fill())
        follower.stop()
        self.redis.ask("XTRIM", "updates", "MAXLEN", "1")
        self.redis.add(ADD, one_more(0))
        follower = self.follower(server)
        wait_until(lambda: server.version("t") == 5, "it goes on")

    def test_a_stream_that_ends_before_the_server_ends_it(self):
        server = self.server()
        follower = self.follower(server)
        follower.reaches(self.fill())
        follower.stop()
        self.redis.ask("DEL", "updates")
        follower = self.follower(server)
        self.assertEqual(follower.ends(), STOPPED)
        self.assertIn("Redis lost entries", follower.text())

    def test_no_stream_ends_it(self):
        self.redis.ask("SET", "updates", "x")
        follower = self.follower(self.server())
        self.assertEqual(follower.ends(), STOPPED)
        self.assertIn("WRONGTYPE", follower.text())


class Scripted(http.server.BaseHTTPRequestHandler):
    """Answers what the test says, and remembers what came."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"{}", headers=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        position = self.server.stands
        positions = {"updates": position.decode()} if position else {}
        self.reply(200, json.dumps({"positions": positions}).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        id = self.headers["Update-Position"].encode()
        self.server.posted.append(id)
        status = self.server.script.pop(0) if self.server.script else 200
        if status in (None, 200):
            self.server.stands = id
        if status is None:
            self.close_connection = True
            return
        self.reply(status, headers=[("Retry-After", "0")])


class Answers(Case):
    def setUp(self):
        super().setUp()
        self.fake = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
        self.fake.script, self.fake.posted, self.fake.stands = [], [], b""
        self.fake.daemon_threads = True
        threading.Thread(target=self.fake.serve_forever, daemon=True).start()
        self.addCleanup(self.fake.server_close)
        self.addCleanup(self.fake.shutdown)
        self.url = f"http://127.0.0.1:{self.fake.server_port}"

    def test_some_are_repeated_some_passed_over(self):
        self.fake.script = [429, 503, 504, 507, 408, 200, 404, 422, 200]
        ids = [self.redis.add(ADD) for _ in range(4)]
        follower = self.follower(self.url)
        follower.reaches(ids[-1])
        self.assertEqual(self.fake.posted, [ids[0]] * 6 + ids[1:])
        metrics = follower.metrics()
        self.assertEqual(
            [metrics[n] for n in ("applied_total", "rejected_total", "retries_total")], [2, 2, 5]
        )

    def test_anything_else_ends_it(self):
        for status in (401, 302, 500, 501, 502):
            with self.subTest(status):
                self.fake.script, self.fake.posted = [status], []
                id = self.redis.add(ADD)
                follower = self.follower(self.url)
                self.assertEqual(follower.ends(), STOPPED)
                self.assertEqual(self.fake.posted, [id])
                self.assertIn(f"answered {status}", follower.text())
                self.fake.stands = id

    def test_a_lost_answer_is_asked_for(self):
        """The connection breaks after the write: it is not posted again. Each time."""
        self.fake.script = [200, None, 200, None, None]
        ids = [self.redis.add(ADD) for _ in range(6)]
        follower = self.follower(self.url)
        follower.reaches(ids[-1])
        self.assertEqual(self.fake.posted, ids)

    def test_what_was_passed_over_is_not_posted_again(self):
        self.fake.script = [200, 404, 404, None]
        ids = [self.redis.add(ADD) for _ in range(5)]
        self.follower(self.url).reaches(ids[-1])
        self.assertEqual(self.fake.posted, ids)

    def test_it_waits_for_servers_and_redis_that_are_not_there(self):
        self.redis.kill()
        follower = self.follower(self.url)
        time.sleep(0.3)
        self.redis.start()
        follower.reaches(self.redis.add(ADD))
        self.assertEqual(follower.stop(), 0)


def make_certificate(folder):
    """Of 127.0.0.1, signed by itself."""
    key, cert = os.path.join(folder, "key.pem"), os.path.join(folder, "cert.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, cert


@unittest.skipUnless(shutil.which("openssl"), "openssl is not there")
class Secrets(unittest.TestCase):
    def setUp(self):
        self.rig = Rig()
        self.addCleanup(self.rig.close)
        self.key, self.cert = make_certificate(self.rig.folder)
        for name, text in (("password", "s3cret"), ("wrong", "other"), ("token", "abcdefgh"), ("tokens", "f:abcdefgh")):
            with open(self.path(name), "w") as file:
                file.write(text + "\n")
        tls = free_port()
        self.redis = self.rig.start(
            Redis(self.rig.folder, "--requirepass", "s3cret", "--tls-port", str(tls), "--tls-auth-clients", "no",
                  "--tls-cert-file", self.cert, "--tls-key-file", self.key)
        )  # fmt: skip
        self.assertEqual(self.redis.ask("AUTH", "s3cret"), b"OK")
        self.redis_url = f"rediss://127.0.0.1:{tls}"
        port, secure = free_port(), free_port()
        self.server = Server(
            self.rig.folder, "server", f"--listen=127.0.0.1:{port},tls:127.0.0.1:{secure}",
            f"--tls_cert={self.cert}", f"--tls_key={self.key}", f"--tokens={self.path('tokens')}",
        )  # fmt: skip
        self.server.port = port
        self.rig.start(self.server)
        self.server_url = f"https://127.0.0.1:{secure}"

    def path(self, name):
        return os.path.join(self.rig.folder, name)

    def follower(self, **changes):
        settings = {
            "server_ca": self.cert, "server_token_file": self.path("token"),
            "redis_ca": self.cert, "redis_password_file": self.path("password"), "redis_user": "default",
        } | changes  # fmt: skip
        follower = Follower(
            self.rig.folder, f"follower{len(self.rig.all)}", self.server_url, self.redis_url,
            *(f"--{name}={value}" for name, value in settings.items()),
        )  # fmt: skip
        return self.rig.start(follower)

    def test_tls_and_secrets_on_both_sides(self):
        follower = self.follower()
        follower.reaches(self.redis.add(PUT, bytes(32), "PUT"))
        self.assertEqual(follower.metrics()["applied_total"], 1, follower.text())
        self.assertNotIn("s3cret", follower.text())
        self.assertNotIn("abcdefgh", follower.text())

    def test_wrong_secrets_end_it(self):
        for changes, why in (
            ({"redis_password_file": self.path("wrong")}, "WRONGPASS"),
            ({"redis_password_file": "", "redis_user": ""}, "NOAUTH"),
            ({"server_token_file": self.path("wrong")}, "UNAUTHENTICATED"),
            ({"server_token_file": self.path("none")}, "cannot read"),
        ):
            with self.subTest(why):
                follower = self.follower(**changes)
                self.assertEqual(follower.ends(), STOPPED)
                self.assertIn(why, follower.text())

    def test_nobody_who_is_not_known_is_told_anything(self):
        for ca in ("server_ca", "redis_ca"):
            with self.subTest(ca):
                follower = self.follower(**{ca: ""})
                wait_until(lambda f=follower: "certificate" in f.text(), "it is refused")
                self.assertEqual(follower.get("/health")[0], 503)
                self.assertEqual(follower.stop(), 0)


class Settings(unittest.TestCase):
    def run_it(self, *arguments, **variables):
        done = subprocess.run([FOLLOWERS[0], *arguments], capture_output=True, text=True, env=variables)
        return done.returncode, done.stdout, done.stderr

    def test_the_sample_lists_them(self):
        with open("config/tensord-follow.conf") as file:
            text = file.read()
        self.assertEqual(self.run_it("--print-config")[1], text)
        self.assertEqual([line for line in text.splitlines() if line and line[0] != "#"], [])  # it changes nothing

    def test_a_wrong_one_stops_the_start(self):
        for argument, why in (
            ("--strean=x", "did you mean stream?"), ("--batch=0", "from 1 to 1000"), ("--server=ftp://x", "http://"),
            ("--redis=127.0.0.1", "redis://"), ("--source=a b", "letters"), ("--stream=a:b", "source"),
            ("--server_cert=x", "belong together"), ("--redis_user=x", "redis_password_file"),
            ("--most_pause=1ms", "shorter"), ("--removed=no", "stop, accept"), ("--stream", "follows a '='"),
            ("--metrics_listen=localhost:1", "numeric"), ("x", "allowed are"), ("--config=/none", "cannot read"),
        ):  # fmt: skip
            with self.subTest(argument):
                status, _, errors = self.run_it(argument)
                self.assertEqual(status, 1)
                self.assertIn(why, errors)

    def test_all_sources_in_their_order(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("[tensord-follow]\nbatch = 5\nstream = a\nredis_timeout = 3s\n")
            file.flush()
            text = self.run_it(
                f"--config={file.name}", "--redis-timeout=4s", "--print-config", FOLLOW_STREAM="b", FOLLOW_REDIS_TIMEOUT="5s"
            )[1]
        for line in ("batch = 5", "stream = b", "redis_timeout = 4s"):
            self.assertIn(f"\n{line}\n", text)


if __name__ == "__main__":
    need_all()
    unittest.main()
