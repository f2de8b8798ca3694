import pandas as pd
pd.io.common.os.system('id')
# expect 2 py.process
# expect 2 sh.command
