/** The server's program: finds it, or makes an environment of its own after asking. */

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';

import { ownSetting } from './settings';

const run = promisify(execFile);
const WINDOWS = process.platform === 'win32';
const SUFFIX = WINDOWS ? '.exe' : '';
const OLDEST_PYTHON = [3, 11] as const;

/** A command with its arguments. */
export type Command = [string, ...string[]];

function environment(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, 'environment');
}

function inEnvironment(folder: string, name: string): string {
  return path.join(folder, WINDOWS ? 'Scripts' : 'bin', name + SUFFIX);
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(folder, name + SUFFIX);
    if (folder && (await isExecutable(file))) {
      return file;
    }
  }
  return undefined;
}

/** The command that starts the server, or undefined when there is none yet. */
export async function findCommand(context: vscode.ExtensionContext): Promise<Command | undefined> {
  const set = ownSetting<string[]>('server.command');
  if (set.length > 0) {
    return set as Command;
  }
  const own = inEnvironment(environment(context), 'niello');
  const program = (await onPath('niello')) ?? ((await isExecutable(own)) ? own : undefined);
  return program === undefined ? undefined : [program, 'serve'];
}

/** Asks, and installs the server on consent; true when there is one now. */
export async function offerInstall(context: vscode.ExtensionContext, output: vscode.OutputChannel): Promise<boolean> {
  const choice = await vscode.window.showInformationMessage(
    'Niello needs its server, which is not installed. Install it into an environment of its own?',
    'Install',
    'Choose a Program',
  );
  if (choice === 'Choose a Program') {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'niello.server.command');
  }
  return choice === 'Install' && install(context, output);
}

/** Makes the environment and installs the server, with progress; true on success. */
export async function install(context: vscode.ExtensionContext, output: vscode.OutputChannel): Promise<boolean> {
  const options = { location: vscode.ProgressLocation.Notification, title: 'Niello', cancellable: true };
  return vscode.window.withProgress(options, async (progress, token) => {
    const stop = new AbortController();
    token.onCancellationRequested(() => stop.abort());
    const step = async (message: string, [file, ...argumentList]: Command): Promise<void> => {
      progress.report({ message });
      output.appendLine([file, ...argumentList].join(' '));
      const { stdout, stderr } = await run(file, argumentList, { signal: stop.signal, maxBuffer: 1 << 26 });
      output.append(stdout + stderr);
    };
    try {
      const python = await findPython();
      const folder = environment(context);
      await mkdir(path.dirname(folder), { recursive: true });
      await step('making an environment', [...python, '-m', 'venv', folder]);
      const own = inEnvironment(folder, 'python');
      const what = ownSetting<string>('server.package');
      await step('installing the server', [own, '-m', 'pip', 'install', '--upgrade', what]);
      return true;
    } catch (error) {
      output.appendLine(String(error));
      if (!stop.signal.aborted) {
        const message = error instanceof NoPython ? error.message : 'Niello could not install its server.';
        void vscode.window.showErrorMessage(message, 'Show Log').then((choice) => choice && output.show());
      }
      return false;
    }
  });
}

class NoPython extends Error {
  override message = `Niello needs Python ${OLDEST_PYTHON.join('.')} or newer; install it and try again.`;
}

async function findPython(): Promise<Command> {
  const candidates: Command[] = WINDOWS ? [['py', '-3'], ['python']] : [['python3'], ['python']];
  const question = `import sys; sys.exit(sys.version_info < (${OLDEST_PYTHON.join(', ')}))`;
  for (const [file, ...rest] of candidates) {
    try {
      await run(file, [...rest, '-c', question]);
      return [file, ...rest];
    } catch {
      // Not there or too old: the next one.
    }
  }
  throw new NoPython();
}
