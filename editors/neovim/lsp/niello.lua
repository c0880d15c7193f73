-- The server as `vim.lsp.config` knows it; `require('niello').setup()` adds the user's part.

return {
  cmd = { 'niello', 'serve' },
  -- No `filetypes`: the server itself knows which languages and files it leaves alone.
  root_markers = { 'niello.toml', 'pyproject.toml', 'package.json', 'Cargo.toml', 'go.mod', '.git' },
  -- Neovim 0.11 has no inline completion of its own and would not announce it.
  capabilities = { textDocument = { inlineCompletion = { dynamicRegistration = false } } },
  handlers = {
    ['niello/status'] = function(_, status, ctx)
      require('niello.status').set(ctx.client_id, status)
    end,
  },
  on_exit = function(code, signal)
    vim.schedule(function()
      require('niello.restart').after_exit(code, signal)
    end)
  end,
}
