import _ from 'lodash-es'; _.invokeMap([_], 'template', t);
// expect 1 js.dynamic-code
