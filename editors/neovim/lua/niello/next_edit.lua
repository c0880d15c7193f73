--- Next edit: shows where the last change wants to be carried on, and applies it.
---
--- The old text is struck out in place and the new text stands behind or below it; one key
--- jumps there and applies it, any other change takes the preview away.

local config = require('niello.config')

local api = vim.api
local METHOD = 'niello/nextEdit'
local M = {}

local namespace = api.nvim_create_namespace('niello.next_edit')
local places = api.nvim_create_namespace('niello.next_edit.places')
local groups = {} ---@type table<integer, integer>
local shown ---@type niello.NextEdits?

---@class niello.NextEdits
---@field bufnr integer
---@field client vim.lsp.Client
---@field tick integer the text they belong to
---@field edits { mark: integer, text: string, command: lsp.Command? }[] the first is shown
---@field lhs? string the key that is mapped meanwhile

function M.visible()
  return shown ~= nil
end

function M.dismiss()
  if not shown then
    return
  end
  if api.nvim_buf_is_valid(shown.bufnr) then
    api.nvim_buf_clear_namespace(shown.bufnr, namespace, 0, -1)
    api.nvim_buf_clear_namespace(shown.bufnr, places, 0, -1)
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

--- Marks where an edit goes, so that it moves with the edits before it.
local function mark(bufnr, edit, encoding)
  local row, col = position_of(bufnr, edit.range.start, encoding)
  local end_row, end_col = position_of(bufnr, edit.range['end'], encoding)
  local id = api.nvim_buf_set_extmark(bufnr, places, row, col, {
    end_row = end_row,
    end_col = end_col,
  })
  return { mark = id, text = edit.text, command = edit.command }
end

--- Start row and column, end row and column of an edit.
local function range_of(edit)
  local found = api.nvim_buf_get_extmark_by_id(shown.bufnr, places, edit.mark, { details = true })
  return found[1], found[2], found[3].end_row, found[3].end_col
end

local function draw()
  local edit = shown.edits[1]
  local row, col, end_row, end_col = range_of(edit)
  api.nvim_buf_clear_namespace(shown.bufnr, namespace, 0, -1)
  if row ~= end_row or col ~= end_col then
    api.nvim_buf_set_extmark(shown.bufnr, namespace, row, col, {
      end_row = end_row,
      end_col = end_col,
      hl_group = 'NielloNextEditOld',
    })
  end
  local lines = vim.split(edit.text, '\n', { plain = true })
  local look = {}
  if #lines == 1 then
    look = { virt_text = { { lines[1], 'NielloNextEditNew' } }, virt_text_pos = 'inline' }
  else
    look.virt_lines = vim.tbl_map(function(line)
      return { { line, 'NielloNextEditNew' } }
    end, lines)
  end
  api.nvim_buf_set_extmark(shown.bufnr, namespace, end_row, end_col, look)
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
  local edits = result and result.edits or {}
  if #edits == 0 or not api.nvim_buf_is_valid(bufnr) or api.nvim_buf_get_changedtick(bufnr) ~= tick then
    return false
  end
  M.dismiss()
  shown = { bufnr = bufnr, client = client, tick = tick, edits = {} }
  for _, edit in ipairs(edits) do
    table.insert(shown.edits, mark(bufnr, edit, client.offset_encoding))
  end
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

--- Jumps to the shown edit, applies it, and shows the one after it.
function M.accept()
  if not shown then
    return
  end
  local bufnr, edit = shown.bufnr, table.remove(shown.edits, 1)
  local row, col, end_row, end_col = range_of(edit)
  local lines = vim.split(edit.text, '\n', { plain = true })
  vim.cmd("normal! m'")
  api.nvim_buf_set_text(bufnr, row, col, end_row, end_col, lines)
  api.nvim_win_set_cursor(0, { row + #lines, #lines[#lines] + (#lines == 1 and col or 0) })
  if edit.command then
    shown.client:exec_cmd(edit.command, { bufnr = bufnr })
  end
  if #shown.edits == 0 then
    M.dismiss()
    return
  end
  shown.tick = api.nvim_buf_get_changedtick(bufnr)
  draw()
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
      if not shown and config.get().next_edit and config.wanted(bufnr) and event.event ~= 'TextChangedI' then
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
