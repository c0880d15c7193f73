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

interface Edit {
  range: vscode.Range;
  text: string;
}

/** The edits that are left for a version of a document; the first is on the page. */
interface Shown {
  editor: vscode.TextEditor;
  version: number;
  edits: [Edit, ...Edit[]];
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
    const edits = (answer?.edits ?? []).map(({ range, text }) => ({
      range: client.protocol2CodeConverter.asRange(range),
      text,
    }));
    if (hasSome(edits) && editor.document.version === version && vscode.window.activeTextEditor === editor) {
      this.draw({ editor, version, edits });
    } else if (!silent) {
      vscode.window.setStatusBarMessage('Niello sees no next edit', 3000);
    }
  }

  /** Jumps to the shown edit, applies it, and shows the one after it. */
  async accept(): Promise<void> {
    if (!this.shown) {
      return;
    }
    const { editor, edits } = this.shown;
    const [edit, ...others] = edits;
    this.dismiss();
    if (await editor.edit((builder) => builder.replace(edit.range, edit.text))) {
      const end = endOf(edit);
      editor.selection = new vscode.Selection(end, end);
      editor.revealRange(new vscode.Range(end, end), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      const left = others.map((other) => ({ range: shifted(other.range, edit), text: other.text }));
      if (hasSome(left)) {
        this.draw({ editor, version: editor.document.version, edits: left });
      }
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
    const [{ range, text }] = shown.edits;
    const end = new vscode.Range(range.end, range.end);
    // A decoration is one line high, so that a line break shows as a sign.
    const contentText = text.replaceAll('\n', '⏎');
    const hoverMessage = new vscode.MarkdownString().appendCodeblock(text, shown.editor.document.languageId);
    shown.editor.setDecorations(this.old, [{ range, hoverMessage }]);
    shown.editor.setDecorations(this.fresh, [{ range: end, renderOptions: { after: { contentText } } }]);
    void vscode.commands.executeCommand('setContext', 'niello.nextEditVisible', true);
    if (!shown.editor.visibleRanges.some((visible) => visible.contains(range))) {
      vscode.window.setStatusBarMessage(`Niello: Tab goes on in line ${range.start.line + 1}`, 5000);
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

function hasSome(edits: Edit[]): edits is [Edit, ...Edit[]] {
  return edits.length > 0;
}

/** Where the text of an applied edit ends. */
function endOf({ range, text }: Edit): vscode.Position {
  const lines = text.split('\n');
  const last = lines[lines.length - 1] ?? '';
  const column = last.length + (lines.length === 1 ? range.start.character : 0);
  return new vscode.Position(range.start.line + lines.length - 1, column);
}

/** Where a range lies after an edit elsewhere in the document. */
function shifted(range: vscode.Range, edit: Edit): vscode.Range {
  const before = edit.range.end;
  const after = endOf(edit);
  const shift = (position: vscode.Position): vscode.Position => {
    if (position.isBefore(before)) {
      return position;
    }
    const sameLine = position.line === before.line ? after.character - before.character : 0;
    return position.translate(after.line - before.line, sameLine);
  };
  return new vscode.Range(shift(range.start), shift(range.end));
}
