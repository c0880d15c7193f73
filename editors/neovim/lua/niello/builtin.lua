--- Ghost text by Neovim's own inline completion (0.12 and newer), behind the same
--- functions as `niello.ghost`. It adds what the built-in leaves out: parts and dismissal.

local pieces = require('niello.pieces')
local config = require('niello.config')

local api = vim.api
local M = {}

local function built_in()
  return vim.lsp.inline_completion
end

local attached = {} ---@type table<integer, true> buffers

--- Switches the built-in on or off, as is wanted in the buffer.
function M.refresh(bufnr)
  if attached[bufnr] then
    built_in().enable(config.get().auto and config.wanted(bufnr), { bufnr = bufnr })
  end
end

---@param client vim.lsp.Client
function M.attach(client, bufnr)
  if client:supports_method('textDocument/inlineCompletion', bufnr) then
    attached[bufnr] = true
    M.refresh(bufnr)
  end
end

function M.detach(_, bufnr)
  attached[bufnr] = nil
  built_in().enable(false, { bufnr = bufnr })
end

--- Whether ghost text may stand on the screen; the built-in does not tell more.
function M.visible()
  return built_in().is_enabled({ bufnr = api.nvim_get_current_buf() })
end

--- Asks anew: switching on in insert mode refreshes.
function M.trigger()
  local bufnr = api.nvim_get_current_buf()
  built_in().enable(false, { bufnr = bufnr })
  built_in().enable(true, { bufnr = bufnr })
end

function M.cycle(step)
  built_in().select({ count = step })
end

--- Takes the ghost text away until the next change.
function M.dismiss()
  local bufnr = api.nvim_get_current_buf()
  built_in().enable(false, { bufnr = bufnr })
  api.nvim_create_autocmd({ 'TextChangedI', 'InsertLeave' }, {
    buffer = bufnr,
    once = true,
    callback = function()
      M.refresh(bufnr)
    end,
  })
end

--- Start row and column of a range, whose fields changed their names during 0.12.
local function start_of(range)
  if range.start_row then
    return range.start_row, range.start_col
  end
  return range.start.row, range.start.col
end

--- Writes the next piece of an accepted item and drops the rest; the built-in asks again
--- after the change, and the server answers from memory.
local function write_piece(item, piece)
  local text = type(item.insert_text) == 'table' and item.insert_text.value or item.insert_text
  local cursor = api.nvim_win_get_cursor(0)
  local row, col = cursor[1] - 1, cursor[2]
  local typed = ''
  if item.range then
    local from_row, from_col = start_of(item.range)
    typed = table.concat(api.nvim_buf_get_text(0, from_row, from_col, row, col, {}), '\n')
  end
  if not vim.startswith(text, typed) then
    return
  end
  local rest = text:sub(#typed + 1)
  local kept = api.nvim_get_current_line():sub(col + 1)
  if vim.endswith(rest, kept) then
    rest = rest:sub(1, #rest - #kept)
  end
  local lines = vim.split(pieces[piece](rest), '\n', { plain = true })
  api.nvim_buf_set_text(0, row, col, row, col, lines)
  api.nvim_win_set_cursor(0, { row + #lines, #lines[#lines] + (#lines == 1 and col or 0) })
end

--- The keys an expression mapping returns to accept a piece, or nil without ghost text.
---@return string?
function M.accept_keys(piece)
  local options = {}
  if piece ~= 'all' then
    options.on_accept = function(item)
      write_piece(item, piece)
    end
  end
  return built_in().get(options) and '<C-g>u' or nil
end

return M
