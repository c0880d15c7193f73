--- The keys of ghost text: each does its work while ghost text is there, and otherwise
--- what it did before.

local config = require('niello.config')

local api = vim.api
local M = {}

local replaced = {} ---@type table<integer, table<string, table>> buffer -> lhs -> mapping

local function same_key(a, b)
  return vim.keycode(a) == vim.keycode(b)
end

--- The mapping a key had: the buffer's own from before, else the global one of now.
local function former(bufnr, lhs)
  local own = (replaced[bufnr] or {})[lhs]
  if own then
    return own
  end
  for _, mapping in ipairs(api.nvim_get_keymap('i')) do
    if same_key(mapping.lhs, lhs) then
      return mapping
    end
  end
end

--- The keys to return so that `lhs` does what it did before.
local function fall_back(bufnr, lhs)
  local mapping = former(bufnr, lhs)
  if not mapping then
    return lhs
  end
  if mapping.expr == 1 then
    local keys = mapping.callback and mapping.callback() or api.nvim_eval(mapping.rhs)
    return type(keys) == 'string' and keys or ''
  end
  if mapping.callback then
    vim.schedule(mapping.callback)
    return ''
  end
  api.nvim_feedkeys(vim.keycode(mapping.rhs), mapping.noremap == 1 and 'ni' or 'mi', false)
  return ''
end

--- Whether the popup menu has an entry chosen, whose keys then come first.
local function menu_in_use()
  return vim.fn.pumvisible() == 1 and vim.fn.complete_info({ 'selected' }).selected ~= -1
end

local function renderer()
  return require('niello').renderer()
end

local function lua_keys(call)
  return ("<Cmd>lua require('niello').renderer().%s<CR>"):format(call)
end

-- What each key of the options returns while there is ghost text; nil falls back.
local actions = {
  accept = function()
    return renderer().accept_keys('all') or require('niello.next_edit').accept_keys()
  end,
  accept_word = function()
    return renderer().accept_keys('word')
  end,
  accept_line = function()
    return renderer().accept_keys('line')
  end,
  next = function()
    return renderer().visible() and lua_keys('cycle(1)') or nil
  end,
  previous = function()
    return renderer().visible() and lua_keys('cycle(-1)') or nil
  end,
  dismiss = function()
    return renderer().visible() and lua_keys('dismiss()') or nil
  end,
  trigger = function()
    return lua_keys('trigger()')
  end,
}

function M.attach(bufnr)
  local keys = config.get().keys
  if not keys or replaced[bufnr] then
    return
  end
  replaced[bufnr] = {}
  for name, action in pairs(actions) do
    local lhs = keys[name]
    if lhs then
      for _, mapping in ipairs(api.nvim_buf_get_keymap(bufnr, 'i')) do
        if same_key(mapping.lhs, lhs) then
          replaced[bufnr][lhs] = mapping
        end
      end
      vim.keymap.set('i', lhs, function()
        return not menu_in_use() and action() or fall_back(bufnr, lhs)
      end, { buffer = bufnr, expr = true, replace_keycodes = true, desc = 'Niello: ' .. name:gsub('_', ' ') })
    end
  end
end

function M.detach(bufnr)
  if not (replaced[bufnr] and api.nvim_buf_is_valid(bufnr)) then
    replaced[bufnr] = nil
    return
  end
  for name in pairs(actions) do
    local lhs = config.get().keys[name]
    if lhs then
      pcall(vim.keymap.del, 'i', lhs, { buffer = bufnr })
      if replaced[bufnr][lhs] then
        vim.fn.mapset('i', false, replaced[bufnr][lhs])
      end
    end
  end
  replaced[bufnr] = nil
end

return M
