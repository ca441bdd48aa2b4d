-- reads.lua - wrk sends the reads of a corpus (corpus.lua says how).
local M = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "corpus.lua")
M.name, M.kinds, M.needs_frames = "reads", { read = true }, false
M.install()
