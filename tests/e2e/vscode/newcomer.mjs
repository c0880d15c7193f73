// Times a newcomer's way in a real VS Code: from the installed extension, with no server
// and no model on the machine, to the first suggestion. No step but the first needs a
// terminal. `PACKAGE=path-or-name node tests/e2e/vscode/newcomer.mjs`

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Host, REPOSITORY, until } from './host.mjs';

const STEPS = [];
let last = Date.now();
function step(what) {
  const now = Date.now();
  STEPS.push([what, (now - last) / 1000]);
  console.log(`${((now - last) / 1000).toFixed(1).padStart(7)} s  ${what}`);
  last = now;
}

const home = mkdtempSync(path.join(tmpdir(), 'niello-newcomer-'));
process.env.NIELLO_HOME = home;
const files = { 'stack.py': 'class Stack:\n    def __init__(self):\n        self.items = []\n\n    def pop(self):\n        return' };
const settings = { 'niello.server.package': process.env.PACKAGE ?? REPOSITORY };
const host = await Host.start({ files, settings });
try {
  step('install the extension and open VS Code (the step with a terminal)');
  await host.page.click('.notification-list-item :text("Install")', { timeout: 60_000 });
  step('press Install when the extension asks for its server');
  const before = await host.status();
  await until(
    async () => {
      const status = await host.status();
      return status !== before && status.startsWith('Niello is error');
    },
    async () => `the server's word on the model, but ${await host.status()}`,
  );
  step('wait: environment and server are installed; the status says that the model is missing');
  await host.page.click('.notification-list-item :text("Fetch the Model")');
  await host.untilStatus('Niello is ready');
  step('press Fetch the Model, and wait until the status is ready');
  await host.open('stack.py', 6, 15);
  await host.keys(' ');
  await host.untilGhost((ghost) => ghost.trim() !== '');
  step('open a file, type, see the first suggestion');
  const total = STEPS.reduce((sum, [, seconds]) => sum + seconds, 0);
  console.log(`${total.toFixed(1).padStart(7)} s  in all`);
} finally {
  await host.page.screenshot({ path: process.env.NIELLO_SHOT ?? '/dev/null', type: 'png' }).catch(() => undefined);
  await host.stop();
  rmSync(home, { recursive: true, force: true });
}
