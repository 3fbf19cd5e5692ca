// What esbuild does with an imported style sheet: it becomes part of app.css.
declare module '*.css';
