import os
os.environ['OMP_NUM_THREADS'] = '1'
os.environ['PYTHONHASHSEED'] = '0'
os.environ.setdefault('MPLBACKEND', 'Agg')
