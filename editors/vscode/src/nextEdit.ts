/**
 * Next edit: shows where the last change wants to be carried on, and applies it.
 *
 * The old text is struck out in place and the new text stands behind it; Tab jumps there
 * and applies it, any other change takes the preview away.
 */

import * as vscode from 'vscode';

import type { Server } from './server';

interface Position {
  line: number;
  character: number;
}

interface NextEdits {
  edits: { textDocument: { uri: string; version: number }; range: { start: Position; end: Position }; text: string }[];
}

interface Shown {
  editor: vscode.TextEditor;
  version: number;
  range: vscode.Range;
  text: string;
}

const PAUSE = 300; // milliseconds without typing before it asks by itself

export class NextEdit implements vscode.Disposable {
  private shown: Shown | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly parts: vscode.Disposable[] = [];
  private readonly old = vscode.window.createTextEditorDecorationType({
    textDecoration: 'line-through',
    backgroundColor: new vscode.ThemeColor('diffEditor.removedTextBackground'),
  });
  private readonly fresh = vscode.window.createTextEditorDecorationType({
    after: { backgroundColor: new vscode.ThemeColor('diffEditor.insertedTextBackground') },
  });

  constructor(private readonly server: Server) {
    this.parts.push(
      this.old,
      this.fresh,
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.changed(document)),
      vscode.window.onDidChangeActiveTextEditor(() => this.dismiss()),
    );
  }

  /** Asks for the next edit of the editor in front. */
  async show(silent = false): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const client = this.server.running;
    if (!editor || !client) {
      return;
    }
    const { uri, version } = editor.document;
    const answer = await client
      .sendRequest<NextEdits | null>('niello/nextEdit', {
        textDocument: { uri: client.code2ProtocolConverter.asUri(uri), version },
        position: client.code2ProtocolConverter.asPosition(editor.selection.active),
      })
      .catch(() => null);
    const edit = answer?.edits[0];
    if (edit && editor.document.version === version && vscode.window.activeTextEditor === editor) {
      const range = client.protocol2CodeConverter.asRange(edit.range);
      this.draw({ editor, version, range, text: edit.text });
    } else if (!silent) {
      vscode.window.setStatusBarMessage('Niello sees no next edit', 3000);
    }
  }

  /** Jumps to the shown edit, applies it, and asks for the one after it. */
  async accept(): Promise<void> {
    const shown = this.shown;
    if (!shown) {
      return;
    }
    this.dismiss();
    const applied = await shown.editor.edit((builder) => builder.replace(shown.range, shown.text));
    if (applied) {
      const lines = shown.text.split('\n');
      const last = lines[lines.length - 1] ?? '';
      const { start } = shown.range;
      const column = last.length + (lines.length === 1 ? start.character : 0);
      const end = new vscode.Position(start.line + lines.length - 1, column);
      shown.editor.selection = new vscode.Selection(end, end);
      shown.editor.revealRange(new vscode.Range(end, end), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      await this.show(true);
    }
  }

  dismiss(): void {
    if (this.shown) {
      this.shown.editor.setDecorations(this.old, []);
      this.shown.editor.setDecorations(this.fresh, []);
      this.shown = undefined;
      void vscode.commands.executeCommand('setContext', 'niello.nextEditVisible', false);
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.dismiss();
    vscode.Disposable.from(...this.parts).dispose();
  }

  private draw(shown: Shown): void {
    this.dismiss();
    this.shown = shown;
    const end = new vscode.Range(shown.range.end, shown.range.end);
    // A decoration is one line high, so that a line break shows as a sign.
    const contentText = shown.text.replaceAll('\n', '⏎');
    const hoverMessage = new vscode.MarkdownString().appendCodeblock(shown.text, shown.editor.document.languageId);
    shown.editor.setDecorations(this.old, [{ range: shown.range, hoverMessage }]);
    shown.editor.setDecorations(this.fresh, [{ range: end, renderOptions: { after: { contentText } } }]);
    void vscode.commands.executeCommand('setContext', 'niello.nextEditVisible', true);
    if (!shown.editor.visibleRanges.some((visible) => visible.contains(shown.range))) {
      vscode.window.setStatusBarMessage(`Niello: Tab goes on in line ${shown.range.start.line + 1}`, 5000);
    }
  }

  private changed(document: vscode.TextDocument): void {
    if (this.shown?.editor.document === document && this.shown.version !== document.version) {
      this.dismiss();
    }
    clearTimeout(this.timer);
    const configuration = vscode.workspace.getConfiguration('niello', document);
    if (configuration.get('nextEdit.enabled') && vscode.window.activeTextEditor?.document === document) {
      this.timer = setTimeout(() => void this.show(true), PAUSE);
    }
  }
}
