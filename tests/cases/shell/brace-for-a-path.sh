cat /etc/{shadow,gshadow}
# expect 1 any.credentials
