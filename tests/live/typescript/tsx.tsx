const React = { createElement: (type: any, props: any, ...children: any[]): string => `<${typeof type === 'function' ? type(props) : type}${props ? JSON.stringify(props) : ''}>${children.join('')}`, Fragment: 'fragment' };
const Name = (props: { who: string }) => <b>{props.who}</b>;
console.log(<div id="x"><Name who="me" />{1 + 1}<></></div>);
