import os
open('/tmp/' + x, 'w')
open('/work' + x, 'w')
open('/'.join([base, 'out', x]), 'w')
open('/workspace/%s' % x, 'w')
open(f'/mnt/{x}', 'w')
open('/%s' % x, 'w')
os.makedirs(f'{d}/a', exist_ok=True)
