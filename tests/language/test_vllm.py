"""What vLLM is told, without vLLM; `test_models.py` runs it."""

from __future__ import annotations

import pytest

from mcp_world.engines.language.vllm import BatchedModel

AGENT_WORLD = "Qwen/Qwen-AgentWorld-35B-A3B"


@pytest.mark.parametrize(("option", "told"), [("language_model_only", True), ("reasoning_parser", "qwen3")])
def test_a_world_model_is_loaded_as_its_card_says(option: str, told: object) -> None:
    assert BatchedModel(AGENT_WORLD).options[option] == told


def test_other_models_are_left_to_vllm() -> None:
    assert BatchedModel("some/Model").options.keys() == {"disable_log_stats"}


def test_an_option_of_the_users_goes_before_what_the_card_says() -> None:
    assert BatchedModel(AGENT_WORLD, reasoning_parser="").options["reasoning_parser"] == ""


def test_an_adapter_turns_lora_on() -> None:
    assert BatchedModel("some/Model", lora="adapter").options["enable_lora"] is True
