const t = setTimeout;
t('console.log(1)');
// expect 2 js.dynamic-code
