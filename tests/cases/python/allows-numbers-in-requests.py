import http.client
import requests
c = http.client.HTTPConnection("api.example.com", 80, timeout=16)
d = http.client.HTTPSConnection("api.example.com", 1040)
requests.get("https://api.example.com/a", timeout=1024, params={"n": 80, "m": 16})
# expect 1 py.http-client
# expect 2 py.http-client
