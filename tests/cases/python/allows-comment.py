# import subprocess
'''import subprocess'''
x = 'subprocess'
