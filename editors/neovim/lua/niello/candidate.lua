--- A candidate and its place in the buffer.
---
--- A candidate is a text for the range from (row, col) to `tail` bytes before the end of
--- the cursor's line. It stays valid as long as what stands between (row, col) and the
--- cursor is a head of the text, so that typing, Backspace and partial accepts need no
--- bookkeeping: everything is computed from the buffer again.

local api = vim.api
local M = {}

---@class niello.Candidate
---@field row integer
---@field col integer
---@field tail integer bytes between the range's end and the line's end
---@field text string
---@field command? lsp.Command

---@param item table the protocol's item
---@param bufnr integer
---@param encoding string
---@return niello.Candidate?
function M.read(item, bufnr, encoding)
  local text = type(item.insertText) == 'table' and item.insertText.value or item.insertText
  local cursor = api.nvim_win_get_cursor(0)
  local row, col = cursor[1] - 1, cursor[2]
  local line = api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ''
  local tail = #line - col
  if item.range then
    if item.range.start.line ~= row or item.range['end'].line ~= row then
      return nil
    end
    col = vim.str_byteindex(line, encoding, item.range.start.character, false)
    tail = #line - vim.str_byteindex(line, encoding, item.range['end'].character, false)
  end
  text = text:gsub('\r\n', '\n')
  return { row = row, col = col, tail = tail, text = text, command = item.command }
end

--- What is still to be written, and the text between cursor and range end that it
--- replaces; nil once the buffer has left the candidate.
---@param bufnr integer
---@param item niello.Candidate
---@return { rest: string, replaced: string, row: integer, col: integer }?
function M.place(bufnr, item)
  local cursor = api.nvim_win_get_cursor(0)
  local row, col = cursor[1] - 1, cursor[2]
  if row < item.row or (row == item.row and col < item.col) then
    return nil
  end
  local ok, typed = pcall(api.nvim_buf_get_text, bufnr, item.row, item.col, row, col, {})
  if not ok then
    return nil
  end
  local head = table.concat(typed, '\n')
  local line = api.nvim_buf_get_lines(bufnr, row, row + 1, true)[1]
  if not vim.startswith(item.text, head) or #line - item.tail < col then
    return nil
  end
  local rest = item.text:sub(#head + 1)
  local replaced = line:sub(col + 1, #line - item.tail)
  if rest == replaced then
    return nil
  end
  return { rest = rest, replaced = replaced, row = row, col = col }
end

return M
