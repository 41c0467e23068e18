"""How a reply ended, in the word of its provider: by its model, at a limit, or because the server stopped it."""

import re

CUT_OFF = frozenset(
    {
        "length",
        "max_tokens",
        "max_output",
        "max_output_tokens",
        "max_length",
        "model_length",
        "token_limit",
        "model_context_window_exceeded",
    }
)
"""The reply ended at its output limit, or at the end of the context window."""

_OF_THE_MODEL = CUT_OFF | {
    "",
    "stop",
    "end",
    "end_turn",
    "stop_sequence",
    "stop_token",
    "eos",
    "eos_token",
    "complete",
    "completed",
    "pause_turn",
    # It calls tools.
    "tool_calls",
    "tool_call",
    "tool_use",
    "function_call",
    "function_calls",
    # It wrote a call that cannot be read, or one of no tool.
    "malformed_function_call",
    "unexpected_tool_call",
    "malformed_tool_use",
    "malformed_model_output",
    # Its provider allows no such text.
    "content_filter",
    "content_filtered",
    "safety",
    "refusal",
    "recitation",
    "sensitive",
    "blocklist",
    "prohibited_content",
    "spii",
    "language",
    "guardrail_intervened",
}
"""Ends of a whole reply, in the words of OpenAI, Anthropic, Gemini, Bedrock, Mistral, Cohere, TGI, Together and GLM."""

_BROKEN_OFF = re.compile(
    r"error|abort|fail|cancel|time_?out|time_limit|network|resource|overload|interrupt|unavailable|disconnect"
    r"|shut_?down|preempt|kill|crash|unload|in_progress|incomplete|unfinished|not_finished|queued|pending"
)
"""In the word of a server that stopped before the model did: `abort` (vLLM, SGLang), `error` (routers), `network_error`
(GLM), `insufficient_system_resource` (DeepSeek), `in_progress` (Responses)."""


def end_of(finish_reason: str) -> str:
    """Return a finish reason in small letters, without the words before it.

    `STOP` → `stop`, `FinishReason.MAX_TOKENS` → `max_tokens`,
    `function_call_filter: MALFORMED_FUNCTION_CALL` → `malformed_function_call`.
    """
    return re.split(r"[.:]\s*", finish_reason.strip())[-1].lower().replace("-", "_").replace(" ", "_")


def is_of_model(finish_reason: str) -> bool:
    """Return True for the end of a whole reply: the model's own, a limit, a filter, or none."""
    return end_of(finish_reason) in _OF_THE_MODEL


def is_cut_off(finish_reason: str) -> bool:
    """Return True if the reply ended at its output limit, or at the end of the context window."""
    return end_of(finish_reason) in CUT_OFF


def is_broken_off(finish_reason: str) -> bool:
    """Return True if the server stopped the reply before the model did."""
    return not is_of_model(finish_reason) and bool(_BROKEN_OFF.search(end_of(finish_reason)))


def is_unknown(finish_reason: str) -> bool:
    """Return True for a word that is in no list here. Such a reply is taken as whole, counted and shown."""
    return not is_of_model(finish_reason) and not is_broken_off(finish_reason)
