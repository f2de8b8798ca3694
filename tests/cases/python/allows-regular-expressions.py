import re
word = re.compile(r'\w+')
print(word.findall('a b'), re.compile('a').sub('b', 'aa'))
for m in word.finditer('x y'):
    print(m.group(0), m.span())
