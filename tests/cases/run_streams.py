"""python -m tests.cases.run_streams FILE...: runs files of cases and says which fail.

Prints a line for each failing or skipped case and the totals at the end; exit status 1 if any case failed.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from tests.cases.build import LegacyError
from tests.cases.case import Case, load
from tests.cases.judge import judge
from tests.cases.play import play

DATA = Path(__file__).parent / "data" / "streams.jsonl"


def failure(case: Case) -> str | None:
    """Why a case fails, or None.

    Raises:
        LegacyError: The case needs what penstock does not offer on purpose.
    """
    try:
        return judge(case, play(case))
    except LegacyError:
        raise
    except Exception as error:  # noqa: BLE001 - a case that cannot run has failed
        return f"{type(error).__name__}: {error}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases.run_streams", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[DATA], help="files of cases, one JSON object a line")
    logging.getLogger("penstock").setLevel(logging.ERROR)  # cases drop records on purpose
    passed = failed = skipped = 0
    for path in parser.parse_args(arguments).files:
        for case in load(path):
            try:
                reason = failure(case)
            except LegacyError as error:
                skipped += 1
                print(f"SKIP {case.id}: {error}")
                continue
            if reason is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {case.id}: {' '.join(reason.split())}  [{case.topology}]")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
