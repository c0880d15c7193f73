/** Puts the parts of the extension together and starts the server. */

import * as vscode from 'vscode';

import { registerCommands } from './commands';
import { NextEdit } from './nextEdit';
import { offerInstall } from './program';
import { Server } from './server';
import { Status } from './status';
import { Switches } from './switches';

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel('Niello', { log: true });
  const switches = new Switches();
  const isOff = (document: vscode.TextDocument): boolean => switches.isOff(document);
  const status = new Status(isOff);
  const server = new Server(context, output, status, isOff);
  const nextEdit = new NextEdit(server);
  context.subscriptions.push(
    output,
    status,
    server,
    nextEdit,
    registerCommands({ context, output, server, status, switches, nextEdit }),
    vscode.window.onDidChangeActiveTextEditor(() => status.show()),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('niello.server')) {
        await server.start();
      }
      if (event.affectsConfiguration('niello')) {
        status.show();
      }
    }),
  );
  if (!(await server.start()) && (await offerInstall(context, output))) {
    await server.start();
  }
}
