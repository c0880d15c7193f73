-- Stands in for `vim.lsp.inline_completion` of Neovim 0.12: the documented functions and
-- their arguments, with one item that the test sets.

local double = { enabled = {}, selected = 0, item = nil }

function double.enable(enable, filter)
  assert(type(enable) == 'boolean' and type(filter.bufnr) == 'number')
  assert(filter.client_id == nil, 'bufnr and client_id exclude each other')
  double.enabled[filter.bufnr] = enable
end

function double.is_enabled(filter)
  return double.enabled[filter.bufnr] == true
end

function double.select(options)
  double.selected = double.selected + options.count
end

-- Applies the item after the keys of an expression mapping are done, like the original;
-- `on_accept` may hand back an item to apply, or nil.
function double.get(options)
  local item = double.item
  if not item then
    return false
  end
  double.item = nil
  vim.schedule(function()
    if options.on_accept then
      item = options.on_accept(item)
    end
    if item then
      local range = item.range
      local lines = vim.split(item.insert_text, '\n')
      vim.api.nvim_buf_set_text(0, range.start_row, range.start_col, range.end_row, range.end_col, lines)
      vim.api.nvim_win_set_cursor(0, { range.start_row + #lines, #lines[#lines] })
    end
  end)
  return true
end

-- Shows an item whose range is the cursor's whole line, in the first or the later shape of
-- `vim.Range`.
function double.show(text, early)
  local row, line = vim.api.nvim_win_get_cursor(0)[1] - 1, vim.api.nvim_get_current_line()
  local range = { start_row = row, start_col = 0, end_row = row, end_col = #line }
  if early then
    range = { start = { row = row, col = 0 }, end_ = { row = row, col = #line } }
  end
  double.item = { client_id = 1, insert_text = text, range = range }
end

vim.lsp.inline_completion = double
