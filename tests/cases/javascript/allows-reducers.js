const reducer = (state = { n: 0 }, action) => {
  switch (action.type) {
    case 'add': return { ...state, n: state.n + action.by };
    case 'reset': return { ...state, n: 0 };
    default: return state;
  }
};
const createStore = (r) => {
  let state = r(undefined, { type: '@' });
  const subs = new Set();
  return { dispatch(a) { state = r(state, a); subs.forEach((f) => f(state)); }, subscribe(f) { subs.add(f); return () => subs.delete(f); }, get: () => state };
};
const store = createStore(reducer);
store.subscribe((s) => console.log(s.n));
store.dispatch({ type: 'add', by: 2 });
