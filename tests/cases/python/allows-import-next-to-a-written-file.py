import utils
open('utils.py').read()
open('out.py', 'w').write(utils.render())
