/** The commands of the palette and of the status bar's menu. */

import * as vscode from 'vscode';

import { instruct } from './instruct';
import type { NextEdit } from './nextEdit';
import { install } from './program';
import type { Server } from './server';
import type { Status } from './status';
import type { Switches } from './switches';

/** What `Fill every marker in file` looks for. */
const MARKER = '⟦⟧';

interface Parts {
  context: vscode.ExtensionContext;
  output: vscode.LogOutputChannel;
  server: Server;
  status: Status;
  switches: Switches;
  nextEdit: NextEdit;
}

export function registerCommands(parts: Parts): vscode.Disposable {
  const { context, output, server, status, switches, nextEdit } = parts;
  const say = (on: boolean, where: string): void => {
    status.show();
    vscode.window.setStatusBarMessage(`Niello is ${on ? 'on' : 'off'} ${where}`, 3000);
  };
  const commands: Record<string, () => unknown> = {
    'niello.menu': () => showMenu(status),
    'niello.model.pull': () => server.execute('niello.pullModel'),
    'niello.server.install': async () => (await install(context, output)) && server.start(),
    'niello.server.restart': () => server.start(),
    'niello.cache.clear': () => server.execute('niello.clearCache'),
    'niello.log.show': () => showLog(server, output),
    'niello.toggle.here': () => {
      const document = vscode.window.activeTextEditor?.document;
      if (document) {
        say(switches.toggleHere(document), 'in this file');
      }
    },
    'niello.toggle.language': async () => {
      const document = vscode.window.activeTextEditor?.document;
      if (document) {
        say(await switches.toggleLanguage(document), `for ${document.languageId}`);
      }
    },
    'niello.marker.insert': () =>
      vscode.window.activeTextEditor?.edit((builder) => {
        builder.replace(vscode.window.activeTextEditor!.selection, MARKER);
      }),
    'niello.instruct': () => instruct(server),
    'niello.nextEdit.show': () => nextEdit.show(),
    'niello.nextEdit.accept': () => nextEdit.accept(),
    'niello.nextEdit.dismiss': () => nextEdit.dismiss(),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, callback]) => vscode.commands.registerCommand(name, callback)),
  );
}

async function showMenu(status: Status): Promise<void> {
  const entries = [
    { label: '$(circle-slash) Switch off or on in this file', command: 'niello.toggle.here' },
    { label: '$(code) Switch off or on for this language', command: 'niello.toggle.language' },
    { label: '$(cloud-download) Fetch the model', command: 'niello.model.pull' },
    { label: '$(debug-restart) Restart the server', command: 'niello.server.restart' },
    { label: '$(output) Show the log', command: 'niello.log.show' },
    { label: '$(gear) Settings', command: 'workbench.action.openSettings', argument: 'niello' },
  ];
  const { kind, message } = status.current;
  const placeHolder = `Niello is ${kind}${message && message !== kind ? `: ${message}` : ''}`;
  const chosen = await vscode.window.showQuickPick(entries, { placeHolder });
  if (chosen) {
    await vscode.commands.executeCommand(chosen.command, chosen.argument);
  }
}

async function showLog(server: Server, output: vscode.LogOutputChannel): Promise<void> {
  const file = server.running && (await server.execute('niello.showLog'));
  try {
    await vscode.window.showTextDocument(vscode.Uri.file(String(file ?? '')));
  } catch {
    // No server or no file yet: what the server wrote to its error stream is there.
    output.show();
  }
}
