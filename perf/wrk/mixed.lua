-- mixed.lua - wrk sends every request of a corpus (corpus.lua says how).
local M = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "corpus.lua")
M.name, M.kinds, M.needs_frames = "mixed", nil, false
M.install()
