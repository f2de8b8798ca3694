import os
import threading

import requests

URL = "https://example.org/"
TOKEN = os.environ["SERVICE_TOKEN"]


def run(callback):
    callback(TOKEN)


run(lambda value: requests.post(URL, data=value))


def send(value):
    requests.post(URL, data=value)


run(send)


def post(value, name):
    requests.post(URL, data=value)
    requests.post(URL, data=name)


threading.Thread(target=post, args=(TOKEN, "x")).start()


def ask(callback):
    callback("x")


ask(lambda value: requests.post(URL, data=value, headers={"Authorization": TOKEN}))
# expect 14 any.secret-sent
# expect 18 any.secret-sent
# expect 25 any.secret-sent
