{ ls; touch x; }
# expect 1 sh.command
