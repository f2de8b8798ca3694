interface Props { translate: (string) => string, order: (number, string) => void }
type Visit = ( any ) => void;
const lengthOf = (string) => string.length;
const props: Props = { translate: (s) => s.toUpperCase(), order: () => {} };
console.log(props.translate("a"), lengthOf("abc"));
