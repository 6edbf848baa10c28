"""Rules of consistency: does an observation agree with what the episode has shown before, and with what was asked?

Each is one file with one function, from a step and the account of the steps before it to its violations.
"""

from __future__ import annotations

from mcp_world.verify.consistency.arguments_respected import arguments_respected
from mcp_world.verify.consistency.gone_after_delete import gone_after_delete
from mcp_world.verify.consistency.immutable_fields import immutable_fields
from mcp_world.verify.consistency.lists_complete import lists_complete
from mcp_world.verify.consistency.pages_apart import pages_apart
from mcp_world.verify.consistency.read_after_write import read_after_write
from mcp_world.verify.consistency.same_answer import same_answer
from mcp_world.verify.consistency.time_forward import time_forward
from mcp_world.verify.consistency.totals_agree import totals_agree
from mcp_world.verify.consistency.unique_ids import unique_ids

RULES = (
    read_after_write, gone_after_delete, unique_ids, immutable_fields, lists_complete, totals_agree, pages_apart,
    same_answer, time_forward, arguments_respected,
)  # fmt: skip
"""All of them."""
