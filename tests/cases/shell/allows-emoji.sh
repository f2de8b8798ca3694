echo ⚠️ careful
printf "%s\n" ✅ ❤️ 👩‍💻 ❤️‍🔥 1️⃣ #️⃣ ™️
