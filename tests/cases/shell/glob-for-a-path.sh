cat /e*/sh?dow
# expect 1 any.credentials
