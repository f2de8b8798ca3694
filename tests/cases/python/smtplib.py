import smtplib
# expect 1 py.socket
