"""From nothing to every test passed: `make test` on a bare Debian 12. Takes twenty minutes."""
import sys
import time

from bare import Bare


def main():
    bare = Bare("bare-test")
    start = time.monotonic()
    with open(f"{bare.path}.log", "w+") as log:
        status = bare.make("test", log=log).wait()
        minutes = (time.monotonic() - start) / 60
        log.seek(0)
        lines = log.read().splitlines()
        if status != 0:
            failures = [line for line in lines if line.startswith(("FAILED", "    | "))]
            print("\n".join(failures or lines[-40:]))
        counts = next((line for line in lines if " passed, " in line), "not built")
        skipped = [line.split()[1] for line in lines if line.startswith("skipped ")]
        print(f"make test: {counts} after {minutes:.1f} minutes;"
              f" skipped: {', '.join(skipped) or 'none'}; {bare.installed(log)}")
    if status == 0:
        bare.remove()
    return status


if __name__ == "__main__":
    sys.exit(main())
