// A real VS Code in a real browser, with the packaged extension installed, driven by keys.
// What a test sees is what the page shows and what lies on the disk.

import { spawn, execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, writeFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const HOST = process.env.NIELLO_VSCODE_HOST ?? path.join(process.env.HOME, '.cache/niello-vscode-host');
const ENTRY = path.join(HOST, 'node_modules/code-server/out/node/entry.js');
const VSIX = path.join(REPOSITORY, 'editors/vscode/niello.vsix');
const PATIENCE = Number(process.env.PATIENCE ?? 60_000);

const { chromium } = createRequire(path.join(HOST, 'package.json'))('playwright-core');

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.colorTheme': 'Default Dark Modern',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'files.autoSave': 'afterDelay', // so that a test reads the text from the disk
  'files.autoSaveDelay': 50,
  'editor.wordBasedSuggestions': 'off',
  'editor.minimap.enabled': false,
  'git.enabled': false,
  'extensions.ignoreRecommendations': true,
};

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// Polls until something holds; the page is only half of what is waited for.
export async function until(holds, what) {
  const end = Date.now() + PATIENCE;
  let value;
  while (!(value = await holds())) {
    if (Date.now() > end) {
      throw new Error(`never seen: ${typeof what === 'function' ? await what() : what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return value;
}

export class Host {
  // Starts with `files` in the workspace and `settings` beside those of every test.
  static async start({ files, settings = {}, vsix = VSIX, size = { width: 1100, height: 700 } }) {
    const host = new Host();
    host.folder = mkdtempSync(path.join(tmpdir(), 'niello-vscode-'));
    host.workspace = path.join(host.folder, 'work');
    host.user = path.join(host.folder, 'user');
    const extensions = path.join(host.folder, 'extensions');
    for (const folder of [host.workspace, path.join(host.user, 'User'), extensions]) {
      mkdirSync(folder, { recursive: true });
    }
    host.write(files);
    host.set(settings);
    const places = ['--user-data-dir', host.user, '--extensions-dir', extensions];
    execFileSync('node', [ENTRY, ...places, '--install-extension', vsix], { stdio: 'ignore' });
    host.hearsay = path.join(host.folder, 'heard.jsonl');
    writeFileSync(host.hearsay, '');
    const port = await freePort();
    host.server = spawn(
      'node',
      [ENTRY, ...places, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry',
        '--disable-update-check', '--disable-workspace-trust'],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true, // a process group of its own, so that all of it can be ended
        env: { ...process.env, FAKE_SERVER_HEARD: host.hearsay },
      },
    );
    host.log = '';
    for (const stream of [host.server.stdout, host.server.stderr]) {
      stream.on('data', (data) => (host.log += data));
    }
    await until(() => host.log.includes('listening on'), () => `the server\n${host.log}`);
    host.browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu'],
    });
    const permissions = ['clipboard-read', 'clipboard-write'];
    host.page = await (await host.browser.newContext({ viewport: size, permissions })).newPage();
    await host.page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(host.workspace)}`);
    await host.page.waitForSelector('.monaco-workbench .statusbar-item', { timeout: PATIENCE });
    return host;
  }

  async stop() {
    if (process.env.NIELLO_SHOT) {
      await this.page?.screenshot({ path: process.env.NIELLO_SHOT });
    }
    await this.browser?.close();
    try {
      process.kill(-this.server.pid);
    } catch {
      // It has ended by itself.
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  write(files) {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(path.join(this.workspace, name), text);
    }
  }

  read(name) {
    return readFileSync(path.join(this.workspace, name), 'utf8');
  }

  set(settings) {
    const file = path.join(this.user, 'User', 'settings.json');
    writeFileSync(file, JSON.stringify({ ...SETTINGS, ...settings }, null, 2));
  }

  // Changes the user's settings in the editor, as a person would.
  async change(settings) {
    await this.command('Preferences: Open User Settings (JSON)');
    await this.page.waitForSelector('.tab.active[data-resource-name="settings.json"]');
    await this.page.click('.editor-instance .view-lines');
    const text = JSON.stringify({ ...SETTINGS, ...settings });
    await this.keys(['Control+A']);
    // Pasted, since what is typed there is completed and so changed.
    await this.page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
    await this.keys(['Control+V']);
    await this.keys(['Control+S']);
    const file = path.join(this.user, 'User', 'settings.json');
    await until(() => readFileSync(file, 'utf8') === text, () => `the settings, but ${readFileSync(file, 'utf8')}`);
  }

  // Types keys: a string is typed, an array of one string is a key or chord.
  async keys(...sequence) {
    for (const part of sequence) {
      if (Array.isArray(part)) {
        await this.page.keyboard.press(part[0]);
      } else {
        await this.page.keyboard.type(part);
      }
    }
  }

  // Opens a file from the explorer and goes to a place, both counted from 1.
  async open(name, line, column) {
    await this.page.dblclick(`.explorer-folders-view .monaco-list-row[aria-label^="${name}"]`);
    await this.page.waitForSelector(`.tab.active[data-resource-name="${name}"]`);
    const inEditor = () => this.page.evaluate(() => !!document.activeElement?.closest('.editor-instance'));
    await until(inEditor, 'the focus in the editor');
    await this.keys(['Control+G']);
    await this.page.waitForSelector('.quick-input-widget input');
    await this.keys(`${line}:${column}`, ['Enter']);
    await until(inEditor, 'the focus back in the editor');
  }

  // Runs a command of the palette by its title.
  async command(title) {
    await this.keys(['F1']);
    await this.page.waitForSelector('.quick-input-widget input');
    await this.keys(title);
    await this.page.waitForSelector('.quick-input-list .monaco-list-row.focused');
    await until(
      async () => (await this.page.textContent('.quick-input-list .monaco-list-row.focused')).includes(title),
      `the command ${title}`,
    );
    await this.keys(['Enter']);
  }

  // The ghost text on the page, its rows joined by newlines.
  ghost() {
    return this.page.evaluate(() => {
      const plain = (text) => text.replaceAll('\u00a0', ' ').replaceAll('\u200b', '');
      const inline = [...document.querySelectorAll('.view-line [class*="ghost-text-decoration"]')];
      const rows = [...document.querySelectorAll('.suggest-preview-text .view-line, .ghost-text-view-zone .view-line')];
      const first = plain(inline.map((part) => part.textContent).join(''));
      return [first, ...rows.map((row) => plain(row.textContent).trimEnd())].join('\n');
    });
  }

  async untilGhost(wanted) {
    const fits = typeof wanted === 'string' ? (ghost) => ghost === wanted : wanted;
    return until(
      async () => {
        const ghost = await this.ghost();
        return fits(ghost) && { ghost };
      },
      async () => `ghost text ${wanted}, but ${JSON.stringify(await this.ghost())}`,
    ).then(({ ghost }) => ghost);
  }

  async untilText(name, wanted) {
    await until(
      () => this.read(name) === wanted,
      () => `${JSON.stringify(wanted)}, but ${JSON.stringify(this.read(name))}`,
    );
  }

  // Asks for suggestions by key, as for any other provider of VS Code.
  async ask() {
    await this.keys(['Alt+\\']);
  }

  // Asks again until something is shown: a server that still starts answers with nothing,
  // and the status may be that of the one before it.
  async askUntilGhost(fits) {
    return until(
      async () => {
        await this.ask();
        const patience = Date.now() + 5000; // a new question ends the one before it
        while (Date.now() < patience && !fits(await this.ghost())) {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        return fits(await this.ghost());
      },
      async () => `ghost text, but ${JSON.stringify(await this.ghost())}`,
    );
  }

  // Whether a text stands on the page as a decoration, which is no part of the document.
  decoration(text) {
    return this.page.evaluate((wanted) => {
      const spans = [...document.querySelectorAll('.view-line span[class*="ced-"]')];
      return spans.some((span) => getComputedStyle(span, '::after').content.includes(wanted));
    }, text);
  }

  // Where the cursor is, as the status bar says.
  cursor() {
    return this.page.textContent('[id="status.editor.selection"]');
  }

  // What the fake server wrote down of the messages it heard.
  heard() {
    const rows = readFileSync(this.hearsay, 'utf8').split('\n').filter(Boolean);
    return rows.map((row) => JSON.parse(row));
  }

  // What the item in the status bar says to a reader, its reason included.
  status() {
    return this.page.evaluate(() => {
      const item = document.querySelector('[id^="niello.niello"]');
      return item ? (item.querySelector('[aria-label]') ?? item).getAttribute('aria-label') : '';
    });
  }

  async untilStatus(part) {
    await until(
      async () => (await this.status())?.includes(part),
      async () => `status ${part}, but ${await this.status()}`,
    );
  }

  // The language server's processes that this host started.
  serverPids(pattern) {
    const table = execFileSync('ps', ['-e', '-o', 'pid=,pgid=,args='], { encoding: 'utf8' });
    return table
      .split('\n')
      .map((row) => row.trim().match(/^(\d+)\s+(\d+)\s+(.*)$/))
      .filter((row) => row && Number(row[2]) === this.server.pid && row[3].includes(pattern))
      .map((row) => Number(row[1]));
  }
}
