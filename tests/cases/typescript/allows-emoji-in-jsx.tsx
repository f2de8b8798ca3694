const Warning = () => <p>⚠️ x ❤️ 👩‍💻</p>;
console.log(Warning);
