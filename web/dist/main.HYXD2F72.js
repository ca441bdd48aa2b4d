requestAnimationFrame(()=>setTimeout(()=>import("./page.HTJNNSN4.js")));
