requestAnimationFrame(()=>setTimeout(()=>import("./page.4HQ6CQR4.js")));
