--- Niello for Neovim: `setup()` is the one door; the rest is found from here.

local config = require('niello.config')

local M = {}

local started = false

--- Starts the server for every buffer it wants; later calls change the options.
---@param options? niello.Options
function M.setup(options)
  started = true
  local chosen = config.set(options)
  -- Asking is of no use while the server does not look.
  local settings = chosen.next_edit
      and vim.tbl_deep_extend('keep', chosen.settings, { next_edit = { enabled = true } })
    or chosen.settings
  vim.lsp.config('niello', {
    cmd = chosen.cmd,
    filetypes = chosen.filetypes,
    settings = { niello = settings },
    init_options = settings,
  })
  require('niello.highlight').define()
  local group = vim.api.nvim_create_augroup('niello', {})
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == 'niello' then
        M.attach(client, event.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == 'niello' then
        M.detach(client, event.buf)
      end
    end,
  })
  vim.lsp.enable('niello')
end

--- Starts with `vim.g.niello` unless setup() was called.
function M.start_once()
  if not started then
    M.setup(vim.g.niello)
  end
end

--- The module that shows ghost text: Neovim's own where it has one, else ours.
function M.renderer()
  local wanted = config.get().renderer
  if wanted == 'auto' then
    wanted = vim.lsp.inline_completion and 'builtin' or 'own'
  end
  return require(wanted == 'builtin' and 'niello.builtin' or 'niello.ghost')
end

function M.attach(client, bufnr)
  M.renderer().attach(client, bufnr)
  require('niello.next_edit').attach(client, bufnr)
  require('niello.keys').attach(bufnr)
end

function M.detach(client, bufnr)
  M.renderer().detach(client, bufnr)
  require('niello.next_edit').detach(bufnr)
  require('niello.keys').detach(bufnr)
end

--- The running client, or nil.
---@return vim.lsp.Client?
function M.client()
  return vim.iter(vim.lsp.get_clients({ name = 'niello' })):find(function(client)
    return not client:is_stopped()
  end)
end

--- A short text for a statusline; empty where Niello is not attached.
---@return string
function M.statusline()
  return require('niello.status').line()
end

return M
