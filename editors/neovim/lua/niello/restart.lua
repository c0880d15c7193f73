--- Starts the server again: on request, and by itself when it died, a few times.

local M = {}

local MOST_IN_A_WHILE, WHILE_MS = 3, 180000

local deaths = {} ---@type integer[] times in milliseconds

--- Stops the server and starts it anew for every buffer it had.
function M.now()
  vim.lsp.enable('niello', false)
  vim.lsp.enable('niello', true)
end

--- Called when a server process ended.
function M.after_exit(code, signal)
  if (code == 0 and signal == 0) or vim.v.exiting ~= vim.NIL then
    return
  end
  local now = vim.uv.now()
  deaths = vim.tbl_filter(function(death)
    return now - death < WHILE_MS
  end, deaths)
  table.insert(deaths, now)
  if #deaths > MOST_IN_A_WHILE then
    vim.notify('Niello died again and stays down; :Niello log tells why, :Niello restart tries again', vim.log.levels.ERROR)
    return
  end
  M.now()
end

return M
