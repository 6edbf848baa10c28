"""Fitting a world's past into a model's context: the newest turns whole, older ones in a line, and what the ledger knows.

The turns that are kept move in leaps of half their budget. Between two leaps every prompt begins with the one before it,
so that a prefix cache holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from mcp_world.core.clock import iso
from mcp_world.core.errors import BadInput
from mcp_world.core.ledger import Entity, Ledger
from mcp_world.core.types import leaves
from mcp_world.engines.contract import Past, Request
from mcp_world.engines.language import prompt
from mcp_world.engines.language.model import LanguageModel, Message
from mcp_world.spec.cassette import Call
from mcp_world.spec.model import ServerSpec

_MESSAGE = 8
"""Tokens that a chat template puts round a message, at most."""

_MARGIN = 64
_DEMONSTRATIONS = 12
_EARLIER = "\n\n# Earlier turns, in short\n"


@dataclass(frozen=True)
class Budget:
    """What a conversation may take of a context, in tokens.

    Args:
        context: What the model can hold.
        limit: What its reply may take.
    """

    context: int
    limit: int

    @property
    def retry(self) -> int:
        """For a refused reply, and again as much for what was wrong with it."""
        return min(self.limit // 4, 2_048)

    @property
    def room(self) -> int:
        """For the system prompt and the turns."""
        return self.context - self.limit - 2 * (self.retry + _MESSAGE) - _MARGIN


def window(costs: Sequence[int], budget: int) -> int:
    """The first turn to keep: a pure function of what came before, which moves only when the budget is full.

    Args:
        costs: Tokens of each turn, in order.
        budget: Tokens that they may have together; when they exceed it, the oldest go until half of it is free.
    """
    first = total = 0
    for index, cost in enumerate(costs):
        total += cost
        if total > budget:
            while first <= index and total > budget // 2:
                total -= costs[first]
                first += 1
    return first


@dataclass(frozen=True, slots=True)
class _Turn:
    """A step as messages."""

    asked: str
    seen: str
    cost: int
    line: str


@dataclass(slots=True)
class _Told:
    """What one world's conversations are made of; grows with its steps."""

    system: str
    cost: int
    cut: bool
    """Whether not all that is stated stands in the system prompt."""
    read: int = 0
    turns: list[_Turn] = field(default_factory=list)
    earlier: tuple[int, str] = (0, "")


@dataclass(frozen=True, slots=True)
class _Server:
    """What all worlds of a server have in their system prompt."""

    tools: str
    whole: bool
    """Whether the tools are defined there; otherwise each comes with its calls."""
    demonstrations: str
    left: int
    """Tokens for the rest."""


