--- The highlight groups; a colour scheme may define them first.

local M = {}

local links = {
  NielloGhost = 'Comment',
  NielloGhostCount = 'NonText',
  NielloNextEditOld = 'DiffDelete',
  NielloNextEditNew = 'DiffAdd',
}

function M.define()
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

return M
