"""The command line. Each module adds its commands to one app."""

from __future__ import annotations

import logging
import os
import sys
from typing import NoReturn

from cyclopts import CycloptsError

from mcp_world.cli import checking, doctoring, recording, results, serving  # noqa: F401
from mcp_world.cli.app import app, err
from mcp_world.core.errors import BadInput


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command; bad input ends in one line on stderr and exit code 2."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="mcp-world: %(message)s")
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs tracebacks of what peers send
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except (BadInput, CycloptsError) as error:
        err.print(f"mcp-world: {' '.join(str(error).split())}", markup=False, style="red")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    sys.exit(0)
