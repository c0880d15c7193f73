// The extension in a real VS Code; the server is a fake with known answers.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { Host, REPOSITORY, until } from './host.mjs';

const PYTHON = process.env.PYTHON ?? 'python3';
const FAKE = [PYTHON, path.join(REPOSITORY, 'tests/e2e/clients_fake_server.py')];
const COMMAND = { 'niello.server.command': FAKE };
const CLASS = 'def f(self):\n    self.entries = []\n    self.items.pop()\n';

let host;
before(async () => {
  const texts = {
    tab: 'def add(a, b):\n    return\n',
    word: 'total = compute()\n',
    line: 'def area(w, h):\nprint()\n',
    kept: 'rows = []\n',
    rest: 'value = max()\n',
    through: 'def add(a, b):\n    return \n',
    cycle: 'def add(a, b):\n    return \n',
    escape: 'def add(a, b):\n    return \n',
    wide: 'greet = "héllo 😀 "\n',
    action: 'x = 1\n',
    instruct: 'x = 1\n',
    next: CLASS,
    other: CLASS,
    several: `${CLASS}    self.items.sort()\n`,
    killed: 'def add(a, b):\n    return \n',
    here: 'def add(a, b):\n    return \n',
    language: 'def add(a, b):\n    return \n',
    marker: 'x = 1\n',
  };
  const files = Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${name}.py`, text]));
  host = await Host.start({ files, settings: COMMAND });
  await host.open('tab.py', 1, 1);
  await host.untilStatus('Niello is ready: default model');
});
after(async () => host?.stop());

test('typing shows ghost text and Tab accepts it', async () => {
  await host.open('tab.py', 2, 11);
  await host.keys(' ');
  await host.untilGhost('a + b');
  await host.keys(['Tab']);
  await host.untilText('tab.py', 'def add(a, b):\n    return a + b\n');
  await host.untilGhost('');
});

test('a word is accepted at a time', async () => {
  await host.open('word.py', 1, 17);
  await host.ask();
  await host.untilGhost('first, second');
  await host.keys(['Control+ArrowRight']);
  await host.untilText('word.py', 'total = compute(first)\n');
  await host.untilGhost(', second');
  await host.keys(['Control+ArrowRight'], ['Control+ArrowRight']);
  await host.untilText('word.py', 'total = compute(first, second)\n');
});

test('a line is accepted at a time', async () => {
  await host.open('line.py', 1, 16);
  await host.ask();
  await host.untilGhost('\n    size = w * h\n    return size');
  // VS Code counts a line break in front as a line of its own.
  await host.keys(['Control+Alt+ArrowRight']);
  await host.untilText('line.py', 'def area(w, h):\n\nprint()\n');
  await host.keys(['Control+Alt+ArrowRight']);
  await host.untilText('line.py', 'def area(w, h):\n    size = w * h\n\nprint()\n');
  await host.keys(['Control+Alt+ArrowRight']);
  await host.untilText('line.py', 'def area(w, h):\n    size = w * h\n    return size\nprint()\n');
});

test('what follows the cursor is kept below several lines', async () => {
  await host.open('kept.py', 1, 9);
  await host.ask();
  await host.untilGhost((ghost) => ghost.includes('1,') && ghost.includes('2,'));
  await host.keys(['Tab']);
  await host.untilText('kept.py', 'rows = [\n    1,\n    2,\n]\n');
});

test('a fill may replace what follows the cursor', async () => {
  await host.open('rest.py', 1, 13);
  await host.ask();
  await host.untilGhost((ghost) => ghost.includes('# clamp'));
  await host.keys(['Tab']);
  await host.untilText('rest.py', 'value = max(low, min(high, x))  # clamp\n');
});

test('typing through keeps the rest', async () => {
  await host.open('through.py', 2, 12);
  await host.ask();
  await host.untilGhost('a + b');
  await host.keys('a +');
  await host.untilGhost(' b');
  await host.keys('x');
  await host.untilGhost('');
});

test('asking brings several to cycle through', async () => {
  await host.open('cycle.py', 2, 12);
  await host.ask();
  await host.untilGhost('a + b');
  await host.keys(['Alt+]']);
  await host.untilGhost('a - b');
  await host.keys(['Alt+]']);
  await host.untilGhost('sum((a, b))');
  await host.keys(['Tab']);
  await host.untilText('cycle.py', 'def add(a, b):\n    return sum((a, b))\n');
});

test('Escape takes ghost text away', async () => {
  await host.open('escape.py', 2, 12);
  await host.ask();
  await host.untilGhost('a + b');
  await host.keys(['Escape']);
  await host.untilGhost('');
});

test('positions hold beyond ASCII', async () => {
  await host.open('wide.py', 1, 1);
  await host.keys(['End'], ['ArrowLeft']);
  await host.ask();
  await host.untilGhost('wörld, привет');
  await host.keys(['Tab']);
  await host.untilText('wide.py', 'greet = "héllo 😀 wörld, привет"\n');
});

test('a code action is applied', async () => {
  await host.open('action.py', 1, 1);
  await host.keys(['Control+.']);
  await host.page.waitForSelector('.action-widget .focused :text("Fill here")');
  await host.keys(['Enter']);
  await host.untilText('action.py', '# filled\nx = 1\n');
});

test('an instruction goes to the server with the chosen edit', async () => {
  await host.open('instruct.py', 1, 1);
  await host.keys(['Alt+i']);
  await host.page.waitForSelector('.quick-input-list :text("Fill here")');
  await host.keys(['Enter']);
  await host.page.waitForSelector('.quick-input-message:has-text("What the model is told")');
  await host.keys('in French', ['Enter']);
  const heard = () => host.heard().filter(({ method }) => method === 'niello.edit');
  await until(() => heard().length > 0, 'the command');
  assert.equal(heard()[0].arguments[0].instruction, 'in French');
  assert.equal(host.read('instruct.py'), 'x = 1\n');
});

test('a next edit is shown, and Tab jumps there and applies it', async () => {
  await host.open('next.py', 1, 1);
  await host.keys(['Alt+n']);
  await until(() => host.decoration('entries'), 'the new text behind the old');
  assert.equal(host.read('next.py'), CLASS);
  await host.keys(['Tab']);
  await host.untilText('next.py', CLASS.replace('items', 'entries'));
});

test('next edits follow each other', async () => {
  await host.open('several.py', 1, 1);
  await host.keys(['Alt+n']);
  for (const line of [3, 4]) {
    await until(() => host.decoration('entries'), `the new text in line ${line}`);
    await host.keys(['Tab']);
    await until(async () => (await host.cursor()).startsWith(`Ln ${line},`), `the cursor in line ${line}`);
  }
  await host.untilText('several.py', `${CLASS}    self.items.sort()\n`.replaceAll('items', 'entries'));
});

test('Escape takes a next edit away, and Tab indents again', async () => {
  await host.open('other.py', 1, 1);
  await host.keys(['Alt+n']);
  await until(() => host.decoration('entries'), 'the new text behind the old');
  await host.keys(['Escape']);
  await until(async () => !(await host.decoration('entries')), 'no preview');
  await host.keys(['Tab']);
  await host.untilText('other.py', `    ${CLASS}`);
});

test('a marker is inserted', async () => {
  await host.open('marker.py', 1, 5);
  await host.command('Niello: Insert a Fill Marker');
  await host.untilText('marker.py', 'x = ⟦⟧1\n');
});

test('a killed server starts again and fills', async () => {
  await host.open('killed.py', 2, 12);
  const [old] = host.serverPids(FAKE[1]);
  process.kill(old, 'SIGKILL');
  await until(() => host.serverPids(FAKE[1]).some((pid) => pid !== old), 'a new server');
  await host.untilStatus('Niello is ready');
  await host.askUntilGhost((ghost) => ghost === 'a + b');
});

test('switching off in a file silences it, and the status says so', async () => {
  await host.open('here.py', 2, 12);
  await host.command('Niello: Switch Off or On in This File');
  await host.untilStatus('switched off for this file');
  await host.ask();
  await host.command('Niello: Switch Off or On in This File');
  await host.untilStatus('Niello is ready');
  await host.untilGhost('');
  await host.ask();
  await host.untilGhost('a + b');
});

test('switching off a language is a setting', async () => {
  await host.open('language.py', 2, 12);
  await host.command('Niello: Switch Off or On for This Language');
  await host.untilStatus('switched off for this file or language');
  const settings = () => JSON.parse(readFileSync(path.join(host.user, 'User', 'settings.json'), 'utf8'));
  await until(() => settings()['niello.languages']?.python === false, 'the setting');
  await host.command('Niello: Switch Off or On for This Language');
  await host.untilStatus('Niello is ready');
});

test('a changed setting reaches the server, and no default does', async () => {
  await host.change({ ...COMMAND, 'niello.inline.debounceMs': 7 });
  await until(
    () => host.heard().some(({ settings }) => settings?.niello?.inline?.debounceMs === 7),
    () => `the setting, but ${JSON.stringify(host.heard())}`,
  );
  const last = host.heard().filter(({ method }) => method === 'settings').at(-1);
  assert.deepEqual(last.settings.niello, { inline: { debounceMs: 7 } });
});

test('an error of the server offers to fetch the model', async () => {
  await host.command('Niello: Clear the Cache'); // to which the fake answers with an error
  await host.page.click('.notification-list-item :text("Fetch the Model")');
  await until(() => host.heard().some(({ method }) => method === 'niello.pullModel'), 'the command');
});

test('the log opens', async () => {
  await host.command('Niello: Show the Log');
  await host.page.waitForSelector('.tab.active[data-resource-name="clients_fake_server.py"]');
});
