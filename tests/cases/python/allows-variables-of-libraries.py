import os
os.environ['CUDA_VISIBLE_DEVICES'] = '0'
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ['PATH'] += ':/usr/local/cuda/bin'
os.environ["PATH"] += os.pathsep + r"C:\Program Files\Graphviz\bin"
os.environ['PYTHONHASHSEED'] = str(42)
os.environ['PYTHONWARNINGS'] = 'ignore'
os.environ.setdefault('MPLCONFIGDIR', '/tmp/mpl')
os.environ.update({'OMP_NUM_THREADS': '1'})
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['QT_QPA_PLATFORM'] = 'offscreen'
os.environ['SDL_VIDEODRIVER'] = 'dummy'
os.environ['JAVA_HOME'] = '/usr/lib/jvm/java-8-openjdk-amd64'
os.environ['HF_HOME'] = './cache'
os.environ['TZ'] = 'UTC'
print(os.environ['PATH'].split(':'), os.getenv('EDITOR', 'vi'))
