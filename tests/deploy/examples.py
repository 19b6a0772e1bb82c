"""The examples of README.md, tests/examples and docker/OPERATING.md, run as they stand there, print
what the page says.

A fenced block with a file name is a file; a `console` block is commands and what they print. Only
the ports differ: those of the page may be taken.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from instance import SKIPPED, TENSORD, Instance, free_port, skip

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PAGES = ("README.md", "tests/examples/README.md", "docker/OPERATING.md")
TOOLS = ("curl", "python3", "cc", "node", "haproxy", "chromium", "go", "java", "openssl")
MARK = "-- end of a command --"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def commands(console):
    """[(command, output)] of a console block; `> ` goes on with a command."""
    result = []
    for line in console.splitlines():
        if line.startswith("$ "):
            result.append([line[2:], ""])
        elif line.startswith("> "):
            result[-1][0] += "\n" + line[2:]
        else:
            result[-1][1] += line + "\n"
    return result


def run(console, folder):
    """None when it printed what it says, else what was wrong."""
    wanted = commands(console)
    script = "".join(f"{command}\necho '{MARK}'\n" for command, _ in wanted)
    environment = {**os.environ, "HOME": folder, "GOCACHE": folder + "/go-cache", "GOFLAGS": "-mod=mod",
                   "GO111MODULE": "off",
                   "PATH": ":".join([os.path.dirname(sys.executable), os.path.dirname(TENSORD),
                                     os.environ["PATH"]])}
    done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    printed = done.stdout.split(MARK + "\n")
    for (command, output), found in zip(wanted, printed):
        if output.rstrip("\n") != found.rstrip("\n"):  # an answer ends without a newline
            return f"$ {command}\n--- the page\n{output}--- printed\n{found}"
    return None if len(printed) == len(wanted) + 1 else "it ended early"


def missing(console):
    for tool in TOOLS:
        if re.search(rf"^\$ {tool} |\| {tool} ", console, re.M) and not shutil.which(tool):
            return tool
    if "triton" in console and subprocess.run([sys.executable, "-c", "import tritonclient.http"],
                                              capture_output=True).returncode:
        return "tritonclient"
    return None


def page(path, server):
    """Its text, with ports that are free here."""
    with open(f"{ROOT}/{path}") as file:
        text = file.read().replace("127.0.0.1:8080", server.address)
    for port in ("127.0.0.1:8000", "127.0.0.1:8443"):
        text = text.replace(port, f"127.0.0.1:{free_port()}")
    return text


def main():
    if not os.path.exists(TENSORD):
        skip(f"there is no {TENSORD}")
    server = Instance()
    failed, skipped, passed = 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        for language, name, body in [b for path in PAGES for b in BLOCK.findall(page(path, server))]:
            if name:
                with open(os.path.join(folder, name), "w") as file:
                    file.write(body)
            elif language == "console" and missing(body):
                skipped.append(missing(body))
            elif language == "console":
                fault = run(body, folder)
                failed += fault is not None
                passed += fault is None
                if fault:
                    print(fault)
    failed += server.drain() != 0
    if skipped:
        print(f"{passed} examples ran; not installed: {', '.join(skipped)}")
    return 1 if failed or not passed else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
