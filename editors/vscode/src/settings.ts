/** What the user set: read from VS Code, and handed to the server without the defaults. */

import * as vscode from 'vscode';

/** Settings that the extension itself obeys and the server does not know. */
const OWN = ['server.command', 'server.package', 'statusBar'];

export function ownSetting<T>(name: string): T {
  return vscode.workspace.getConfiguration('niello').get<T>(name) as T;
}

/**
 * The settings that somebody really set. Defaults are left out: to the server a client's
 * value outweighs a project's file, and a default must not.
 */
export function chosenSettings(names: string[], scope?: vscode.Uri): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration('niello', scope);
  const chosen: Record<string, unknown> = {};
  for (const name of names) {
    const found = configuration.inspect(name);
    const value =
      found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalLanguageValue ?? found?.globalValue;
    if (value !== undefined) {
      put(chosen, name.split('.'), value);
    }
  }
  return chosen;
}

/** The names of the server's settings, as the manifest lists them. */
export function serverSettingNames(extension: vscode.Extension<unknown>): string[] {
  const properties = extension.packageJSON.contributes.configuration.properties as object;
  return Object.keys(properties)
    .map((name) => name.replace(/^niello\./, ''))
    .filter((name) => !OWN.includes(name));
}

function put(target: Record<string, unknown>, path: string[], value: unknown): void {
  const [head, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    target[head] = value;
    return;
  }
  const inner = (target[head] ??= {}) as Record<string, unknown>;
  put(inner, rest, value);
}
