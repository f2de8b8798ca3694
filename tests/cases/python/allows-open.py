with open('out.csv','w') as f:
    f.write('x')
open('/tmp/x','wb')
