// The page of `cuff ui`: trades the code of its address for a token, then shows what the address
// names. All texts of commands and agents reach the page as text nodes, never as HTML.
import { render } from 'preact';
import { begin } from './data/client.ts';
import { routeAnew } from './data/view.ts';
import { App } from './pages/app.tsx';
import './style/page.css';
import './style/log.css';
import './style/pages.css';
import '@xterm/xterm/css/xterm.css';
import 'uplot/dist/uPlot.min.css';

const place = document.getElementById('app');
if (place !== null) {
  await begin();
  routeAnew();
  render(<App />, place);
}
