import platform
import sys
if sys.platform.startswith('win') or platform.system() == 'Windows':
    print('windows')
else:
    print('other')
