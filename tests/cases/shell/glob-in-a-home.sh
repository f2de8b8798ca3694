cat ~/.ss*/*
# expect 1 any.credentials
