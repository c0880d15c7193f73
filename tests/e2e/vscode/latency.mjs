// Measures a keystroke to ghost text in a real VS Code with the real server and model, and
// takes the pictures of docs/pictures and of the walkthrough on the way.
// `node tests/e2e/vscode/latency.mjs`
//
// The time runs in the page, from the key's own event to the first frame's worth of DOM
// that holds ghost text, the server's wait for a pause in typing included.

import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { Host, REPOSITORY } from './host.mjs';

const PYTHON = process.env.PYTHON ?? path.join(REPOSITORY, '.venv/bin/python');
const SERVER = ['env', `PYTHONPATH=${path.join(REPOSITORY, 'src')}`, PYTHON, '-m', 'niello', 'serve'];
const PLACES = JSON.parse(readFileSync(path.join(REPOSITORY, 'tests/e2e/clients_places.json'), 'utf8'));
const PICTURES = path.join(REPOSITORY, 'docs/pictures');
const WALKTHROUGH = path.join(REPOSITORY, 'editors/vscode/walkthrough');
const SIZE = { width: 900, height: 700 }; // high enough for all files in the explorer
const TYPED = 8; // letters that are typed before the key that is measured
const QUIET = 6000; // milliseconds after which a place is taken to have no suggestion

// Starts a watch in the page that ends with the first ghost text after the next key.
function watch(page) {
  return page.evaluate((quiet) => {
    window.nielloTime = new Promise((resolve) => {
      window.addEventListener(
        'keydown',
        () => {
          const start = performance.now();
          const look = () => {
            if (document.querySelector('.view-line [class*="ghost-text-decoration"], .suggest-preview-text')) {
              observer.disconnect();
              resolve(performance.now() - start);
            }
          };
          const observer = new MutationObserver(look);
          observer.observe(document.body, { subtree: true, childList: true, attributes: true });
          setTimeout(() => resolve(null), quiet);
        },
        { capture: true, once: true },
      );
    });
  }, QUIET);
}

const files = Object.fromEntries(PLACES.map(([name, text]) => [name, text.slice(0, -TYPED)]));
const settings = { 'niello.server.command': SERVER, 'editor.autoIndent': 'none' };
const host = await Host.start({ files, settings, size: SIZE });
const times = [];
try {
  await host.open(PLACES[0][0], 1, 1);
  await host.untilStatus('Niello is ready');
  for (const [name, text, key] of PLACES) {
    const lines = files[name].split('\n');
    await host.open(name, lines.length, lines.at(-1).length + 1);
    // As a person types, so that the server is as warm as it is in use.
    await host.page.keyboard.type(text.slice(-TYPED), { delay: 120 });
    await host.keys(['Escape']);
    await host.untilGhost('');
    await watch(host.page);
    await host.keys(key);
    const took = await host.page.evaluate(() => window.nielloTime);
    console.log(name.padEnd(10), took === null ? 'nothing shown' : `${Math.round(took)} ms`);
    if (took !== null) {
      times.push(took);
    }
    if (name === 'stack.py' && took !== null) {
      mkdirSync(PICTURES, { recursive: true });
      await host.command('View: Toggle Primary Side Bar Visibility').catch(() => undefined);
      await host.keys(['Escape']);
      await host.ask();
      await host.untilGhost((ghost) => ghost.trim() !== '');
      await host.page.setViewportSize({ width: 900, height: 420 });
      await host.page.screenshot({ path: path.join(PICTURES, 'vscode.png') });
      const clip = { x: 48, y: 36, width: 560, height: 240 };
      await host.page.screenshot({ path: path.join(WALKTHROUGH, 'ghost.png'), clip });
      await host.page.setViewportSize(SIZE);
      await host.command('View: Toggle Primary Side Bar Visibility').catch(() => undefined);
    }
  }
  times.sort((a, b) => a - b);
  const at = (share) => Math.round(times[Math.min(Math.floor(times.length * share), times.length - 1)]);
  console.log(`shown ${times.length} of ${PLACES.length}, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
} finally {
  await host.stop();
}
