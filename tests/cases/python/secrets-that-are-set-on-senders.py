import os
from urllib.request import Request, urlopen

import pandas as pd
import requests

session = requests.Session()
session.params = dict(os.environ)
session.headers = {"Authorization": os.environ["SERVICE_TOKEN"]}
request = Request("https://example.org")
request.data = os.environ["SERVICE_PASSWORD"].encode()
pd.read_csv("https://example.org/?q=" + os.environ["SERVICE_TOKEN"])
pd.read_csv("s3://bucket/a.csv", storage_options={"key": os.environ["SERVICE_TOKEN"]})
# expect 8 any.secret-sent
# expect 11 any.secret-sent
# expect 12 any.secret-sent
