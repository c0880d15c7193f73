--- Our own ghost text, for Neovim without a built-in inline completion: asks, draws and
--- accepts. Where a candidate stands is the business of `niello.candidate`.

local config = require('niello.config')
local pieces = require('niello.pieces')
local candidate = require('niello.candidate')

local api = vim.api
local METHOD = 'textDocument/inlineCompletion'
local AUTOMATIC, INVOKED = 2, 1

local M = {}

local namespace = api.nvim_create_namespace('niello.ghost')
local groups = {} ---@type table<integer, integer> buffer -> autocommand group
local pending ---@type { client: vim.lsp.Client, id: integer }?
local shown ---@type niello.Shown?
local asked ---@type string? the moment of the last request by key

---@class niello.Shown
---@field bufnr integer
---@field client_id integer
---@field items niello.Candidate[]
---@field index integer

local function draw()
  local item = shown.items[shown.index]
  local at = candidate.place(shown.bufnr, item)
  api.nvim_buf_clear_namespace(shown.bufnr, namespace, 0, -1)
  if not at then
    return false
  end
  local count = #shown.items > 1 and { (' (%d/%d)'):format(shown.index, #shown.items), 'NielloGhostCount' } or nil
  local lines = vim.split(at.rest, '\n', { plain = true })
  local mark = { virt_text_pos = 'inline', hl_mode = 'replace' }
  if #lines == 1 and vim.endswith(at.rest, at.replaced) then
    -- What follows the cursor stays, so that the new text is pushed in front of it.
    mark.virt_text = { { at.rest:sub(1, #at.rest - #at.replaced), 'NielloGhost' } }
  else
    -- What follows the cursor moves or goes, so that the new text covers it.
    local hidden = vim.fn.strdisplaywidth(at.replaced) - vim.fn.strdisplaywidth(lines[1])
    mark.virt_text_pos = at.replaced == '' and 'inline' or 'overlay'
    mark.virt_text = { { lines[1] .. (' '):rep(hidden), 'NielloGhost' } }
    mark.virt_lines = vim.tbl_map(function(line)
      -- Virtual lines do not expand tabs by themselves.
      local shown_line = line:gsub('\t', (' '):rep(vim.bo[shown.bufnr].tabstop))
      return { { shown_line, 'NielloGhost' } }
    end, vim.list_slice(lines, 2))
  end
  if count then
    local last = mark.virt_lines and mark.virt_lines[#mark.virt_lines] or mark.virt_text
    table.insert(last, count)
  end
  api.nvim_buf_set_extmark(shown.bufnr, namespace, at.row, at.col, mark)
  return true
end

local function cancel()
  if pending then
    pending.client:cancel_request(pending.id)
    pending = nil
  end
end

--- Takes the ghost text away and forgets it.
function M.dismiss()
  cancel()
  asked = nil
  if shown then
    if api.nvim_buf_is_valid(shown.bufnr) then
      api.nvim_buf_clear_namespace(shown.bufnr, namespace, 0, -1)
    end
    shown = nil
  end
end

local function typing()
  return api.nvim_get_mode().mode:sub(1, 1) == 'i'
end

--- Names the text and the cursor of now.
local function moment_of(bufnr)
  local cursor = api.nvim_win_get_cursor(0)
  return ('%d %d %d %d'):format(bufnr, api.nvim_buf_get_changedtick(bufnr), cursor[1], cursor[2])
end

local function receive(client, bufnr, tick, err, result)
  if err or not typing() or api.nvim_get_current_buf() ~= bufnr or api.nvim_buf_get_changedtick(bufnr) ~= tick then
    return
  end
  local items = {}
  for _, raw in ipairs(result and (result.items or result) or {}) do
    local item = candidate.read(raw, bufnr, client.offset_encoding)
    if item and candidate.place(bufnr, item) then
      table.insert(items, item)
    end
  end
  if #items == 0 then
    -- A candidate that the user is typing through is still good when a newer request
    -- brings nothing.
    if not (shown and draw()) then
      M.dismiss()
    end
    return
  end
  shown = { bufnr = bufnr, client_id = client.id, items = items, index = 1 }
  draw()
end

local function request(client, bufnr, kind)
  cancel()
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = kind }
  local tick = api.nvim_buf_get_changedtick(bufnr)
  local id
  local sent, request_id = client:request(METHOD, params, function(err, result)
    if pending and pending.id == id then
      pending = nil
    end
    receive(client, bufnr, tick, err, result)
  end, bufnr)
  if sent then
    id = request_id
    pending = { client = client, id = request_id }
  end
end

local function on_change(client, bufnr)
  if shown and not draw() then
    M.dismiss()
  end
  if asked == moment_of(bufnr) then
    return
  end
  -- A macro that runs is no typing.
  if config.get().auto and config.wanted(bufnr) and vim.fn.reg_executing() == '' then
    request(client, bufnr, AUTOMATIC)
  end
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  if not client:supports_method(METHOD, bufnr) then
    return
  end
  local group = api.nvim_create_augroup('niello.ghost.' .. bufnr, {})
  groups[bufnr] = group
  local function on(events, callback)
    api.nvim_create_autocmd(events, { group = group, buffer = bufnr, callback = callback })
  end
  local seen = ''
  on({ 'InsertEnter', 'CursorMovedI', 'TextChangedI', 'TextChangedP' }, function(event)
    -- One keystroke fires several of these.
    local moment = moment_of(bufnr)
    if moment ~= seen or event.event == 'InsertEnter' then
      seen = moment
      vim.schedule(function()
        if typing() and api.nvim_get_current_buf() == bufnr and not client:is_stopped() then
          on_change(client, bufnr)
        end
      end)
    end
  end)
  on({ 'InsertLeave', 'BufLeave' }, M.dismiss)
end

function M.detach(_, bufnr)
  if groups[bufnr] then
    api.nvim_del_augroup_by_id(groups[bufnr])
    groups[bufnr] = nil
  end
  if shown and shown.bufnr == bufnr then
    M.dismiss()
  end
end

--- Takes the ghost text away where it is no longer wanted.
function M.refresh(bufnr)
  if shown and shown.bufnr == bufnr then
    M.dismiss()
  end
end

--- Whether ghost text stands on the screen.
function M.visible()
  return shown ~= nil
end

--- Asks for candidates now, several where the server has them.
function M.trigger()
  local client = require('niello').client()
  if client then
    local bufnr = api.nvim_get_current_buf()
    asked = moment_of(bufnr)
    request(client, bufnr, INVOKED)
  end
end

--- Shows another candidate; `step` is 1 or -1.
function M.cycle(step)
  if shown then
    shown.index = (shown.index - 1 + step) % #shown.items + 1
    draw()
  end
end

--- Writes a piece ('all', 'word' or 'line') of the ghost text into the buffer.
function M.accept(piece)
  local item = shown and shown.items[shown.index]
  local at = item and candidate.place(shown.bufnr, item)
  if not (item and at) then
    return
  end
  local kept = vim.endswith(at.rest, at.replaced) and #at.replaced or 0
  local body = at.rest:sub(1, #at.rest - kept)
  local part = pieces[piece](body)
  local whole = part == body
  local bufnr, client_id = shown.bufnr, shown.client_id
  local new = whole and at.rest or part
  local lines = vim.split(new, '\n', { plain = true })
  api.nvim_buf_set_text(bufnr, at.row, at.col, at.row, at.col + (whole and #at.replaced or 0), lines)
  local col = #lines[#lines] + (#lines == 1 and at.col or 0)
  api.nvim_win_set_cursor(0, { at.row + #lines, col })
  if not whole then
    draw()
    return
  end
  M.dismiss()
  local client = vim.lsp.get_client_by_id(client_id)
  if item.command and client then
    client:exec_cmd(item.command, { bufnr = bufnr })
  end
end

--- The keys an expression mapping returns to accept a piece, or nil without ghost text.
---@return string?
function M.accept_keys(piece)
  if not (shown and candidate.place(shown.bufnr, shown.items[shown.index])) then
    return nil
  end
  -- The undo break makes the accepted text one step of its own.
  return ("<C-g>u<Cmd>lua require('niello.ghost').accept('%s')<CR>"):format(piece)
end

return M
