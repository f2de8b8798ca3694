# SPDX-License-Identifier: MIT
"""A model that calls codebox as a tool, by Gemini's generateContent.

    MODEL_URL=https://... MODEL_KEY=... MODEL=... python3 gemini_tools.py "How many primes are below 1000?"
"""
import os
import sys

from codebox_client import DESCRIPTION, PARAMETERS, Session, post

MODEL_URL = os.environ.get("MODEL_URL", "http://127.0.0.1:8001")
HEADERS = {"x-goog-api-key": os.environ.get("MODEL_KEY", "none")}
TOOLS = [{"functionDeclarations": [{"name": "run_python", "description": DESCRIPTION, "parameters": PARAMETERS}]}]
ROUNDS = 8


def answer(question):
    contents = [{"role": "user", "parts": [{"text": question}]}]
    url = "%s/v1beta/models/%s:generateContent" % (MODEL_URL, os.environ.get("MODEL", "default"))
    session = Session()
    try:
        for _ in range(ROUNDS):
            content = post(url, {"contents": contents, "tools": TOOLS}, HEADERS)["candidates"][0]["content"]
            contents.append(content)
            calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
            if not calls:
                return "".join(part.get("text", "") for part in content["parts"])
            results = [
                {"functionResponse": {"name": call["name"], "response": {"result": session.run(call["args"].get("code", ""))}}}
                for call in calls
            ]
            contents.append({"role": "user", "parts": results})
        return "no answer after %d rounds" % ROUNDS
    finally:
        session.close()


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