class Historian:
    """Writes conversations that fit.

    Args:
        spec: The server.
        model: Whose tokens count; it has to be open before anything is written.
        template: The system prompt.
        instructions: Control instructions, as the user gave them.
        limit: How many tokens a reply may have; a quarter of the context at most.
        kinds: The kind of thing that each tool is about, by the tool's name.
    """

    def __init__(
        self,
        spec: ServerSpec,
        model: LanguageModel,
        template: prompt.Template,
        instructions: str,
        limit: int,
        kinds: Mapping[str, str],
    ) -> None:
        self.spec = spec
        self.model = model
        self._template = template
        self._instructions = prompt.instructions(instructions)
        self._limit = limit
        self._kinds = kinds
        self._server: _Server | None = None
        self._worlds: WeakKeyDictionary[Ledger, _Told] = WeakKeyDictionary()

    @property
    def budget(self) -> Budget:
        """What there is to spend."""
        context = self.model.context
        return Budget(context, min(self._limit, context // 4))

    async def open(self) -> None:
        """Plan what all worlds share.

        Raises:
            BadInput: The system prompt leaves no room for the world.
        """
        if self._server is not None:
            return
        room = self.budget.room
        bare = await self._cost(self._template.fill(instructions=self._instructions))
        if bare > room // 2:
            raise BadInput(
                f"it takes {bare} tokens with the instructions, and the model's context has {self.model.context}",
                where=self._template.where,
                do="Serve the model with a longer context, or shorten the prompt.",
            )
        left = room - bare
        tools = prompt.definitions(self.spec.tools)
        whole = await self.model.count(tools) <= left // 2
        if not whole:
            tools = await self.clip(prompt.summaries(self.spec.tools), left // 6)
        shown = await self._demonstrations(left // 8)
        left -= await self.model.count(tools) + await self.model.count(shown)
        self._server = _Server(tools, whole, shown, left)

    async def write(self, request: Request) -> list[Message]:
        """The conversation of a request, ending in its own turn.

        Args:
            request: What is asked; whatever its past, the conversation and a reply fit the context.
        """
        await self.open()
        assert self._server is not None
        told = await self._told(request, self._server)
        rest = self.budget.room - told.cost
        summary, known = rest // 8, rest // 8
        defined = 0 if self._server.whole else rest // 4
        room = rest - summary - known - defined
        number = len(told.turns) + 1
        arguments = request.action.arguments
        action = await self.clip(prompt.turn(number, request.tool.name, arguments), room // 2)
        costs = [turn.cost for turn in told.turns]
        first = window(costs, room - room // 4)
        start, taken = first, await self._cost(action)
        while sum(costs[start:]) + taken > room:
            start += 1
        notes = []
        if first or told.cut:
            notes.append(await self._ledger(request, known))
        if defined:
            notes.append("The tool:\n" + await self.clip(prompt.definitions([request.tool]), defined - _MESSAGE))
        messages = [Message("system", told.system + await self._earlier(told, first, summary))]
        for turn in told.turns[start:]:
            messages += [Message("user", turn.asked), Message("assistant", turn.seen)]
        before = "\n\n".join(note for note in notes if note)
        return [*messages, Message("user", prompt.preceded(action, before))]

    async def clip(self, text: str, most: int) -> str:
        """A text of at most `most` tokens: one that has more loses its middle."""
        tokens = await self.model.count(text)
        kept = len(text)
        out = text
        while tokens > most and kept > 8:
            kept = min(kept - 1, int(kept * max(most - 12, 0) / tokens * 0.95))
            head, tail = kept * 2 // 3, kept // 3
            out = f"{text[:head]} … [{len(text) - head - tail} characters left out] … {text[len(text) - tail :]}"
            tokens = await self.model.count(out)
        return out if tokens <= most else ""

    async def _cost(self, text: str) -> int:
        return await self.model.count(text) + _MESSAGE

    async def _told(self, request: Request, server: _Server) -> _Told:
        """What this world's conversations are made of, up to its last step."""
        told = self._worlds.get(request.ledger)
        if told is None:
            whole = prompt.facts(request.facts, iso(request.start))
            facts = await self.clip(whole, server.left // 6)
            system = self._template.fill(
                tool_definitions=server.tools,
                demonstrations=server.demonstrations,
                instructions=self._instructions,
                facts=facts,
            )
            told = self._worlds[request.ledger] = _Told(system, await self._cost(system), facts != whole)
        most = self.budget.room // 4
        for past in request.history[told.read :]:
            if not past.questions:
                told.turns.append(await self._turn(len(told.turns) + 1, past, most))
        told.read = len(request.history)
        return told

    async def _turn(self, number: int, past: Past, most: int) -> _Turn:
        asked = await self.clip(prompt.turn(number, past.tool, past.arguments), most)
        seen = await self.clip(prompt.observed(past.committed), most)
        line = prompt.in_short(number, past.tool, past.arguments, past.committed)
        return _Turn(asked, seen, await self._cost(asked) + await self._cost(seen), line)

    async def _earlier(self, told: _Told, first: int, most: int) -> str:
        """The turns that are left out, in a line each: the last ones that fit."""
        if told.earlier[0] != first:
            told.earlier = (first, await self._fit(_EARLIER, (t.line for t in reversed(told.turns[:first])), most))
        return told.earlier[1]

    async def _ledger(self, request: Request, most: int) -> str:
        """What is known of the things that a call may be about: those it names, then the latest of its kind."""
        named = {str(leaf) for leaf in leaves(dict(request.action.arguments))}
        kind = self._kinds.get(request.tool.name)
        met = [e for e in request.ledger if e.origin == "fact" or _met(e)]
        met.sort(key=lambda e: (str(e.id) in named, e.kind == kind, e.changed or e.shown or 0), reverse=True)
        near = (prompt.known(e) for e in met if str(e.id) in named or e.kind == kind)
        return await self._fit("Known from earlier turns:\n", near, most, newest_last=False)

    async def _fit(self, head: str, lines: Iterator[str], most: int, *, newest_last: bool = True) -> str:
        """A heading and the first of some lines, as many as fit; nothing where none does."""
        left = most - await self._cost(head)
        kept: list[str] = []
        for line in lines:
            left -= await self.model.count(line + "\n")
            if left < 0:
                break
            kept.append(line)
        return head + "\n".join(reversed(kept) if newest_last else kept) if kept else ""

    async def _demonstrations(self, most: int) -> str:
        """Recorded calls: of each tool one, then of each a second, while they fit."""
        by_tool: dict[str, list[Call]] = {}
        for call in self.spec.examples:
            if call.tool in self.spec.by_name:
                by_tool.setdefault(call.tool, []).append(call)
        rounds = max(map(len, by_tool.values()), default=0)
        shown: list[str] = []
        for call in (calls[n] for n in range(rounds) for calls in by_tool.values() if n < len(calls)):
            text = prompt.demonstrations([*shown, prompt.demonstration(call)])
            if await self.model.count(text) <= most:
                shown.append(prompt.demonstration(call))
            if len(shown) == _DEMONSTRATIONS:
                break
        return prompt.demonstrations(shown)


def _met(entity: Entity) -> bool:
    return entity.shown is not None or entity.changed is not None or entity.deleted is not None
