-- place.lua - wrk sends the limit orders of a corpus (corpus.lua says how).
local M = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "corpus.lua")
M.name, M.kinds, M.needs_frames = "place", { place = true }, false
M.install()
