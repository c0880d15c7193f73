/** Where Niello is switched off: for a file until the window closes, for a language by setting. */

import * as vscode from 'vscode';

export class Switches {
  private readonly filesOff = new Set<string>();

  isOff(document: vscode.TextDocument): boolean {
    return this.filesOff.has(document.uri.toString()) || this.languages(document)[document.languageId] === false;
  }

  toggleHere(document: vscode.TextDocument): boolean {
    const uri = document.uri.toString();
    if (!this.filesOff.delete(uri)) {
      this.filesOff.add(uri);
    }
    return !this.filesOff.has(uri);
  }

  async toggleLanguage(document: vscode.TextDocument): Promise<boolean> {
    const languages = this.languages(document);
    const on = languages[document.languageId] === false;
    await vscode.workspace
      .getConfiguration('niello', document)
      .update('languages', { ...languages, [document.languageId]: on }, vscode.ConfigurationTarget.Global);
    return on;
  }

  private languages(document: vscode.TextDocument): Record<string, boolean> {
    return vscode.workspace.getConfiguration('niello', document).get<Record<string, boolean>>('languages') ?? {};
  }
}
