-- Defines `:Niello` and, where nobody calls setup(), starts with `vim.g.niello` as options.

if vim.g.loaded_niello then
  return
end
vim.g.loaded_niello = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.notify('Niello needs Neovim 0.11 or newer', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('Niello', function(command)
  require('niello.commands').run(command)
end, {
  nargs = '+',
  range = true,
  desc = 'Niello: fill, toggle, restart, status, log and model commands',
  complete = function(lead, line)
    return require('niello.commands').complete(lead, line)
  end,
})

-- A plain package is loaded before the end of the user's own file, so that the start
-- waits until that file has had its chance to call setup().
local function start()
  require('niello').start_once()
end

if vim.v.vim_did_enter == 1 then
  vim.schedule(start)
else
  vim.api.nvim_create_autocmd('VimEnter', { once = true, callback = start })
end
