"""What Cline and Roo Code keep of a task: what was shown (`ui_messages.json`), and what was sent to the model."""

from __future__ import annotations

import json
import re

from catmem.clients.draft import Record, record_of, records_in, text_of
from catmem.clients.lines import records_of

UI, API = "ui_messages.json", "api_conversation_history.json"
# The name of the first versions.
OLD_UI = "claude_messages.json"

TYPED = ("task", "user_feedback")
# Shown with words of the assistant; the words may be a field of a JSON text.
SPOKEN = {
    "text": "",
    "completion_result": "",
    "followup": "question",
    "plan_mode_respond": "response",
    "plan_mode_response": "response",
    "act_mode_respond": "",
}
CALLS = ("tool", "command", "browser_action_launch", "browser_action", "use_mcp_server")
RESULTS = ("command_output", "browser_action_result", "mcp_server_response")
NOTICES = ("error", "diff_error", "user_feedback_diff", "shell_integration_warning", "info")
SUMMARIES = ("condense_context",)

_TYPED_TAGS = re.compile(r"<(task|feedback|user_message|answer)>\s*(.*?)\s*</\1>", re.DOTALL)
_ADDED_TAGS = re.compile(r"<(environment_details|explicit_instructions|file_content|folder_content)\b[^>]*>.*?</\1>\s*", re.DOTALL)  # fmt: skip
_THINKING = re.compile(r"<thinking>.*?</thinking>\s*", re.DOTALL)
_FOLDER = re.compile(r'# Current (?:Working|Workspace) Directory \(((?:[^)"\\]|\\.)+)\)')


def kind_of(message: Record) -> str:
    """What a shown message is: the word of its `say` or `ask`."""
    return text_of(message.get("say")) or text_of(message.get("ask"))


def spoken_text(kind: str, text: str) -> str:
    field = SPOKEN[kind]
    values, reason = records_of(text.encode("utf-8", "replace")) if field and text.startswith("{") else ([], "")
    inner = text_of(record_of(values[0]).get(field)) if values and not reason else ""
    return inner or text


def pictures(message: Record) -> str:
    images = message.get("images")
    return "\n".join(["[image]"] * len(images)) if isinstance(images, list) else ""


def call_of(kind: str, text: str) -> tuple[str, str]:
    """The name and the arguments of a call that was shown."""
    values, reason = records_of(text.encode("utf-8", "replace"))
    told = record_of(values[0]) if values and not reason else {}
    name = text_of(told.get("tool")) or text_of(told.get("toolName")) or kind
    return name, text if told else json.dumps({kind: text}, ensure_ascii=False)


def sent_by_user(text: str) -> tuple[str, str]:
    """What the person typed of a text that was sent in the user's role, and the rest of it."""
    typed = "\n".join(match[2] for match in _TYPED_TAGS.finditer(text))
    rest = _ADDED_TAGS.sub("", _TYPED_TAGS.sub("", text)).strip()
    if not typed and rest and not rest.startswith(("[", "<", "#", "Result:", "The user")):
        return rest, ""
    return typed, rest


def sent_by_assistant(message: Record) -> str:
    return _THINKING.sub("", "\n".join(text_blocks(message))).strip()


def text_blocks(message: Record) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    return [text_of(block.get("text")) for block in records_in(content) if block.get("type") == "text"]


def result_text(block: Record) -> str:
    content = block.get("content")
    return content if isinstance(content, str) else "\n".join(text_of(b.get("text")) for b in records_in(content))


def folder_in(head: str) -> str:
    """The folder that a task was sent with, from the JSON text of what was sent."""
    match = _FOLDER.search(head)
    if not match:
        return ""
    try:
        return str(json.loads(f'"{match[1]}"'))
    except ValueError:
        return match[1]
