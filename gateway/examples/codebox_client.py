# SPDX-License-Identifier: MIT
"""A client of codebox's REST API for the examples: Python's standard library alone."""
import json
import os
import urllib.error
import urllib.request

URL = os.environ.get("CODEBOX_URL", "http://127.0.0.1:8000")
TOKEN = os.environ.get("CODEBOX_TOKEN")

DESCRIPTION = (
    "Run a Python program in an isolated sandbox with numpy, pandas and matplotlib. A policy judges it first: a denial says which "
    "rule, where, and what to write instead. Print what you want to see."
)
PARAMETERS = {
    "type": "object",
    "properties": {"code": {"type": "string", "description": "The program."}},
    "required": ["code"],
}


def post(url, body, headers):
    """The JSON of an answer, also of one that is an error."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


class Session:
    """A session of codebox: variables and files stay between the calls of one conversation."""

    def __init__(self):
        self.headers = {"Authorization": "Bearer " + TOKEN} if TOKEN else {}
        answer = post(URL + "/v1/sessions", {"language": "python"}, self.headers)
        if "session_id" not in answer:
            raise RuntimeError(answer.get("detail", answer))
        self.id = answer["session_id"]

    def run(self, code):
        """What the model reads: the output, the error, or why the policy denied the program."""
        answer = post(URL + "/v1/executions", {"session_id": self.id, "code": code}, self.headers)
        if "outcome" not in answer:  # a denial or another problem document (RFC 9457)
            return "nothing ran: " + answer.get("detail", "unknown")
        text = "".join(item.get("text") or item.get("data", {}).get("text/plain", "") for item in answer["output"])
        return text if answer["outcome"] == "ok" else text + "\n" + str(answer["error"] or answer["outcome"])

    def close(self):
        request = urllib.request.Request(URL + "/v1/sessions/" + self.id, method="DELETE", headers=self.headers)
        urllib.request.urlopen(request, timeout=30).close()
