/** In-place edits with an instruction, which the model sees as a comment and no file gets. */

import * as vscode from 'vscode';

import type { Server } from './server';

interface Action {
  title: string;
  data?: { edit: string };
}

/** Lets the user choose one of the edits at the selection and say how, and has it done. */
export async function instruct(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const client = server.running;
  if (!editor || !client) {
    void vscode.window.showWarningMessage('Niello is not running.');
    return;
  }
  const actions = await client.sendRequest<Action[] | null>('textDocument/codeAction', {
    textDocument: { uri: client.code2ProtocolConverter.asUri(editor.document.uri) },
    range: client.code2ProtocolConverter.asRange(editor.selection),
    context: { diagnostics: [] },
  });
  const entries = (actions ?? [])
    .filter(({ data }) => data !== undefined && data.edit !== 'next')
    .map(({ title, data }) => ({ label: title, data }));
  if (entries.length === 0) {
    vscode.window.setStatusBarMessage('Niello has nothing to do here', 3000);
    return;
  }
  const chosen = await vscode.window.showQuickPick(entries, { placeHolder: 'What is to be filled' });
  const instruction =
    chosen && (await vscode.window.showInputBox({ prompt: 'What the model is told; it enters no file' }));
  if (chosen && instruction) {
    try {
      await server.execute('niello.edit', { ...chosen.data, instruction });
    } catch (error) {
      void vscode.window.showErrorMessage(`Niello: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
