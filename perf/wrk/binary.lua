-- binary.lua - wrk sends every request, which are binary frames of a corpus (corpus.lua says how).
local M = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "corpus.lua")
M.name, M.kinds, M.needs_frames = "binary", nil, true
M.install()
