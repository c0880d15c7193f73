--- The subcommands of `:Niello`.

local M = {}

local function client_or_say()
  local client = require('niello').client()
  if not client then
    vim.notify('Niello is not running; see :checkhealth niello', vim.log.levels.WARN)
  end
  return client
end

--- Runs a server command and hands its result on.
local function execute(command, handler)
  local client = client_or_say()
  if client then
    client:request('workspace/executeCommand', { command = command }, function(err, result)
      if err then
        vim.notify('Niello: ' .. err.message, vim.log.levels.ERROR)
      elseif handler then
        handler(result)
      end
    end)
  end
end

local function say_state(on, where)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    require('niello').renderer().refresh(bufnr)
  end
  vim.notify(('Niello is %s %s'):format(on and 'on' or 'off', where))
end

--- Inserts the marker that `Fill every marker in file` looks for.
local function marker()
  vim.api.nvim_put({ '⟦⟧' }, 'c', false, true)
end

local subcommands = {
  action = function(command)
    local client = client_or_say()
    if client then
      require('niello.actions').offer(client, command)
    end
  end,
  ['clear-cache'] = function()
    execute('niello.clearCache')
  end,
  fill = function()
    require('niello').renderer().trigger()
  end,
  log = function()
    execute('niello.showLog', function(result)
      local path = type(result) == 'table' and result.path or result
      if type(path) == 'string' then
        vim.cmd.split(vim.fn.fnameescape(path))
      end
    end)
  end,
  marker = marker,
  ['next-edit'] = function()
    require('niello.next_edit').request()
  end,
  ['pull-model'] = function()
    execute('niello.pullModel')
  end,
  restart = function()
    require('niello.restart').now()
  end,
  status = function()
    vim.notify(require('niello.status').sentence())
  end,
  toggle = function(command)
    local config, bufnr = require('niello.config'), vim.api.nvim_get_current_buf()
    if command.fargs[2] == 'language' then
      local filetype = vim.bo[bufnr].filetype
      say_state(config.toggle_language(filetype), 'for ' .. filetype)
    else
      say_state(config.toggle_buffer(bufnr), 'in this buffer')
    end
  end,
}

function M.run(command)
  local run = subcommands[command.fargs[1]]
  if run then
    run(command)
  else
    vim.notify(('Niello has no command %q'):format(command.fargs[1]), vim.log.levels.ERROR)
  end
end

function M.complete(lead, line)
  local words = vim.tbl_keys(subcommands)
  if line:match('Niello%s+toggle%s') then
    words = { 'language' }
  elseif line:match('Niello%s+%S+%s') then
    words = {}
  end
  table.sort(words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

return M
