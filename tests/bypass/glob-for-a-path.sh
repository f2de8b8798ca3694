cat /e*/sh?dow
# expect 1 any.credentials
# known-miss: which files a pattern of the shell stands for depends on the file system
