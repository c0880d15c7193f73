--- What the server last said of itself, for statuslines and `:Niello status`.

local M = {}

---@class niello.Status
---@field kind 'loading'|'ready'|'busy'|'disabled'|'error'
---@field message? string why, and what to do
---@field percent? integer while loading
---@field uri? string the only document it is about

local last = {} ---@type table<integer, niello.Status> client -> status

---@param client_id integer
---@param status niello.Status
function M.set(client_id, status)
  last[client_id] = status
  vim.api.nvim_exec_autocmds('User', { pattern = 'NielloStatus', data = status, modeline = false })
  vim.cmd.redrawstatus()
end

--- The status of the running server as it concerns the current buffer, or nil.
---@return niello.Status?
function M.get()
  local client = require('niello').client()
  local status = client and last[client.id]
  if status and status.uri and status.uri ~= vim.uri_from_bufnr(0) then
    return { kind = 'ready' }
  end
  return status
end

--- A few characters for a statusline; empty where Niello is not attached.
function M.line()
  if #vim.lsp.get_clients({ name = 'niello', bufnr = 0 }) == 0 then
    return ''
  end
  local status = M.get() or { kind = 'loading' }
  if not require('niello.config').wanted(vim.api.nvim_get_current_buf()) then
    return 'Niello: off'
  end
  local percent = status.percent and (' %d%%'):format(status.percent) or ''
  return 'Niello: ' .. status.kind .. percent
end

--- One sentence for `:Niello status`.
function M.sentence()
  local client = require('niello').client()
  if not client then
    return 'Niello is not running; see :checkhealth niello'
  end
  if not require('niello.config').wanted(vim.api.nvim_get_current_buf()) then
    return 'Niello is switched off here; :Niello toggle switches it on'
  end
  local status = M.get()
  if not status then
    return 'Niello is starting'
  end
  local percent = status.percent and (' (%d %%)'):format(status.percent) or ''
  local message = status.message and status.message ~= '' and ': ' .. status.message or ''
  return 'Niello is ' .. status.kind .. percent .. message
end

return M
