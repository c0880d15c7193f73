/** The item in the status bar: what the server says of itself, and why. */

import * as vscode from 'vscode';

import { ownSetting } from './settings';

/** The `niello/status` notification. */
export interface ServerStatus {
  kind: 'loading' | 'ready' | 'busy' | 'disabled' | 'error';
  message: string;
  percent?: number;
  /** The only document it is about. */
  uri?: string;
}

const ICONS = {
  loading: '$(loading~spin)',
  ready: '$(sparkle)',
  busy: '$(sync~spin)',
  disabled: '$(circle-slash)',
  error: '$(error)',
};

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('niello.status', vscode.StatusBarAlignment.Right, 100);
  private last: ServerStatus = { kind: 'disabled', message: 'the server is not running' };

  constructor(private readonly isOff: (document: vscode.TextDocument) => boolean) {
    this.item.name = 'Niello';
    this.item.command = 'niello.menu';
    this.show();
  }

  set(status: ServerStatus): void {
    this.last = status;
    void vscode.commands.executeCommand('setContext', 'niello.ready', status.kind === 'ready');
    this.show();
  }

  /** What holds for the document in front. */
  get current(): ServerStatus {
    const document = vscode.window.activeTextEditor?.document;
    if (document && this.isOff(document)) {
      return { kind: 'disabled', message: 'switched off for this file or language' };
    }
    if (this.last.uri && this.last.uri !== document?.uri.toString()) {
      return { kind: 'ready', message: 'ready' };
    }
    return this.last;
  }

  show(): void {
    const { kind, message, percent } = this.current;
    const progress = percent === undefined ? '' : ` ${percent}%`;
    this.item.text = `${ICONS[kind]} Niello${progress}`;
    this.item.tooltip = `Niello is ${kind}${message && message !== kind ? `: ${message}` : ''}`;
    this.item.accessibilityInformation = { label: this.item.tooltip };
    this.item.backgroundColor =
      kind === 'error' ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
    if (ownSetting<boolean>('statusBar')) {
      this.item.show();
    } else {
      this.item.hide();
    }
  }

  dispose(): void {
    this.item.dispose();
  }
}
