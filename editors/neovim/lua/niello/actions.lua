--- Offers the server's code actions and applies the chosen one, without those of others.

local M = {}

--- The protocol's range of the cursor or of a command's lines.
local function range_of(bufnr, client, command)
  if command.range == 0 then
    local position = vim.lsp.util.make_position_params(0, client.offset_encoding).position
    return { start = position, ['end'] = position }
  end
  local last = vim.api.nvim_buf_get_lines(bufnr, command.line2 - 1, command.line2, true)[1]
  return {
    start = { line = command.line1 - 1, character = 0 },
    ['end'] = { line = command.line2 - 1, character = vim.str_utfindex(last, client.offset_encoding) },
  }
end

local function apply(client, bufnr, action)
  if action.edit then
    vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
  end
  local command = type(action.command) == 'table' and action.command or action
  if type(command.command) == 'string' then
    client:exec_cmd(command, { bufnr = bufnr })
  end
end

local function resolve_and_apply(client, bufnr, action)
  if action.edit or not client:supports_method('codeAction/resolve', bufnr) then
    return apply(client, bufnr, action)
  end
  client:request('codeAction/resolve', action, function(err, resolved)
    if err then
      vim.notify('Niello: ' .. err.message, vim.log.levels.ERROR)
    else
      apply(client, bufnr, resolved)
    end
  end, bufnr)
end

--- Has the server compute and apply an action as the instruction says.
local function instruct(client, bufnr, action, instruction)
  local data = vim.tbl_extend('force', action.data, { instruction = instruction })
  client:exec_cmd({ title = action.title, command = 'niello.edit', arguments = { data } }, { bufnr = bufnr })
end

--- Asks for what can be done at the cursor, or at the lines of a command with a range.
--- Words behind the command's name are an instruction to the model.
---@param client vim.lsp.Client
---@param command table what nvim_create_user_command hands over
function M.offer(client, command)
  local bufnr = vim.api.nvim_get_current_buf()
  local instruction = table.concat(vim.list_slice(command.fargs, 2), ' ')
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(bufnr),
    range = range_of(bufnr, client, command),
    context = { diagnostics = {} },
  }
  client:request('textDocument/codeAction', params, function(err, actions)
    if instruction ~= '' then
      actions = vim.tbl_filter(function(action)
        return action.data ~= nil and action.data.edit ~= 'next'
      end, actions or {})
    end
    if err or not actions or #actions == 0 then
      vim.notify(err and err.message or 'Niello has nothing to do here')
      return
    end
    local function title(action)
      return action.title
    end
    vim.ui.select(actions, { prompt = 'Niello:', kind = 'codeaction', format_item = title }, function(choice)
      if choice and instruction ~= '' then
        instruct(client, bufnr, choice, instruction)
      elseif choice then
        resolve_and_apply(client, bufnr, choice)
      end
    end)
  end, bufnr)
end

return M
