import logging
logging.basicConfig(level=logging.INFO, format='%(message)s')
log = logging.getLogger(__name__)
log.info('x %s', 1)
log.exception
h = logging.StreamHandler()
log.addHandler(h)
