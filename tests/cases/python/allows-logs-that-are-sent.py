import logging
import os

import requests

URL = "https://example.org/"
logging.basicConfig(filename="run.log", level=logging.INFO)
token = os.environ["SERVICE_TOKEN"]
headers = {"Authorization": "Bearer " + token}
answer = requests.get(URL, headers=headers)
logging.info("token has %d characters, port %s", len(token), os.environ.get("PORT"))
logging.error("status %s: %s", answer.status_code, answer.text)
requests.post(URL, data=open("run.log").read(), headers=headers)
