import argparse
import hashlib
import os
from dataclasses import dataclass
from types import SimpleNamespace

import requests

URL = "https://example.org/"
token = os.environ["SERVICE_TOKEN"]

settings = {"url": URL}
settings.update({"token": token, "page": 1})
requests.get(settings["url"], params={"page": settings["page"]})
options = dict(url=URL, token=token)
requests.get(options["url"], headers={"Authorization": options["token"]})
space = SimpleNamespace(url=URL, token=token)
requests.get(space.url, headers={"Authorization": space.token})
parser = argparse.ArgumentParser()
parser.add_argument("--token", default=token)
parser.add_argument("--query", default="x")
args = parser.parse_args()
requests.get(URL, params={"q": args.query}, headers={"Authorization": args.token})


@dataclass
class Config:
    url: str
    token: str


config = Config(URL, token)
requests.get(config.url, headers={"Authorization": config.token})


class Client:
    def __init__(self, url, token):
        self.url = url
        self.token = token
        self.sent = []

    def get(self, path):
        return requests.get(self.url + path, headers={"Authorization": self.token}).json()

    def send(self, item):
        self.sent.append(item)
        return requests.post(self.url, json=vars(item), headers={"Authorization": self.token})


class Item:
    def __init__(self, name):
        self.name = name


client = Client(URL, token)
client.send(Item("x"))
requests.post(URL, json=client.get("rows"))
requests.post(URL, json=client.sent)


class Auth(requests.auth.AuthBase):
    def __init__(self, token):
        self.token = token


session = requests.Session()
session.auth = Auth(token)
session.post(URL, json={"a": 1})

# keys of parts stay keys
servers = {"a": {"url": URL}}
servers["a"]["token"] = token
requests.get(servers["a"]["url"], headers={"Authorization": servers["a"]["token"]})
clients = [Client(URL, "")]
for each in clients:
    each.token = token
for each in clients:
    requests.get(each.url, headers={"Authorization": each.token})
for name, server in servers.items():
    server["token"] = token
for name, server in servers.items():
    requests.get(server["url"], params={"n": name}, headers={"Authorization": server["token"]})

# a hash does not hold what is hashed
digest = hashlib.sha256()
digest.update(token.encode())
requests.get(URL, params={"sign": digest.hexdigest()})
