import base64
import codecs
import json
s = base64.b64encode(b'hello').decode()
print(base64.b64decode(s), bytes.fromhex('00ff'), codecs.encode('abc', 'rot13'), 'é'.encode('utf-8'), json.dumps({'a': [1]}), int('ff', 16))
