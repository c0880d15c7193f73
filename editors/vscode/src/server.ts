/** The connection to the server: its start, its end, and what passes through. */

import * as vscode from 'vscode';
import {
  LanguageClient,
  MessageType,
  State,
  type LanguageClientOptions,
  type ShowMessageParams,
} from 'vscode-languageclient/node';

import { findCommand } from './program';
import { chosenSettings, serverSettingNames } from './settings';
import type { ServerStatus, Status } from './status';

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly output: vscode.LogOutputChannel,
    private readonly status: Status,
    private readonly isOff: (document: vscode.TextDocument) => boolean,
  ) {}

  /** The client while it runs. */
  get running(): LanguageClient | undefined {
    return this.client?.state === State.Running ? this.client : undefined;
  }

  /** Starts the server; false when there is no program for it. */
  async start(): Promise<boolean> {
    const command = await findCommand(this.context);
    if (command === undefined) {
      this.status.set({ kind: 'error', message: 'the server is not installed' });
      return false;
    }
    await this.stop();
    const [file, ...argumentList] = command;
    const client = new LanguageClient('niello', 'Niello', { command: file, args: argumentList }, this.options());
    client.onNotification('niello/status', (status: ServerStatus) => this.status.set(status));
    client.onNotification('window/showMessage', (said: ShowMessageParams) => void say(said));
    client.onDidChangeState(({ newState }) => {
      void vscode.commands.executeCommand('setContext', 'niello.serverRuns', newState === State.Running);
      if (newState === State.Starting) {
        this.status.set({ kind: 'loading', message: 'the server starts' });
      } else if (newState === State.Stopped) {
        this.status.set({ kind: 'error', message: 'the server does not run; the log tells why' });
      }
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.output.error(String(error));
      this.status.set({ kind: 'error', message: `${file} did not start; the log tells why` });
    }
    return true;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) {
      await client.stop().catch(() => undefined);
    }
    await client?.dispose().catch(() => undefined);
  }

  /** Runs one of the server's commands. */
  async execute(command: string, ...argumentList: unknown[]): Promise<unknown> {
    if (!this.running) {
      void vscode.window.showWarningMessage('Niello is not running.');
      return undefined;
    }
    return this.running.sendRequest('workspace/executeCommand', { command, arguments: argumentList });
  }

  dispose(): void {
    void this.stop();
  }

  private options(): LanguageClientOptions {
    const names = serverSettingNames(this.context.extension);
    return {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }, { scheme: 'vscode-remote' }, { notebook: '*' }],
      outputChannel: this.output,
      initializationOptions: chosenSettings(names),
      synchronize: { configurationSection: 'niello' },
      middleware: {
        provideInlineCompletionItems: (document, position, inlineContext, token, next) =>
          this.isOff(document) ? [] : next(document, position, inlineContext, token),
        workspace: {
          configuration: (parameters) =>
            parameters.items.map(({ section, scopeUri }) =>
              section === 'niello' ? chosenSettings(names, scopeUri ? vscode.Uri.parse(scopeUri) : undefined) : null,
            ),
          didChangeConfiguration: () =>
            this.running?.sendNotification('workspace/didChangeConfiguration', {
              settings: { niello: chosenSettings(names) },
            }) ?? Promise.resolve(),
        },
      },
    };
  }
}

/**
 * Shows what the server says. What it says of errors names a command of the terminal; the
 * buttons do the same here.
 */
async function say({ type, message }: ShowMessageParams): Promise<void> {
  if (type === MessageType.Error) {
    const commands = new Map([
      ['Fetch the Model', 'niello.model.pull'],
      ['Show Log', 'niello.log.show'],
    ]);
    const chosen = await vscode.window.showErrorMessage(message, ...commands.keys());
    if (chosen) {
      await vscode.commands.executeCommand(commands.get(chosen)!);
    }
  } else if (type === MessageType.Warning) {
    await vscode.window.showWarningMessage(message);
  } else {
    await vscode.window.showInformationMessage(message);
  }
}
