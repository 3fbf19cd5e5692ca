// The style and the script of the page that `html-log.ts` writes. Constants, because the page only
// allows a style and a script with exactly these bytes: whatever a command printed cannot add one.

export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--dim:#667;--line:#dde;--box:#f6f7f9;
--good:#18794e;--bad:#c62a2f;--late:#a15c00;--mark:#0b68cb}
@media(prefers-color-scheme:dark){:root{--bg:#111418;--fg:#e6e8eb;--dim:#98a2ad;--line:#2a3038;
--box:#191e24;--good:#4cc38a;--bad:#ff6369;--late:#f1a10d;--mark:#6cb6ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1.5rem;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.3rem;margin:0}h2{font-size:1rem;margin:2rem 0 .2rem}
p{margin:.2rem 0;color:var(--dim)}
code,pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
nav{position:sticky;top:0;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;
padding:.75rem 0;background:var(--bg);border-bottom:1px solid var(--line)}
input{flex:1 1 14rem}
input,button{font:inherit;padding:.3rem .7rem;color:inherit;background:var(--box);
border:1px solid var(--line);border-radius:6px}
button{cursor:pointer}
ol{list-style:none;margin:0;padding:0 0 0 1rem;border-left:2px solid var(--line)}
li{position:relative;padding:.35rem 0}
li::before{content:"";position:absolute;left:calc(-1rem - 6px);top:.95rem;width:10px;height:10px;
border-radius:50%;background:var(--good);border:2px solid var(--bg)}
li.bad::before{background:var(--bad)}li.late::before{background:var(--late)}
li.now{outline:2px solid var(--mark);outline-offset:2px;border-radius:6px}
summary{cursor:pointer;display:flex;flex-wrap:wrap;gap:0 .8rem;align-items:baseline}
summary code{flex:1 1 20rem;white-space:pre-wrap;overflow-wrap:anywhere}
summary::before{content:"\\25B8";color:var(--dim)}details[open]>summary::before{content:"\\25BE"}
time,.facts{color:var(--dim);font-variant-numeric:tabular-nums}
.bad .end{color:var(--bad)}.late .end{color:var(--late)}.good .end{color:var(--good)}
pre{margin:.4rem 0;padding:.6rem .8rem;background:var(--box);border:1px solid var(--line);
border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;max-height:32rem;overflow:auto}
pre.err{border-left:3px solid var(--bad)}
[hidden]{display:none!important}
`;

export const SCRIPT = `
(() => {
  const find = document.getElementById('find'), play = document.getElementById('play');
  const open = document.getElementById('open'), said = document.getElementById('said');
  const entries = [...document.querySelectorAll('li')];
  const sections = [...document.querySelectorAll('section')];
  const many = (n) => n + (n === 1 ? ' command' : ' commands');
  let timer = 0, next = 0, opened = false;
  const tidy = () => {
    for (const one of sections) one.hidden = !one.querySelector('li:not([hidden])');
  };
  const show = () => {
    const wanted = find.value.toLowerCase();
    let count = 0;
    for (const one of entries) {
      one.hidden = wanted !== '' && !one.textContent.toLowerCase().includes(wanted);
      if (!one.hidden) count += 1;
    }
    tidy();
    said.textContent = wanted === '' ? many(entries.length) : many(count) + ' of ' + entries.length;
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = 'Play';
  };
  const step = () => {
    for (const one of document.querySelectorAll('li.now')) one.classList.remove('now');
    const one = entries[next];
    if (!one) { next = 0; stop(); return; }
    one.hidden = false;
    one.classList.add('now');
    tidy();
    one.querySelector('details').open = true;
    one.scrollIntoView({ block: 'nearest' });
    next += 1;
    said.textContent = next + ' of ' + entries.length;
  };
  play.onclick = () => {
    if (timer) { stop(); return; }
    if (next === 0) {
      find.value = '';
      for (const one of entries) { one.hidden = true; one.querySelector('details').open = false; }
      tidy();
    }
    play.textContent = 'Pause';
    step();
    timer = setInterval(step, 1200);
  };
  open.onclick = () => {
    opened = !opened;
    for (const one of document.querySelectorAll('details')) one.open = opened;
    open.textContent = opened ? 'Close all' : 'Open all';
  };
  let wait = 0;
  find.oninput = () => {
    stop();
    next = 0;
    clearTimeout(wait);
    wait = setTimeout(show, 120);
  };
  show();
})();
`;
