import os

import requests

URL = "https://example.org/"
rows = [{"a": 1}, {"a": 2}]
for i, row in enumerate(rows):
    row["token"] = os.environ["SERVICE_TOKEN"]
requests.post(URL, json=rows)
requests.post(URL, json=[row["token"] for row in rows])
users = {"x": {"a": 1}}
for user in users.values():
    user["token"] = os.environ["SERVICE_TOKEN"]
requests.post(URL, json=users)
requests.post(URL, data=users["x"]["token"])
requests.post(URL, data=str(users["x"]["a"]))
# expect 9 any.secret-sent
# expect 10 any.secret-sent
# expect 14 any.secret-sent
# expect 15 any.secret-sent
