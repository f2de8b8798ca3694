# SPDX-License-Identifier: MIT
"""A model that calls codebox as a tool, by the chat completions that OpenAI and many other servers have.

    MODEL_URL=https://... MODEL_KEY=... MODEL=... python3 openai_tools.py "How many primes are below 1000?"
"""
import json
import os
import sys

from codebox_client import DESCRIPTION, PARAMETERS, Session, post

MODEL_URL = os.environ.get("MODEL_URL", "http://127.0.0.1:11434")
HEADERS = {"Authorization": "Bearer " + os.environ.get("MODEL_KEY", "none")}
TOOLS = [{"type": "function", "function": {"name": "run_python", "description": DESCRIPTION, "parameters": PARAMETERS}}]
ROUNDS = 8


def answer(question):
    messages = [{"role": "user", "content": question}]
    session = Session()
    try:
        for _ in range(ROUNDS):
            body = {"model": os.environ.get("MODEL", "default"), "messages": messages, "tools": TOOLS}
            message = post(MODEL_URL + "/v1/chat/completions", body, HEADERS)["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for call in message["tool_calls"]:
                code = json.loads(call["function"]["arguments"]).get("code", "")
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": session.run(code)})
        return "no answer after %d rounds" % ROUNDS
    finally:
        session.close()


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
