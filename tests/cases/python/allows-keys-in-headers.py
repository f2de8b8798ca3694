import os, requests, httpx
from requests.auth import HTTPBasicAuth
from openai import OpenAI
h = {'Authorization': f'Bearer {os.environ["OPENAI_API_KEY"]}', 'Content-Type': 'application/json'}
requests.post(os.environ['SERVICE_URL'], headers=h, json={'q': 'x', 'lang': os.environ.get('LANG')})
requests.get(u, auth=HTTPBasicAuth('me', os.environ['PASSWORD']))
requests.get(u, auth=('me', os.getenv('PASSWORD')))
s = requests.Session(); s.headers.update({'Authorization': 'Bearer ' + os.environ['TOKEN']}); s.get(u)
c = httpx.Client(headers={'X-API-Key': os.getenv('API_KEY')}); c.get(u)
OpenAI(api_key=os.environ['OPENAI_API_KEY'])
requests.get(u, timeout=int(os.environ.get('TIMEOUT', 3)), proxies={'http': os.environ.get('HTTP_PROXY')})
r = requests.get(u, params={'page': 1}); print(r.text)
