"""python -m tests.cases.run_connect FILE...: runs files of Connect cases and says which fail.

Prints a line for each failing case and the totals at the end; exit status 1 if any case failed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.cases.connect_case import load
from tests.cases.connect_play import failure

DATA = Path(__file__).parent / "data" / "connect.jsonl"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases.run_connect", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[DATA], help="files of cases, one JSON object a line")
    passed = failed = 0
    for path in parser.parse_args(arguments).files:
        for case in load(path):
            reason = failure(case)
            if reason is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {case.id}: {' '.join(reason.split())}  [{case.component}]")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
