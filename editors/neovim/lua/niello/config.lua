--- The options and whether Niello is wanted in a buffer.

local M = {}

---@class niello.Keys
---@field accept string|false
---@field accept_word string|false
---@field accept_line string|false
---@field next string|false
---@field previous string|false
---@field dismiss string|false
---@field trigger string|false
---@field next_edit string|false accepts the shown next edit in normal mode

---@class niello.Options
---@field cmd? string[] the server's command
---@field filetypes? string[] only these; all when nil
---@field renderer? 'auto'|'own'|'builtin'
---@field auto? boolean ghost text while typing; false leaves the trigger key
---@field next_edit? boolean ask for a next edit after each change
---@field keys? niello.Keys|false false maps nothing
---@field settings? table the server's own settings, see the manual

local defaults = {
  cmd = { 'niello', 'serve' },
  filetypes = nil,
  renderer = 'auto',
  auto = true,
  next_edit = false,
  keys = {
    accept = '<Tab>',
    accept_word = '<M-w>',
    accept_line = '<M-l>',
    next = '<M-]>',
    previous = '<M-[>',
    dismiss = '<C-]>',
    trigger = '<M-\\>',
    next_edit = '<Tab>',
  },
  settings = vim.empty_dict(),
}

local current = vim.deepcopy(defaults)
local languages_off = {} ---@type table<string, boolean>

--- Checks the options and makes them current; an unknown name is an error at once, since
--- a misspelt option that is ignored is found much later.
---@param options? niello.Options
function M.set(options)
  options = options or {}
  for name in pairs(options) do
    if defaults[name] == nil and name ~= 'filetypes' then
      error(('niello: there is no option %q; see :help niello-options'):format(name), 0)
    end
  end
  vim.validate('cmd', options.cmd, 'table', true)
  vim.validate('filetypes', options.filetypes, 'table', true)
  vim.validate('renderer', options.renderer, function(value)
    return vim.list_contains({ 'auto', 'own', 'builtin' }, value)
  end, true, "'auto', 'own' or 'builtin'")
  vim.validate('auto', options.auto, 'boolean', true)
  vim.validate('next_edit', options.next_edit, 'boolean', true)
  vim.validate('keys', options.keys, function(value)
    return type(value) == 'table' or value == false
  end, true, 'a table or false')
  vim.validate('settings', options.settings, 'table', true)
  current = vim.tbl_deep_extend('force', vim.deepcopy(defaults), options)
  return current
end

function M.get()
  return current
end

--- Whether ghost text is wanted in the buffer.
function M.wanted(bufnr)
  return vim.b[bufnr].niello ~= false and not languages_off[vim.bo[bufnr].filetype]
end

--- Turns Niello off or on in a buffer; returns the new state.
function M.toggle_buffer(bufnr)
  vim.b[bufnr].niello = vim.b[bufnr].niello == false
  return vim.b[bufnr].niello
end

--- Turns Niello off or on for a file type; returns the new state.
function M.toggle_language(filetype)
  languages_off[filetype] = not languages_off[filetype]
  return not languages_off[filetype]
end

return M
