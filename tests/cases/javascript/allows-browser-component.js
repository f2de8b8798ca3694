class MyElement extends HTMLElement {
  static observedAttributes = ['name'];
  constructor() { super(); this.attachShadow({ mode: 'open' }); }
  connectedCallback() { this.render(); }
  attributeChangedCallback(name, before, after) { this[name] = after; this.render(); }
  render() { this.shadowRoot.innerHTML = `<p>${this.getAttribute('name')}</p>`; }
}
customElements.define('my-element', MyElement);
