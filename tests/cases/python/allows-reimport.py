print('reimport os ', 'do not import os here')
