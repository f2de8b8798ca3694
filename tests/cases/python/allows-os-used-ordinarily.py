import os
import os.path as osp
print(os.getcwd() != '', os.path.join('a', 'b'), osp.exists('x'), os.environ.get('HOME') is None, os.sep, os.name, os.listdir('.') is None, os.cpu_count() is None)
os.makedirs('/tmp/wt-x', exist_ok=True)
for root, dirs, files in os.walk('nothing'):
    print(root)
