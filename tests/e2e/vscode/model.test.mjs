// The extension in a real VS Code with the real server and its default model: what is
// shown is what is accepted.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { Host, REPOSITORY, until } from './host.mjs';

const PYTHON = process.env.PYTHON ?? path.join(REPOSITORY, '.venv/bin/python');
const SERVER = ['env', `PYTHONPATH=${path.join(REPOSITORY, 'src')}`, PYTHON, '-m', 'niello', 'serve'];
const SOME = (ghost) => ghost.trim() !== '';

const STACK = `class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return`;
const LAST = STACK.split('\n').length;

let host;
before(async () => {
  // A missing model is said here and not by a time that runs out.
  execFileSync(SERVER[0], [...SERVER.slice(1, -1), 'doctor'], { stdio: 'ignore' });
  const files = {
    'tab.py': STACK,
    'word.py': STACK,
    'line.py': 'def mean(numbers):\n    total = 0',
    'kept.py': `${STACK} self.items.pop()\n\n\nstack = Stack()\nstack.push()\nprint(stack.items)\n`,
    'cycle.py': '# Print a greeting.\nprint()\n',
    'action.py': `${STACK} ⟦⟧\n`,
    'killed.py': STACK,
    'setting.py': STACK,
  };
  host = await Host.start({ files, settings: { 'niello.server.command': SERVER } });
  await host.open('tab.py', 1, 1);
  await host.untilStatus('Niello is ready');
});
after(async () => host?.stop());

test('Tab writes exactly the ghost text', async () => {
  await host.open('tab.py', LAST, 15);
  await host.keys(' ');
  const ghost = await host.untilGhost(SOME);
  await host.keys(['Tab']);
  await host.untilText('tab.py', `${STACK} ${ghost}`);
});

test('a word is the head of the ghost text', async () => {
  await host.open('word.py', LAST, 15);
  await host.keys(' ');
  const ghost = await host.untilGhost(SOME);
  await until(() => host.read('word.py') === `${STACK} `, 'the space on the disk');
  await host.keys(['Control+ArrowRight']);
  await until(() => host.read('word.py') !== `${STACK} `, 'an accepted word');
  const word = host.read('word.py').slice(STACK.length + 1);
  assert.ok(ghost.startsWith(word) && word !== ghost, `${word} of ${ghost}`);
  await host.untilGhost(ghost.slice(word.length));
});

test('a line of a body is accepted at a time', async () => {
  await host.open('line.py', 2, 14);
  await host.keys(['Enter']);
  const ghost = await host.untilGhost((text) => text.trim().includes('\n'));
  const before = host.read('line.py');
  await host.keys(['Control+Alt+ArrowRight']);
  await until(() => host.read('line.py').trimEnd() !== before.trimEnd(), 'an accepted line');
  assert.ok(host.read('line.py').includes(ghost.split('\n')[0]));
});

test('what follows the cursor is kept', async () => {
  await host.open('kept.py', LAST + 4, 12);
  await host.ask();
  const ghost = await host.untilGhost(SOME);
  const before = host.read('kept.py');
  await host.keys(['Tab']);
  await host.untilText('kept.py', before.replace('stack.push()', `stack.push(${ghost})`));
});

test('asking brings candidates to cycle through', async () => {
  await host.open('cycle.py', 2, 7);
  await host.ask();
  const first = await host.untilGhost(SOME);
  await host.keys(['Alt+]']);
  const ghost = await host.untilGhost((text) => SOME(text) && text !== first);
  await host.keys(['Tab']);
  await host.untilText('cycle.py', `# Print a greeting.\nprint(${ghost})\n`);
});

test('a code action fills a marker', async () => {
  await host.open('action.py', LAST, 17);
  await host.keys(['Control+.']);
  await host.page.waitForSelector('.action-widget .focused');
  while (!(await host.page.textContent('.action-widget .focused')).includes('marker')) {
    await host.keys(['ArrowDown']);
  }
  await host.keys(['Enter']);
  await until(() => !host.read('action.py').includes('⟦⟧'), 'the filled marker');
  assert.ok(host.read('action.py').startsWith(STACK));
});

test('a killed server starts again and fills', async () => {
  const pattern = '-m niello serve';
  const old = host.serverPids(pattern);
  for (const pid of old) {
    process.kill(pid, 'SIGKILL');
  }
  await until(() => host.serverPids(pattern).some((pid) => !old.includes(pid)), 'a new server');
  await host.untilStatus('Niello is ready');
  await host.open('killed.py', LAST, 15);
  await host.keys(' ');
  await host.askUntilGhost(SOME);
});

test('a changed setting holds without a restart', async () => {
  const pids = host.serverPids('-m niello serve');
  await host.change({ 'niello.server.command': SERVER, 'niello.enabled': false });
  await host.open('setting.py', LAST, 15);
  // VS Code takes a moment to see the file, so that the key is typed until it has.
  await until(
    async () => {
      await host.keys(' ');
      // VS Code asks only once the keys rest for a moment.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const said = (await host.status()).includes('switched off (setting enabled)');
      await host.keys(['Backspace']);
      return said;
    },
    async () => `that it is off, but ${await host.status()}`,
  );
  await host.keys(' ');
  await host.untilGhost('');
  assert.deepEqual(host.serverPids('-m niello serve'), pids);
});
