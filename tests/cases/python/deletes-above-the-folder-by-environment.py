import os
import shutil
shutil.rmtree(os.environ["PWD"] + "/..")
shutil.rmtree(os.path.dirname(os.getcwd()))
shutil.rmtree(f"{os.getenv('HOME')}/..")
# expect 3 py.open-outside
# expect 4 py.open-outside
# expect 5 py.open-outside
