--- `:checkhealth niello`: each line says what is, or what to do.

local M = {}

local health = vim.health

local function check_neovim()
  if vim.fn.has('nvim-0.11') == 0 then
    health.error('Neovim 0.11 or newer is needed')
    return
  end
  health.ok('Neovim ' .. tostring(vim.version()))
  local built_in = vim.lsp.inline_completion ~= nil
  health.info('Ghost text: ' .. (built_in and 'Neovim has its own' or 'drawn by this plugin'))
end

local function check_program()
  local cmd = require('niello.config').get().cmd
  local program = cmd[1]
  if vim.fn.executable(program) == 0 then
    health.error(('%q is not executable'):format(program), {
      'Install it: pipx install niello, or uv tool install niello',
      "Or name it: require('niello').setup({ cmd = { '/path/to/niello', 'serve' } })",
    })
    return
  end
  health.ok('Server command: ' .. table.concat(cmd, ' '))
end

local function check_server()
  local client = require('niello').client()
  if not client then
    health.warn('The server is not running', { 'Open a file with a file type, then look again' })
    return
  end
  local info = client.server_info or {}
  health.ok(('Server %s %s runs, positions in %s'):format(info.name or '?', info.version or '', client.offset_encoding))
  local status = require('niello.status').get()
  local sentence = require('niello.status').sentence()
  if status and status.kind == 'error' then
    health.error(sentence)
  else
    health.ok(sentence)
  end
  if not client:supports_method('textDocument/inlineCompletion') then
    health.error('The server offers no inline completion', { 'Update niello' })
  end
end

local function check_keys()
  local keys = require('niello.config').get().keys
  if not keys then
    health.info('No keys are mapped (keys = false)')
    return
  end
  for name, lhs in vim.spairs(keys) do
    health.info(('%s: %s'):format(name:gsub('_', ' '), lhs or 'not mapped'))
  end
end

function M.check()
  health.start('Niello: Neovim')
  check_neovim()
  health.start('Niello: server')
  check_program()
  check_server()
  health.start('Niello: keys')
  check_keys()
end

return M
