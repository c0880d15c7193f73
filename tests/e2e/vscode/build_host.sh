#!/usr/bin/env bash
# Builds a real VS Code (code-server, whose version 4.100.3 is VS Code 1.100.3) from npm
# alone, once, into a cache folder, and prints that folder. Needs Node 20 with its headers
# in /usr/include/node, and from Debian: build-essential python3 libkrb5-dev ripgrep chromium.
set -euo pipefail

host="${NIELLO_VSCODE_HOST:-${XDG_CACHE_HOME:-$HOME/.cache}/niello-vscode-host}"
if [[ -f "$host/.ready" ]]; then
    echo "$host"
    exit 0
fi

for tool in node npm rg chromium cc; do
    command -v "$tool" >/dev/null || {
        echo "$tool is missing; install build-essential, libkrb5-dev, ripgrep, chromium and Node 20" >&2
        exit 1
    }
done

mkdir -p "$host"
cd "$host"
exec 3>&1 >build.log 2>&1 # the log keeps the builders' talk; descriptor 3 is the answer
trap 'echo "building the host failed; see $host/build.log" >&3' ERR
export npm_config_nodedir=/usr npm_config_audit=false npm_config_fund=false

[[ -f package.json ]] || npm init -y
npm install --ignore-scripts code-server@4.100.3 playwright-core@1.65.1
(cd node_modules/argon2 && npx --no-install node-pre-gyp rebuild --build-from-source --nodedir=/usr)

cd node_modules/code-server/lib/vscode
npm install --omit=dev --ignore-scripts
# node-pty's post-install step fails after its library is built, hence the `|| true`;
# the check below is what counts.
npm rebuild @vscode/spdlog native-watchdog kerberos @parcel/watcher @vscode/deviceid \
    node-pty --foreground-scripts || true
test -f node_modules/node-pty/build/Release/pty.node
(cd extensions && npm install --omit=dev --ignore-scripts)
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg

cd "$host"
node node_modules/code-server/out/node/entry.js --version
touch .ready
echo "$host" >&3
