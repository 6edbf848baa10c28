"""What a library says while it loads is held back: its last line shows how far it is, and where it fails, why."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Thread

from mcp_world.engines.contract import Report

_HELD = 400


class Said:
    """What was said on stdout and stderr while something was loaded.

    Processes that were started meanwhile keep saying it here; once they are to be `loud`, all but what only informs goes
    on to stderr.
    """

    def __init__(self, source: int, sink: int, report: Report) -> None:
        self.lines: deque[str] = deque(maxlen=_HELD)
        self.quiet = True
        self._sink = sink
        self._report = report
        self._lock = Lock()
        Thread(target=self._read, args=(source,), daemon=True).start()

    def _read(self, source: int) -> None:
        with os.fdopen(source, "r", errors="replace") as pipe:
            for line in pipe:
                with self._lock:
                    if not self.quiet:
                        if " INFO " not in line:
                            os.write(self._sink, line.encode())
                        continue
                text = line.rsplit("\r", 1)[-1].strip()
                if text:
                    self.lines.append(text)
                    self._report(text[:100])

    def loud(self) -> None:
        """Pass on what is said from now on."""
        with self._lock:
            self.quiet = False

    def last(self, *signs: str) -> str:
        """The last line that does more than inform and holds one of some words; an empty string where none does."""
        found = (line for line in reversed(self.lines) if " INFO " not in line and any(sign in line for sign in signs))
        return next(found, "")


@contextmanager
def holding(report: Report) -> Iterator[Said]:
    """Hold back what this process and those it starts write to stdout and stderr.

    Args:
        report: Takes each line; it must not write to either itself.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    out, err = os.dup(1), os.dup(2)
    source, sink = os.pipe()
    said = Said(source, err, report)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    os.close(sink)
    try:
        yield said
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(out)
