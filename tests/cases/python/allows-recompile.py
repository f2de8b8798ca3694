import re
p = re.compile('a+')
p.match('aa')
