--- Cuts the next word or the next line from the head of a text. Pure.

local M = {}

--- White space and then a run of letters, digits, `_` and all beyond ASCII, or a run of
--- other signs.
---@param text string
---@return string
function M.word(text)
  return text:match('^%s*[%w_\128-\255]+') or text:match('^%s*[^%w%s_\128-\255]+') or text
end

--- The rest of this line; at a line's end, the next line with the break in front.
---@param text string
---@return string
function M.line(text)
  return text:match('^\n*[^\n]*')
end

---@param text string
---@return string
function M.all(text)
  return text
end

return M
