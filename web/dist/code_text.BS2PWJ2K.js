import{a}from"./chunk.LQJ3ARVW.js";export{a as statusText};
