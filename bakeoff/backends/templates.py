"""Messages written with a model's own chat template, the same way for every runtime of this process."""

from typing import Any

from bakeoff.records import ImagePart, Message, Prompt, Text


def rendered(holder: Any, prompt: Prompt) -> str:
    """Return the messages of `prompt` as the chat template of `holder` writes them, ready for the answer.

    `holder` is a processor or tokenizer of transformers that has a template.
    """
    options = {} if prompt.thinking == "default" else {"enable_thinking": prompt.thinking == "on"}
    messages = [{"role": m.role, "content": _content(m)} for m in prompt.messages]
    return str(holder.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options))


def _content(message: Message) -> str | list[dict[str, str]]:
    """Return the content of a message for the template: a plain string where there is no image."""
    if not any(isinstance(part, ImagePart) for part in message.parts):
        return "".join(part.text for part in message.parts if isinstance(part, Text))
    return [{"type": "text", "text": p.text} if isinstance(p, Text) else {"type": "image"} for p in message.parts]
