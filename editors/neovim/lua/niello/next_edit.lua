--- Next edit: shows where the last change wants to be carried on, and applies it.
---
--- The old text is struck out in place and the new text stands behind or below it; one key
--- jumps there and applies it, any other change takes the preview away.

local config = require('niello.config')

local api = vim.api
local METHOD = 'niello/nextEdit'
local M = {}

local namespace = api.nvim_create_namespace('niello.next_edit')
local groups = {} ---@type table<integer, integer>
local shown ---@type { bufnr: integer, client: vim.lsp.Client, edit: table, tick: integer, lhs: string? }?

function M.visible()
  return shown ~= nil
end

function M.dismiss()
  if not shown then
    return
  end
  if api.nvim_buf_is_valid(shown.bufnr) then
    api.nvim_buf_clear_namespace(shown.bufnr, namespace, 0, -1)
    if shown.lhs then
      pcall(vim.keymap.del, 'n', shown.lhs, { buffer = shown.bufnr })
      pcall(vim.keymap.del, 'n', '<Esc>', { buffer = shown.bufnr })
    end
  end
  shown = nil
end

--- Byte position of a protocol position.
local function position_of(bufnr, position, encoding)
  local line = api.nvim_buf_get_lines(bufnr, position.line, position.line + 1, false)[1] or ''
  return position.line, vim.str_byteindex(line, encoding, position.character, false)
end

local function draw()
  local range, encoding = shown.edit.range, shown.client.offset_encoding
  local row, col = position_of(shown.bufnr, range.start, encoding)
  local end_row, end_col = position_of(shown.bufnr, range['end'], encoding)
  if row ~= end_row or col ~= end_col then
    api.nvim_buf_set_extmark(shown.bufnr, namespace, row, col, {
      end_row = end_row,
      end_col = end_col,
      hl_group = 'NielloNextEditOld',
    })
  end
  local lines = vim.split(shown.edit.text, '\n', { plain = true })
  local mark = {}
  if #lines == 1 then
    mark = { virt_text = { { lines[1], 'NielloNextEditNew' } }, virt_text_pos = 'inline' }
  else
    mark.virt_lines = vim.tbl_map(function(line)
      return { { line, 'NielloNextEditNew' } }
    end, lines)
  end
  api.nvim_buf_set_extmark(shown.bufnr, namespace, end_row, end_col, mark)
end

--- Maps the accept key in normal mode for as long as there is something to accept.
local function map_keys()
  local keys = config.get().keys
  local lhs = keys and keys.next_edit
  if not lhs then
    return
  end
  shown.lhs = lhs
  vim.keymap.set('n', lhs, M.accept, { buffer = shown.bufnr, desc = 'Niello: accept the next edit' })
  vim.keymap.set('n', '<Esc>', M.dismiss, { buffer = shown.bufnr, desc = 'Niello: dismiss the next edit' })
end

local function receive(client, bufnr, tick, result)
  local edit = result and result.edits and result.edits[1]
  if not edit or not api.nvim_buf_is_valid(bufnr) or api.nvim_buf_get_changedtick(bufnr) ~= tick then
    return false
  end
  M.dismiss()
  shown = { bufnr = bufnr, client = client, edit = edit, tick = tick }
  draw()
  map_keys()
  return true
end

--- Asks the server for the next edit of the current buffer.
---@param silent? boolean say nothing when there is none
function M.request(silent)
  local client, bufnr = require('niello').client(), api.nvim_get_current_buf()
  if not client then
    return
  end
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.textDocument.version = vim.lsp.util.buf_versions[bufnr]
  local tick = api.nvim_buf_get_changedtick(bufnr)
  client:request(METHOD, params, function(err, result)
    local found = not err and receive(client, bufnr, tick, result)
    if not found and not silent then
      vim.notify(err and err.message or 'Niello sees no next edit', vim.log.levels.INFO)
    end
  end, bufnr)
end

--- Jumps to the shown edit, applies it, and asks for the one after it.
function M.accept()
  if not shown then
    return
  end
  local bufnr, client, edit = shown.bufnr, shown.client, shown.edit
  M.dismiss()
  local row, col = position_of(bufnr, edit.range.start, client.offset_encoding)
  vim.lsp.util.apply_text_edits({ { range = edit.range, newText = edit.text } }, bufnr, client.offset_encoding)
  local lines = vim.split(edit.text, '\n', { plain = true })
  vim.cmd("normal! m'")
  local end_col = #lines[#lines] + (#lines == 1 and col or 0)
  api.nvim_win_set_cursor(0, { row + #lines, end_col })
  if edit.command then
    client:exec_cmd(edit.command, { bufnr = bufnr })
  end
  M.request(true)
end

--- The keys an expression mapping returns to accept the shown edit, or nil without one.
function M.accept_keys()
  return shown and "<C-g>u<Cmd>lua require('niello.next_edit').accept()<CR>" or nil
end

function M.attach(_, bufnr)
  local group = api.nvim_create_augroup('niello.next_edit.' .. bufnr, {})
  groups[bufnr] = group
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'InsertLeave' }, {
    group = group,
    buffer = bufnr,
    callback = function(event)
      if shown and shown.tick ~= api.nvim_buf_get_changedtick(bufnr) then
        M.dismiss()
      end
      if config.get().next_edit and config.wanted(bufnr) and event.event ~= 'TextChangedI' then
        M.request(true)
      end
    end,
  })
end

function M.detach(bufnr)
  if groups[bufnr] then
    api.nvim_del_augroup_by_id(groups[bufnr])
    groups[bufnr] = nil
  end
  if shown and shown.bufnr == bufnr then
    M.dismiss()
  end
end

return M
